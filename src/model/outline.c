#include "model/outline.h"

#include <stdlib.h>

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

static void merge(void *to, const void *from)
{
	struct trk_block *into = to;
	const struct trk_block *next = from;

	into->end_s = next->end_s;
	into->seconds += next->seconds;
	into->core_s += next->core_s;
	into->memory_peak_mib = known_max(into->memory_peak_mib, next->memory_peak_mib);
	for (int i = 0; i < TRK_SPENTS; i++)
		into->spent_s[i] = known_sum(into->spent_s[i], next->spent_s[i]);
	into->queue_s = known_sum(into->queue_s, next->queue_s);
	into->gpu_busy_s = known_sum(into->gpu_busy_s, next->gpu_busy_s);
	into->others_core_s = known_sum(into->others_core_s, next->others_core_s);
	into->used_core_s = known_sum(into->used_core_s, next->used_core_s);
	into->read_bytes = known_sum(into->read_bytes, next->read_bytes);
	into->write_bytes = known_sum(into->write_bytes, next->write_bytes);
}

struct trk_block trk__block_of(const struct trk_sample *mean, const struct trk_sample *max,
			       bool machine)
{
	struct trk_block b = {
		.end_s = trk__sample_get(mean, TRK_ELAPSED),
		.seconds = trk__sample_get(mean, TRK_INTERVAL),
		.core_s = trk__sample_get(mean, TRK_PROCESS_UTIME) +
			  trk__sample_get(mean, TRK_PROCESS_STIME),
		.memory_peak_mib =
			trk__sample_get(max, machine ? TRK_SYSTEM_MEMORY_USED : TRK_PROCESS_MEMORY),
		.read_bytes = trk__sample_get(mean, machine ? TRK_SYSTEM_DISK_READ
							    : TRK_PROCESS_DISK_READ),
		.write_bytes = trk__sample_get(mean, machine ? TRK_SYSTEM_DISK_WRITE
							     : TRK_PROCESS_DISK_WRITE),
	};

	for (int i = 0; i < TRK_SPENTS; i++)
		b.spent_s[i] = trk__sample_get(mean, trk__spent_columns[i]);
	b.queue_s = trk__sample_get(mean, TRK_PROCESS_CPU_QUEUE);
	b.gpu_busy_s = b.seconds * trk__sample_get(mean, TRK_PROCESS_GPU_USAGE) /
		       known_max(1, trk__sample_get(mean, TRK_PROCESS_GPU_UTILIZED));
	b.others_core_s = trk__sample_get(mean, TRK_SYSTEM_UTIME) +
			  trk__sample_get(mean, TRK_SYSTEM_STIME) - b.core_s;
	b.used_core_s = b.seconds * trk__sample_get(mean, machine ? TRK_SYSTEM_CPU_USAGE
								  : TRK_PROCESS_CPU_USAGE);
	return b;
}

double trk__block_figure(const struct trk_block *b, enum trk_block_figure figure)
{
	const double amount[] = {
		[TRK_FIGURE_CORES] = b->used_core_s,
		[TRK_FIGURE_READ] = b->read_bytes,
		[TRK_FIGURE_WRITE] = b->write_bytes,
		[TRK_FIGURE_CPU_TIME] = b->core_s,
		[TRK_FIGURE_DISK_WAIT] = b->spent_s[TRK_SPENT_DISK],
		[TRK_FIGURE_GPU_BUSY] = b->gpu_busy_s,
	};

	if (figure == TRK_FIGURE_MEMORY_MIB)
		return b->memory_peak_mib;
	return b->seconds > 0 ? amount[figure] / b->seconds : (double) NAN;
}

void trk__outline_add(struct trk_outline *o, size_t most, const struct trk_block *block)
{
	trk__course_add(&o->course, &o->block, sizeof(*block), most, block, merge);
}

void trk__outline_release(struct trk_outline *o)
{
	free(o->block);
	*o = (struct trk_outline){.block = NULL};
}

struct trk_block trk__outline_sum(const struct trk_outline *o, double from_s, double to_s)
{
	struct trk_block sum = {
		.core_s = NAN,
		.memory_peak_mib = NAN,
		.spent_s = {NAN, NAN, NAN, NAN, NAN},
		.gpu_busy_s = NAN,
	};

	for (size_t i = 0; i < o->course.count; i++) {
		const struct trk_block *b = &o->block[i];
		double middle = b->end_s - b->seconds / 2;

		if (middle < from_s || middle >= to_s)
			continue;
		if (sum.seconds > 0)
			merge(&sum, b);
		else
			sum = *b;
	}
	return sum;
}

double trk__outline_figure(const struct trk_outline *o, enum trk_block_figure figure, double from_s,
			   double to_s, bool peak)
{
	double sum = 0, known_s = 0, most = NAN;

	for (size_t i = trk__course_until(&o->course, o->block, sizeof(*o->block), from_s);
	     i < o->course.count && o->block[i].end_s - o->block[i].seconds < to_s; i++) {
		const struct trk_block *b = &o->block[i];
		double start_s = b->end_s - b->seconds, value = trk__block_figure(b, figure);
		double part_s =
			(to_s < b->end_s ? to_s : b->end_s) - (from_s > start_s ? from_s : start_s);

		if (isnan(value) || !(part_s > 0))
			continue;
		sum += value * part_s;
		known_s += part_s;
		most = known_max(value, most);
	}
	return peak ? most : known_s > 0 ? sum / known_s : (double) NAN;
}
