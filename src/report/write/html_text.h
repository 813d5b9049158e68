/* A document's texts as HTML: everything is escaped. */
#ifndef TRK_REPORT_WRITE_HTML_TEXT_H
#define TRK_REPORT_WRITE_HTML_TEXT_H

#include <stdint.h>

#include "base/buf.h"

/* Classes, by tone. */
extern const char *const trk__html_tones[];

/* Text without its marks, for attributes too. */
void trk__html_text(struct trk_buf *b, const char *text);
/* Text with its marks as elements. */
void trk__html_rich(struct trk_buf *b, const char *text);

/* The low 6 * `digits` bits of a number in as many characters of base64url, the highest first. */
void trk__html_packed(struct trk_buf *b, uint32_t value, int digits);

#endif
