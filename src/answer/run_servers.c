#include "answer/run_servers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "answer/cpu_use.h"

/* ---- what the run needs ---- */

/* Clamp a need to a number that fits, above what any server has; 0 if unknown. */
static double at_most(double value, double most)
{
	return value <= most ? (value > 0 ? value : 0) : isnan(value) ? 0 : most;
}

/* Cores, memory and GPUs of the advice. Burstable servers are excluded: their price covers only a
 * share of their cores. */
static void take_amounts(const struct trk_advice *a, struct trk_catalog_query *q)
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

static bool is_named(const char *list)
{
	return list && *list;
}

/* The server on which the run ran, or NULL. */
static const struct trk_catalog_server *server_at(const struct trk_catalog *c,
						  const struct trk_cloud *cloud)
{
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	int server = vendor < 0 || !cloud->instance_type[0]
			     ? -1
			     : trk__catalog_find_server(c, vendor, cloud->instance_type);

	return server < 0 ? NULL : &trk__catalog_servers(c, NULL)[server];
}

/* Read the needs of the run, with `words` overriding them. Errors of trk__needs_read. */
static int read_needs(struct trk_needs *needs, const struct trk_catalog *c,
		      const struct trk_need_words *words, const struct trk_advice *a,
		      const char *arch, const struct trk_cloud *cloud, struct trk_error *reterr)
{
	const struct trk_catalog_server *here = server_at(c, cloud);
	struct trk_need_words all = *words;

	take_amounts(a, &needs->query);
	/* A program built for one architecture runs only on that one. */
	if (!all.arch && trk__needs_arch(arch) > 0)
		all.arch = arch;
	else if (!all.arch && here && trk__needs_arch(trk__catalog_arch_names[here->arch]) > 0)
		all.arch = trk__catalog_arch_names[here->arch];
	if (!is_named(all.vendors) && !is_named(all.regions) && !is_named(all.countries))
		stay(needs, c, cloud);
	return trk__needs_read(needs, c, &all, reterr);
}

static void add_slice(struct trk_run_work *w, double cores, double seconds)
{
	/* Slices beyond the array are added to the last one, so that no work is lost. */
	if (!(seconds > 0))
		return;
	if (w->work.n < TRK_RUN_SLICES_MAX)
		w->slice[w->work.n++] = (struct trk_busy_slice){cores, seconds};
	else
		w->slice[TRK_RUN_SLICES_MAX - 1].seconds += seconds;
}

static void add_slices(struct trk_run_work *w, const struct trk_busy *busy)
{
	for (int i = 0; i < TRK_BUSY_BINS; i++)
		if (busy->seconds[i] > 0)
			add_slice(w, busy->core_seconds[i] / busy->seconds[i], busy->seconds[i]);
}

/* Fill in how long how many cores were busy, and the speed of the server at `cloud`, if it is in
 * the catalogue. Sets no boot time and no deadline. */
static void read_work(struct trk_run_work *w, const struct trk_catalog *c,
		      const struct trk_run_question *q, const struct trk_cloud *cloud)
{
	const struct trk_catalog_server *here = server_at(c, cloud);
	struct trk_cpu_use *own;

	w->work = (struct trk_server_work){.slices = w->slice, .here_one = {NAN, NAN}};
	if (q->busy)
		add_slices(w, q->busy);
	/* Use the same bins, so that both ways give equal results. */
	own = w->work.n == 0 ? calloc(1, sizeof(*own)) : NULL;
	if (own) {
		trk__cpu_use_of(q->record, own);
		if (q->advice->has_time)
			trk__cpu_use_scale(own, q->advice->time.expected_s);
		add_slices(w, &own->busy);
	}
	free(own);
	if (w->work.n == 0)
		add_slice(w, 1, q->advice->usual_s);
	if (here)
		trk__server_measured_on(&w->work, here);
}

/* ---- the servers ---- */

/* Stated needs replace those of the run. */
static void take_wishes(struct trk_catalog_query *q, const struct trk_catalog_query *wishes)
{
	if (wishes->vcpus)
		q->vcpus = wishes->vcpus;
	if (wishes->memory_bytes)
		q->memory_bytes = wishes->memory_bytes;
	if (wishes->gpus)
		q->gpus = wishes->gpus;
	if (wishes->vram_bytes)
		q->vram_bytes = wishes->vram_bytes;
	if (wishes->storage_gb)
		q->storage_gb = wishes->storage_gb;
	if (q->vram_bytes && !q->gpus)
		q->gpus = 1;
	q->gpu_shares |= wishes->gpu_shares;
	q->previous_generation |= wishes->previous_generation;
	q->spot |= wishes->spot;
}

int trk__run_servers_read(struct trk_run_servers *s, const struct trk_catalog *c,
			  const struct trk_run_question *q, struct trk_error *reterr)
{
	static const struct trk_need_words none;
	const struct trk_cloud *cloud = q->cloud ? q->cloud : &q->record->place.cloud;
	int r;

	*s = (struct trk_run_servers){.place_known = cloud->vendor[0] != '\0'};
	r = read_needs(&s->needs, c, q->words ? q->words : &none, q->advice,
		       q->record->place.server.arch, cloud, reterr);
	if (r < 0)
		return r;
	s->needs.query.spot = !strcmp(cloud->allocation, "spot");
	if (q->wishes)
		take_wishes(&s->needs.query, q->wishes);
	read_work(&s->work, c, q, cloud);
	s->run_s = q->advice->usual_s;
	return 0;
}

int trk__run_servers_find(struct trk_run_servers *s, const struct trk_catalog *c,
			  enum trk_offers_order order, size_t limit)
{
	int r;

	s->needs.query.today = trk__catalog_today();
	s->offers = (struct trk_offers){.c = c, .query = &s->needs.query, .limit = limit};
	if (s->run_s < TRK_RUN_SHORTEST_S && !s->short_too) {
		(void) snprintf(s->offers.nothing, sizeof(s->offers.nothing),
				"a run of %.0f ms is too short to choose a server",
				s->run_s * 1000);
		return 0;
	}
	if (!s->needs.query.memory_bytes) {
		(void) snprintf(s->offers.nothing, sizeof(s->offers.nothing),
				"no server is named, because the memory that the run needs is not "
				"known");
		return 0;
	}
	r = trk__offers_find(c, &s->needs.query, order, &s->work.work, &s->offers);
	if (r == 0)
		trk__offers_limit(&s->offers, limit);
	return r;
}

void trk__run_servers_release(struct trk_run_servers *s)
{
	trk__offers_release(&s->offers);
}
