/* Columns of samples in memory.
 *
 * A frame has rows in time order: time[i] is the end of row i, dt[i] the seconds that it covers, and
 * one array of doubles per column; NaN is "not known". Nothing here knows what a column means.
 *
 *     struct trk_frame f;
 *     trk__frame_init(&f, 2);
 *     trk__frame_add(&f, 10.0, 1.0, (double[]){1.5, 300});
 *     trk__frame_stats(&f, 0, &stats);
 *     trk__frame_release(&f); */
#ifndef TRK_FRAME_FRAME_H
#define TRK_FRAME_FRAME_H

#include <stdbool.h>
#include <stddef.h>

enum { TRK_FRAME_COLUMNS_MAX = 256, TRK_FRAME_ROWS_MAX = 100000000 };

struct trk_frame {
	size_t rows, columns;
	double *time_s;  /* owned; not falling */
	double *dt_s;    /* owned; NaN or 0: the row covers no known time */
	double **column; /* owned; [columns][rows] */
	size_t cap;
};

/* A part of a frame: rows first..end of it (borrowed: valid while the frame is not changed). */
struct trk_frame_view {
	const struct trk_frame *frame;
	size_t first, end;
};

/* 0; -EINVAL for more columns than TRK_FRAME_COLUMNS_MAX; -ENOMEM. On failure *f is as released. */
int trk__frame_init(struct trk_frame *f, size_t columns);
void trk__frame_release(struct trk_frame *f); /* zeroed memory is fine */
/* Append a row; values has a figure a column (borrowed). 0; -EINVAL when time_s is unknown or before
 * the last row; -EFBIG past TRK_FRAME_ROWS_MAX; -ENOMEM. */
int trk__frame_add(struct trk_frame *f, double time_s, double dt_s, const double *values);

/* Rows whose end lies in (from_s, to_s]. Never fails: the view may be empty. */
struct trk_frame_view trk__frame_slice(const struct trk_frame *f, double from_s, double to_s);

/* Join by time: the rows of `left`, then the columns of `right` from its row that ended last by
 * then, at most tolerance_s before; unknown where there is none. *ret is initialised here, the caller
 * releases it. 0, -EINVAL, -ENOMEM. */
int trk__frame_join(const struct trk_frame *left, const struct trk_frame *right, double tolerance_s,
		    struct trk_frame *ret);

/* --- one column ------------------------------------------------------------------------------- */

/* Over the known values; NaN where there is none. */
struct trk_frame_stats {
	size_t known; /* rows with a value */
	double min, max, sum;
	double mean;          /* of the rows */
	double weighted_mean; /* by dt; NaN when no known value covers time */
	double weighted_sum;  /* of value * dt */
	double seconds;       /* that the known values cover */
};

/* column must be one of the frame; -EINVAL if not. */
int trk__frame_stats(const struct trk_frame_view *v, size_t column, struct trk_frame_stats *ret);

/* Percentiles: share[i] from 0 to 1 gives ret[i]. weighted: the value below which that share of the
 * time was spent, one of the values. Else by rows, between two of them in proportion (as numpy's
 * default). NaN without a known value. 0, -EINVAL, -ENOMEM (it sorts a copy). */
int trk__frame_percentiles(const struct trk_frame_view *v, size_t column, bool weighted,
			   const double *share, size_t count, double *ret);

/* Seconds by value: ret_s[i] is the time in [low + i * width, low + (i + 1) * width), what is outside
 * falls into the first and the last bin. 0, or -EINVAL (no bin, width <= 0). */
int trk__frame_histogram(const struct trk_frame_view *v, size_t column, double low, double width,
			 size_t bins, double *ret_s);

/* One bucket of a chart. Values NaN when nothing in it is known. */
struct trk_bucket {
	double min, mean, max; /* mean by dt, or by rows where none covers time */
	double start_s, end_s; /* of the time axis */
};

/* Down-sample to `count` buckets of equal time between the start of the first row and the end of the
 * last, in one pass: a row falls into the bucket that holds the middle of its interval. 0, -EINVAL
 * (no bucket, no such column), -TRK_E_NODATA for an empty view. */
int trk__frame_buckets(const struct trk_frame_view *v, size_t column, size_t count,
		       struct trk_bucket *ret);

#endif
