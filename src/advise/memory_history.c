/* Which earlier runs count for the next one's memory: kills that a later success resolved
 * do not, and runs from before a shift of level do not. */
#include <math.h>
#include <string.h>

#include "advise/memory_private.h"
#include "base/maths.h"

enum {
	SHIFT_BEFORE = 20,    /* largest number of runs before a shift that are compared */
	SHIFT_BEFORE_MIN = 5, /* and at least */
	RESOLVED_WITHIN = 20, /* successes after a kill among which one may resolve it; as long as
			       * a failure that is not resolved is a floor */
	WIDE_RUNS_MIN = 3,
	GROWING_RUNS = 4, /* that each exceeded all runs before them */
};

static const double wide_spread = 3; /* largest over smallest peak */

static const double shift_margin = 1.1;
static const double input_margin = 1.1; /* inputs within a tenth are the same */

bool trk__memory_known(double x)
{
	return x > 0 && x < INFINITY;
}

double trk__earlier_held(const struct trk_past_run *run)
{
	double held = trk__past_run_held(run), limit = run->limit_memory_bytes;

	if (!trk__memory_known(held))
		held = NAN;
	/* Above the limit of --limit, which is in no control group, it was killed at its peak. */
	if (run->end == TRK_PAST_OUT_OF_MEMORY && strcmp(run->end_name, "memory_limit") != 0 &&
	    trk__memory_known(limit) && !(held >= limit))
		held = limit;
	return held;
}

double trk__earlier_need(const struct trk_past_run *run, const struct trk_memory_tuning *tuning)
{
	double held = trk__earlier_held(run);

	return run->end == TRK_PAST_OUT_OF_MEMORY ? held * tuning->out_of_memory_grow : held;
}

bool trk__input_explains(const struct trk_past_run *run, const struct trk_memory_options *options)
{
	return trk__memory_known(options->input_bytes) && trk__memory_known(run->input_bytes) &&
	       run->input_bytes > options->input_bytes * input_margin;
}

/* --- kills ----------------------------------------------------------------------------------- */

static bool is_same_input(const struct trk_past_run *a, const struct trk_past_run *b)
{
	if (!trk__memory_known(a->input_bytes) || !trk__memory_known(b->input_bytes))
		return true;
	return a->input_bytes <= b->input_bytes * input_margin &&
	       b->input_bytes <= a->input_bytes * input_margin;
}

/* A stopped run counts as a success if it held more than the limit of a kill. */
static bool is_success(const struct trk_past_run *run, double killed_at_bytes)
{
	return run->end == TRK_PAST_SUCCEEDED ||
	       (run->end == TRK_PAST_STOPPED && trk__past_run_held(run) > killed_at_bytes);
}

/* The retry, or another run of the same work, exceeded the limit and succeeded: it shows the need,
 * of which the kill is only a lower bound. */
static bool is_resolved(const struct trk_earlier_view *view, size_t kill)
{
	const struct trk_past_run *killed = &view->runs[kill];
	double held = trk__earlier_held(killed);
	size_t successes = 0;

	for (size_t i = kill + 1; i < view->count && successes < RESOLVED_WITHIN; i++) {
		const struct trk_past_run *run = &view->runs[i];

		if (!trk__memory_known(trk__past_run_held(run)) || !is_success(run, held))
			continue;
		successes++;
		if (trk__past_run_held(run) > held && is_same_input(killed, run))
			return true;
	}
	return false;
}

/* Whether run `at` is an open kill: no success after it, and no larger input than the next. */
static bool is_open_kill(const struct trk_earlier_view *view, size_t at)
{
	if (view->runs[at].end != TRK_PAST_OUT_OF_MEMORY ||
	    trk__input_explains(&view->runs[at], view->options))
		return false;
	for (size_t i = at + 1; i < view->count; i++)
		if (is_success(&view->runs[i], trk__earlier_held(&view->runs[at])))
			return false;
	return true;
}

struct trk_open_kills trk__open_kills(const struct trk_earlier_view *view)
{
	struct trk_open_kills kills = {0};

	for (size_t i = view->count; i-- > 0 && view->runs[i].end != TRK_PAST_SUCCEEDED;) {
		double held = trk__earlier_held(&view->runs[i]);

		if (!is_open_kill(view, i))
			continue;
		kills.count++;
		if (held > kills.failed_bytes)
			kills.failed_bytes = held;
	}
	return kills;
}

/* Whether a success held at least as much as this run. */
static bool is_topped(const struct trk_earlier_view *view, size_t at)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->runs[i].end == TRK_PAST_SUCCEEDED &&
		    trk__past_run_held(&view->runs[i]) >= trk__past_run_held(&view->runs[at]))
			return true;
	return false;
}

bool trk__earlier_counts(const struct trk_earlier_view *view, size_t at)
{
	if (!trk__memory_known(trk__earlier_need(&view->runs[at], view->options->tuning)))
		return false;
	if (view->runs[at].end == TRK_PAST_STOPPED)
		return !is_topped(view, at);
	return view->runs[at].end != TRK_PAST_OUT_OF_MEMORY ||
	       !(is_open_kill(view, at) || is_resolved(view, at));
}

/* --- history --------------------------------------------------------------------------------- */

static bool taken_in(const struct trk_earlier_view *view, size_t at, enum trk_taken which)
{
	if (which == TRK_TAKE_OPEN_KILLS)
		return is_open_kill(view, at) &&
		       trk__memory_known(trk__earlier_held(&view->runs[at]));
	return (which == TRK_TAKE_ALL || view->runs[at].end == TRK_PAST_SUCCEEDED) &&
	       trk__earlier_counts(view, at);
}

static void append(struct trk_history *h, const struct trk_past_run *run,
		   const struct trk_memory_tuning *tuning)
{
	size_t at = h->count++;

	h->need_bytes[at] = trk__earlier_need(run, tuning);
	h->ln_need[at] = trk__ln(h->need_bytes[at]);
	h->is_kill[at] = run->end == TRK_PAST_OUT_OF_MEMORY;
	h->duration_s[at] = trk__memory_known(run->duration_s) ? run->duration_s : 1;
	h->input_bytes[at] = trk__memory_known(run->input_bytes) ? run->input_bytes : NAN;
	h->ln_input[at] = trk__ln(h->input_bytes[at]);
}

void trk__memory_history_fill(struct trk_history *h, const struct trk_earlier_view *view,
			      enum trk_taken which)
{
	const struct trk_memory_options *o = view->options;
	size_t first = view->count, n = 0;

	while (first > 0 && n < TRK_MEMORY_RUNS_MAX)
		n += taken_in(view, --first, which);
	h->count = 0;
	h->next_input_bytes = trk__memory_known(o->input_bytes) ? o->input_bytes : NAN;
	for (size_t i = first; i < view->count; i++)
		if (taken_in(view, i, which))
			append(h, &view->runs[i], o->tuning);
}

/* 1 when `runs` runs from `at` on are clearly above those from `first` to `at`, -1 when below, else
 * 0. The more the older runs vary, the larger the gap must be: in wide jobs two runs may be outside
 * by chance. */
static int shifted_at(const struct trk_history *h, size_t first, size_t at, size_t runs,
		      double gap_share)
{
	double min = INFINITY, max = 0, low = INFINITY, high = 0, gap;

	if (at - first > SHIFT_BEFORE)
		first = at - SHIFT_BEFORE;
	for (size_t i = first; i < at; i++) {
		min = h->need_bytes[i] < min ? h->need_bytes[i] : min;
		max = h->need_bytes[i] > max ? h->need_bytes[i] : max;
	}
	for (size_t i = at; i < at + runs; i++) {
		low = h->need_bytes[i] < low ? h->need_bytes[i] : low;
		high = h->need_bytes[i] > high ? h->need_bytes[i] : high;
	}
	gap = gap_share * trk__ln(max / min);
	if (low > max * shift_margin && trk__ln(low / max) >= gap)
		return 1;
	return high < min / shift_margin && trk__ln(min / high) >= gap ? -1 : 0;
}

size_t trk__memory_history_shift(const struct trk_history *h,
				 const struct trk_memory_tuning *tuning, bool *ret_up)
{
	size_t up = tuning->shift_up_runs, down = tuning->shift_down_runs, first = 0;

	for (size_t at = SHIFT_BEFORE_MIN; at < h->count; at++) {
		int way = 0;

		if (at - first < SHIFT_BEFORE_MIN)
			continue;
		if (up > 0 && at + up <= h->count)
			way = shifted_at(h, first, at, up, tuning->shift_gap) > 0;
		if (way == 0 && down > 0 && at + down <= h->count)
			way = shifted_at(h, first, at, down, tuning->shift_gap) < 0 ? -1 : 0;
		if (way == 0)
			continue;
		first = at;
		*ret_up = way > 0;
	}
	return first;
}

bool trk__memory_history_is_wide(const struct trk_history *h, struct trk_spread *ret)
{
	struct trk_spread s = {INFINITY, 0, INFINITY, 0};

	for (size_t i = 0; i < h->count; i++) {
		double need = h->need_bytes[i], input = h->input_bytes[i];

		s.least_input_bytes = input < s.least_input_bytes ? input : s.least_input_bytes;
		s.most_input_bytes = input > s.most_input_bytes ? input : s.most_input_bytes;
		if (h->is_kill[i])
			continue;
		s.least_bytes = need < s.least_bytes ? need : s.least_bytes;
		s.most_bytes = need > s.most_bytes ? need : s.most_bytes;
	}
	*ret = s;
	return h->count >= WIDE_RUNS_MIN && s.most_bytes > wide_spread * s.least_bytes &&
	       isnan(h->next_input_bytes);
}

double trk__memory_history_growth(const struct trk_history *h)
{
	double most = 0, before = 0;
	size_t first = h->count - GROWING_RUNS;

	if (h->count < GROWING_RUNS + 1 || !isnan(h->next_input_bytes))
		return 0;
	for (size_t i = 0; i < h->count; i++) {
		double more = h->need_bytes[i] - most;

		if (i >= first && (h->is_kill[i] || !(more > 0)))
			return 0;
		if (i == first)
			before = most;
		if (more > 0)
			most = h->need_bytes[i];
	}
	return most + (most - before) / GROWING_RUNS;
}

void trk__memory_history_forget(struct trk_history *h, size_t runs)
{
	size_t left = h->count - runs;

	memmove(h->need_bytes, h->need_bytes + runs, left * sizeof(*h->need_bytes));
	memmove(h->ln_need, h->ln_need + runs, left * sizeof(*h->ln_need));
	memmove(h->is_kill, h->is_kill + runs, left * sizeof(*h->is_kill));
	memmove(h->duration_s, h->duration_s + runs, left * sizeof(*h->duration_s));
	memmove(h->input_bytes, h->input_bytes + runs, left * sizeof(*h->input_bytes));
	memmove(h->ln_input, h->ln_input + runs, left * sizeof(*h->ln_input));
	h->count = left;
}
