/* Jobs that use a known amount of CPU time, memory or disk, for `doctor --selftest` and for trials
 * of other trackers. */
#ifndef TRK_CLI_KNOWN_WORK_H
#define TRK_CLI_KNOWN_WORK_H

#include "model/run.h"

/* A job, and the figure that it measures about itself. */
struct cli_known_work {
	const char *name;
	const char *text;     /* what it does, for a table */
	enum trk_total total; /* the figure that it is about */
	/* Does the work. Returns the figure, in the unit of the total; NaN where the system refused
	 * a part of the work. */
	double (*run)(const char *folder);
};

enum { CLI_KNOWN_WORKS = 7 };
extern const struct cli_known_work cli_known_works[CLI_KNOWN_WORKS];

/* By name, or NULL. */
const struct cli_known_work *cli_known_work_find(const char *name);

#endif
