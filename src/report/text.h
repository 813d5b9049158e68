/* Words that several outputs share. */
#ifndef TRK_REPORT_TEXT_H
#define TRK_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Terminal columns that UTF-8 text takes, every code point one. */
size_t trk__text_columns(const char *text);

/* Text from outside, cut to `max` bytes: only printable ASCII and, where asked for, whole UTF-8
 * characters pass; what else there is, such as control bytes that a terminal would obey, is '?'. */
void trk__text_safe(struct trk_buf *b, const char *text, size_t max, bool utf8);

/* "1 h 12 m", "18 m", "42 s", "0.3 s". */
void trk__text_rough_duration(char *text, size_t size, double seconds);

#endif
