#include "advise/time.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/human.h"
#include "base/maths.h"

static const double minute_s = 60;
/* Time that a run needs which a time limit ended, as a multiple of that limit. */
static const double limit_grow = 1.2;
/* A run that a deadline ended lasted for less than this share of its time limit. */
static const double at_limit = 0.9;

static bool is_ended_by_limit(const struct trk_past_run *run, double limit_s)
{
	return !strcmp(run->end_name, "timeout") ||
	       (run->end == TRK_PAST_STOPPED && run->duration_s >= limit_s);
}

/* A run as trk__memory_advise reads it, with seconds for bytes. All runs weigh alike. */
static struct trk_past_run in_seconds(const struct trk_past_run *run)
{
	double limit_s = run->capacity[TRK_RESOURCE_TIME_S].value;
	const struct trk_past_peak duration = {.bytes = run->duration_s, .at_most_bytes = NAN};
	struct trk_past_run ret = *run;

	trk__past_run_hold(&ret, &duration);
	ret.duration_s = 1;
	ret.limit_memory_bytes = NAN;
	if (is_ended_by_limit(run, limit_s)) {
		ret.end = TRK_PAST_OUT_OF_MEMORY;
		if (run->duration_s >= at_limit * limit_s)
			ret.limit_memory_bytes = limit_s;
	} else if (run->end != TRK_PAST_SUCCEEDED) {
		ret.end = TRK_PAST_STOPPED;
	}
	return ret;
}

__attribute__((format(printf, 2, 3))) static void say(struct trk_time_advice *a, const char *format,
						      ...)
{
	va_list args;

	if (a->reason_count == TRK_TIME_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(a->reason[a->reason_count++], TRK_TIME_REASON_SIZE, format, args);
	va_end(args);
}

static void explain(struct trk_time_advice *a, const struct trk_memory_advice *m)
{
	char longest[TRK_HUMAN_SIZE], ended[TRK_HUMAN_SIZE];

	if (a->retry)
		say(a, "a time limit ended the newest run after %s: the retry gets more",
		    trk__human_seconds(ended, m->highest_bytes));
	if (isnan(a->longest_s)) {
		say(a, "no run has ended well yet, so it is not known how long a run takes");
		return;
	}
	say(a, "the longest run that ended well took %s, of %zu run%s",
	    trk__human_seconds(longest, a->longest_s), a->runs_used, a->runs_used == 1 ? "" : "s");
	say(a, "chance that the next run takes longer than the limit: %.2g %%",
	    100 * a->chance_exceed);
}

/* `times`: the runs in seconds. */
static int advise(const struct trk_past_run *times, size_t count, double input_bytes,
		  struct trk_memory_advice *m, struct trk_time_advice *ret)
{
	struct trk_memory_tuning tuning = trk__memory_tuning;
	struct trk_memory_options options = {.risk = TRK_RISK_SAFE,
					     .input_bytes = input_bytes,
					     .machine_bytes = NAN,
					     .tuning = &tuning};
	struct trk_time_advice a = {.longest_s = NAN};
	int r;

	tuning.step_bytes = tuning.floor_bytes = 0;
	tuning.out_of_memory_grow = limit_grow;
	r = trk__memory_advise(times, count, &options, m);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		if (times[i].end == TRK_PAST_SUCCEEDED && !(a.longest_s >= times[i].memory.bytes))
			a.longest_s = times[i].memory.bytes;
	a.exact_s = m->request_bytes * TRK_TIME_MARGIN;
	a.limit_s = trk__ceil(a.exact_s / minute_s * (1 - 1e-12)) * minute_s;
	a.expected_s = m->median_bytes;
	a.runs_used = m->runs_used;
	a.retry = m->retry;
	r = trk__memory_chance(times, count, &options, a.limit_s, &a.chance_exceed);
	if (r < 0)
		return r;
	explain(&a, m);
	*ret = a;
	return 0;
}

int trk__time_advise(const struct trk_past_run *runs, size_t count, double input_bytes,
		     struct trk_time_advice *ret)
{
	struct trk_past_run *times = calloc(count + 1, sizeof(*times));
	struct trk_memory_advice *m = malloc(sizeof(*m));
	bool any = false;
	int r = -ENOMEM;

	for (size_t i = 0; times && i < count; i++) {
		times[i] = in_seconds(&runs[i]);
		any = any || times[i].end != TRK_PAST_STOPPED;
	}
	if (times && m)
		r = any ? advise(times, count, input_bytes, m, ret) : -TRK_ERR_NODATA;
	free(times);
	free(m);
	return r;
}
