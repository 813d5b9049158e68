/* The edit distance of two words, for suggestions. */
#ifndef TRK_BASE_EDITS_H
#define TRK_BASE_EDITS_H

#include <stddef.h>

enum { TRK_EDITS_MANY = 99 };

/* Letters to insert, delete or replace to turn a into b (Levenshtein), ignoring the case of ASCII;
 * TRK_EDITS_MANY for words of more than 63 bytes. */
size_t trk__edits(const char *a, const char *b);

#endif
