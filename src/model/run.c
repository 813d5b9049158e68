#include "model/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/libc.h"
#include "base/maths.h"
#include "model/waits.h"

const char *const trk__total_keys[TRK_TOTALS] = {
#define X(id, key) [TRK_TOTAL_##id] = (key),
	TRK_TOTAL_LIST(X)
#undef X
};

const char *const trk__limit_keys[TRK_LIMITS] = {
	[TRK_LIMIT_CPU] = "cpu",           [TRK_LIMIT_MEMORY_MIB] = "memory_mib",
	[TRK_LIMIT_PIDS] = "pids",         [TRK_LIMIT_MEMORY_HIGH_MIB] = "memory_high_mib",
	[TRK_LIMIT_TIME_S] = "time_s",     [TRK_LIMIT_GPU] = "gpu",
	[TRK_LIMIT_SWAP_MIB] = "swap_mib",
};

const char *trk__record_end_words(const struct trk_record *r, char text[TRK_END_WORDS_SIZE])
{
	const struct trk_outcome *o = &r->outcome;
	enum trk_end how = r->writing ? TRK_END_RUNNING : o->end;
	char end[TRK_END_WORDS_SIZE];

	(void) trk__end_words(how, o->code, o->signal, end);
	(void) snprintf(text, TRK_END_WORDS_SIZE, "%s%.30s",
			o->is_inferred && how == TRK_END_OUT_OF_MEMORY ? "likely " : "", end);
	return text;
}

const char *trk__quality_name(enum trk_quality quality)
{
	static const char *const names[] = {
		[TRK_QUALITY_UNKNOWN] = "unknown",     [TRK_QUALITY_EXACT] = "exact",
		[TRK_QUALITY_AT_LEAST] = "at_least",   [TRK_QUALITY_AT_MOST] = "at_most",
		[TRK_QUALITY_ESTIMATED] = "estimated",
	};

	return (size_t) quality < sizeof(names) / sizeof(names[0]) ? names[quality] : "unknown";
}

int trk__record_init(struct trk_record *r)
{
	memset(r, 0, sizeof(*r));
	trk__quantities_clear(r->outcome.total, TRK_TOTALS);
	trk__quantities_clear(r->run.limit, TRK_LIMITS);
	trk__quantities_clear(r->run.request, TRK_REQUESTS);
	trk__place_init(&r->place);
	r->outcome.code = -1;
	r->last_memory_mib = r->max_memory_mib = r->held_back_s = r->memory_limit_hits = NAN;
	r->stats = trk__stats_new();
	return r->stats ? 0 : -ENOMEM;
}

void trk__record_fail(struct trk_record *r)
{
	struct trk_outcome *o = &r->outcome;

	if (r->writing || o->code > 0 || (o->end != TRK_END_EXITED && o->end != TRK_END_STOPPED))
		return;
	o->end = TRK_END_FAILED;
	o->code = -1;
}

void trk__record_release(struct trk_record *r)
{
	trk__stats_free(r->stats);
	trk__outline_release(&r->outline);
	free(r->mark);
	trk__gpu_log_release(&r->gpus);
	trk__program_log_release(&r->programs);
	trk__lines_free(r->lines);
	r->stats = NULL;
	r->mark = NULL;
	r->lines = NULL;
	r->marks = r->marks_cap = 0;
}

int trk__record_mark(struct trk_record *r, const struct trk_mark *mark)
{
	if (r->marks == TRK_MARKS_MAX)
		return -ENOSPC;
	if (trk__array_reserve(&r->mark, &r->marks_cap, r->marks + 1, sizeof(*r->mark)) < 0)
		return -ENOMEM;
	r->mark[r->marks++] = *mark;
	return 0;
}

static void watch_gpus(struct trk_record *r, const struct trk_sample *mean)
{
	static const double idle = 0.05, busy_core = 0.9;
	double seconds = trk__sample_get(mean, TRK_INTERVAL);

	if (!trk__sample_knows(mean, TRK_PROCESS_GPU_USAGE) || !(seconds > 0))
		return;
	r->gpu_known_s += seconds;
	if (trk__sample_get(mean, TRK_PROCESS_GPU_USAGE) >= idle)
		return;
	if (trk__sample_get(mean, TRK_PROCESS_CPU_USAGE) >= busy_core)
		r->gpu_starved_s += seconds;
}

static void watch_quotas(struct trk_record *r, const struct trk_sample *mean)
{
	double held_s;

	if (!trk__sample_knows(mean, TRK_CGROUP_THROTTLED))
		return;
	held_s = (double) trk__waits_held_back(mean->value[TRK_CGROUP_THROTTLED],
					       mean->value[TRK_PROCESS_UTIME] +
						       mean->value[TRK_PROCESS_STIME],
					       mean->value[TRK_INTERVAL]) /
		 1e6;
	r->held_back_s = isnan(r->held_back_s) ? held_s : r->held_back_s + held_s;
}

/* A row of less than 100 ms, as the last one of a run often is, has no rate. Its CPU time is known
 * to the nanosecond and is part of the run's mean, so that the statistics cover all of a short run.
 * The last row also has the CPU time of processes whose end was seen late: the rate is limited to
 * the cores of the job. False: the row stays as it is. */
static bool add_rate(const struct trk_record *r, struct trk_sample *row)
{
	static const double least_s = 0.01;
	double seconds = trk__sample_get(row, TRK_INTERVAL);
	double cores = (trk__sample_get(row, TRK_PROCESS_UTIME) +
			trk__sample_get(row, TRK_PROCESS_STIME)) /
		       seconds;
	double most = r->run.limit[TRK_LIMIT_CPU].value;

	if (trk__sample_knows(row, TRK_PROCESS_CPU_USAGE) || !(seconds >= least_s) ||
	    isnan(cores) || !(most > 0))
		return false;
	trk__sample_set(
		row, TRK_PROCESS_CPU_USAGE,
		trk__whole((cores < most ? cores : most) *
					   (double) trk__columns[TRK_PROCESS_CPU_USAGE].divisor +
				   0.5,
			   0, INT64_MAX));
	return true;
}

void trk__record_add(struct trk_record *r, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_sample rated = *mean;
	struct trk_block block;

	if (rows == 1 && add_rate(r, &rated))
		mean = min = max = &rated;
	trk__stats_add(r->stats, rows, mean, min, max);
	block = trk__block_of(mean, max, false);
	if (block.seconds > 0) /* the first row covers no time */
		trk__outline_add(&r->outline, TRK_OUTLINE_BLOCKS_MAX, &block);
	r->samples += rows;
	r->last_timestamp_ms = mean->value[TRK_TIMESTAMP];
	r->last_elapsed_us = mean->value[TRK_ELAPSED];
	watch_gpus(r, mean);
	watch_quotas(r, mean);
	if (!trk__sample_knows(mean, TRK_PROCESS_MEMORY))
		return;
	r->last_memory_mib = trk__sample_get(mean, TRK_PROCESS_MEMORY);
	if (!(trk__sample_get(max, TRK_PROCESS_MEMORY) <= r->max_memory_mib))
		r->max_memory_mib = trk__sample_get(max, TRK_PROCESS_MEMORY);
}

void trk__quantities_clear(struct trk_quantity *q, size_t n)
{
	memset(q, 0, n * sizeof(*q));
	for (size_t i = 0; i < n; i++)
		q[i].value = NAN;
}

void trk__quantity_set(struct trk_quantity *q, double value, enum trk_quality quality,
		       const char *source, const char *reason)
{
	q->value = value;
	q->quality = isnan(value) ? TRK_QUALITY_UNKNOWN : quality;
	(void) snprintf(q->source, sizeof(q->source), "%s", source ? source : "");
	(void) snprintf(q->reason, sizeof(q->reason), "%s", reason ? reason : "");
}

void trk__quantity_unknown(struct trk_quantity *q, const char *reason)
{
	trk__quantity_set(q, NAN, TRK_QUALITY_UNKNOWN, NULL, reason);
}

const struct trk_process_info *trk__outcome_biggest(const struct trk_outcome *o)
{
	const struct trk_process_info *biggest = NULL;

	for (size_t i = 0; i < o->top_count; i++)
		if (o->top[i].peak_bytes &&
		    (!biggest || o->top[i].peak_bytes > biggest->peak_bytes))
			biggest = &o->top[i];
	return biggest;
}

double trk__outcome_peak_mib(const struct trk_outcome *o)
{
	const struct trk_process_info *biggest = trk__outcome_biggest(o);
	double peak = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	double one = biggest ? (double) biggest->peak_bytes / 1048576.0 : (double) NAN;

	return one > peak || isnan(peak) ? one : peak;
}

double trk__outcome_swap_mib(const struct trk_outcome *o)
{
	const struct trk_quantity *swap = &o->total[TRK_TOTAL_PEAK_SWAP_MIB];

	return swap->quality == TRK_QUALITY_ESTIMATED ? (double) NAN : swap->value;
}

void trk__run_label(const char *job, const char *scope, char text[TRK_LABEL_SIZE])
{
	(void) snprintf(text, TRK_LABEL_SIZE, "%s%s%s", job, *scope ? " in " : "", scope);
}

bool trk__run_is_id(const char *text)
{
	size_t len = strspn(text, "-0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return len > 0 && text[0] != '-' && text[len] == '\0';
}
