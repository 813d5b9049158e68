#include "model/outline.h"

#include <stdlib.h>

#include "base/array.h"

const int trk__spent_columns[TRK_SPENTS] = {
	[TRK_SPENT_ON_CPU] = TRK_PROCESS_ON_CPU,    [TRK_SPENT_GPU] = TRK_PROCESS_ON_GPU,
	[TRK_SPENT_DISK] = TRK_PROCESS_DISK_WAIT,   [TRK_SPENT_MEMORY] = TRK_PROCESS_MEMORY_WAIT,
	[TRK_SPENT_FOR_CPU] = TRK_PROCESS_CPU_WAIT,
};

static double known_max(double a, double b)
{
	return a >= b || isnan(b) ? a : b;
}

static double known_sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void merge(struct trk_block *into, const struct trk_block *next)
{
	into->end_s = next->end_s;
	into->seconds += next->seconds;
	into->core_s += next->core_s;
	into->memory_peak_mib = known_max(into->memory_peak_mib, next->memory_peak_mib);
	for (int i = 0; i < TRK_SPENTS; i++)
		into->spent_s[i] = known_sum(into->spent_s[i], next->spent_s[i]);
	into->queue_s = known_sum(into->queue_s, next->queue_s);
	into->gpu_busy_s = known_sum(into->gpu_busy_s, next->gpu_busy_s);
	into->others_core_s = known_sum(into->others_core_s, next->others_core_s);
}

/* A merged row has sums of amounts. */
static struct trk_block block_of(const struct trk_sample *mean, const struct trk_sample *max)
{
	struct trk_block b = {
		.end_s = trk__sample_get(mean, TRK_ELAPSED),
		.seconds = trk__sample_get(mean, TRK_INTERVAL),
		.core_s = trk__sample_get(mean, TRK_PROCESS_UTIME) +
			  trk__sample_get(mean, TRK_PROCESS_STIME),
		.memory_peak_mib = trk__sample_get(max, TRK_PROCESS_MEMORY),
	};

	for (int i = 0; i < TRK_SPENTS; i++)
		b.spent_s[i] = trk__sample_get(mean, trk__spent_columns[i]);
	b.queue_s = trk__sample_get(mean, TRK_PROCESS_CPU_QUEUE);
	b.gpu_busy_s = b.seconds * trk__sample_get(mean, TRK_PROCESS_GPU_USAGE) /
		       known_max(1, trk__sample_get(mean, TRK_PROCESS_GPU_UTILIZED));
	b.others_core_s = trk__sample_get(mean, TRK_SYSTEM_UTIME) +
			  trk__sample_get(mean, TRK_SYSTEM_STIME) - b.core_s;
	return b;
}

static void halve(struct trk_outline *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->count; i += 2) {
		struct trk_block b = o->block[i];

		if (i + 1 < o->count)
			merge(&b, &o->block[i + 1]);
		o->block[kept++] = b;
	}
	o->count = kept;
	o->rows_each *= 2;
}

static struct trk_block *next_place(struct trk_outline *o)
{
	if (o->count == TRK_OUTLINE_BLOCKS_MAX)
		halve(o);
	if (trk__array_reserve(&o->block, &o->cap, o->count + 1, sizeof(*o->block)) < 0)
		return NULL;
	return &o->block[o->count];
}

void trk__outline_add(struct trk_outline *o, const struct trk_sample *mean,
		      const struct trk_sample *max)
{
	struct trk_block b = block_of(mean, max);
	struct trk_block *place;

	if (!(b.seconds > 0)) /* the first row covers no time */
		return;
	if (o->rows_each == 0)
		o->rows_each = 1;
	if (o->count > 0 && o->rows_last < o->rows_each) {
		merge(&o->block[o->count - 1], &b);
		o->rows_last++;
		return;
	}
	place = next_place(o);
	if (!place)
		return;
	*place = b;
	o->count++;
	o->rows_last = 1;
}

void trk__outline_release(struct trk_outline *o)
{
	free(o->block);
	*o = (struct trk_outline){.count = 0};
}
