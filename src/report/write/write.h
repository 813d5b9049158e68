/* The writers: one document as a page, as Markdown, and as text for a terminal.
 *
 * Each appends to a buffer, whose error is set where memory was short. */
#ifndef TRK_REPORT_WRITE_WRITE_H
#define TRK_REPORT_WRITE_WRITE_H

#include "report/document.h"

/* One file that requests nothing, readable without its script. */
void trk__write_html(struct trk_buf *b, const struct trk_doc *d);
/* For the summary of a CI job: tables and bars of text, no HTML. */
void trk__write_markdown(struct trk_buf *b, const struct trk_doc *d);

#endif
