/* What a page has besides its document: style and script, built by `make page` from web/report. */
#ifndef TRK_REPORT_WRITE_PAGE_H
#define TRK_REPORT_WRITE_PAGE_H

#include "report/document.h"

extern const char trk__page_css[], trk__page_js[];
extern const char trk__page_css_hash[], trk__page_js_hash[]; /* "sha256-..." */
/* Style and script of the chart of stacks, from web/lines, for pages that have one. */
extern const char trk__lines_page_css[], trk__lines_page_js[];
extern const char trk__lines_page_css_hash[], trk__lines_page_js_hash[];

#endif
