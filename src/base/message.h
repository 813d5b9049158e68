/* A line for a person, in which no value takes more room than it is worth: a tag, a name or a path of
 * ten thousand bytes shows its start and how long it is, so that the reason after it is still seen. */
#ifndef TRK_BASE_MESSAGE_H
#define TRK_BASE_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf(3), but each %s without a precision that is longer than value_max bytes is cut between two
 * characters: "aaaa... (10240 bytes)". Truncated to size - 1, never overrun. Without allocation. Of
 * printf's forms those that messages have: lengths l, ll and z, and '*' in the precision of %s alone. */
void trk__message(char *text, size_t size, size_t value_max, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

#endif
