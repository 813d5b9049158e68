/* The chart of stacks in a page: style, place, data and script, for pages that have one. */
#ifndef TRK_REPORT_WRITE_HTML_STACKS_H
#define TRK_REPORT_WRITE_HTML_STACKS_H

#include "report/document.h"

/* The text for a page with stacks, "" for another: the policy of the former allows more. */
const char *trk__html_stacks_if(const struct trk_doc *d, const char *text);

/* In the head, in the section, and after the sections. */
void trk__html_stacks_begin(struct trk_buf *b, const struct trk_doc *d);
void trk__html_stacks(struct trk_buf *b, const char *json);
void trk__html_stacks_end(struct trk_buf *b, const struct trk_doc *d);

/* Built by `make page` from web/lines. */
extern const char trk__lines_page_css[], trk__lines_page_js[];
extern const char trk__lines_page_css_hash[], trk__lines_page_js_hash[];

#endif
