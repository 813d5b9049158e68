#include "report/infer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/needs.h"
#include "catalog/search.h"
#include "report/run_needs.h"

/* What the kernel and the firmware keep for themselves, at most: 14 % and 64 MiB. */
static bool is_like_memory(double advertised, double seen)
{
	return seen <= advertised && seen >= advertised * 0.86 - 64;
}

/* A "GB" may be 2^30 bytes. More disks than one say nothing: volumes are attached at will. */
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

/* Some names end with the maker of the processor. */
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

/* The firmware's product is the family of some vendors: "VHF" of vhf-1c-1gb. */
static bool is_of_family(const char *type, const char *product)
{
	size_t len = strlen(product);

	return len > 0 && !strncasecmp(type, product, len) && type[len] == '-';
}

static bool is_sold(const struct trk_catalog *c, int server, int region)
{
	struct trk_catalog_offer offer;

	return region < 0 || trk__catalog_price_in(c, server, region, &offer) == 0;
}

/* Types like the machine: how many, and the names of the first ones. */
struct found {
	int count, first;
	char names[64];
};

static void add(struct found *f, const struct trk_catalog *c, int server)
{
	size_t n = strlen(f->names);

	if (!f->count++)
		f->first = server;
	if (f->count <= 3)
		(void) snprintf(f->names + n, sizeof(f->names) - n, "%s%s", n ? ", " : "",
				trk__catalog_server_name(c, (size_t) server));
	else if (f->count == 4)
		(void) snprintf(f->names + n, sizeof(f->names) - n, " …");
}

static void search(const struct trk_catalog *c, const struct trk_server *machine, int vendor,
		   int region, struct found *ret)
{
	size_t n;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);
	struct found family = {.count = 0};

	for (size_t i = 0; i < n; i++) {
		if (s[i].vendor != vendor || !is_like(c, &s[i], machine) ||
		    !is_sold(c, (int) i, region))
			continue;
		add(ret, c, (int) i);
		if (is_of_family(trk__catalog_text(c, s[i].name), machine->product))
			add(&family, c, (int) i);
	}
	if (family.count)
		*ret = family;
}

bool trk__infer_type(const struct trk_catalog *c, const struct trk_server *machine,
		     struct trk_cloud *cloud)
{
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	struct found f = {.count = 0};
	char disk[32] = "";
	size_t used = strlen(cloud->reason);

	if (vendor < 0 || cloud->instance_type[0] || isnan(machine->vcpus) ||
	    isnan(machine->memory_mib))
		return false;
	search(c, machine, vendor, trk__run_region(c, vendor, cloud), &f);
	if (f.count != 1) {
		(void) snprintf(cloud->reason + used, sizeof(cloud->reason) - used,
				"%s%d known types are like this machine%s%s", used ? "; " : "",
				f.count, f.count ? ": " : "", f.names);
		return false;
	}
	(void) snprintf(cloud->instance_type, sizeof(cloud->instance_type), "%s",
			trk__catalog_server_name(c, (size_t) f.first));
	if (machine->disks == 1)
		(void) snprintf(disk, sizeof(disk), ", a disk of %.0f GB", machine->disk_gb);
	(void) snprintf(cloud->inferred, sizeof(cloud->inferred),
			"the only known type of %s like this machine: %.0f vCPUs, %.1f GiB%s",
			cloud->vendor, machine->vcpus, machine->memory_mib / 1024, disk);
	return true;
}
