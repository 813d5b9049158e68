#include "report/run_needs.h"

#include <errno.h>
#include <math.h>

#include "base/maths.h"

/* More than any server has, and still a number that fits; 0 for what is not known. */
static double at_most(double value, double most)
{
	return value <= most ? (value > 0 ? value : 0) : isnan(value) ? 0 : most;
}

void trk__run_needs_amounts(const struct trk_advice *a, struct trk_catalog_query *q)
{
	double cores = trk__ceil(at_most(a->cores, 1e6));

	*q = (struct trk_catalog_query){
		.vcpus = cores >= 1 ? (uint32_t) cores : 1,
		.memory_bytes = (uint64_t) (at_most(a->memory_mib, 1e12) * 1048576),
		.gpus = (uint32_t) at_most(a->gpus, 1e6),
		.vram_bytes = (uint64_t) (at_most(a->vram_mib, 1e12) * 1048576),
		.allocations = 1u << TRK_ALLOCATION_DEDICATED | 1u << TRK_ALLOCATION_SHARED,
	};
}

int trk__run_region(const struct trk_catalog *c, int vendor, const struct trk_cloud *cloud)
{
	size_t n;
	const struct trk_catalog_region *g = trk__catalog_regions(c, &n);
	int at = trk__catalog_find_region(c, vendor, cloud->region), only = -1, count = 0;

	if (at < 0 && cloud->zone[0])
		at = trk__catalog_find_region(c, vendor, cloud->zone);
	for (size_t i = 0; at < 0 && i < n; i++)
		if (g[i].vendor == vendor) {
			only = (int) i;
			count++;
		}
	return at < 0 && count == 1 ? only : at;
}

static void stay(struct trk_needs *needs, const struct trk_catalog *c,
		 const struct trk_cloud *cloud)
{
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	int region = vendor < 0 ? -1 : trk__run_region(c, vendor, cloud);

	if (vendor < 0)
		return;
	needs->vendors[vendor] = 1;
	needs->query.vendors_ok = needs->vendors;
	if (region < 0)
		return;
	needs->regions[region] = 1;
	needs->query.regions_ok = needs->regions;
}

int trk__run_needs_read(struct trk_needs *needs, const struct trk_catalog *c,
			const struct trk_need_words *words, const struct trk_advice *a,
			const struct trk_place *place, struct trk_error *reterr)
{
	struct trk_need_words all = *words;

	trk__run_needs_amounts(a, &needs->query);
	/* A program that was built for one architecture runs on that one. */
	if (!all.arch && trk__needs_arch(place->server.arch) > 0)
		all.arch = place->server.arch;
	if (!all.vendors && !all.regions && !all.countries)
		stay(needs, c, &place->cloud);
	return trk__needs_read(needs, c, &all, reterr);
}

static void add_slice(void *data, double cores, double seconds)
{
	struct trk_run_work *w = data;

	/* What the room cannot hold one by one is added to the last, so that no work is lost. */
	if (!(seconds > 0))
		return;
	if (w->work.n < TRK_RUN_SLICES_MAX)
		w->slice[w->work.n++] = (struct trk_busy_slice){cores, seconds};
	else
		w->slice[TRK_RUN_SLICES_MAX - 1].seconds += seconds;
}

void trk__run_work_read(struct trk_run_work *w, const struct trk_catalog *c,
			const struct trk_busy *busy, const struct trk_record *record)
{
	const struct trk_cloud *cloud = &record->place.cloud;
	double seconds = (double) record->outcome.duration_ns / 1e9;
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	int server = vendor < 0 || !cloud->instance_type[0]
			     ? -1
			     : trk__catalog_find_server(c, vendor, cloud->instance_type);
	size_t n;

	w->work = (struct trk_server_work){.slices = w->slice, .here_one = {NAN, NAN}};
	for (int i = 0; busy && i < TRK_BUSY_BINS; i++)
		if (busy->seconds[i] > 0)
			add_slice(w, busy->core_seconds[i] / busy->seconds[i], busy->seconds[i]);
	if (w->work.n == 0)
		trk__stats_each(record->stats, TRK_PROCESS_CPU_USAGE, add_slice, w);
	if (w->work.n == 0)
		add_slice(w, 1, seconds > 0 ? seconds : 1);
	if (server >= 0)
		trk__server_measured_on(&w->work, &trk__catalog_servers(c, &n)[server]);
}
