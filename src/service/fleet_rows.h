/* The rows of the views over many jobs, from the history. */
#ifndef TRK_SERVICE_FLEET_ROWS_H
#define TRK_SERVICE_FLEET_ROWS_H

#include "fleet/rows.h"

/* Read all runs into `ret`, which the caller initialised with its time, and sort them. If there are
 * more than 50,000 runs, those older than 120 days, or than twice `days`, are left out. 0, or a
 * negative error with *reterr; the caller releases in each case. */
int trk__fleet_rows_read(struct trk_history *h, double days, struct trk_fleet_rows *ret,
			 struct trk_error *reterr);
/* The same for the runs of one job, the newest 220 of them. */
int trk__fleet_rows_read_job(struct trk_history *h, const struct trk_job_key *job,
			     struct trk_fleet_rows *ret, struct trk_error *reterr);

#endif
