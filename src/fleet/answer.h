/* One view as a JSON document, for `fleet --json` and for the served dashboard: {"schema":
 * "resource-tracker.fleet/1", "what": WHAT, "as_of": S, WHAT: {...}}. */
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
/* The view of that name, or -1. */
int trk__fleet_view_find(const char *name);

struct trk_fleet_question {
	enum trk_fleet_view view;
	size_t job;                       /* index in the rows, of JOB */
	struct trk_fleet_run_filter runs; /* of RUNS */
	const struct trk_fleet_run *run;  /* of RUN */
	const char *alerts;               /* JSON object, of ALERTS; NULL: null */
	unsigned int indent;              /* blanks per level */
};

/* Append the document, with a line end. `v` is of the rows. 0 or a negative error. */
int trk__fleet_answer(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
		      const struct trk_fleet_question *q, struct trk_buf *b);

/* The index of a job by its name or by "NAME in SCOPE"; rows->jobs: not found. */
size_t trk__fleet_named_job(const struct trk_fleet_rows *rows, const char *reference);

#endif
