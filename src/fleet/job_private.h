/* State shared by the parts of the computation of one job. */
#ifndef TRK_FLEET_JOB_PRIVATE_H
#define TRK_FLEET_JOB_PRIVATE_H

#include "advise/cpu.h"
#include "fleet/job.h"

struct trk_fleet_work {
	const struct trk_fleet_rows *rows;
	struct trk_fleet_job *job;
	const struct trk_fleet_run *run;    /* all of the job, oldest first */
	const struct trk_fleet_run *newest; /* the newest TRK_FLEET_RUNS_MAX of them */
	size_t count;
	const struct trk_fleet_run
		*good[TRK_FLEET_RUNS_MAX]; /* of those, the ones that ended well */
	size_t good_count;
	/* Scratch, reused for the next job. */
	struct trk_past_run *past; /* TRK_FLEET_RUNS_MAX of them */
	struct trk_busy *busy;
};

/* Fill job->growth and job->drift. */
void trk__fleet_find_growth(struct trk_fleet_work *w);
void trk__fleet_find_drift(struct trk_fleet_work *w);

#endif
