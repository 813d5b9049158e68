/* What becomes of one column of a frame: statistics, percentiles, histogram, buckets. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "frame/frame.h"

static bool has_column(const struct trk_frame_view *v, size_t column)
{
	return column < v->frame->columns && v->first <= v->end && v->end <= v->frame->rows;
}

static double weight_of(const struct trk_frame *f, size_t row)
{
	return f->dt_s[row] > 0 && f->dt_s[row] < INFINITY ? f->dt_s[row] : 0;
}

int trk__frame_stats(const struct trk_frame_view *v, size_t column, struct trk_frame_stats *ret)
{
	struct trk_frame_stats s = {0, NAN, NAN, NAN, NAN, NAN, NAN, 0};
	double sum = 0, weighted = 0;

	if (!has_column(v, column))
		return -EINVAL;
	for (size_t i = v->first; i < v->end; i++) {
		double x = v->frame->column[column][i], w = weight_of(v->frame, i);

		if (isnan(x))
			continue;
		s.known++;
		sum += x;
		weighted += x * w;
		s.seconds += w;
		s.min = x >= s.min ? s.min : x;
		s.max = x <= s.max ? s.max : x;
	}
	if (s.known > 0) {
		s.sum = sum;
		s.mean = sum / (double) s.known;
	}
	if (s.seconds > 0) {
		s.weighted_sum = weighted;
		s.weighted_mean = weighted / s.seconds;
	}
	*ret = s;
	return 0;
}

struct weighted {
	double value, seconds;
};

static int by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static double by_rows(const struct weighted *sorted, size_t n, double share)
{
	double place = share * (double) (n - 1);
	size_t low = (size_t) place;

	if (low + 1 >= n)
		return sorted[n - 1].value;
	return sorted[low].value +
	       (place - (double) low) * (sorted[low + 1].value - sorted[low].value);
}

static double by_time(const struct weighted *sorted, size_t n, double share)
{
	double all = 0, seen = 0;

	for (size_t i = 0; i < n; i++)
		all += sorted[i].seconds;
	if (!(all > 0))
		return NAN;
	for (size_t i = 0; i < n; i++) {
		seen += sorted[i].seconds;
		if (sorted[i].seconds > 0 && seen >= share * all * (1 - 1e-12))
			return sorted[i].value;
	}
	return sorted[n - 1].value;
}

int trk__frame_percentiles(const struct trk_frame_view *v, size_t column, bool weighted,
			   const double *share, size_t count, double *ret)
{
	struct weighted *sorted;
	size_t n = 0;

	if (!has_column(v, column))
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (!(share[i] >= 0 && share[i] <= 1))
			return -EINVAL;
	sorted = calloc(v->end - v->first + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = v->first; i < v->end; i++)
		if (!isnan(v->frame->column[column][i]))
			sorted[n++] = (struct weighted){v->frame->column[column][i],
							weight_of(v->frame, i)};
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < count; i++) {
		if (n == 0)
			ret[i] = NAN;
		else
			ret[i] = weighted ? by_time(sorted, n, share[i])
					  : by_rows(sorted, n, share[i]);
	}
	free(sorted);
	return 0;
}

int trk__frame_histogram(const struct trk_frame_view *v, size_t column, double low, double width,
			 size_t bins, double *ret_s)
{
	if (!has_column(v, column) || bins == 0 || !(width > 0) || !isfinite(low))
		return -EINVAL;
	for (size_t i = 0; i < bins; i++)
		ret_s[i] = 0;
	for (size_t i = v->first; i < v->end; i++) {
		double place = (v->frame->column[column][i] - low) / width;

		if (isnan(place))
			continue;
		if (place < 0)
			place = 0;
		if (place > (double) (bins - 1))
			place = (double) (bins - 1);
		ret_s[(size_t) place] += weight_of(v->frame, i);
	}
	return 0;
}

/* A bucket while it fills: the mean needs its weight. */
struct filling {
	struct trk_bucket *bucket;
	double sum, seconds, row_sum, rows;
};

static void bucket_take(struct filling *b, double x, double seconds)
{
	if (isnan(x))
		return;
	b->bucket->min = x >= b->bucket->min ? b->bucket->min : x;
	b->bucket->max = x <= b->bucket->max ? b->bucket->max : x;
	b->sum += x * seconds;
	b->seconds += seconds;
	b->row_sum += x;
	b->rows++;
}

static void bucket_close(const struct filling *b)
{
	if (b->rows > 0)
		b->bucket->mean = b->seconds > 0 ? b->sum / b->seconds : b->row_sum / b->rows;
}

int trk__frame_buckets(const struct trk_frame_view *v, size_t column, size_t count,
		       struct trk_bucket *ret)
{
	const struct trk_frame *f = v->frame;
	struct filling now = {0};
	double start, width;
	size_t at = 0;

	if (!has_column(v, column) || count == 0)
		return -EINVAL;
	if (v->first == v->end)
		return -TRK_E_NODATA;
	start = f->time_s[v->first] - weight_of(f, v->first);
	width = (f->time_s[v->end - 1] - start) / (double) count;
	for (size_t b = 0; b < count; b++)
		ret[b] = (struct trk_bucket){NAN, NAN, NAN, start + (double) b * width,
					     start + (double) (b + 1) * width};
	now.bucket = &ret[0];
	for (size_t i = v->first; i < v->end; i++) {
		double seconds = weight_of(f, i);
		double place = width > 0 ? (f->time_s[i] - seconds / 2 - start) / width : 0;
		size_t b = place > 0 ? (size_t) place : 0;

		if (b >= count)
			b = count - 1;
		if (b > at) { /* never back: an odd dt must not re-open a bucket */
			bucket_close(&now);
			at = b;
			now = (struct filling){.bucket = &ret[at]};
		}
		bucket_take(&now, f->column[column][i], seconds);
	}
	bucket_close(&now);
	return 0;
}
