#include "advise/memory.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "advise/memory_private.h"
#include "base/error.h"
#include "base/maths.h"

#define MIB 1048576.0

enum {
	SHIFT_BEFORE = 20,    /* runs that a shift of level is compared with, at most */
	SHIFT_BEFORE_MIN = 5, /* and at least */
	FLOOR_RUNS = 20,      /* later successes after which a failure is no floor any more */
};

static const double shift_margin = 1.1;
static const double input_margin = 1.1;

const struct trk_memory_tuning trk__memory_tuning = {
	.half_life_runs = 120,
	.join_after = 9,
	.time_to_failure = 1,
	.shift_down_runs = 3,
	.shift_up_runs = 2,
	.step_bytes = 128 * MIB,
	.floor_bytes = 256 * MIB,
	.out_of_memory_grow = 1.2,
	.chance_max = 0.25,
	.record_scale = 1 / 28.0,
	.record_own = 0.5,
	.record_far = 0.1,
	.record_far_scale = 0.2,
	.predictors = ~0u,
};

static const double lambdas[] = {
	[TRK_RISK_DEFAULT] = 1,
	[TRK_RISK_CHEAP] = 0,
	[TRK_RISK_SAFE] = 4,
};

/* Positive and finite: the only numbers that say something here. */
static bool known(double x)
{
	return x > 0 && x < INFINITY;
}

double trk__past_need(const struct trk_past_run *run, const struct trk_memory_tuning *tuning)
{
	double need = known(run->peak_bytes) ? run->peak_bytes : NAN;

	if (run->end == TRK_PAST_OUT_OF_MEMORY) {
		if (known(run->limit_bytes) && !(need >= run->limit_bytes))
			need = run->limit_bytes;
		need *= tuning->out_of_memory_grow;
	}
	return need;
}

bool trk__input_explains(const struct trk_past_run *run, const struct trk_memory_options *options)
{
	return known(options->input_bytes) && known(run->input_bytes) &&
	       run->input_bytes > options->input_bytes * input_margin;
}

double trk__memory_round(const struct trk_memory_tuning *tuning, double bytes)
{
	double step = tuning->step_bytes;

	if (bytes < tuning->floor_bytes)
		bytes = tuning->floor_bytes;
	/* A hair above a step is that step: 1.2 GiB * 1.0 must not become the next one. */
	return step > 0 ? trk__ceil(bytes / step * (1 - 1e-12)) * step : bytes;
}

/* --- history --------------------------------------------------------------------------------- */

/* Which runs a history takes. */
enum taken { SUCCESSES, SUCCESSES_AND_FAILURES };

static bool taken_in(const struct trk_past_run *run, enum taken which,
		     const struct trk_memory_tuning *tuning)
{
	return (run->end == TRK_PAST_SUCCEEDED || which == SUCCESSES_AND_FAILURES) &&
	       known(trk__past_need(run, tuning));
}

/* The newest runs that say something, oldest first. */
static void history_fill(struct trk_history *h, const struct trk_past_run *runs, size_t count,
			 enum taken which, const struct trk_memory_options *options)
{
	size_t first = count, n = 0;

	while (first > 0 && n < TRK_MEMORY_RUNS_MAX)
		n += taken_in(&runs[--first], which, options->tuning);
	h->count = 0;
	h->next_input_bytes = known(options->input_bytes) ? options->input_bytes : NAN;
	for (size_t i = first; i < count; i++) {
		const struct trk_past_run *run = &runs[i];
		size_t at = h->count;

		if (!taken_in(run, which, options->tuning))
			continue;
		h->need_bytes[at] = trk__past_need(run, options->tuning);
		h->ln_need[at] = trk__ln(h->need_bytes[at]);
		h->duration_s[at] = known(run->duration_s) ? run->duration_s : 1;
		h->input_bytes[at] = known(run->input_bytes) ? run->input_bytes : NAN;
		h->ln_input[at] = trk__ln(h->input_bytes[at]);
		h->count++;
	}
}

/* 1 when `runs` runs from `at` on all lie above those from `first` to `at`, -1 when below, else 0. */
static int shifted_at(const struct trk_history *h, size_t first, size_t at, size_t runs)
{
	double min = INFINITY, max = 0;
	bool above = true, below = true;

	if (at - first > SHIFT_BEFORE)
		first = at - SHIFT_BEFORE;
	for (size_t i = first; i < at; i++) {
		min = h->need_bytes[i] < min ? h->need_bytes[i] : min;
		max = h->need_bytes[i] > max ? h->need_bytes[i] : max;
	}
	for (size_t i = at; i < at + runs; i++) {
		above = above && h->need_bytes[i] > max * shift_margin;
		below = below && h->need_bytes[i] < min / shift_margin;
	}
	return above ? 1 : below ? -1 : 0;
}

/* The first run since the last shift of level, 0 without one. */
static size_t last_shift(const struct trk_history *h, const struct trk_memory_tuning *tuning,
			 bool *ret_up)
{
	size_t up = tuning->shift_up_runs, down = tuning->shift_down_runs, first = 0;

	for (size_t at = SHIFT_BEFORE_MIN; at < h->count; at++) {
		int way = 0;

		if (at - first < SHIFT_BEFORE_MIN)
			continue;
		if (up > 0 && at + up <= h->count)
			way = shifted_at(h, first, at, up) > 0;
		if (way == 0 && down > 0 && at + down <= h->count)
			way = shifted_at(h, first, at, down) < 0 ? -1 : 0;
		if (way == 0)
			continue;
		first = at;
		*ret_up = way > 0;
	}
	return first;
}

static void history_forget(struct trk_history *h, size_t runs)
{
	size_t left = h->count - runs;

	memmove(h->need_bytes, h->need_bytes + runs, left * sizeof(*h->need_bytes));
	memmove(h->ln_need, h->ln_need + runs, left * sizeof(*h->ln_need));
	memmove(h->duration_s, h->duration_s + runs, left * sizeof(*h->duration_s));
	memmove(h->input_bytes, h->input_bytes + runs, left * sizeof(*h->input_bytes));
	memmove(h->ln_input, h->ln_input + runs, left * sizeof(*h->ln_input));
	h->count = left;
}

/* --- choice ---------------------------------------------------------------------------------- */

/* Fill *c from a history that is there. */
static void choose(struct trk_choice *c, const struct trk_memory_options *options)
{
	double least = INFINITY;

	c->lambda = lambdas[options->risk];
	c->forgotten = 0;
	c->shift_up = false;
	if (isnan(c->history.next_input_bytes)) {
		c->forgotten = last_shift(&c->history, options->tuning, &c->shift_up);
		history_forget(&c->history, c->forgotten);
	}
	for (int basis = 0; basis < TRK_BASES; basis++) {
		struct trk_ratios r;
		double price, factor;

		if (basis != TRK_BASIS_MAX && !(options->tuning->predictors >> basis & 1))
			continue;
		if (!trk__ratios_make(&c->history, (enum trk_basis) basis, options->tuning, &r))
			continue;
		factor = trk__ratios_best(&r, options->tuning, c->lambda, 0, &price);
		price *= r.forecast_per_use;
		if (price < least) {
			least = price;
			c->basis = (enum trk_basis) basis;
			c->factor = factor;
			c->ratios = r;
		}
	}
}

static double request_of(const struct trk_choice *c, const struct trk_memory_options *options)
{
	return trk__memory_round(options->tuning, c->ratios.forecast_bytes * c->factor);
}

/* Choose from the successes, and from all runs: what failed may raise the request, never lower it.
 * False when no run says anything. */
static bool choose_from(struct trk_choice *c, const struct trk_past_run *runs, size_t count,
			const struct trk_memory_options *options)
{
	struct trk_choice other;

	history_fill(&c->history, runs, count, SUCCESSES_AND_FAILURES, options);
	if (c->history.count == 0)
		return false;
	history_fill(&other.history, runs, count, SUCCESSES, options);
	c->no_success = other.history.count == 0;
	if (other.history.count == 0 || other.history.count == c->history.count) {
		choose(c, options);
		return true;
	}
	choose(c, options);
	choose(&other, options);
	other.no_success = false;
	if (request_of(&other, options) > request_of(c, options))
		*c = other;
	return true;
}

/* --- the next rung --------------------------------------------------------------------------- */

static double cut_to_machine(double bytes, const struct trk_memory_options *options)
{
	return known(options->machine_bytes) && bytes > options->machine_bytes
		       ? options->machine_bytes
		       : bytes;
}

static double rung_of(const struct trk_choice *c, const struct trk_memory_options *options,
		      double failed_bytes)
{
	/* Of a retry only the memory-hours count, but at risk safe: a failure has been had. */
	double lambda = options->risk == TRK_RISK_SAFE ? c->lambda : 0;
	double forecast = c->ratios.forecast_bytes;
	double factor = trk__ratios_best(&c->ratios, options->tuning, lambda,
					 failed_bytes / forecast, NULL);
	double rung = trk__memory_round(options->tuning, factor * forecast);

	return rung > failed_bytes ? rung : trk__memory_round(options->tuning, 2 * failed_bytes);
}

/* --- floors ---------------------------------------------------------------------------------- */

/* The highest need of a failed run that is recent and not explained by its input. */
static struct trk_failure_floor failure_floor(const struct trk_past_run *runs, size_t count,
					      const struct trk_memory_options *options)
{
	struct trk_failure_floor floor = {0};
	size_t later = 0;

	for (size_t i = count; i-- > 0;) {
		double need = trk__past_need(&runs[i], options->tuning);

		if (runs[i].end == TRK_PAST_SUCCEEDED) {
			later += known(need);
			continue;
		}
		if (options->risk != TRK_RISK_SAFE && later >= FLOOR_RUNS)
			break;
		if (known(need) && need > floor.bytes && !trk__input_explains(&runs[i], options))
			floor = (struct trk_failure_floor){need, &runs[i]};
	}
	return floor;
}

/* The highest need of runs, of all or only of those that their input does not explain. */
static double highest_need(const struct trk_past_run *runs, size_t count,
			   const struct trk_memory_options *options, bool unexplained, double above)
{
	double max = 0;

	for (size_t i = 0; i < count; i++) {
		double need = trk__past_need(&runs[i], options->tuning);

		if (known(need) && need > max && need > above &&
		    !(unexplained && trk__input_explains(&runs[i], options)))
			max = need;
	}
	return max;
}

static enum trk_confidence confidence_of(size_t runs, double chance)
{
	if (runs < 3)
		return TRK_CONFIDENCE_FIRST_ESTIMATE;
	if (runs < 8 || chance > 0.10)
		return TRK_CONFIDENCE_LOW;
	if (runs < 20 || chance > 0.04)
		return TRK_CONFIDENCE_MEDIUM;
	return TRK_CONFIDENCE_HIGH;
}

/* --- entry ----------------------------------------------------------------------------------- */

static int check_options(const struct trk_past_run *runs, size_t count,
			 const struct trk_memory_options *options, struct trk_memory_options *ret)
{
	*ret = options ? *options : (struct trk_memory_options){.input_bytes = NAN};
	if (!ret->tuning)
		ret->tuning = &trk__memory_tuning;
	if ((unsigned int) ret->risk > TRK_RISK_SAFE)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if ((unsigned int) runs[i].end > TRK_PAST_OUT_OF_MEMORY)
			return -EINVAL;
	return 0;
}

/* The newest run when it ran out of memory at a known place: its retry is asked for. */
static double retry_from(const struct trk_past_run *runs, size_t count,
			 const struct trk_memory_options *options)
{
	double need;

	if (count == 0 || runs[count - 1].end != TRK_PAST_OUT_OF_MEMORY)
		return NAN;
	need = trk__past_need(&runs[count - 1], options->tuning);
	return known(need) ? need / options->tuning->out_of_memory_grow : NAN;
}

static double request_with_floors(const struct trk_choice *c, const struct trk_past_run *runs,
				  size_t count, const struct trk_memory_options *options,
				  const struct trk_failure_floor *floor)
{
	double request = c->ratios.forecast_bytes * c->factor;

	if (floor->bytes > request)
		request = floor->bytes;
	if (options->risk == TRK_RISK_SAFE || c->history.count + c->forgotten == 1) {
		bool all = options->risk != TRK_RISK_SAFE;
		double peak = highest_need(runs, count, options, !all, 0);

		if (peak > request)
			request = peak;
	}
	return trk__memory_round(options->tuning, request);
}

/* The part of the advice that says how sure it is and what it stays below. */
static void judge(const struct trk_choice *c, const struct trk_past_run *runs, size_t count,
		  const struct trk_memory_options *options, struct trk_memory_advice *a)
{
	double forecast = c->ratios.forecast_bytes, passed;

	a->chance_exceed = trk__ratios_chance(&c->ratios, a->request_bytes / forecast);
	a->confidence = confidence_of(c->history.count, a->chance_exceed);
	a->highest_bytes = highest_need(runs, count, options, false, 0);
	passed = highest_need(runs, count, options, false, a->request_bytes);
	a->passed_peak_bytes = passed > 0 ? passed : NAN;
	a->passed_peak_chance =
		passed > 0 ? trk__ratios_chance(&c->ratios, passed / forecast * (1 - 1e-9)) : NAN;
}

int trk__memory_advise(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, struct trk_memory_advice *ret)
{
	struct trk_memory_options o;
	struct trk_memory_advice a = {0};
	struct trk_choice c;
	struct trk_failure_floor floor;
	int rc = check_options(runs, count, options, &o);
	double failed;

	if (rc < 0)
		return rc;
	if (!choose_from(&c, runs, count, &o))
		return -TRK_E_NODATA;
	floor = failure_floor(runs, count, &o);
	failed = retry_from(runs, count, &o);
	a.request_bytes = request_with_floors(&c, runs, count, &o, &floor);
	a.basis = c.basis;
	a.forecast_bytes = c.ratios.forecast_bytes;
	a.factor = c.factor;
	a.runs_used = c.history.count + c.forgotten;
	a.runs_forgotten = c.forgotten;
	if (known(failed)) {
		double rung = rung_of(&c, &o, failed);

		a.retry = true;
		if (rung > a.request_bytes)
			a.request_bytes = rung;
	}
	a.exceeds_machine = known(o.machine_bytes) && a.request_bytes > o.machine_bytes;
	a.request_bytes = cut_to_machine(a.request_bytes, &o);
	a.next_rung_bytes = cut_to_machine(rung_of(&c, &o, a.request_bytes), &o);
	judge(&c, runs, count, &o, &a);
	trk__memory_explain(&c, &o, &floor, &a);
	*ret = a;
	return 0;
}

int trk__memory_next_rung(const struct trk_past_run *runs, size_t count,
			  const struct trk_memory_options *options, double failed_bytes,
			  double *ret_bytes)
{
	struct trk_memory_options o;
	struct trk_choice c;
	int rc = check_options(runs, count, options, &o);

	if (rc < 0)
		return rc;
	if (!known(failed_bytes))
		return -EINVAL;
	if (!choose_from(&c, runs, count, &o))
		return -TRK_E_NODATA;
	*ret_bytes = cut_to_machine(rung_of(&c, &o, failed_bytes), &o);
	return 0;
}

int trk__memory_chance(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, double bytes, double *ret)
{
	struct trk_memory_options o;
	struct trk_choice c;
	int rc = check_options(runs, count, options, &o);

	if (rc < 0)
		return rc;
	if (!known(bytes))
		return -EINVAL;
	if (!choose_from(&c, runs, count, &o))
		return -TRK_E_NODATA;
	*ret = trk__ratios_chance(&c.ratios, bytes / c.ratios.forecast_bytes);
	return 0;
}
