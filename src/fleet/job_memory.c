#include "fleet/job_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
