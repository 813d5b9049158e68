#include "sample/stats.h"

#include <stdlib.h>
#include <string.h>

enum {
	SUB_BITS = 5, /* buckets in a power of two: 32 */
	BUCKETS = (62 - SUB_BITS) << SUB_BITS,
};

/* How long values of the bucket lasted, and how far they lay from its middle, times that. */
struct bucket {
	float seconds, off;
};

struct column {
	uint64_t rows;
	int64_t min, max, sum;
	double weighted_sum, weight;
	struct bucket *histogram; /* BUCKETS of them; owned; NULL until the first value */
};

struct trk_stats {
	uint64_t rows;
	struct column column[TRK_COLUMNS];
};

struct trk_stats *trk__stats_new(void)
{
	return calloc(1, sizeof(struct trk_stats));
}

void trk__stats_clear(struct trk_stats *s)
{
	for (int i = 0; i < TRK_COLUMNS; i++)
		free(s->column[i].histogram);
	memset(s, 0, sizeof(*s));
}

void trk__stats_free(struct trk_stats *s)
{
	if (!s)
		return;
	trk__stats_clear(s);
	free(s);
}

/* Values below 64 have a bucket each; above, the top six bits choose it. */
static unsigned int bucket_of(int64_t value)
{
	unsigned int octave;

	if (value < 2 << SUB_BITS)
		return value < 0 ? 0 : (unsigned int) value;
	octave = 63 - (unsigned int) __builtin_clzll((uint64_t) value) - SUB_BITS;
	if (((octave + 1) << SUB_BITS) >= BUCKETS)
		return BUCKETS - 1;
	return (octave << SUB_BITS) + (unsigned int) (value >> octave);
}

/* The middle of a bucket. */
static double middle_of(unsigned int bucket)
{
	unsigned int octave = bucket >> SUB_BITS;

	if (octave < 2)
		return (double) bucket;
	octave--;
	return (double) ((uint64_t) (bucket - (octave << SUB_BITS)) << octave) +
	       (double) (1ull << octave) / 2;
}

static void add(struct column *c, uint64_t rows, double seconds, int64_t mean, int64_t min,
		int64_t max, int64_t sum)
{
	if (c->rows == 0 || min < c->min)
		c->min = min;
	if (c->rows == 0 || max > c->max)
		c->max = max;
	c->rows += rows;
	c->sum = (int64_t) ((uint64_t) c->sum + (uint64_t) sum); /* wraps on a crafted file */
	c->weighted_sum += (double) mean * seconds;
	c->weight += seconds;
	if (!c->histogram)
		c->histogram = calloc(BUCKETS, sizeof(*c->histogram));
	if (c->histogram) {
		unsigned int bucket = bucket_of(mean);

		c->histogram[bucket].seconds += (float) seconds;
		if (mean >= 2 << SUB_BITS) /* below, a bucket is one value */
			c->histogram[bucket].off +=
				(float) (((double) mean - middle_of(bucket)) * seconds);
	}
}

void trk__stats_add_thinned(struct trk_stats *s, uint64_t rows, const struct trk_sample *mean,
			    const struct trk_sample *min, const struct trk_sample *max)
{
	/* The first row covers no time; a microsecond makes it count where it is the only one. */
	double seconds = trk__sample_get(mean, TRK_INTERVAL);

	if (!(seconds > 0))
		seconds = 1e-6;
	s->rows += rows;
	for (uint64_t left = mean->known; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		bool is_delta = trk__columns[i].kind == TRK_KIND_DELTA;

		if (trk__columns[i].kind == TRK_KIND_STAMP)
			continue;
		/* A thinned amount was gathered over `rows` rows: the typical row had a part of it. */
		add(&s->column[i], rows, seconds,
		    is_delta && rows > 1 ? mean->value[i] / (int64_t) rows : mean->value[i],
		    min->value[i], max->value[i], is_delta ? mean->value[i] : 0);
	}
}

void trk__stats_add(struct trk_stats *s, const struct trk_sample *sample)
{
	trk__stats_add_thinned(s, 1, sample, sample, sample);
}

/* The mean of what fell into a bucket. */
static double mean_of(const struct column *c, unsigned int bucket)
{
	const struct bucket *b = &c->histogram[bucket];

	return middle_of(bucket) + (double) (b->off / b->seconds);
}

void trk__stats_each(const struct trk_stats *s, int column,
		     void (*fn)(void *data, double value, double seconds), void *data)
{
	const struct column *c = &s->column[column];

	for (unsigned int i = 0; c->histogram && i < BUCKETS; i++)
		if (c->histogram[i].seconds > 0)
			fn(data, mean_of(c, i) / (double) trk__columns[column].divisor,
			   (double) c->histogram[i].seconds);
}

/* The value below which `share` of the time was spent, stored units. */
static double percentile(const struct column *c, double share)
{
	double want = c->weight * share, seen = 0, value = (double) c->max;

	for (unsigned int i = 0; i < BUCKETS; i++) {
		seen += (double) c->histogram[i].seconds;
		if (c->histogram[i].seconds > 0 && seen >= want * (1 - 1e-6)) {
			value = mean_of(c, i);
			break;
		}
	}
	if (value < (double) c->min)
		value = (double) c->min;
	return value > (double) c->max ? (double) c->max : value;
}

void trk__stats_get(const struct trk_stats *s, int column, struct trk_column_stats *ret)
{
	const struct column *c = &s->column[column];
	double divisor = (double) trk__columns[column].divisor;

	*ret = (struct trk_column_stats){NAN, NAN, NAN, NAN, NAN, NAN, NAN, c->rows};
	if (c->rows == 0)
		return;
	ret->mean = c->weighted_sum / c->weight / divisor;
	ret->min = (double) c->min / divisor;
	ret->max = (double) c->max / divisor;
	if (c->histogram) {
		ret->p50 = percentile(c, 0.50) / divisor;
		ret->p95 = percentile(c, 0.95) / divisor;
		ret->p99 = percentile(c, 0.99) / divisor;
	}
	if (trk__columns[column].kind == TRK_KIND_DELTA)
		ret->sum = (double) c->sum / divisor;
}

uint64_t trk__stats_rows(const struct trk_stats *s)
{
	return s->rows;
}

int64_t trk__stats_sum(const struct trk_stats *s, int column)
{
	return s->column[column].sum;
}
