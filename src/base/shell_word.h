/* A text as one word of a POSIX shell, for command lines that a person pastes. */
#ifndef TRK_BASE_SHELL_WORD_H
#define TRK_BASE_SHELL_WORD_H

#include <stddef.h>

/* Write `text` in single quotes, as the value of an option. Returns ret, which is "" where the word
 * does not fit. */
const char *trk__shell_value(char *ret, size_t size, const char *text);
/* The same as an operand: with "-- " in front where it begins with a dash, so that the command does
 * not take it for an option. The options of the command must stand before it. */
const char *trk__shell_word(char *ret, size_t size, const char *text);

enum { TRK_SHELL_WORD_SIZE = 1100 }; /* of a text of 256 bytes */

#endif
