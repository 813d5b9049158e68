/* What a run cost on the server that it ran on, and what it would cost on the cheapest one
 * there. */
#ifndef TRK_ANSWER_COST_H
#define TRK_ANSWER_COST_H

#include "answer/offers.h"
#include "answer/run_servers.h"

/* Work out what a run cost at `cloud`, by the prices of the catalogue; `reason` of *ret is why
 * something is not known. 0 or -ENOMEM. */
int trk__cost_here(const struct trk_catalog *c, const struct trk_record *record,
		   const struct trk_cloud *cloud, struct trk_cost *ret);
/* The same, and the best server. `advice` is from all runs of the job up to this one (service/runs.h). The
 * best server is the first that fits the advice: of the same vendor, region and architecture, on
 * demand or spot as the run's server was. Boot time is not billed. advice NULL: use this run only;
 * busy NULL: that of the run. 0 or -ENOMEM. */
int trk__cost_of_run(const struct trk_catalog *c, const struct trk_record *record,
		     const struct trk_cloud *cloud, const struct trk_advice *advice,
		     const struct trk_busy *busy, struct trk_cost *ret);

/* Update the best server from this catalogue; the cost of the run is unchanged. */
void trk__cost_name_best(const struct trk_catalog *c, const struct trk_record *record,
			 const struct trk_advice *advice, const struct trk_busy *busy,
			 struct trk_cost *cost);

/* Set the best server to the first of the offers; without offers, to none. */
void trk__cost_take_best(struct trk_cost *cost, const struct trk_offers *offers);

#endif
