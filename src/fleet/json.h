/* The views over many jobs as JSON objects: every figure and every sentence that the terminal and
 * the page show. What is not known is null. */
#ifndef TRK_FLEET_JSON_H
#define TRK_FLEET_JSON_H

#include "base/json.h"
#include "fleet/overview.h"

/* Number of runs that the object of a job lists, newest first. */
enum { TRK_FLEET_RUNS_SHOWN = 20 };

void trk__fleet_sum_json(struct trk_json *j, const struct trk_fleet_sum *sum);
void trk__fleet_overview_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_overview *o);
/* The members of a job's object, without its brackets. */
void trk__fleet_job_members(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job);
/* The key "usual" with the object of its usual figures (null for NULL), and the members of one of
 * its runs. */
void trk__fleet_usual_json(struct trk_json *j, const struct trk_fleet_job *job);
void trk__fleet_run_members(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job, const struct trk_fleet_run *run);
/* Details of one job: chances, events, its newest runs. */
void trk__fleet_job_details(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job, size_t runs);
void trk__fleet_jobs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			  const struct trk_fleet_jobs *jobs);
void trk__fleet_machines_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_machines *machines);

#endif
