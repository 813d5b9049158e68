/* The usual course of a job over time, from the recordings of its earlier successful runs. */
#ifndef TRK_SERVICE_USUAL_COURSE_H
#define TRK_SERVICE_USUAL_COURSE_H

#include "report/usual_course.h"
#include "service/runs.h"

/* Read the newest of them: TRK_COURSE_RUNS_MAX at most, and no more than a few MB of recordings, to
 * limit the time. *ret is owned (free); NULL if there are too few. 0 or -ENOMEM. */
int trk__job_runs_usual(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_usual_course **ret);

#endif
