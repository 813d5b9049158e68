#include "advise/run_cost.h"

#include <errno.h>
#include <math.h>

#include "advise/cpu.h"
#include "base/maths.h"

double trk__server_billed_s(const struct trk_catalog_vendor *v, double seconds)
{
	double steps = trk__floor(seconds / v->step_s);

	/* A millionth of a second is rounding, not another step. */
	if (seconds - steps * v->step_s > 1e-6)
		steps += 1;
	seconds = steps * v->step_s;
	return seconds > v->minimum_s ? seconds : v->minimum_s;
}

static double idle_share(double used, double whole)
{
	double share = 1 - used / whole;

	return share < 0 ? 0 : share;
}

int trk__server_run_cost(const struct trk_catalog *c, int server, int region,
			 const struct trk_run_use *use, struct trk_run_cost *ret)
{
	const struct trk_catalog_server *s = &trk__catalog_servers(c, NULL)[server];
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, NULL)[s->vendor];
	const struct trk_catalog_block *blocks = trk__catalog_blocks(c, NULL);
	const struct trk_catalog_source *sources = trk__catalog_sources(c, NULL);
	double cpu_part = TRK_PRICE_CORE_HOUR * s->vcpus;
	double memory_part = TRK_PRICE_GIB_HOUR * s->memory_mib / 1024;
	struct trk_catalog_offer offer;
	struct trk_run_cost cost = {.source = "", .quality = TRK_FACT_NEGOTIATED};

	if (isnan(use->usd_per_hour)) {
		if (trk__catalog_price_in(c, server, region, &offer) < 0)
			return -ENOENT;
		cost.usd_per_hour = trk__catalog_usd(offer.units);
		cost.date = blocks[offer.block].date;
		cost.quality = blocks[offer.block].quality;
		cost.source = trk__catalog_text(c, sources[blocks[offer.block].source].id);
	} else {
		cost.usd_per_hour = use->usd_per_hour;
	}
	cost.billed_s = trk__server_billed_s(v, use->duration_s);
	cost.usd = cost.usd_per_hour * cost.billed_s / 3600;
	cpu_part /= cpu_part + memory_part;
	cost.idle_cpu_usd =
		isnan(use->cpu_s) || use->duration_s <= 0
			? NAN
			: cost.usd * cpu_part * idle_share(use->cpu_s / use->duration_s, s->vcpus);
	cost.idle_memory_usd = isnan(use->peak_bytes)
				       ? NAN
				       : cost.usd * (1 - cpu_part) *
						 idle_share(use->peak_bytes,
							    (double) trk__catalog_usable_bytes(s));
	*ret = cost;
	return 0;
}
