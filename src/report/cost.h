/* What a run cost on the server that it ran on, and what it would cost on the cheapest one there. */
#ifndef TRK_REPORT_COST_H
#define TRK_REPORT_COST_H

#include "catalog/catalog.h"
#include "record/run.h"

/* Work out the cost of a run that stood at `cloud` by the prices of the catalogue; `reason` of *ret says
 * why something is not known. The best server is of the same vendor, region and architecture, on demand or
 * spot as the run's was; neither side pays for a boot. 0 or -ENOMEM. */
int trk__cost_of_run(const struct trk_catalog *c, const struct trk_record *record,
		     const struct trk_cloud *cloud, struct trk_cost *ret);

#endif
