/* Lines, fields and values of what nvidia-smi prints. */
#include "probe/gpu/nvidia_smi_text.h"

#include <string.h>
#include <strings.h>

#include "base/parse.h"

enum { NUMBER_MAX = 32 };

#define MIB 1048576.0

struct span trk__smi_trimmed(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t' || *from == '\r'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	return (struct span){from, (size_t) (to - from)};
}

struct span trk__smi_line(const char *text)
{
	return (struct span){text, strcspn(text, "\n")};
}

bool trk__smi_is(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

bool trk__smi_holds(struct span s, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= s.len; i++)
		if (strncasecmp(s.at + i, word, len) == 0)
			return true;
	return false;
}

void trk__smi_copy(struct span s, char *to, size_t size)
{
	size_t n = s.len < size ? s.len : size - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char) s.at[i] < ' ' ? ' ' : s.at[i];
	to[n] = '\0';
}

bool trk__smi_integer(struct span s, uint64_t max, uint64_t *ret)
{
	char text[NUMBER_MAX];
	uint64_t value;

	if (s.len == 0 || s.len >= sizeof(text))
		return false;
	trk__smi_copy(s, text, sizeof(text));
	if (trk__parse_u64(text, &value) < 0 || value > max)
		return false;
	*ret = value;
	return true;
}

/* ---- comma-separated tables ---- */

size_t trk__smi_split(struct span line, struct span *field)
{
	const char *end = line.at + line.len, *from = line.at;
	size_t n = 0;

	for (const char *at = from; n < FIELDS_MAX; at++) {
		if (at < end && *at != ',')
			continue;
		field[n++] = trk__smi_trimmed(from, at);
		if (at == end)
			return n;
		from = at + 1;
	}
	return 0; /* no table of ours has so many */
}

/* "memory.total [MiB]" without the unit. */
struct span trk__smi_bare(struct span head)
{
	for (size_t i = 0; i + 1 < head.len; i++)
		if (head.at[i] == ' ' && head.at[i + 1] == '[')
			return trk__smi_trimmed(head.at, head.at + i);
	return head;
}

/* Put the parts of a name with commas together. False: the row does not fit its head. */
bool trk__smi_join(struct span *field, size_t *n, size_t heads, size_t name)
{
	size_t extra = *n - heads;
	const char *end;

	if (*n == heads)
		return true;
	if (*n < heads || name >= heads)
		return false;
	end = field[name + extra].at + field[name + extra].len;
	field[name].len = (size_t) (end - field[name].at);
	for (size_t i = name + 1; i < heads; i++)
		field[i] = field[i + extra];
	*n = heads;
	return true;
}

/* ---- values ---- */

static struct trk_gpu_value no_number(struct span s)
{
	static const struct {
		const char *word;
		enum trk_gpu_why why;
	} words[] = {
		{"n/a", TRK_GPU_UNSUPPORTED},
		{"not supported", TRK_GPU_UNSUPPORTED},
		{"not found", TRK_GPU_UNSUPPORTED},
		{"deprecated", TRK_GPU_UNSUPPORTED},
		{"no data", TRK_GPU_UNSUPPORTED},
		{"permission", TRK_GPU_DENIED},
		{"lost", TRK_GPU_LOST},
		{"reset", TRK_GPU_LOST},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (trk__smi_holds(s, words[i].word))
			return trk__gpu_unknown(words[i].why);
	return trk__gpu_unknown(TRK_GPU_FAILED); /* [Unknown Error], ERR!, and what else may come */
}

/* What one of the unit is, NaN where it is none of this kind; without a unit it is the usual one. */
static double scale_of(enum kind kind, struct span unit)
{
	static const struct {
		enum kind kind;
		const char *unit;
		double scale;
	} units[] = {
		{MEBIBYTES, "", MIB},
		{MEBIBYTES, "MiB", MIB},
		{MEBIBYTES, "KiB", 1024},
		{MEBIBYTES, "B", 1},
		{MEBIBYTES, "GiB", 1024 * MIB},
		{PERCENT, "", 0.01},
		{PERCENT, "%", 0.01},
		{MEGAHERTZ, "", 1e6},
		{MEGAHERTZ, "MHz", 1e6},
		{PLAIN, "", 1},
		{PLAIN, "W", 1},
		{PLAIN, "C", 1},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].kind == kind && trk__smi_is(unit, units[i].unit))
			return units[i].scale;
	return NAN;
}

/* "0x0000000000000004" */
static struct trk_gpu_value to_bits(struct span s)
{
	char text[NUMBER_MAX];
	const char *hex = text + 2;
	uint64_t bits;

	if (s.len <= 2 || s.len >= sizeof(text) || s.at[0] != '0' || s.at[1] != 'x')
		return no_number(s);
	trk__smi_copy(s, text, sizeof(text));
	return trk__scan_hex(&hex, &bits) && !*hex ? trk__gpu_known((double) bits)
						   : trk__gpu_unknown(TRK_GPU_FAILED);
}

/* Digits and a point at the front of it: how many. */
static size_t number_length(struct span s)
{
	size_t len = 0;

	while (len < s.len && ((s.at[len] >= '0' && s.at[len] <= '9') || s.at[len] == '.'))
		len++;
	return len;
}

struct trk_gpu_value trk__smi_value(struct span s, enum kind kind)
{
	size_t len = number_length(s);
	char text[NUMBER_MAX];
	double value;

	if (kind == BITS)
		return to_bits(s);
	trk__smi_copy((struct span){s.at, len}, text, sizeof(text));
	if (len == 0 || len >= sizeof(text) || trk__parse_decimal(text, &value) < 0)
		return no_number(s);
	value *= scale_of(kind, trk__smi_trimmed(s.at + len, s.at + s.len));
	if (!(value <= (kind == PERCENT ? 1 : 1e18)))
		return trk__gpu_unknown(TRK_GPU_FAILED);
	return trk__gpu_known(value);
}
