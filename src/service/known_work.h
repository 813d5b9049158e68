/* Jobs that use a known amount of CPU time, memory or disk, for `doctor --selftest` and for trials
 * of other trackers. */
#ifndef TRK_SERVICE_KNOWN_WORK_H
#define TRK_SERVICE_KNOWN_WORK_H

#include "model/run.h"

/* A job, and the figure that it measures about itself. */
struct trk_known_work {
	const char *name;
	const char *text;     /* what it does, for a table */
	enum trk_total total; /* the figure that it is about */
	/* Does the work. Returns the figure, in the unit of the total; NaN where the system refused
	 * a part of the work. */
	double (*run)(const char *folder);
};

enum { TRK_KNOWN_WORKS = 7 };
extern const struct trk_known_work trk__known_works[TRK_KNOWN_WORKS];

/* By name, or NULL. */
const struct trk_known_work *trk__known_work_find(const char *name);

#endif
