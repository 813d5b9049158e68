/* What a page has besides its document: style and script, which `make page` builds from web/report,
 * the values of the charts for the script, and the drawing of the processes. */
#ifndef TRK_REPORT_WRITE_PAGE_H
#define TRK_REPORT_WRITE_PAGE_H

#include "report/document.h"

extern const char trk__page_css[], trk__page_js[];
extern const char trk__page_css_hash[], trk__page_js_hash[]; /* "sha256-..." */
/* Style and script of the chart of stacks, from web/lines, for pages that have one. */
extern const char trk__lines_page_css[], trk__lines_page_js[];
extern const char trk__lines_page_css_hash[], trk__lines_page_js_hash[];

/* The charts' values as JSON, at the finest resolution that the size limit of a page allows. */
void trk__html_data(struct trk_buf *b, const struct trk_doc *d);
/* The processes on the axis of time. */
void trk__html_lanes(struct trk_buf *b, const struct trk_doc *d);
/* The axis of time below charts and lanes. */
void trk__html_axis(struct trk_buf *b, const struct trk_doc *d);

#endif
