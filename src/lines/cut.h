/* The line of the program at which a run passes from one stretch into the next. */
#ifndef TRK_LINES_CUT_H
#define TRK_LINES_CUT_H

#include "model/lines.h"

/* Node of the line that the run passes to at at_s (seconds since its start): in the innermost
 * function that goes on running, the first of the lines that run after it and not before.
 * TRK_LINES_ROOT: not known, as the stacks of no main thread show it. Needs the windows of the run
 * (struct trk_lines.keeps_windows). */
uint32_t trk__lines_cut(const struct trk_lines *l, double at_s);

#endif
