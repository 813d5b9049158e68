/* One view as a JSON document, for `fleet --json` and for the served dashboard: {"schema":
 * "resource-tracker.fleet/1", "what": WHAT, "as_of": S, WHAT: {...}}.
 *
 * Single runs come in pages of matching runs, newest first, `{"runs": [...], "matched": N, "older":
 * {"before": S, "id": ID} or null}`, or alone with their neighbours in the job, `{"run": {...},
 * "previous": ID, "next": ID, "usual": {...}}`. A page begins after a key (start and id of the
 * last run shown), so that new runs do not shift pages. */
#ifndef TRK_FLEET_ANSWER_H
#define TRK_FLEET_ANSWER_H

#include "base/json.h"
#include "fleet/overview.h"

/* ---- runs ---- */

/* All borrowed. Zero-initialised except end and before_s: all runs. */
struct trk_fleet_run_filter {
	const char *job, *scope; /* NULL: of any */
	const char *id;          /* the start of an id; NULL: any */
	int end;                 /* enum trk_fleet_end; -1: any */
	double before_s;         /* start of the last run that was shown; NaN: from the newest */
	const char *before_id;   /* and its id; NULL: none */
	size_t max;              /* largest number of runs */
};

struct trk_fleet_run_page {
	const struct trk_fleet_run **run; /* owned; newest first; views into the rows */
	size_t count;
	size_t matched; /* matching runs on all pages */
	bool more;      /* older ones follow */
};

/* The enum trk_fleet_end of that name, or -1. */
int trk__fleet_end_find(const char *name);
/* 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_run_page_make(const struct trk_fleet_rows *rows,
			     const struct trk_fleet_run_filter *filter,
			     struct trk_fleet_run_page *ret);
void trk__fleet_run_page_release(struct trk_fleet_run_page *page);

/* The object of a page of runs. `jobs`: of the same rows. 0 or -ENOMEM. */
int trk__fleet_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			 const struct trk_fleet_jobs *jobs,
			 const struct trk_fleet_run_filter *filter);

/* By its whole id; NULL: none. */
const struct trk_fleet_run *trk__fleet_find_run(const struct trk_fleet_rows *rows, const char *id);

/* ---- views ---- */

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
