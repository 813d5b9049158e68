/* The line of the program at which one phase of a run ends and the next begins. */
#ifndef TRK_LINES_CUT_H
#define TRK_LINES_CUT_H

#include "model/lines.h"

/* Node of the line that begins to run at at_s (seconds since the start): in the innermost function
 * that runs before and after at_s, the first line that runs only after it. TRK_LINES_ROOT: unknown,
 * as no main thread's stacks show it. Needs the windows of the run (struct
 * trk_lines.keeps_windows). */
uint32_t trk__lines_cut(const struct trk_lines *l, double at_s);

#endif
