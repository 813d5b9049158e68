#include "answer/cost.h"
#include "advise/run_cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct costing {
	const struct trk_catalog *c;
	const struct trk_record *record;
	const struct trk_cloud *cloud;
	struct trk_cost *cost;
	int vendor, region, server; /* indices */
	struct trk_run_cost paid;
};

static bool find_here(struct costing *k)
{
	const struct trk_cloud *cloud = k->cloud;
	char *reason = k->cost->reason;
	size_t size = sizeof(k->cost->reason);

	if (!cloud->vendor[0]) {
		(void) snprintf(reason, size, "the cloud in which it ran is not known");
		return false;
	}
	k->vendor = trk__catalog_find_vendor(k->c, cloud->vendor);
	if (k->vendor < 0) {
		(void) snprintf(reason, size, "the catalogue has no vendor %s", cloud->vendor);
		return false;
	}
	if (!cloud->instance_type[0]) {
		(void) snprintf(reason, size, "the type of server is not known%s%.280s",
				cloud->reason[0] ? ": " : "", cloud->reason);
		return false;
	}
	k->server = trk__catalog_find_server(k->c, k->vendor, cloud->instance_type);
	k->region = trk__run_region(k->c, k->vendor, cloud);
	if (k->server < 0)
		(void) snprintf(reason, size, "the catalogue has no type %s of %s",
				cloud->instance_type, cloud->vendor);
	else if (k->region < 0)
		(void) snprintf(reason, size, "the catalogue has no region %s of %s",
				cloud->region[0] ? cloud->region : "(unknown)", cloud->vendor);
	return k->server >= 0 && k->region >= 0;
}

/* Price and cost of the run where it ran. The spot price is the typical one, not the actual one. */
static void price_here(struct costing *k)
{
	const struct trk_outcome *o = &k->record->outcome;
	struct trk_run_use use = {
		.duration_s = (double) o->duration_ns / 1e9,
		.cpu_s = o->total[TRK_TOTAL_CPU_S].value,
		.peak_bytes = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value * 1048576,
		.usd_per_hour = NAN,
	};
	double needed = o->total[TRK_TOTAL_PEAK_NEEDED_MIB].value * 1048576;
	bool spot = !strcmp(k->cloud->allocation, "spot");
	struct trk_catalog_offer offer;
	struct trk_cost *cost = k->cost;
	uint8_t saving;

	if (needed > use.peak_bytes)
		use.peak_bytes = needed;
	if (trk__server_run_cost(k->c, k->server, k->region, &use, &k->paid) < 0 ||
	    trk__catalog_price_in(k->c, k->server, k->region, &offer) < 0) {
		(void) snprintf(cost->reason, sizeof(cost->reason),
				"the catalogue has no price of %s there", k->cloud->instance_type);
		return;
	}
	(void) snprintf(cost->price_source, sizeof(cost->price_source), "%s", k->paid.source);
	(void) trk__catalog_date(k->paid.date, cost->price_date);
	(void) snprintf(cost->price_quality, sizeof(cost->price_quality), "%s",
			trk__catalog_quality_names[k->paid.quality]);
	saving = trk__catalog_prices(k->c, NULL).saving[offer.price];
	if (spot && saving != TRK_SAVING_UNKNOWN) {
		use.usd_per_hour = k->paid.usd_per_hour * (100 - saving) / 100;
		(void) trk__server_run_cost(k->c, k->server, k->region, &use, &k->paid);
		(void) snprintf(cost->price_quality, sizeof(cost->price_quality), "%s",
				trk__catalog_quality_names[TRK_FACT_EST]);
		(void) snprintf(cost->reason, sizeof(cost->reason),
				"a spot server: the list price less the typical saving of %u %%",
				saving);
	} else if (spot) {
		(void) snprintf(cost->reason, sizeof(cost->reason),
				"a spot server whose saving is not known: the price on demand");
	}
	if (k->cloud->inferred[0] && !cost->reason[0])
		(void) snprintf(cost->reason, sizeof(cost->reason), "the type is inferred: %.280s",
				k->cloud->inferred);
	cost->usd = k->paid.usd;
	cost->usd_per_hour = k->paid.usd_per_hour;
	cost->billed_s = k->paid.billed_s;
	cost->idle_cpu_usd = k->paid.idle_cpu_usd;
	cost->idle_memory_usd = k->paid.idle_memory_usd;
}

void trk__cost_take_best(struct trk_cost *cost, const struct trk_offers *offers)
{
	const struct trk_catalog *c = offers->c;
	const struct trk_server_estimate *best =
		offers->n && offers->costs ? &offers->list[0] : NULL;
	const struct trk_catalog_block *block;
	size_t n;

	cost->best_vendor[0] = cost->best_type[0] = cost->best_region[0] = '\0';
	cost->best_price_source[0] = cost->best_price_date[0] = '\0';
	cost->best_usd = cost->best_usd_per_hour = cost->best_run_s = cost->saving_usd = NAN;
	if (!best)
		return;
	block = trk__offers_block(c, &best->offer);
	(void) snprintf(cost->best_vendor, sizeof(cost->best_vendor), "%s",
			trk__catalog_vendor_id(c, block->vendor));
	(void) snprintf(cost->best_type, sizeof(cost->best_type), "%s",
			trk__catalog_server_name(c, best->offer.server));
	(void) snprintf(cost->best_region, sizeof(cost->best_region), "%s",
			trk__catalog_region_id(c, block->region));
	(void) snprintf(cost->best_price_source, sizeof(cost->best_price_source), "%s",
			trk__catalog_text(c, trk__catalog_sources(c, &n)[block->source].id));
	(void) trk__catalog_date(block->date, cost->best_price_date);
	cost->best_usd = best->cost_usd;
	cost->best_usd_per_hour = trk__catalog_usd(best->offer.units);
	cost->best_run_s = best->run_s;
	cost->saving_usd = cost->usd - cost->best_usd;
}

static void find_best(const struct trk_catalog *c, const struct trk_run_question *question,
		      struct trk_cost *cost)
{
	struct trk_run_servers *servers = calloc(1, sizeof(*servers));

	if (servers && trk__run_servers_read(servers, c, question, NULL) == 0 &&
	    trk__run_servers_find(servers, c, TRK_ORDER_RUN_COST, 1) == 0) {
		trk__cost_take_best(cost, &servers->offers);
		trk__run_servers_release(servers);
	}
	free(servers);
}

void trk__cost_name_best(const struct trk_catalog *c, const struct trk_record *record,
			 const struct trk_advice *advice, const struct trk_busy *busy,
			 struct trk_cost *cost)
{
	const struct trk_run_question question = {.record = record, .advice = advice, .busy = busy};

	if (!isnan(cost->usd))
		find_best(c, &question, cost);
}

int trk__cost_here(const struct trk_catalog *c, const struct trk_record *record,
		   const struct trk_cloud *cloud, struct trk_cost *ret)
{
	struct costing k = {.c = c, .record = record, .cloud = cloud, .cost = ret};
	struct trk_place *blank = malloc(sizeof(*blank));

	if (!blank)
		return -ENOMEM;
	trk__place_init(blank);
	*ret = blank->cost;
	free(blank);
	if (find_here(&k))
		price_here(&k);
	return 0;
}

int trk__cost_of_run(const struct trk_catalog *c, const struct trk_record *record,
		     const struct trk_cloud *cloud, const struct trk_advice *advice,
		     const struct trk_busy *busy, struct trk_cost *ret)
{
	struct trk_run_question question = {
		.record = record, .advice = advice, .busy = busy, .cloud = cloud};
	int r = trk__cost_here(c, record, cloud, ret);
	struct trk_advice *own;

	if (r < 0 || isnan(ret->usd) || !strcmp(record->run.kind, "system"))
		return r;
	own = advice ? NULL : malloc(sizeof(*own));
	if (own && trk__advice_of_run(record, own) == 0)
		question.advice = own;
	if (question.advice)
		find_best(c, &question, ret);
	free(own);
	return 0;
}
