/* One view as a JSON document, as `fleet --json` prints it and the served dashboard answers:
 * {"schema": "resource-tracker.fleet/1", "what": WHAT, "as_of": S, WHAT: {...}}. */
#ifndef TRK_FLEET_ANSWER_H
#define TRK_FLEET_ANSWER_H

#include "fleet/runs.h"

#define TRK_FLEET_VIEW_LIST(X)                                                                     \
	X(OVERVIEW, "overview")                                                                    \
	X(JOBS, "jobs")                                                                            \
	X(JOB, "job")                                                                              \
	X(RUNS, "runs")                                                                            \
	X(RUN, "run")                                                                              \
	X(MACHINES, "machines")                                                                    \
	X(ALERTS, "alerts")

enum trk_fleet_view {
#define X(id, name) TRK_FLEET_VIEW_##id,
	TRK_FLEET_VIEW_LIST(X)
#undef X
		TRK_FLEET_VIEWS
};
extern const char *const trk__fleet_view_names[TRK_FLEET_VIEWS];
/* -1: there is none of that name. */
int trk__fleet_view_find(const char *name);

struct trk_fleet_question {
	enum trk_fleet_view view;
	size_t job;                       /* index in the rows, of JOB */
	struct trk_fleet_run_filter runs; /* of RUNS */
	const struct trk_fleet_run *run;  /* of RUN */
	const char *alerts;               /* JSON object, of ALERTS; NULL: null */
	unsigned int indent;              /* blanks a level */
};

/* Append the document, with a line end. `v` is of the rows. 0 or a negative error. */
int trk__fleet_answer(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
		      const struct trk_fleet_question *q, struct trk_buf *b);

/* The view of a job of the rows; each is there once. */
const struct trk_fleet_job *trk__fleet_job_at(const struct trk_fleet_jobs *jobs, size_t index);
/* A job by its name, or as "NAME in SCOPE"; rows->jobs: none. */
size_t trk__fleet_named_job(const struct trk_fleet_rows *rows, const char *reference);

#endif
