/* The drawings of a page: SVG without a style of its own (the page's policy allows none), so that
 * CSS colours them and a script moves only their view. */
#ifndef TRK_REPORT_WRITE_SVG_H
#define TRK_REPORT_WRITE_SVG_H

#include "report/document.h"

/* The textures of areas, once a page. */
void trk__svg_patterns(struct trk_buf *b);
/* The labels at the heights of a chart: its levels, and a limit within its axis. */
void trk__svg_levels(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c);
void trk__svg_chart(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c);
/* The strip of phases above the charts. */
void trk__svg_phases(struct trk_buf *b, const struct trk_doc *d);
/* A bullet bar; NaN: nothing is drawn. */
void trk__svg_bar(struct trk_buf *b, double peak, double mean);
/* One bar of the parts of a whole. */
void trk__svg_parts(struct trk_buf *b, const struct trk_doc_part *part, size_t count);
/* The processes on the axis of time. */
void trk__html_lanes(struct trk_buf *b, const struct trk_doc *d);
/* The axis of time below charts and lanes. */
void trk__html_axis(struct trk_buf *b, const struct trk_doc *d);

#endif
