/* Jobs that use a known amount of CPU time, memory or disk, for `doctor --selftest` and for trials
 * of other trackers. known_work.c implements them. */
#ifndef TRK_SERVICE_SELFTEST_H
#define TRK_SERVICE_SELFTEST_H

#include "base/error.h"
#include "model/run.h"

/* A job, and the figure that it measures about itself. */
struct trk_known_work {
	const char *name;
	const char *text;     /* what it does, for a table */
	enum trk_total total; /* the figure that it measures */
	/* Does the work. Returns the figure, in the unit of the total; NaN where the system refused
	 * a part of the work. */
	double (*run)(const char *folder);
};

enum { TRK_KNOWN_WORKS_MAX = 8 };
/* At most TRK_KNOWN_WORKS_MAX of them; after the last one there is one without a name. */
extern const struct trk_known_work trk__known_works[];

/* By name, or NULL. */
const struct trk_known_work *trk__known_work_find(const char *name);

/* ---- doctor --selftest: track these jobs, and compare ---- */

enum trk_selftest_state { TRK_SELFTEST_HOLDS, TRK_SELFTEST_WRONG, TRK_SELFTEST_UNTESTED };

/* One figure: what the job used, and what the tracker measured. */
struct trk_selftest_figure {
	const struct trk_known_work *work;
	double truth; /* NaN: not known */
	struct trk_quantity measured;
	/* WRONG: outside of the tolerance of the label, or the job could not be tracked. */
	enum trk_selftest_state state;
	char why[160]; /* of WRONG and UNTESTED */
};

/* Takes about 15 s; `tmp`: where scratch files go. Returns the number of figures, or a negative
 * errno. */
int trk__selftest(const char *tmp, struct trk_selftest_figure ret[TRK_KNOWN_WORKS_MAX],
		  struct trk_error *reterr);

/* Do the work and return what it used in *ret: NaN where the system refused a part of it or, for a
 * figure of disks, `tmp` is on a file system in memory. 0 or a negative errno. */
int trk__selftest_work(const struct trk_known_work *work, const char *tmp, double *ret,
		       struct trk_error *reterr);

#endif
