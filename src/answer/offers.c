#include "answer/offers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/os.h"

const struct trk_catalog_server *trk__offers_server(const struct trk_catalog *c,
						    const struct trk_catalog_offer *o)
{
	return &trk__catalog_servers(c, NULL)[o->server];
}

double trk__offers_score(const struct trk_catalog *c, const struct trk_catalog_offer *o)
{
	struct trk_catalog_speed speed;

	return trk__catalog_speed_of(trk__offers_server(c, o), &speed) ? speed.all : (double) NAN;
}

const struct trk_catalog_block *trk__offers_block(const struct trk_catalog *c,
						  const struct trk_catalog_offer *o)
{
	return &trk__catalog_blocks(c, NULL)[o->block];
}

/* ---- the words of a row ---- */

long trk__offers_age_days(const struct trk_offers *o, const struct trk_server_estimate *e)
{
	return trk__catalog_age_days(trk__offers_block(o->c, &e->offer)->date, o->query->today);
}

const char *trk__offers_age(const struct trk_offers *o, const struct trk_server_estimate *e,
			    char text[TRK_OFFER_AGE_SIZE])
{
	bool estimated = trk__offers_block(o->c, &e->offer)->quality == TRK_FACT_EST;
	char age[16];

	(void) trk__catalog_age(trk__offers_age_days(o, e), age);
	(void) snprintf(text, TRK_OFFER_AGE_SIZE, "%s%s%s", age, age[0] && estimated ? ", " : "",
			estimated ? "estimated" : "");
	return text;
}

static void add_remark(char *text, const char *remark)
{
	size_t len = strlen(text);

	(void) snprintf(text + len, TRK_OFFER_REMARK_SIZE - len, "%s%s", len ? ", " : "", remark);
}

const char *trk__offers_update(const struct trk_offers *o, char text[TRK_OFFER_UPDATE_SIZE])
{
	char regions[160] = "", name[80];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < o->n && i < o->limit; i++) {
		const struct trk_catalog_block *b = trk__offers_block(o->c, &o->list[i].offer);

		if (!o->list[i].offer.old)
			continue;
		(void) snprintf(name, sizeof(name), "%s/%s",
				trk__catalog_vendor_id(o->c, b->vendor),
				trk__catalog_region_id(o->c, b->region));
		if (strstr(regions, name) || len + strlen(name) + 2 > sizeof(regions))
			continue;
		len += (size_t) snprintf(regions + len, sizeof(regions) - len, "%s%s",
					 len ? "," : "", name);
	}
	if (len)
		(void) snprintf(text, TRK_OFFER_UPDATE_SIZE,
				"the prices of %s are older than a year. Try: resource-tracker "
				"catalog update --region %s",
				regions, regions);
	return text;
}

const char *trk__offers_remark(const struct trk_offers *o, const struct trk_server_estimate *e,
			       char text[TRK_OFFER_REMARK_SIZE])
{
	text[0] = '\0';
	if (o->costs && e == &o->list[o->advice.cheapest_hour])
		add_remark(text, "cheapest by the hour");
	if (o->costs && !e->speed_known)
		add_remark(text, "speed not known");
	if (trk__offers_server(o->c, &e->offer)->flags & TRK_SERVER_PREVIOUS)
		add_remark(text, "previous generation");
	return text;
}

/* ---- nothing fits ---- */

void trk__offers_shortfall(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
			   unsigned int need, char *text, size_t size)
{
	double gib = 1024.0 * 1024 * 1024;

	if (need == TRK_NEED_VCPUS)
		(void) snprintf(text, size, "%u needed, it has %u", q->vcpus, s->vcpus);
	else if (need == TRK_NEED_MEMORY)
		(void) snprintf(text, size, "%.1f GiB needed, a job gets %.1f of its %.1f",
				(double) q->memory_bytes / gib,
				(double) trk__catalog_usable_bytes(s) / gib,
				s->memory_mib / 1024.0);
	else if (need == TRK_NEED_GPUS)
		(void) snprintf(text, size, "%u needed, it has %u", q->gpus, s->gpu_count);
	else if (need == TRK_NEED_VRAM)
		(void) snprintf(text, size, "%.1f GiB needed, each has %.1f",
				(double) q->vram_bytes / gib, s->vram_mib / 1024.0);
	else if (need == TRK_NEED_STORAGE)
		(void) snprintf(text, size, "%llu GB needed, it has %u",
				(unsigned long long) q->storage_gb, s->storage_gb);
	else if (need == TRK_NEED_ARCH)
		(void) snprintf(text, size, "it is %s", trk__catalog_arch_names[s->arch]);
	else
		(void) snprintf(text, size, "it is %s",
				trk__catalog_allocation_names[s->allocation]);
}

/* Some vendors have types without prices. */
static bool has_prices(const struct trk_catalog *c, const struct trk_catalog_query *q)
{
	size_t n;
	const struct trk_catalog_block *b = trk__catalog_blocks(c, &n);

	for (size_t i = 0; i < n; i++)
		if (b[i].count && (!q->vendors_ok || q->vendors_ok[b[i].vendor]))
			return true;
	return false;
}

static bool fits_an_earlier_one(const struct trk_catalog *c, const struct trk_catalog_query *q)
{
	struct trk_catalog_query wider = *q;
	struct trk_catalog_offer o;
	unsigned int binding = 0;

	wider.previous_generation = true;
	return !q->previous_generation && trk__catalog_nearest(c, &wider, &o, &binding) == 0 &&
	       o.unmet == 0 && trk__offers_server(c, &o)->flags & TRK_SERVER_PREVIOUS;
}

/* Why nothing fits, in words: the binding need, and the nearest miss. */
static void explain_nothing(const struct trk_catalog *c, const struct trk_catalog_query *q,
			    char *text, size_t size)
{
	struct trk_catalog_offer o;
	const struct trk_catalog_server *s;
	unsigned int binding = 0;
	char why[160];

	if (!has_prices(c, q)) {
		(void) snprintf(text, size,
				"the catalogue has types but no prices of this vendor. Try: "
				"resource-tracker catalog update");
		return;
	}
	if (fits_an_earlier_one(c, q)) {
		(void) snprintf(text, size,
				"only servers of previous generations fit. Try: "
				"--previous-generation");
		return;
	}
	if (trk__catalog_nearest(c, q, &o, &binding) < 0) {
		(void) snprintf(text, size,
				"no server is left. Try: more vendors, regions or countries, fewer "
				"exclusions, no spot");
		return;
	}
	if (!binding) {
		(void) snprintf(text, size, "no server meets the needs in time");
		return;
	}
	s = trk__offers_server(c, &o);
	trk__offers_shortfall(q, s, binding, why, sizeof(why));
	(void) snprintf(
		text, size,
		"no server fits; the binding need is %s: %s (%s %s in %s, %.4f USD/h, comes "
		"nearest)",
		trk__catalog_need_name(binding), why, trk__catalog_vendor_id(c, s->vendor),
		trk__catalog_text(c, s->name),
		trk__catalog_region_id(c, trk__catalog_blocks(c, NULL)[o.block].region),
		trk__catalog_usd(o.units));
}

/* ---- finding ---- */

int trk__offers_order(const char *word)
{
	static const char *const words[] = {"price", "run-cost", "score-per-price"};

	for (int i = 0; word && i < 3; i++)
		if (!strcmp(word, words[i]))
			return i;
	return word ? -EINVAL : TRK_ORDER_PRICE;
}

static int by_score_per_price(const void *a, const void *b, void *data)
{
	const struct trk_catalog *c = data;
	const struct trk_server_estimate *x = a, *y = b;
	double p, q;

	if (x->offer.old != y->offer.old)
		return x->offer.old - y->offer.old;
	p = trk__offers_score(c, &x->offer) / x->offer.units;
	q = trk__offers_score(c, &y->offer) / y->offer.units;

	if (isnan(p) || isnan(q))
		return isnan(p) - isnan(q);
	return p > q ? -1 : p < q;
}

/* Search in the order of price, or of score per price. */
static int search(struct trk_offers *o, enum trk_offers_order order)
{
	struct trk_catalog_offer *offers;
	struct trk_catalog view = *o->c;
	int r = trk__catalog_search(o->c, o->query, &offers, &o->n);

	if (r < 0)
		return r;
	o->list = calloc(o->n ? o->n : 1, sizeof(*o->list));
	for (size_t i = 0; o->list && i < o->n; i++)
		o->list[i].offer = offers[i];
	free(offers);
	if (!o->list)
		return -ENOMEM;
	if (order == TRK_ORDER_SCORE_PER_PRICE)
		trk__os_sort(o->list, o->n, sizeof(*o->list), by_score_per_price, &view);
	return o->n ? 0 : -ENOENT;
}

int trk__offers_find(const struct trk_catalog *c, const struct trk_catalog_query *q,
		     enum trk_offers_order order, const struct trk_server_work *work,
		     struct trk_offers *ret)
{
	struct trk_offers o = {.c = c, .query = q, .limit = SIZE_MAX};
	int r;

	o.costs = order == TRK_ORDER_RUN_COST;
	if (o.costs) {
		r = trk__server_advise(c, q, work, &o.advice);
		o.list = o.advice.list;
		o.n = o.advice.n;
	} else {
		r = search(&o, order);
	}
	if (r == -ENOENT) {
		explain_nothing(c, q, o.nothing, sizeof(o.nothing));
		r = 0;
	}
	if (r == 0)
		*ret = o;
	return r;
}

/* Move list[from] up to place `to`; those between move down by one. */
static void move_up(struct trk_server_estimate *list, size_t from, size_t to)
{
	struct trk_server_estimate moved = list[from];

	memmove(list + to + 1, list + to, (from - to) * sizeof(*list));
	list[to] = moved;
}

void trk__offers_limit(struct trk_offers *o, size_t limit)
{
	size_t *hour = &o->advice.cheapest_hour, *run = &o->advice.cheapest_run;
	size_t last = limit;

	o->limit = limit;
	if (!o->costs || limit < 3 || o->n <= limit)
		return;
	if (*hour >= limit) {
		move_up(o->list, *hour, --last);
		*run = *run == *hour ? last : *run + (*run >= last && *run < *hour);
		*hour = last;
	}
	if (*run >= limit) {
		move_up(o->list, *run, --last);
		*hour += *hour >= last && *hour < *run;
		*run = last;
	}
}

void trk__offers_release(struct trk_offers *o)
{
	free(o->list);
	*o = (struct trk_offers){.list = NULL};
}

/* ---- JSON ---- */

static void json_date(struct trk_json *j, const char *key, uint32_t date)
{
	char text[16];

	trk__json_key_text(j, key, trk__catalog_date(date, text));
}

static void json_server(struct trk_json *j, const struct trk_catalog *c,
			const struct trk_catalog_server *s)
{
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, NULL)[s->vendor];

	trk__json_key_or_null(j, "vendor_id", trk__catalog_text(c, v->id));
	trk__json_key_or_null(j, "api_reference", trk__catalog_text(c, s->name));
	trk__json_key_or_null(j, "display_name", trk__catalog_text(c, s->name));
	trk__json_key_double(j, "vcpus", s->vcpus);
	trk__json_key_double(j, "memory_amount", s->memory_mib);
	trk__json_key_double(j, "memory_usable", (double) (trk__catalog_usable_bytes(s) >> 20));
	trk__json_key_or_null(j, "cpu_architecture", trk__catalog_arch_names[s->arch]);
	trk__json_key_or_null(j, "cpu_allocation", trk__catalog_allocation_names[s->allocation]);
	trk__json_key_double(j, "gpu_count", s->gpu_count);
	trk__json_key_or_null(j, "gpu_model", trk__catalog_text(c, s->gpu_model));
	trk__json_key_double(j, "gpu_memory_min",
			     s->vram_mib ? (double) s->vram_mib : (double) NAN);
	trk__json_key_double(j, "storage_size",
			     s->storage_gb ? (double) s->storage_gb : (double) NAN);
	trk__json_key_bool(j, "previous_generation", (s->flags & TRK_SERVER_PREVIOUS) != 0);
}

static void json_offer(struct trk_json *j, const struct trk_offers *r,
		       const struct trk_server_estimate *e)
{
	const struct trk_catalog *c = r->c;
	const struct trk_catalog_server *s = trk__offers_server(c, &e->offer);
	const struct trk_catalog_block *b = &trk__catalog_blocks(c, NULL)[e->offer.block];
	const struct trk_catalog_prices p = trk__catalog_prices(c, NULL);
	uint32_t at = e->offer.price;
	const struct trk_catalog_region *g = &trk__catalog_regions(c, NULL)[b->region];
	const struct trk_catalog_source *src = &trk__catalog_sources(c, NULL)[b->source];
	bool saves = p.saving[at] != TRK_SAVING_UNKNOWN;
	struct trk_catalog_speed speed = {NAN, NAN, ""};
	char why[160] = "";
	long age;

	(void) trk__catalog_speed_of(s, &speed);
	trk__json_open(j, '{');
	json_server(j, c, s);
	trk__json_key_double(j, "min_price_ondemand", trk__catalog_usd(p.price[at]));
	trk__json_key_double(j, "min_price_spot",
			     saves ? trk__catalog_usd(p.price[at]) * (100 - p.saving[at]) / 100
				   : (double) NAN);
	trk__json_key_double(j, "spot_saving_percent",
			     saves ? (double) p.saving[at] : (double) NAN);
	trk__json_key_double(j, "spot_interruption_class",
			     p.klass[at] == TRK_CLASS_UNKNOWN ? (double) NAN
							      : (double) p.klass[at]);
	trk__json_key_or_null(j, "region_id", trk__catalog_text(c, g->id));
	trk__json_key_or_null(j, "country_id", g->country);
	trk__json_key_double(j, "score", speed.all);
	trk__json_key_or_null(j, "score_basis", speed.basis);
	trk__json_key_double(j, "score_per_price", speed.all / trk__catalog_usd(p.price[at]));
	trk__json_key_or_null(j, "price_source", trk__catalog_text(c, src->id));
	json_date(j, "price_date", b->date);
	trk__json_key_or_null(j, "price_quality", trk__catalog_quality_names[b->quality]);
	age = r->query ? trk__offers_age_days(r, e) : -1;
	trk__json_key_double(j, "price_age_days", age < 0 ? (double) NAN : (double) age);
	trk__json_key_bool(j, "price_estimated", b->quality == TRK_FACT_EST);
	if (r->costs) {
		trk__json_key_double(j, "run_seconds", e->run_s);
		trk__json_key_double(j, "billed_seconds", e->billed_s);
		trk__json_key_double(j, "run_cost", e->cost_usd);
		trk__json_key_bool(j, "speed_known", e->speed_known);
	}
	if (e->offer.unmet) {
		trk__json_key_or_null(j, "short_of", trk__catalog_need_name(e->offer.unmet));
		if (r->query)
			trk__offers_shortfall(r->query, s, e->offer.unmet, why, sizeof(why));
		trk__json_key_or_null(j, "short_by", why);
	}
	trk__json_close(j, '}');
}

void trk__offers_members_json(struct trk_json *j, const struct trk_offers *r)
{
	trk__json_key_open(j, "servers", '[');
	for (size_t i = 0; i < r->n && i < r->limit; i++)
		json_offer(j, r, &r->list[i]);
	trk__json_close(j, ']');
	if (!r->costs || !r->n)
		return;
	trk__json_key(j, "cheapest_per_hour");
	json_offer(j, r, &r->advice.list[r->advice.cheapest_hour]);
	trk__json_key_open(j, "near_misses", '[');
	for (size_t i = 0; i < r->advice.nears; i++)
		json_offer(j, r, &r->advice.near[i]);
	trk__json_close(j, ']');
}

void trk__offers_json(struct trk_buf *b, const struct trk_offers *r)
{
	struct trk_json j;

	trk__json_begin(&j, b, 2, "resource-tracker.servers/1");
	json_date(&j, "catalog_date", r->c->image->date);
	trk__json_key_double(&j, "found", (double) r->n);
	trk__json_key_or_null(&j, "reason", r->nothing);
	trk__offers_members_json(&j, r);
	trk__json_end(&j);
}
