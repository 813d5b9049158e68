/* The function in which a part of a run spent its CPU time. */
#ifndef TRK_LINES_DOMINANT_H
#define TRK_LINES_DOMINANT_H

#include "model/lines.h"

/* The innermost of the user's functions that, with its callees, used 60 % of the CPU time of a part
 * of the run; "": there is none, or too few stacks. Times since the start of the run. 0 or
 * -ENOMEM. Stacks are stored in windows: those inside the part are used, if they cover half
 * of it. */
int trk__lines_dominant(const struct trk_lines *l, double from_s, double to_s, char *ret,
			size_t size);

#endif
