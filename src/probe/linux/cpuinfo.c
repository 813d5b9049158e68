#include "probe/linux/cpuinfo.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* ---- ARM ---- */

struct implementer {
	unsigned int id;
	const char *name;
};

/* From the vendors' documentation of MIDR_EL1. */
static const struct implementer implementers[] = {
	{0x41, "ARM"},       {0x42, "Broadcom"}, {0x43, "Cavium"}, {0x46, "Fujitsu"},
	{0x48, "HiSilicon"}, {0x4e, "NVIDIA"},   {0x50, "APM"},    {0x51, "Qualcomm"},
	{0x53, "Samsung"},   {0x61, "Apple"},    {0x69, "Intel"},  {0x6d, "Microsoft"},
	{0x70, "Phytium"},   {0xc0, "Ampere"},
};

struct part {
	unsigned int implementer, id;
	const char *name;
};

static const struct part parts[] = {
	{0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd04, "Cortex-A35"},  {0x41, 0xd05, "Cortex-A55"},
	{0x41, 0xd07, "Cortex-A57"},   {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},
	{0x41, 0xd0a, "Cortex-A75"},   {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
	{0x41, 0xd40, "Neoverse-V1"},  {0x41, 0xd41, "Cortex-A78"},  {0x41, 0xd44, "Cortex-X1"},
	{0x41, 0xd46, "Cortex-A510"},  {0x41, 0xd47, "Cortex-A710"}, {0x41, 0xd48, "Cortex-X2"},
	{0x41, 0xd49, "Neoverse-N2"},  {0x41, 0xd4a, "Neoverse-E1"}, {0x41, 0xd4d, "Cortex-A715"},
	{0x41, 0xd4e, "Cortex-X3"},    {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd84, "Neoverse-V3"},
	{0x41, 0xd8e, "Neoverse-N3"},  {0x42, 0x516, "ThunderX2"},   {0x43, 0x0a1, "ThunderX"},
	{0x43, 0x0af, "ThunderX2"},    {0x46, 0x001, "A64FX"},       {0x48, 0xd01, "Kunpeng-920"},
	{0x48, 0xd02, "Kunpeng-920B"}, {0x4e, 0x004, "Carmel"},      {0x50, 0x000, "X-Gene"},
	{0x51, 0xc00, "Falkor"},       {0x61, 0x022, "M1-Icestorm"}, {0x61, 0x023, "M1-Firestorm"},
	{0x6d, 0xd49, "Cobalt-100"},   {0x70, 0x663, "FTC663"},      {0xc0, 0xac3, "Ampere-1"},
	{0xc0, 0xac4, "Ampere-1a"},
};

static void name_arm(unsigned int implementer, unsigned int part, struct trk_cpuinfo *c)
{
	const char *maker = NULL, *design = NULL;

	for (size_t i = 0; i < sizeof(implementers) / sizeof(implementers[0]); i++)
		if (implementers[i].id == implementer)
			maker = implementers[i].name;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].implementer == implementer && parts[i].id == part)
			design = parts[i].name;
	if (maker)
		(void) snprintf(c->vendor, sizeof(c->vendor), "%s", maker);
	if (c->model[0])
		return; /* 32-bit ARM also has a model name */
	if (design)
		(void) snprintf(c->model, sizeof(c->model), "%s %s", maker, design);
	else if (maker)
		(void) snprintf(c->model, sizeof(c->model), "%s part 0x%03x", maker, part);
	else
		(void) snprintf(c->model, sizeof(c->model), "ARM implementer 0x%02x part 0x%03x",
				implementer, part);
}

/* ---- lines ---- */

/* Value of a line "key<blanks>: value", as a copy; false for another key or no value. */
static bool value_of(const char *line, const char *key, char *value, size_t size)
{
	size_t len = strlen(key), n;
	const char *at;

	if (strncmp(line, key, len) != 0)
		return false;
	at = trk__skip_blanks(line + len);
	if (*at != ':')
		return false;
	at = trk__skip_blanks(at + 1);
	n = strcspn(at, "\n");
	while (n && (at[n - 1] == ' ' || at[n - 1] == '\t'))
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(value, at, n);
	value[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char) value[i] < 0x20 || value[i] == 0x7f)
			value[i] = '?';
	return n > 0;
}

static bool has_flag(const char *line, const char *flag)
{
	const char *end = line + strcspn(line, "\n");
	size_t len = strlen(flag);

	for (const char *at = strstr(line, flag); at && at < end; at = strstr(at + 1, flag))
		if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n' || at[len] == '\0'))
			return true;
	return false;
}

static bool hex_of(const char *line, const char *key, unsigned int *ret)
{
	char text[16];
	const char *at = text + 2;
	uint64_t value;

	if (!value_of(line, key, text, sizeof(text)) || strncmp(text, "0x", 2) != 0 ||
	    !trk__scan_hex(&at, &value) || value > 0xfff)
		return false;
	*ret = (unsigned int) value;
	return true;
}

int trk__cpuinfo_parse(const char *text, struct trk_cpuinfo *ret)
{
	/* In order of preference: x86, 32-bit ARM and others; POWER; RISC-V. */
	static const char *const models[] = {"model name", "cpu model", "cpu", "uarch"};
	struct trk_cpuinfo c = {.hypervisor = false};
	unsigned int implementer = 0, part = 0;
	bool arm = false;

	for (const char *line = text; *line; line = trk__skip_line(line)) {
		if (*line == '\n' && (c.model[0] || arm))
			break; /* the next processor */
		for (size_t i = 0; i < sizeof(models) / sizeof(models[0]) && !c.model[0]; i++)
			(void) value_of(line, models[i], c.model, sizeof(c.model));
		if (!c.vendor[0])
			(void) value_of(line, "vendor_id", c.vendor, sizeof(c.vendor));
		arm |= hex_of(line, "CPU implementer", &implementer);
		(void) hex_of(line, "CPU part", &part);
		if (!strncmp(line, "flags", 5) && has_flag(line, "hypervisor"))
			c.hypervisor = true;
	}
	if (arm)
		name_arm(implementer, part, &c);
	if (!c.model[0] && !strncmp(c.vendor, "IBM/S390", 8))
		(void) snprintf(c.model, sizeof(c.model), "IBM Z");
	if (!c.model[0] && !c.vendor[0])
		return -EBADMSG;
	*ret = c;
	return 0;
}
