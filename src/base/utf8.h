/* UTF-8 text from outside: where a character ends, and whether a terminal would interpret or hide
 * it.
 *
 * Job names, commands, file names and messages of servers come from others. A control character or
 * a change of direction (U+202E) in them could falsify a line on the terminal. */
#ifndef TRK_BASE_UTF8_H
#define TRK_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Bytes of the character at text[0..left), left > 0; 0 where it is not valid UTF-8 (overlong forms
 * and surrogates are not). */
size_t trk__utf8_length(const char *text, size_t left);

/* The code point of a valid character of `size` bytes. */
uint32_t trk__utf8_code(const char *text, size_t size);

/* True for control characters, marks that change the direction of text, characters without a
 * width, and bytes that are not UTF-8 (size 0). */
bool trk__utf8_is_hidden(const char *text, size_t size);

/* Clean text[0..len) for a terminal: each hidden character becomes one '?' a byte, but for control
 * characters in `keep`. */
void trk__utf8_clean(char *text, size_t len, const char *keep);

/* Columns that UTF-8 text takes on a terminal: wide characters (CJK, emoji) two, combining marks
 * none. Escape sequences of colours take none either. */
size_t trk__utf8_columns(const char *text);
/* Columns of one character, valid and not hidden. */
size_t trk__utf8_char_columns(const char *text, size_t size);

/* Text from outside, cut to `max` bytes: only printable ASCII and, on request, whole UTF-8
 * characters pass; all else, such as control bytes that a terminal would interpret, becomes '?'. */
void trk__utf8_safe(struct trk_buf *b, const char *text, size_t max, bool utf8);

#endif
