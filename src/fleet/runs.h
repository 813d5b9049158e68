/* Single runs of the rows: pages of matching runs, newest first, and one run with its neighbours in
 * the job. A page begins after a key (start and id of the last run shown), so that new runs do not
 * shift pages. */
#ifndef TRK_FLEET_RUNS_H
#define TRK_FLEET_RUNS_H

#include "fleet/overview.h"

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

/* By its whole id; NULL: none. */
const struct trk_fleet_run *trk__fleet_find_run(const struct trk_fleet_rows *rows, const char *id);

/* Objects: `{"runs": [...], "matched": N, "older": {"before": S, "id": ID} or null}`, and
 * `{"run": {...}, "previous": ID, "next": ID, "usual": {...}}`. `jobs` is of the same rows. */
void trk__fleet_run_page_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_jobs *jobs,
			      const struct trk_fleet_run_page *page);
void trk__fleet_one_run_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			     const struct trk_fleet_jobs *jobs, const struct trk_fleet_run *run);

#endif
