/* A document's texts as HTML: everything is escaped. */
#ifndef TRK_REPORT_WRITE_HTML_TEXT_H
#define TRK_REPORT_WRITE_HTML_TEXT_H

#include "base/buf.h"

/* Classes, by tone. */
extern const char *const trk__html_tones[];

/* Text without its marks, for attributes too. */
void trk__html_text(struct trk_buf *b, const char *text);
/* Text with its marks as elements. */
void trk__html_rich(struct trk_buf *b, const char *text);

#endif
