#include "base/edits.h"

#include <string.h>

enum { WORD_MAX = 63 };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t trk__edits(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], n = strlen(b), m = strlen(a);

	if (n > WORD_MAX || m > WORD_MAX)
		return TRK_EDITS_MANY;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t above = row[j];

			row[j] = least(diagonal + (lower(a[i - 1]) != lower(b[j - 1])),
				       least(above, row[j - 1]) + 1);
			diagonal = above;
		}
	}
	return row[n];
}
