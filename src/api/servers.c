/* Servers and prices, for a program: what the verbs servers, recommend and catalog do. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/beside.h"
#include "api/recording.h"
#include "catalog/feed.h"
#include "catalog/suggest.h"
#include "catalog/text.h"
#include "report/cost.h"
#include "report/run_needs.h"
#include "resource_tracker.h"

enum { PATH_SIZE = 4096, JSON_MAX = 64 << 20, OPTIONS_MAX = 4096 };

static int fail(char *why, size_t size, int code, const char *text)
{
	if (why && size)
		(void) snprintf(why, size, "%s", text);
	return code;
}

/* ---- the catalogue ---- */

/* Beside the library, as an installation has it: LIB/../share, also from a folder of an architecture. */
static const char *find_scores(char *path)
{
	static const char *const places[] = {"../share/resource-tracker/",
					     "../../share/resource-tracker/", ""};

	return trk__beside(places, 3, "sparecores.tsv", R_OK, path, PATH_SIZE) ? path : NULL;
}

static int lay_over(struct trk_catalog *c, const char *path, struct trk_error *error)
{
	return path && strcmp(path, "none") != 0 ? trk__catalog_text_overlay(c, path, error) : 0;
}

/* A file of the cache, where it is there. */
static int lay_over_cached(struct trk_catalog *c, const char *folder, const char *name,
			   struct trk_error *error)
{
	char path[PATH_SIZE];
	int n = snprintf(path, sizeof(path), "%s/%s.tsv", folder, name);

	if (n < 0 || n >= (int) sizeof(path) || access(path, F_OK) != 0)
		return 0;
	return trk__catalog_text_overlay(c, path, error);
}

/* In the order of the command: the Keeper's, the feeds', one's own. */
static int lay_over_cache(struct trk_catalog *c, const char *folder, struct trk_error *error)
{
	char name[64];
	int r = lay_over_cached(c, folder, "update", error);

	for (size_t i = 0; r == 0 && i < trk__feed_count; i++) {
		(void) snprintf(name, sizeof(name), "update-%s", trk__feeds[i].id);
		r = lay_over_cached(c, folder, name, error);
	}
	return r ? r : lay_over_cached(c, folder, "prices", error);
}

static int load(const struct trk_catalog_options *o, struct trk_catalog *c, struct trk_error *error)
{
	char path[PATH_SIZE];
	/* A catalogue of one's own stands alone. */
	const char *scores = o->scores || o->catalog ? o->scores : find_scores(path);
	int r = 0;

	trk__catalog_embedded(c);
	if (o->catalog)
		r = trk__catalog_text_read(NULL, AT_FDCWD, o->catalog, c, error);
	r = r ? r : lay_over(c, scores, error);
	if (r == 0 && o->cache)
		r = lay_over_cache(c, o->cache, error);
	return r ? r : lay_over(c, o->prices, error);
}

int trk_catalog_open(const struct trk_catalog_options *options, struct trk_catalog **ret, char *why,
		     size_t why_size)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_error error = {.code = 0};
	struct trk_catalog *c;
	int r;

	if (options && (options->size < offsetof(struct trk_catalog_options, scores) ||
			options->size > OPTIONS_MAX))
		return fail(why, why_size, -EINVAL, "options: size is not set");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	c = calloc(1, sizeof(*c));
	if (!c)
		return fail(why, why_size, -ENOMEM, "out of memory");
	r = load(&o, c, &error);
	if (r < 0) {
		trk_catalog_free(c);
		return fail(why, why_size, r, error.message[0] ? error.message : trk__strerror(r));
	}
	*ret = c;
	return 0;
}

void trk_catalog_free(struct trk_catalog *catalog)
{
	if (!catalog)
		return;
	trk__catalog_release(catalog);
	free(catalog);
}

/* ---- looking ---- */

struct trk_servers {
	struct trk_needs needs;
	struct trk_offers offers;
};

static bool are_in_range(const struct trk_server_needs *n)
{
	const struct {
		double value, most;
	} numbers[] = {
		{n->vcpus, 1e6},       {n->gpus, 1e6},   {n->memory_mib, 1e12}, {n->vram_mib, 1e12},
		{n->storage_gb, 1e12}, {n->run_s, 1e12}, {n->busy_cores, 1e6},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!(numbers[i].value >= 0 && numbers[i].value <= numbers[i].most))
			return false;
	return n->boot_s <= 1e9;
}

/* What an older caller's shorter struct does not have is not asked for. */
static int take(const struct trk_server_needs *given, struct trk_server_needs *n, char *why,
		size_t size)
{
	*n = (struct trk_server_needs) TRK_SERVER_NEEDS_INIT;
	if (!given)
		return 0;
	if (given->size < offsetof(struct trk_server_needs, memory_mib) ||
	    given->size > OPTIONS_MAX)
		return fail(why, size, -EINVAL, "needs: size is not set");
	memcpy(n, given, given->size < sizeof(*n) ? given->size : sizeof(*n));
	if (!are_in_range(n))
		return fail(why, size, -TRK_E_RANGE, "needs: a number is out of range");
	if (trk__offers_order(n->order_by) < 0)
		return fail(why, size, -EINVAL,
			    "order_by: not one of: price run-cost score-per-price");
	return 0;
}

static struct trk_need_words words_of(const struct trk_server_needs *n)
{
	return (struct trk_need_words){
		.arch = n->arch,
		.allocation = n->allocation,
		.vendors = n->vendors,
		.regions = n->regions,
		.countries = n->countries,
		.exclude = n->exclude,
	};
}

/* Whole vCPUs and GPUs: half a one is had with one. */
static uint32_t round_up(double value)
{
	uint32_t whole = (uint32_t) value;

	return whole < value ? whole + 1 : whole;
}

/* What is asked for takes the place of what is there. */
static void set_amounts(struct trk_catalog_query *q, const struct trk_server_needs *n)
{
	if (n->vcpus > 0)
		q->vcpus = round_up(n->vcpus);
	if (n->memory_mib > 0)
		q->memory_bytes = (uint64_t) (n->memory_mib * 1048576);
	if (n->gpus > 0)
		q->gpus = round_up(n->gpus);
	if (n->vram_mib > 0)
		q->vram_bytes = (uint64_t) (n->vram_mib * 1048576);
	if (n->storage_gb > 0)
		q->storage_gb = round_up(n->storage_gb < 4e9 ? n->storage_gb : 4e9);
	if (q->vram_bytes && !q->gpus)
		q->gpus = 1;
	q->gpu_shares = n->gpu_shares != 0;
	q->spot = n->spot != 0;
}

static double boot_of(const struct trk_server_needs *n)
{
	return n->boot_s < 0 ? 0 : n->boot_s > 0 ? n->boot_s : 60;
}

static int find(const struct trk_catalog *c, struct trk_servers *s,
		const struct trk_server_needs *n, struct trk_error *error)
{
	const struct trk_need_words words = words_of(n);
	struct trk_busy_slice slice = {0, n->run_s > 0 ? n->run_s : 3600};
	struct trk_server_work work = {
		.slices = &slice, .n = 1, .here_one = {NAN, NAN}, .boot_s = boot_of(n)};
	size_t count;
	int r, at;

	set_amounts(&s->needs.query, n);
	r = trk__needs_read(&s->needs, c, &words, error);
	if (r < 0)
		return r;
	slice.cores = n->busy_cores > 0      ? n->busy_cores
		      : s->needs.query.vcpus ? s->needs.query.vcpus
					     : 1;
	if (n->measured_on) {
		at = trk__catalog_find_server(c, -1, n->measured_on);
		if (at < 0)
			return trk__catalog_unknown(c, TRK_KIND_SERVER, -1, n->measured_on, error);
		trk__server_measured_on(&work, &trk__catalog_servers(c, &count)[at]);
	}
	return trk__offers_find(c, &s->needs.query,
				(enum trk_offers_order) trk__offers_order(n->order_by), &work,
				&s->offers);
}

static int find_for_run(const struct trk_catalog *c, struct trk_servers *s,
			const struct trk_server_needs *n, const struct trk_record *record,
			struct trk_error *error)
{
	const struct trk_need_words words = words_of(n);
	struct trk_advice *advice = malloc(sizeof(*advice));
	struct trk_run_work *work = malloc(sizeof(*work));
	int r = advice && work ? trk__advice_of_run(record, advice) : -ENOMEM;

	if (r == 0)
		r = trk__run_needs_read(&s->needs, c, &words, advice, &record->place, error);
	if (r == 0) {
		set_amounts(&s->needs.query, n);
		trk__run_work_read(work, c, NULL, record);
		work->work.boot_s = boot_of(n);
		r = trk__offers_find(c, &s->needs.query,
				     (enum trk_offers_order) trk__offers_order(
					     n->order_by ? n->order_by : "run-cost"),
				     &work->work, &s->offers);
	}
	free(advice);
	free(work);
	return r;
}

static int look(const struct trk_catalog *c, const struct trk_record *record,
		const struct trk_server_needs *needs, struct trk_servers **ret, char *why,
		size_t size)
{
	struct trk_error error = {.code = 0};
	struct trk_server_needs n;
	struct trk_servers *s;
	int r = take(needs, &n, why, size);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return fail(why, size, -ENOMEM, "out of memory");
	r = record ? find_for_run(c, s, &n, record, &error) : find(c, s, &n, &error);
	if (r < 0) {
		free(s);
		return fail(why, size, r, error.message[0] ? error.message : trk__strerror(r));
	}
	*ret = s;
	return 0;
}

int trk_servers_find(const struct trk_catalog *catalog, const struct trk_server_needs *needs,
		     struct trk_servers **ret, char *why, size_t why_size)
{
	return look(catalog, NULL, needs, ret, why, why_size);
}

int trk_servers_for_run(const struct trk_catalog *catalog, const struct trk_recording *recording,
			const struct trk_server_needs *needs, struct trk_servers **ret, char *why,
			size_t why_size)
{
	return look(catalog, &recording->record, needs, ret, why, why_size);
}

void trk_servers_free(struct trk_servers *servers)
{
	if (!servers)
		return;
	trk__offers_release(&servers->offers);
	free(servers);
}

/* ---- what was found ---- */

size_t trk_servers_count(const struct trk_servers *servers)
{
	return servers->offers.n;
}

const char *trk_servers_reason(const struct trk_servers *servers)
{
	return servers->offers.nothing;
}

static double known(uint32_t value)
{
	return value ? value : (double) NAN;
}

static void describe(const struct trk_catalog *c, const struct trk_catalog_offer *offer,
		     struct trk_server_offer *o)
{
	size_t n;
	const struct trk_catalog_server *s = trk__offers_server(c, offer);
	const struct trk_catalog_block *b = &trk__catalog_blocks(c, &n)[offer->block];
	const struct trk_catalog_region *g = &trk__catalog_regions(c, &n)[b->region];
	uint8_t saving = trk__catalog_prices(c, &n)[offer->price].saving;

	o->vendor = trk__catalog_vendor_id(c, s->vendor);
	o->type = trk__catalog_text(c, s->name);
	o->region = trk__catalog_text(c, g->id);
	o->country = g->country;
	o->arch = trk__catalog_arch_names[s->arch];
	o->allocation = trk__catalog_allocation_names[s->allocation];
	o->gpu_model = trk__catalog_text(c, s->gpu_model);
	o->vcpus = s->vcpus;
	o->memory_mib = s->memory_mib;
	o->usable_memory_mib = (double) (trk__catalog_usable_bytes(s) >> 20);
	o->gpus = s->gpu_count * (s->gpu_permille / 1000.0);
	o->vram_mib = known(s->vram_mib);
	o->storage_gb = known(s->storage_gb);
	o->score = trk__offers_score(c, offer);
	o->usd_per_hour = trk__catalog_usd(offer->units);
	o->spot_saving = saving == TRK_SAVING_UNKNOWN ? (double) NAN : saving / 100.0;
	o->price_source = trk__catalog_text(c, trk__catalog_sources(c, &n)[b->source].id);
	o->price_quality = trk__catalog_quality_names[b->quality];
	o->price_date = (int) b->date;
}

int trk_servers_get(const struct trk_servers *servers, size_t index, struct trk_server_offer *ret)
{
	const struct trk_offers *offers = &servers->offers;
	const struct trk_server_estimate *e;
	struct trk_server_offer o = {.run_s = NAN, .billed_s = NAN, .run_usd = NAN};

	if (index >= offers->n)
		return -ENOENT;
	e = &offers->list[index];
	describe(offers->c, &e->offer, &o);
	if (offers->costs) {
		o.run_s = e->run_s;
		o.billed_s = e->billed_s;
		o.run_usd = e->cost_usd;
		o.speed_known = e->speed_known;
	}
	*ret = o;
	return 0;
}

char *trk_servers_json(const struct trk_servers *servers, size_t limit)
{
	struct trk_offers view = servers->offers;
	struct trk_buf b;

	view.limit = limit ? limit : SIZE_MAX;
	trk__buf_init(&b, JSON_MAX);
	trk__offers_json(&b, &view);
	if (b.error)
		trk__buf_release(&b);
	return b.data; /* taken over by the caller */
}

/* ---- the cost of a run ---- */

#define COPY(field) (void) snprintf(b.field, sizeof(b.field), "%s", c->field)

static struct trk_bill bill_of(const struct trk_cost *c)
{
	struct trk_bill b = {
		.usd = c->usd,
		.usd_per_hour = c->usd_per_hour,
		.billed_s = c->billed_s,
		.idle_cpu_usd = c->idle_cpu_usd,
		.idle_memory_usd = c->idle_memory_usd,
		.best_usd = c->best_usd,
		.best_usd_per_hour = c->best_usd_per_hour,
		.best_run_s = c->best_run_s,
		.saving_usd = c->saving_usd,
	};

	COPY(price_source);
	COPY(price_date);
	COPY(price_quality);
	COPY(best_vendor);
	COPY(best_type);
	COPY(best_region);
	COPY(best_price_source);
	COPY(best_price_date);
	COPY(reason);
	return b;
}

int trk_recording_bill(const struct trk_recording *recording, const struct trk_catalog *catalog,
		       const char *instance, struct trk_bill *ret)
{
	const struct trk_record *record = &recording->record;
	struct trk_cloud cloud = record->place.cloud;
	struct trk_cost *cost;
	int r = 0;

	if (!catalog && !record->place.has_cost)
		return -TRK_E_NODATA;
	if (instance)
		r = trk__cloud_state(instance, &cloud);
	if (r < 0)
		return r;
	cost = malloc(sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	*cost = record->place.cost;
	if (catalog)
		r = trk__cost_of_run(catalog, record, &cloud, cost);
	if (r == 0)
		*ret = bill_of(cost);
	free(cost);
	return r;
}
