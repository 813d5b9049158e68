/* What a run cost on the server that it ran on, and what it would cost on the cheapest one
 * there. */
#ifndef TRK_REPORT_COST_H
#define TRK_REPORT_COST_H

#include "report/offers.h"
#include "report/run_servers.h"

/* Work out what a run cost at `cloud`, by the prices of the catalogue; `reason` of *ret is why
 * something is not known. `advice` is of all runs of the job up to this one (service/runs.h),
 * and the best server is the first one that it finds: of the same vendor, region and
 * architecture, on demand or spot as the run's was. Neither side pays for a boot. advice NULL:
 * this run stands alone; busy NULL: that of the run. 0 or -ENOMEM. */
int trk__cost_of_run(const struct trk_catalog *c, const struct trk_record *record,
		     const struct trk_cloud *cloud, const struct trk_advice *advice,
		     const struct trk_busy *busy, struct trk_cost *ret);

/* Name the best server again, by this catalogue; what the run cost stays as it is. */
void trk__cost_name_best(const struct trk_catalog *c, const struct trk_record *record,
			 const struct trk_advice *advice, const struct trk_busy *busy,
			 struct trk_cost *cost);

/* Take the first of the servers that were found as the best one; without any there is none. */
void trk__cost_take_best(struct trk_cost *cost, const struct trk_offers *offers);

#endif
