#include "fleet/job_memory.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define MIB 1048576.0

/* A signal by which a user or a batch system stops a job, whatever its memory. */
static bool is_stop_signal(int signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGTERM || signal == SIGXCPU;
}

static enum trk_earlier_end end_of(const struct trk_history_run *run)
{
	enum { SHELL_BASE = 128 }; /* a shell adds the signal of its child to this */
	const char *verdict = run->verdict;

	if (!strcmp(verdict, "out_of_memory") || !strcmp(verdict, "memory_limit"))
		return TRK_EARLIER_OUT_OF_MEMORY;
	if (!strcmp(verdict, "exited") && run->code <= 0)
		return TRK_EARLIER_SUCCEEDED;
	if (!strcmp(verdict, "stopped") || !strcmp(verdict, "timeout") ||
	    !strcmp(verdict, "running") || is_stop_signal(run->signal) ||
	    (!strcmp(verdict, "exited") && is_stop_signal(run->code - SHELL_BASE)))
		return TRK_EARLIER_STOPPED;
	return TRK_EARLIER_FAILED;
}

struct trk_earlier_run trk__advice_past_run(const struct trk_history_run *run)
{
	struct trk_earlier_run r = {
		.peak_bytes = run->peak_memory_mib * MIB,
		.duration_s = run->duration_s,
		.input_bytes = run->input_bytes,
		.limit_bytes = run->limit_memory_mib * MIB,
		.end = end_of(run),
	};

	if (run->peak_swap_mib > 0) /* without swap it would have needed that as well */
		r.peak_bytes += run->peak_swap_mib * MIB;
	if (!strcmp(run->verdict, "memory_limit")) /* of --limit, which is in no control group */
		r.limit_bytes = r.peak_bytes;
	return r;
}

__attribute__((format(printf, 2, 3))) static void add_reason(struct trk_memory_advice *m,
							     const char *format, ...)
{
	va_list args;

	if (m->reason_count == TRK_MEMORY_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(m->reason[m->reason_count++], TRK_MEMORY_REASON_SIZE, format, args);
	va_end(args);
}

static void say_alike(const struct trk_alike *alike, size_t runs, struct trk_memory_advice *m)
{
	if (alike->by == TRK_ALIKE_TAGS)
		add_reason(m, "only runs with %.100s count: %zu of %zu", alike->tags, alike->count,
			   runs);
	else if (alike->by == TRK_ALIKE_ARGUMENTS)
		add_reason(m, "only runs with the same arguments count: %zu of %zu", alike->count,
			   runs);
	else if (alike->by == TRK_ALIKE_NONE)
		add_reason(m, "no run with %.100s has succeeded yet: all runs count", alike->tags);
}

static void say_swap(const struct trk_history_run *past, const bool *kept, size_t count,
		     struct trk_memory_advice *m)
{
	double most_mib = 0;

	for (size_t i = 0; i < count; i++)
		if (kept[i] && past[i].peak_swap_mib > most_mib)
			most_mib = past[i].peak_swap_mib;
	if (most_mib >= 1)
		add_reason(m, "what was swapped out counts as memory: up to %.0f MiB", most_mib);
}

int trk__advice_memory(const struct trk_history_run *past, size_t count, const char *tags,
		       const struct trk_memory_options *options, struct trk_alike *ret_alike,
		       struct trk_memory_advice *ret)
{
	struct trk_earlier_run *runs = calloc(count + 1, sizeof(*runs));
	bool *kept = calloc(count + 1, sizeof(*kept));
	size_t n = 0;
	int r = -ENOMEM;

	if (runs && kept) {
		trk__alike_find(past, count, tags, kept, ret_alike);
		for (size_t i = 0; i < count; i++)
			if (kept[i])
				runs[n++] = trk__advice_past_run(&past[i]);
		r = trk__memory_advise(runs, n, options, ret);
	}
	if (r == 0) {
		say_alike(ret_alike, count, ret);
		say_swap(past, kept, count, ret);
	}
	free(runs);
	free(kept);
	return r;
}
