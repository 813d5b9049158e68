#include "answer/infer.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/needs.h"
#include "catalog/search.h"
#include "answer/run_servers.h"

/* The kernel and the firmware reserve at most 14 % and 64 MiB. */
static bool is_like_memory(double advertised, double seen)
{
	return seen <= advertised && seen >= advertised * 0.86 - 64;
}

/* A "GB" may be 2^30 bytes. Several disks are not compared, as volumes can be attached. */
static bool is_like_disk(const struct trk_catalog_server *s, const struct trk_server *machine)
{
	double gb = machine->disk_gb;

	return !s->storage_gb || !(machine->disks > 0) || machine->disks > 1 || isnan(gb) ||
	       (gb >= s->storage_gb * 0.97 && gb <= s->storage_gb * 1.08);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && !strcasecmp(text + n - len, end);
}

/* Some type names end with the vendor of the processor. */
static bool is_like_maker(const char *type, const char *maker)
{
	if (!*maker)
		return true;
	return !(ends_with(type, "-amd") && !strcasestr(maker, "amd")) &&
	       !(ends_with(type, "-intel") && !strcasestr(maker, "intel"));
}

static bool is_like(const struct trk_catalog *c, const struct trk_catalog_server *s,
		    const struct trk_server *machine)
{
	int archs = trk__needs_arch(machine->arch);

	return archs > 0 && archs & 1 << s->arch && s->vcpus == machine->vcpus &&
	       is_like_memory(s->memory_mib, machine->memory_mib) && is_like_disk(s, machine) &&
	       is_like_maker(trk__catalog_text(c, s->name), machine->cpu_vendor);
}

/* Some vendors have the family as the firmware's product: "VHF" for vhf-1c-1gb. */
static bool is_of_family(const char *type, const char *product)
{
	size_t len = strlen(product);

	return len > 0 && !strncasecmp(type, product, len) && type[len] == '-';
}

/* The processor model that a type reports, where the vendor sells two generations of one size; the
 * first match of type and model counts. From the vendor's public pages. */
static const struct {
	const char *vendor, *type, *model;
} known_processors[] = {
	{"hetzner", "cpx?2", "EPYC-Genoa"},
	{"hetzner", "cpx?1", "EPYC-Rome"},
	{"hetzner", "cpx?1", "AMD EPYC Processor"},
};

static bool has_its_processor(const char *vendor, const char *type, const char *model)
{
	for (size_t i = 0; i < sizeof(known_processors) / sizeof(known_processors[0]); i++)
		if (!strcmp(known_processors[i].vendor, vendor) &&
		    fnmatch(known_processors[i].type, type, 0) == 0 &&
		    strstr(model, known_processors[i].model))
			return true;
	return false;
}

/* The matching types: how many, the names of the first ones, and their prices. */
struct found {
	int count, first;
	uint32_t lowest, highest; /* prices; 0: none has one */
	char names[160];
};

/* Add a type, if it is sold in the region. */
static void take(struct found *f, const struct trk_catalog *c, int server, int region)
{
	struct trk_catalog_offer offer = {.units = 0};
	size_t n = strlen(f->names);

	if (region >= 0 && trk__catalog_price_in(c, server, region, &offer) < 0)
		return;
	if (!f->count++)
		f->first = server;
	if (offer.units && (!f->lowest || offer.units < f->lowest))
		f->lowest = offer.units;
	if (offer.units > f->highest)
		f->highest = offer.units;
	if (f->count <= 3)
		(void) snprintf(f->names + n, sizeof(f->names) - n, "%s%.48s", n ? ", " : "",
				trk__catalog_server_name(c, (size_t) server));
	else if (f->count == 4)
		(void) snprintf(f->names + n, sizeof(f->names) - n, " …");
}

/* The types that match the machine; of these those that also match the family in the firmware and
 * the processor, if any do. */
static void search(const struct trk_catalog *c, const struct trk_server *machine, int vendor,
		   int region, struct found *ret)
{
	size_t n;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);
	const char *id = trk__catalog_vendor_id(c, (size_t) vendor);
	struct found by_marks[3] = {{.count = 0}};

	for (size_t i = 0; i < n; i++) {
		const char *name = trk__catalog_text(c, s[i].name);
		int marks = is_of_family(name, machine->product) +
			    has_its_processor(id, name, machine->cpu_model);

		if (s[i].vendor == vendor && is_like(c, &s[i], machine))
			take(&by_marks[marks], c, (int) i, region);
	}
	*ret = by_marks[0];
	for (int marks = 1; marks < 3; marks++)
		if (by_marks[marks].count)
			*ret = by_marks[marks];
}

/* The reason, with what to try, unless exactly one type matches. */
static void complain(const struct found *f, struct trk_cloud *cloud)
{
	size_t used = strlen(cloud->reason), size = sizeof(cloud->reason);
	char prices[64] = "";

	if (f->lowest)
		(void) snprintf(prices, sizeof(prices), " (%.4f to %.4f USD/h)",
				trk__catalog_usd(f->lowest), trk__catalog_usd(f->highest));
	(void) snprintf(cloud->reason + used, size - used,
			"%s%d known types are like this machine%s%s%s. Try: --instance %s//TYPE",
			used ? "; " : "", f->count, f->count ? ": " : "", f->names, prices,
			cloud->vendor);
}

bool trk__infer_type(const struct trk_catalog *c, const struct trk_server *machine,
		     struct trk_cloud *cloud)
{
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	struct found f = {.count = 0};
	char disk[32] = "", model[64] = "";

	if (vendor < 0 || cloud->instance_type[0] || isnan(machine->vcpus) ||
	    isnan(machine->memory_mib))
		return false;
	search(c, machine, vendor, trk__run_region(c, vendor, cloud), &f);
	if (f.count != 1) {
		complain(&f, cloud);
		return false;
	}
	(void) snprintf(cloud->instance_type, sizeof(cloud->instance_type), "%s",
			trk__catalog_server_name(c, (size_t) f.first));
	if (has_its_processor(cloud->vendor, cloud->instance_type, machine->cpu_model))
		(void) snprintf(model, sizeof(model), ", %.60s", machine->cpu_model);
	if (machine->disks == 1)
		(void) snprintf(disk, sizeof(disk), ", a disk of %.0f GB", machine->disk_gb);
	(void) snprintf(cloud->inferred, sizeof(cloud->inferred),
			"the only known type of %s like this machine: %.0f vCPUs, %.1f GiB%s%s",
			cloud->vendor, machine->vcpus, machine->memory_mib / 1024, disk, model);
	return true;
}
