/* The public functions about servers and prices: those of the verbs servers, recommend and
 * catalog. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/recording.h"
#include "api/server_needs.h"
#include "api/sources.h"
#include "report/run_servers.h"
#include "resource_tracker.h"
#include "service/servers.h"

enum { JSON_MAX = 64 << 20 };

/* ---- the catalogue ---- */

int trk_catalog_open(const struct trk_catalog_options *options, struct trk_catalog **ret, char *why,
		     size_t why_size)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_error error = {.code = 0};
	struct trk_price_layers layers;
	struct trk_catalog *c;
	struct trk_prices *prices;
	struct trk_named_prices named;
	struct trk_layer_paths paths;
	int r;

	r = trk__options_take("options", options, offsetof(struct trk_catalog_options, scores), &o,
			      sizeof(o), why, why_size);
	if (r < 0)
		return r;
	named = (struct trk_named_prices){.cache = o.cache || o.of_user ? o.cache : "none",
					  .catalog = o.catalog,
					  .scores = o.scores,
					  .prices = o.prices};
	prices = malloc(sizeof(*prices));
	c = malloc(sizeof(*c));
	layers = trk__named_layers(&named, &paths);
	r = prices && c ? trk__prices_load(&layers, prices, &error) : -ENOMEM;
	if (r == 0)
		*c = prices->c;
	(void) trk__why(why, why_size, r, "%s",
			r == 0 ? prices->ignored.message : trk__error_text(&error, r));
	free(prices);
	if (r < 0)
		free(c);
	else
		*ret = c;
	return r;
}

void trk_catalog_free(struct trk_catalog *catalog)
{
	if (!catalog)
		return;
	trk__catalog_release(catalog);
	free(catalog);
}

/* ---- search ---- */

struct trk_servers {
	struct trk_run_servers of; /* of a run; without a run only its needs and offers are used */
};

static double boot_of(const struct trk_server_needs *n)
{
	return n->boot_s > 0 ? n->boot_s : 0;
}

static int find_offers(const struct trk_catalog *c, struct trk_servers *s,
		       const struct trk_server_needs *n, struct trk_error *error)
{
	static const struct trk_service offline;
	const struct trk_servers_request request = {
		.words = trk__server_words(n),
		.query = trk__server_wishes(n),
		.order = (enum trk_offers_order) trk__offers_order(n->order_by),
		.run_s = n->run_s,
		.busy_cores = n->busy_cores,
		.boot_s = boot_of(n),
		.measured_on = n->measured_on,
	};

	return trk__servers_find(&offline, c, &request, &s->of, error);
}

static int find_for_run(const struct trk_catalog *c, struct trk_servers *s,
			const struct trk_server_needs *n, const struct trk_recording *recording,
			struct trk_error *error)
{
	const struct trk_need_words words = trk__server_words(n);
	const struct trk_catalog_query wishes = trk__server_wishes(n);
	struct trk_advice *advice = malloc(sizeof(*advice));
	struct trk_run_question question = {
		.record = &recording->record, .advice = advice, .words = &words, .wishes = &wishes};
	int r = advice ? trk__recording_advise(recording, advice, &question.busy) : -ENOMEM;

	r = r ? r : trk__run_servers_read(&s->of, c, &question, error);
	if (r == 0) {
		s->of.work.work.boot_s = boot_of(n);
		r = trk__run_servers_find(&s->of, c,
					  (enum trk_offers_order) trk__offers_order(
						  n->order_by ? n->order_by : "run-cost"),
					  SIZE_MAX);
	}
	free(advice);
	return r;
}

static int look(const struct trk_catalog *c, const struct trk_recording *recording,
		const struct trk_server_needs *needs, struct trk_servers **ret, char *why,
		size_t size)
{
	struct trk_error error = {.code = 0};
	struct trk_server_needs n;
	struct trk_servers *s;
	int r = trk__server_needs_take(needs, &n, why, size);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return trk__why(why, size, -ENOMEM, "out of memory");
	r = recording ? find_for_run(c, s, &n, recording, &error) : find_offers(c, s, &n, &error);
	if (r < 0) {
		free(s);
		return trk__why(why, size, r, "%s", trk__error_text(&error, r));
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
	return look(catalog, recording, needs, ret, why, why_size);
}

void trk_servers_free(struct trk_servers *servers)
{
	if (!servers)
		return;
	trk__run_servers_release(&servers->of);
	free(servers);
}

/* ---- results ---- */

size_t trk_servers_count(const struct trk_servers *servers)
{
	return servers->of.offers.n;
}

const char *trk_servers_reason(const struct trk_servers *servers)
{
	return servers->of.offers.nothing;
}

static double known(uint32_t value)
{
	return value ? value : (double) NAN;
}

static void describe(const struct trk_catalog *c, const struct trk_catalog_offer *offer,
		     struct trk_server_offer *o)
{
	const struct trk_catalog_server *s = trk__offers_server(c, offer);
	const struct trk_catalog_block *b = &trk__catalog_blocks(c, NULL)[offer->block];
	const struct trk_catalog_region *g = &trk__catalog_regions(c, NULL)[b->region];
	uint8_t saving = trk__catalog_prices(c, NULL).saving[offer->price];

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
	o->price_source = trk__catalog_text(c, trk__catalog_sources(c, NULL)[b->source].id);
	o->price_quality = trk__catalog_quality_names[b->quality];
	o->price_date = (int) b->date;
	o->previous_generation = (s->flags & TRK_SERVER_PREVIOUS) != 0;
}

int trk_servers_get(const struct trk_servers *servers, size_t index, struct trk_server_offer *ret)
{
	const struct trk_offers *offers = &servers->of.offers;
	const struct trk_server_estimate *e;
	struct trk_server_offer o = {.run_s = NAN, .billed_s = NAN, .run_usd = NAN};

	if (index >= offers->n)
		return -ENOENT;
	e = &offers->list[index];
	describe(offers->c, &e->offer, &o);
	o.price_age_days = (int) trk__offers_age_days(offers, e);
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
	struct trk_offers view = servers->of.offers;
	size_t size = view.n * sizeof(*view.list);
	TRK_BUF_LOCAL(b, JSON_MAX);

	/* Selecting the rows reorders the list, so a copy is used. */
	view.list = malloc(size ? size : 1);
	if (!view.list)
		return NULL;
	if (size)
		memcpy(view.list, servers->of.offers.list, size);
	view.advice.list = view.list;
	trk__offers_limit(&view, limit ? limit : SIZE_MAX);
	trk__offers_json(&b, &view);
	free(view.list);
	return trk__buf_take(&b);
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

static int cost_by(const struct trk_catalog *c, const struct trk_recording *recording,
		   const struct trk_cloud *cloud, struct trk_cost *ret)
{
	struct trk_advice *advice = malloc(sizeof(*advice));
	const struct trk_busy *busy = NULL;
	bool has = advice && trk__recording_advise(recording, advice, &busy) == 0;
	int r = advice ? trk__cost_of_run(c, &recording->record, cloud, has ? advice : NULL, busy,
					  ret)
		       : -ENOMEM;

	free(advice);
	return r;
}

int trk_recording_bill(const struct trk_recording *recording, const struct trk_catalog *catalog,
		       const char *instance, struct trk_bill *ret)
{
	const struct trk_record *record = &recording->record;
	struct trk_cloud cloud = record->place.cloud;
	struct trk_cost *cost;
	int r = 0;

	if (!catalog && !record->place.has_cost)
		return -TRK_ERR_NODATA;
	if (instance)
		r = trk__cloud_state(instance, &cloud);
	if (r < 0)
		return r;
	cost = malloc(sizeof(*cost));
	if (!cost)
		return -ENOMEM;
	*cost = record->place.cost;
	if (catalog)
		r = cost_by(catalog, recording, &cloud, cost);
	if (r == 0)
		*ret = bill_of(cost);
	free(cost);
	return r;
}
