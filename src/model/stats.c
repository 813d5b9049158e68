#include "model/stats.h"

#include <stdlib.h>
#include <string.h>

enum {
	SUB_BITS = 5, /* buckets in a power of two: 32 */
	BUCKETS = (62 - SUB_BITS) << SUB_BITS,
	BLOCKS = BUCKETS >> SUB_BITS,
	BLOCK = 1 << SUB_BITS,
};

/* Total duration of the bucket's values, and the sum of distance from its middle times duration. */
struct bucket {
	float seconds, off;
};

struct column {
	uint64_t rows;
	int64_t min, max, sum;
	double weighted_sum, weight;
	struct bucket
		*block[BLOCKS]; /* BLOCK of them each; owned; NULL until a value falls into it */
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
		for (int k = 0; k < BLOCKS; k++)
			free(s->column[i].block[k]);
	memset(s, 0, sizeof(*s));
}

void trk__stats_free(struct trk_stats *s)
{
	if (!s)
		return;
	trk__stats_clear(s);
	free(s);
}

/* Each value below 64 has a bucket; above, the top six bits select it. */
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

/* Blocks are allocated on demand: most columns stay within an octave or two. */
static void count(struct column *c, int64_t value, double seconds)
{
	unsigned int bucket = bucket_of(value);
	struct bucket **block = &c->block[bucket >> SUB_BITS], *b;

	if (!*block)
		*block = calloc(BLOCK, sizeof(**block));
	if (!*block)
		return;
	b = &(*block)[bucket % BLOCK];
	b->seconds += (float) seconds;
	if (value >= 2 << SUB_BITS) /* below, a bucket is one value */
		b->off += (float) (((double) value - middle_of(bucket)) * seconds);
}

static void add_rows(struct column *c, uint64_t rows, double seconds, int64_t mean, int64_t min,
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
	count(c, mean, seconds);
}

void trk__stats_add(struct trk_stats *s, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	/* The first row covers no time; with a microsecond it counts if it is the only one. */
	double seconds = trk__sample_get(mean, TRK_INTERVAL);

	if (!(seconds > 0))
		seconds = 1e-6;
	s->rows += rows;
	for (trk_column_bits left = mean->known; left; left &= left - 1) {
		int i = (uint64_t) left ? __builtin_ctzll((uint64_t) left)
					: 64 + __builtin_ctzll((uint64_t) (left >> 64));
		bool is_delta = trk__columns[i].kind == TRK_KIND_DELTA;

		if (trk__columns[i].kind == TRK_KIND_STAMP)
			continue;
		/* A merged amount covers `rows` rows: each had a part of it. */
		add_rows(&s->column[i], rows, seconds,
			 is_delta && rows > 1 ? mean->value[i] / (int64_t) rows : mean->value[i],
			 min->value[i], max->value[i], is_delta ? mean->value[i] : 0);
	}
}

/* The mean of the values in a bucket. */
static double mean_of(const struct bucket *b, unsigned int bucket)
{
	return middle_of(bucket) + (double) (b->off / b->seconds);
}

/* The next non-empty bucket from *at on, and its number in *at; NULL at the end. */
static const struct bucket *next_bucket(const struct column *c, unsigned int *at)
{
	for (; *at < BUCKETS; ++*at) {
		const struct bucket *block = c->block[*at >> SUB_BITS];

		if (!block)
			*at |= BLOCK - 1;
		else if (block[*at % BLOCK].seconds > 0)
			return &block[*at % BLOCK];
	}
	return NULL;
}

void trk__stats_each(const struct trk_stats *s, int column,
		     void (*fn)(void *data, double value, double seconds), void *data)
{
	const struct column *c = &s->column[column];
	const struct bucket *b;

	for (unsigned int i = 0; (b = next_bucket(c, &i)); i++)
		fn(data, mean_of(b, i) / (double) trk__columns[column].divisor,
		   (double) b->seconds);
}

/* The value below which `share` of the time was spent, stored units. */
static double percentile(const struct column *c, double share)
{
	double want = c->weight * share, seen = 0, value = (double) c->max;
	const struct bucket *b;

	for (unsigned int i = 0; (b = next_bucket(c, &i)); i++) {
		seen += (double) b->seconds;
		if (seen >= want * (1 - 1e-6)) {
			value = mean_of(b, i);
			break;
		}
	}
	if (value < (double) c->min)
		value = (double) c->min;
	return value > (double) c->max ? (double) c->max : value;
}

struct trk_column_stats trk__stats_get(const struct trk_stats *s, int column)
{
	const struct column *c = &s->column[column];
	unsigned int first = 0;
	double divisor = (double) trk__columns[column].divisor;
	struct trk_column_stats ret = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, c->rows};

	if (c->rows == 0)
		return ret;
	ret.mean = c->weighted_sum / c->weight / divisor;
	ret.min = (double) c->min / divisor;
	ret.max = (double) c->max / divisor;
	if (next_bucket(c, &first)) {
		ret.p50 = percentile(c, 0.50) / divisor;
		ret.p95 = percentile(c, 0.95) / divisor;
		ret.p99 = percentile(c, 0.99) / divisor;
	}
	if (trk__columns[column].kind == TRK_KIND_DELTA)
		ret.sum = (double) c->sum / divisor;
	return ret;
}
