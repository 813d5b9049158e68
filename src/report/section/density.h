/* Processes of a lane that are too many or too short for bars: how many ran at once, and the
 * largest ones for a window in which bars have room. */
#ifndef TRK_REPORT_SECTION_DENSITY_H
#define TRK_REPORT_SECTION_DENSITY_H

#include "report/section/lanes.h"

/* Fill the lane's `alive` and `brief` from those processes of the program that have no bar. */
void trk__density_make(struct trk_doc *d, const struct trk_program_log *log,
		       const struct trk_program_story *story, struct trk_doc_lane *lane);

#endif
