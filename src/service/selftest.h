/* doctor --selftest: track jobs that measure their own use, and compare. */
#ifndef TRK_SERVICE_SELFTEST_H
#define TRK_SERVICE_SELFTEST_H

#include "base/error.h"
#include "service/known_work.h"

enum trk_selftest_state { TRK_SELFTEST_HOLDS, TRK_SELFTEST_WRONG, TRK_SELFTEST_UNTESTED };

/* One figure: what the job used, and what the tracker measured. */
struct trk_selftest_figure {
	const struct trk_known_work *work;
	double truth; /* NaN: not known */
	struct trk_quantity told;
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
