/* On-line statistics of every column: mean, extremes, sum, percentiles, in constant memory.
 *
 * Means and percentiles are weighted by the time that a row covers, so that late rows and the
 * dense start of a run do not count for more than they last. Percentiles come from a histogram
 * whose buckets are 1/32 of a power of two wide: exact below 64 stored units, else within 1.6 %. */
#ifndef TRK_SAMPLE_STATS_H
#define TRK_SAMPLE_STATS_H

#include "sample/sample.h"

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

/* Take one row. */
void trk__stats_add(struct trk_stats *s, const struct trk_sample *sample);
/* Take a thinned row: `rows` rows with these means (sums for DELTA), minima and maxima. */
void trk__stats_add_thinned(struct trk_stats *s, uint64_t rows, const struct trk_sample *mean,
			    const struct trk_sample *min, const struct trk_sample *max);

void trk__stats_get(const struct trk_stats *s, int column, struct trk_column_stats *ret);
/* Call for each value of a column that was seen, in its unit and as far as the buckets tell, with the
 * seconds that it lasted; ascending. */
void trk__stats_each(const struct trk_stats *s, int column,
		     void (*fn)(void *data, double value, double seconds), void *data);
/* Rows taken so far, thinned ones by what they stand for. */
uint64_t trk__stats_rows(const struct trk_stats *s);
/* Exact sum of a DELTA column in stored units. */
int64_t trk__stats_sum(const struct trk_stats *s, int column);

#endif
