/* The function that a stretch of a run was spent in. */
#ifndef TRK_LINES_DOMINANT_H
#define TRK_LINES_DOMINANT_H

#include "model/lines.h"

/* The innermost of the user's functions that ran, with what they called, for 60 % of the CPU time
 * of a stretch; "": there is none, or too few stacks. Times since the start of the run. 0 or
 * -ENOMEM. */
int trk__lines_dominant(const struct trk_lines *l, double from_s, double to_s, char *ret,
			size_t size);

#endif
