/* One row: every column's integer, and which of them are known.
 *
 * Integers, because sums of them are exact, and because they pack small. */
#ifndef TRK_SAMPLE_SAMPLE_H
#define TRK_SAMPLE_SAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "sample/columns.h"

struct trk_sample {
	uint64_t known; /* bit per column; an unknown value is 0 and never shown */
	int64_t value[TRK_COLUMNS];
};

_Static_assert(TRK_COLUMNS <= 64, "the set of known columns is one word");

static inline bool trk__sample_knows(const struct trk_sample *s, int column)
{
	return s->known >> column & 1;
}

static inline void trk__sample_set(struct trk_sample *s, int column, int64_t value)
{
	s->known |= 1ull << column;
	s->value[column] = value;
}

/* In the column's unit; NaN when unknown. */
static inline double trk__sample_get(const struct trk_sample *s, int column)
{
	return trk__sample_knows(s, column)
		       ? (double) s->value[column] / (double) trk__columns[column].divisor
		       : NAN;
}

#endif
