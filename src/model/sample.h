/* One row: every column's integer, and which of them are known.
 *
 * Integers, because sums of them are exact, and because they pack small. */
#ifndef TRK_MODEL_SAMPLE_H
#define TRK_MODEL_SAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/columns.h"

/* A bit per column. */
typedef unsigned __int128 trk_column_bits;

#define TRK_COLUMN_BITS 128

struct trk_sample {
	trk_column_bits known; /* an unknown value is 0 and never shown */
	int64_t value[TRK_COLUMNS];
};

_Static_assert(TRK_COLUMNS <= TRK_COLUMN_BITS, "each column has its bit");

static inline bool trk__sample_knows(const struct trk_sample *s, int column)
{
	return (bool) (s->known >> column & 1);
}

static inline void trk__sample_set(struct trk_sample *s, int column, int64_t value)
{
	s->known |= (trk_column_bits) 1 << column;
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
