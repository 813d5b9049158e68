/* Measured savings of the newest change of a job's request: the mean cost of the successful runs
 * with the request of the newest run, compared with that of the successful runs before. */
#ifndef TRK_FLEET_CHANGED_H
#define TRK_FLEET_CHANGED_H

#include "fleet/overview.h"

struct trk_fleet_changed {
	double from_s; /* start of the first run with the current request */
	const struct trk_fleet_run *before, *since; /* views; one run of each */
	size_t runs_before, runs_since; /* successful runs with a known cost, at least 3 */
	double usd_before, usd_since;   /* mean cost of a run */
	double saves_usd_month; /* at the pace of the last 30 days; negative: it costs more */
};

/* False: the request did not change after `since_s`, or too few runs have a known cost. */
bool trk__fleet_changed(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			double since_s, struct trk_fleet_changed *ret);
/* "from 32 cores, 128 GiB to 8 cores, 32 GiB on 18 Nov: $1.20 -> $0.40 a run, ...". */
void trk__fleet_changed_text(const struct trk_fleet_rows *rows, const struct trk_fleet_changed *c,
			     char text[TRK_FLEET_TEXT_SIZE]);

#endif
