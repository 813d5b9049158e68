#include "cli/run_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/server.h"
#include "catalog/image.h"
#include "base/maths.h"
#include "cli/catalog_files.h"
#include "report/advice.h"

enum { CLI_SLICES_MAX = 2048 };

/* Everything that one answer is made from. */
struct costing {
	const struct trk_catalog *c;
	const struct trk_record *record;
	struct trk_cost *cost;
	int vendor, region, server; /* indices */
	struct trk_run_cost paid;
	uint8_t regions[TRK_CATALOG_REGIONS_MAX];
	struct trk_busy_slice slices[CLI_SLICES_MAX];
	size_t n;
};

static void date_text(uint32_t date, char text[16])
{
	text[0] = '\0';
	if (date)
		(void) snprintf(text, 16, "%04u-%02u-%02u", date / 10000 % 10000, date / 100 % 100,
				date % 100);
}

/* A vendor with one price for all places has one region, whatever its machines call theirs. */
static int find_region(const struct trk_catalog *c, int vendor, const struct trk_cloud *cloud)
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

static bool find_here(struct costing *k)
{
	const struct trk_cloud *cloud = &k->record->place.cloud;
	char *reason = k->cost->reason;
	size_t size = sizeof(k->cost->reason);

	k->vendor = trk__catalog_find_vendor(k->c, cloud->vendor);
	if (k->vendor < 0) {
		(void) snprintf(reason, size, "the catalogue has no vendor %s", cloud->vendor);
		return false;
	}
	if (!cloud->instance_type[0]) {
		(void) snprintf(reason, size, "the type of server is not known%s%.100s",
				cloud->reason[0] ? ": " : "", cloud->reason);
		return false;
	}
	k->server = trk__catalog_find_server(k->c, k->vendor, cloud->instance_type);
	k->region = find_region(k->c, k->vendor, cloud);
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
	bool spot = !strcmp(k->record->place.cloud.allocation, "spot");
	struct trk_catalog_offer offer;
	struct trk_cost *cost = k->cost;
	uint8_t saving;
	size_t n;

	if (trk__server_run_cost(k->c, k->server, k->region, &use, &k->paid) < 0 ||
	    trk__catalog_price_in(k->c, k->server, k->region, &offer) < 0) {
		(void) snprintf(cost->reason, sizeof(cost->reason),
				"the catalogue has no price of %s there",
				k->record->place.cloud.instance_type);
		return false;
	}
	(void) snprintf(cost->price_source, sizeof(cost->price_source), "%s", k->paid.source);
	date_text(k->paid.date, cost->price_date);
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
	cost->usd = k->paid.usd;
	cost->usd_per_hour = k->paid.usd_per_hour;
	cost->billed_s = k->paid.billed_s;
	cost->idle_cpu_usd = k->paid.idle_cpu_usd;
	cost->idle_memory_usd = k->paid.idle_memory_usd;
	return true;
}

static void take_slice(void *data, double value, double seconds)
{
	struct costing *k = data;

	/* What the buckets cannot hold one by one is added to the last, so that no work is lost. */
	if (k->n < CLI_SLICES_MAX)
		k->slices[k->n++] = (struct trk_busy_slice){value, seconds};
	else
		k->slices[CLI_SLICES_MAX - 1].seconds += seconds;
}

/* The cheapest server for what the run needed: of the same vendor, in the same region, of the same
 * architecture, on demand or spot as it was. Neither side pays for a boot. */
static void find_best(struct costing *k, const struct trk_advice *need)
{
	size_t n;
	const struct trk_catalog_server *here = &trk__catalog_servers(k->c, &n)[k->server];
	bool spot = !strcmp(k->record->place.cloud.allocation, "spot");
	struct trk_catalog_query query = {
		.vcpus = isnan(need->cores) ? 1 : (uint32_t) trk__ceil(need->cores),
		.memory_bytes =
			isnan(need->memory_mib) ? 0 : (uint64_t) (need->memory_mib * 1048576),
		.gpus = (uint32_t) need->gpus,
		.vram_bytes = (uint64_t) (need->vram_mib * 1048576),
		.archs = 1u << here->arch,
		/* Not burstable: its price holds for a share of its cores only. */
		.allocations = 1u << TRK_ALLOCATION_DEDICATED | 1u << TRK_ALLOCATION_SHARED,
		.regions_ok = k->regions,
		.spot = spot,
	};
	struct trk_server_work work = {.slices = k->slices};
	struct trk_server_advice advice;
	const struct trk_catalog_block *block;
	struct trk_cost *cost = k->cost;

	k->regions[k->region] = 1;
	trk__stats_each(k->record->stats, TRK_PROCESS_CPU_USAGE, take_slice, k);
	if (k->n == 0)
		return;
	work.n = k->n;
	trk__server_measured_on(&work, here);
	if (trk__server_advise(k->c, &query, &work, &advice) < 0)
		return;
	block = &trk__catalog_blocks(k->c, &n)[advice.list[0].offer.block];
	(void) snprintf(cost->best_vendor, sizeof(cost->best_vendor), "%s",
			trk__catalog_text(k->c, trk__catalog_vendors(k->c, &n)[block->vendor].id));
	(void) snprintf(
		cost->best_type, sizeof(cost->best_type), "%s",
		trk__catalog_text(
			k->c, trk__catalog_servers(k->c, &n)[advice.list[0].offer.server].name));
	(void) snprintf(cost->best_region, sizeof(cost->best_region), "%s",
			trk__catalog_text(k->c, trk__catalog_regions(k->c, &n)[block->region].id));
	(void) snprintf(cost->best_price_source, sizeof(cost->best_price_source), "%s",
			trk__catalog_text(k->c, trk__catalog_sources(k->c, &n)[block->source].id));
	date_text(block->date, cost->best_price_date);
	cost->best_usd = advice.list[0].cost_usd;
	cost->best_usd_per_hour = trk__catalog_usd(advice.list[0].offer.units);
	cost->best_run_s = advice.list[0].run_s;
	cost->saving_usd = trk__server_saving_usd(&k->paid, &advice);
	trk__server_advice_release(&advice);
}

static void work_out(const struct trk_catalog *c, struct trk_record *record)
{
	struct costing *k = calloc(1, sizeof(*k));
	struct trk_advice *need = malloc(sizeof(*need));

	if (k && need) {
		k->c = c;
		k->record = record;
		k->cost = &record->place.cost;
		if (find_here(k) && price_here(k) && strcmp(record->run.kind, "system") != 0 &&
		    trk__advice_of_run(record, need) == 0)
			find_best(k, need);
		record->place.has_cost = true;
	}
	free(k);
	free(need);
}

void cli_run_cost(void *data, struct trk_record *record)
{
	struct cli_catalog_choice choice = {.quiet = true};
	struct cli_catalog *catalog;

	(void) data;
	if (!record->place.has_cloud || !record->place.cloud.vendor[0])
		return;
	catalog = calloc(1, sizeof(*catalog));
	if (catalog && cli_catalog_load(&choice, catalog) == 0) {
		work_out(&catalog->c, record);
		trk__catalog_release(&catalog->c);
	} else {
		record->place.has_cost = true;
		(void) snprintf(record->place.cost.reason, sizeof(record->place.cost.reason),
				"the catalogue cannot be read: resource-tracker catalog info");
	}
	free(catalog);
}
