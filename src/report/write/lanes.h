/* The processes of a page on its axis of time. */
#ifndef TRK_REPORT_WRITE_LANES_H
#define TRK_REPORT_WRITE_LANES_H

#include "report/document.h"

void trk__html_lanes(struct trk_buf *b, const struct trk_doc *d);
/* The axis of time below charts and lanes. */
void trk__html_axis(struct trk_buf *b, const struct trk_doc *d);

#endif
