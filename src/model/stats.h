/* On-line statistics of every column: mean, extremes, sum, percentiles, in constant memory.
 *
 * Means and percentiles are weighted by the time that a row covers, because rows are denser at the
 * start of a run and may be late. Percentiles come from a histogram whose buckets are 1/32 of a
 * power of two wide: exact below 64 stored units, else within 1.6 %. */
#ifndef TRK_MODEL_STATS_H
#define TRK_MODEL_STATS_H

#include "model/sample.h"

struct trk_stats; /* opaque */

/* One column's figures in its unit; NaN where nothing is known. */
struct trk_column_stats {
	double mean, max, min, p50, p95, p99;
	double sum; /* DELTA columns; NaN for the others */
	uint64_t rows;
};

/* The caller frees with _free. NULL without memory. */
struct trk_stats *trk__stats_new(void);
void trk__stats_free(struct trk_stats *s);
void trk__stats_clear(struct trk_stats *s);

/* Add a row merged from `rows` rows, with these means (sums for DELTA), minima and maxima. */
void trk__stats_add(struct trk_stats *s, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max);

struct trk_column_stats trk__stats_get(const struct trk_stats *s, int column);
/* Call fn for each value of a column that occurred, ascending, in its unit and with the precision
 * of the buckets, and the seconds that it lasted. */
void trk__stats_each(const struct trk_stats *s, int column,
		     void (*fn)(void *data, double value, double seconds), void *data);

#endif
