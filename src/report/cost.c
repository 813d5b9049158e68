#include "report/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run_needs.h"

/* Everything that one answer is made from. */
struct costing {
	const struct trk_catalog *c;
	const struct trk_record *record;
	const struct trk_cloud *cloud;
	struct trk_cost *cost;
	int vendor, region, server; /* indices */
	struct trk_run_cost paid;
	uint8_t regions[TRK_CATALOG_REGIONS_MAX];
	struct trk_run_work work;
};

static bool find_here(struct costing *k)
{
	const struct trk_cloud *cloud = k->cloud;
	char *reason = k->cost->reason;
	size_t size = sizeof(k->cost->reason);

	if (!cloud->vendor[0]) {
		(void) snprintf(reason, size, "in which cloud it ran is not known");
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

/* Price and cost of the run where it ran. Spot is what it typically costs, not what it did. */
static bool price_here(struct costing *k)
{
	const struct trk_outcome *o = &k->record->outcome;
	struct trk_run_use use = {
		.duration_s = (double) o->duration_ns / 1e9,
		.cpu_s = o->total[TRK_TOTAL_CPU_S].value,
		.peak_bytes = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value * 1048576,
		.usd_per_hour = NAN,
	};
	bool spot = !strcmp(k->cloud->allocation, "spot");
	struct trk_catalog_offer offer;
	struct trk_cost *cost = k->cost;
	uint8_t saving;
	size_t n;

	if (trk__server_run_cost(k->c, k->server, k->region, &use, &k->paid) < 0 ||
	    trk__catalog_price_in(k->c, k->server, k->region, &offer) < 0) {
		(void) snprintf(cost->reason, sizeof(cost->reason),
				"the catalogue has no price of %s there", k->cloud->instance_type);
		return false;
	}
	(void) snprintf(cost->price_source, sizeof(cost->price_source), "%s", k->paid.source);
	(void) trk__catalog_date(k->paid.date, cost->price_date);
	(void) snprintf(cost->price_quality, sizeof(cost->price_quality), "%s",
			trk__catalog_quality_names[k->paid.quality]);
	saving = trk__catalog_prices(k->c, &n)[offer.price].saving;
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
	return true;
}

/* The cheapest server for what the run needed. */
static void find_best(struct costing *k, const struct trk_advice *need)
{
	size_t n;
	const struct trk_catalog_server *here = &trk__catalog_servers(k->c, &n)[k->server];
	struct trk_server_advice advice;
	const struct trk_catalog_block *block;
	struct trk_cost *cost = k->cost;
	struct trk_catalog_query query;

	trk__run_needs_amounts(need, &query);
	query.archs = 1u << here->arch;
	query.regions_ok = k->regions;
	query.spot = !strcmp(k->cloud->allocation, "spot");
	k->regions[k->region] = 1;
	trk__run_work_read(&k->work, k->c, NULL, k->record);
	trk__server_measured_on(&k->work.work, here);
	if (trk__server_advise(k->c, &query, &k->work.work, &advice) < 0)
		return;
	block = &trk__catalog_blocks(k->c, &n)[advice.list[0].offer.block];
	(void) snprintf(cost->best_vendor, sizeof(cost->best_vendor), "%s",
			trk__catalog_vendor_id(k->c, block->vendor));
	(void) snprintf(cost->best_type, sizeof(cost->best_type), "%s",
			trk__catalog_server_name(k->c, advice.list[0].offer.server));
	(void) snprintf(cost->best_region, sizeof(cost->best_region), "%s",
			trk__catalog_region_id(k->c, block->region));
	(void) snprintf(cost->best_price_source, sizeof(cost->best_price_source), "%s",
			trk__catalog_text(k->c, trk__catalog_sources(k->c, &n)[block->source].id));
	(void) trk__catalog_date(block->date, cost->best_price_date);
	cost->best_usd = advice.list[0].cost_usd;
	cost->best_usd_per_hour = trk__catalog_usd(advice.list[0].offer.units);
	cost->best_run_s = advice.list[0].run_s;
	cost->saving_usd = trk__server_saving_usd(&k->paid, &advice);
	trk__server_advice_release(&advice);
}

int trk__cost_of_run(const struct trk_catalog *c, const struct trk_record *record,
		     const struct trk_cloud *cloud, struct trk_cost *ret)
{
	struct costing *k = calloc(1, sizeof(*k));
	struct trk_advice *need = malloc(sizeof(*need));
	struct trk_place *blank = malloc(sizeof(*blank));
	int r = k && need && blank ? 0 : -ENOMEM;

	if (r == 0) {
		trk__place_init(blank);
		*ret = blank->cost;
		k->c = c;
		k->record = record;
		k->cloud = cloud;
		k->cost = ret;
		if (find_here(k) && price_here(k) && strcmp(record->run.kind, "system") != 0 &&
		    trk__advice_of_run(record, need) == 0)
			find_best(k, need);
	}
	free(blank);
	free(k);
	free(need);
	return r;
}
