#include "record/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const trk__total_keys[TRK_TOTALS] = {
#define X(id, key) [TRK_TOTAL_##id] = (key),
	TRK_TOTAL_LIST(X)
#undef X
};

const char *const trk__limit_keys[TRK_LIMITS] = {
	[TRK_LIMIT_CPU] = "cpu",
	[TRK_LIMIT_MEMORY_MIB] = "memory_mib",
	[TRK_LIMIT_PIDS] = "pids",
};

const char *trk__verdict_name(enum trk_verdict verdict)
{
	static const char *const names[] = {
		[TRK_VERDICT_RUNNING] = "running",
		[TRK_VERDICT_EXITED] = "exited",
		[TRK_VERDICT_SIGNALLED] = "signalled",
		[TRK_VERDICT_OUT_OF_MEMORY] = "out_of_memory",
		[TRK_VERDICT_TIMEOUT] = "timeout",
		[TRK_VERDICT_TRACKER_DIED] = "tracker_died",
		[TRK_VERDICT_STOPPED] = "stopped",
		[TRK_VERDICT_MEMORY_LIMIT] = "memory_limit",
		[TRK_VERDICT_VANISHED] = "vanished",
	};

	return (size_t) verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "unknown";
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
	r->last_memory_mib = r->max_memory_mib = NAN;
	r->stats = trk__stats_new();
	return r->stats ? 0 : -ENOMEM;
}

void trk__record_release(struct trk_record *r)
{
	trk__stats_free(r->stats);
	trk__outline_release(&r->outline);
	free(r->mark);
	trk__gpu_log_release(&r->gpus);
	r->stats = NULL;
	r->mark = NULL;
	r->marks = r->marks_cap = 0;
}

int trk__record_mark(struct trk_record *r, const struct trk_mark *mark)
{
	if (r->marks == TRK_MARKS_MAX)
		return -ENOSPC;
	if (r->marks == r->marks_cap) {
		size_t cap = r->marks_cap ? r->marks_cap * 2 : 16;
		struct trk_mark *bigger = realloc(r->mark, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		r->mark = bigger;
		r->marks_cap = cap;
	}
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
	r->gpu_idle_s += seconds;
	if (trk__sample_get(mean, TRK_PROCESS_CPU_USAGE) >= busy_core)
		r->gpu_starved_s += seconds;
}

void trk__record_add(struct trk_record *r, uint64_t rows, const struct trk_sample *mean,
		     const struct trk_sample *min, const struct trk_sample *max)
{
	trk__stats_add_thinned(r->stats, rows, mean, min, max);
	trk__outline_add(&r->outline, mean, max);
	r->samples += rows;
	r->last_timestamp_ms = mean->value[TRK_TIMESTAMP];
	r->last_elapsed_us = mean->value[TRK_ELAPSED];
	watch_gpus(r, mean);
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
