#include "advise/memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/memory_private.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/human.h"
#include "base/maths.h"

enum {
	FLOOR_RUNS = 20, /* a failure sets a floor until this many later runs succeeded */
};

/* The choice of a request and its inputs. */
struct choice {
	struct trk_history history; /* after forgetting */
	struct trk_ratios ratios;   /* of the chosen predictor */
	enum trk_basis basis;
	double lambda;
	double factor;
	size_t forgotten; /* runs before a shift of level */
	bool shift_up;
	bool no_success;      /* all runs failed */
	bool only_open_kills; /* only kills without a success after them */
};

/* A lower bound of the request, and the run that it comes from. */
struct run_floor {
	double bytes; /* 0: none */
	const struct trk_past_run *run;
};

static const double jump_margin = 1.1;
/* A request is at most so many times the largest peak, unless the next input is larger. */
static const double peaks_most = 1.5;
/* A retry that fails more often gets twice as much. */
static const double retry_chance_most = 0.5;

/* Numbers without another source were chosen in the replay of docs/advice-replay.md, each on other
 * families of jobs than those it is reported for. */
const struct trk_memory_tuning trk__memory_tuning = {
	.half_life_runs = 120,
	.join_after = 9,
	.time_to_failure = 1, /* as in the literature: pessimistic */
	.shift_down_runs = 3,
	.shift_up_runs = 2,
	.step_bytes = 128 * TRK_MIB, /* the smallest step of the original package */
	.floor_bytes = 256 * TRK_MIB,
	.out_of_memory_grow = 2, /* unknown until a later run succeeds: as a first retry */
	.chance_max = 0.25,
	.shift_gap = 0.5,  /* replay with failures: x 1.3 and x 2 from run 41, made-up wide jobs */
	.newest_extra = 3, /* the same replay */
	.jump_before = 20, /* as a shift of level */
	.jump_before_min = 5,    /* as a shift of level */
	.bearable_chance = 0.03, /* goal of the method: 1.5 to 3 % failed runs */
	/* Replay with failures, by the front of cost and failures: steps of S 2, 4, 8, 16. */
	.failing_charge =
		{
			[TRK_RISK_DEFAULT] = 4,
			[TRK_RISK_CHEAP] = 2,
			[TRK_RISK_SAFE] = 16,
		},
	.young_share = 0.5,
	.wide_charge = 6, /* replay with failures, made-up wide jobs: these two */
	.wide_young_share = 0.1,
	.record_scale = 1 / 28.0, /* of the jobs of all families, replay-traces law */
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

static double round_up(const struct trk_memory_tuning *tuning, double bytes)
{
	double step = tuning->step_bytes;

	if (bytes < tuning->floor_bytes)
		bytes = tuning->floor_bytes;
	/* A rounding error above a step is ignored: 1.2 GiB * 1.0 must not become the next one. */
	return step > 0 ? trk__ceil(bytes / step * (1 - 1e-12)) * step : bytes;
}

/* ---- the reasons, in words ---- */

static const char *const basis_names[TRK_BASES] = {
	[TRK_BASIS_MAX] = "largest peak so far",
	[TRK_BASIS_AVERAGE] = "moving average of the peaks",
	[TRK_BASIS_LINE] = "line through input size",
	[TRK_BASIS_ALIKE] = "largest peak of the three runs with the nearest input size",
	[TRK_BASIS_POWER] = "line through the logarithms of input size and peak",
};

const char *trk__confidence_name(enum trk_confidence confidence)
{
	static const char *const names[] = {
		[TRK_CONFIDENCE_FIRST_ESTIMATE] = "first estimate",
		[TRK_CONFIDENCE_LOW] = "low",
		[TRK_CONFIDENCE_MEDIUM] = "medium",
		[TRK_CONFIDENCE_HIGH] = "high",
	};

	return names[confidence];
}

static const char *size_text(double bytes, char text[TRK_HUMAN_SIZE])
{
	return trk__human_memory(text, bytes / TRK_MIB);
}

void trk__memory_say(struct trk_memory_advice *a, const char *format, ...)
{
	va_list args;

	if (a->reason_count == TRK_MEMORY_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(a->reason[a->reason_count++], TRK_MEMORY_REASON_SIZE, format, args);
	va_end(args);
}

/* Whether the forecast is the estimated need of a killed run, not a measured peak. */
static bool is_of_kill(const struct choice *c)
{
	const struct trk_history *h = &c->history;

	if (c->basis != TRK_BASIS_MAX && c->basis != TRK_BASIS_ALIKE)
		return false;
	for (size_t i = 0; i < h->count; i++)
		if (!h->is_kill[i] && h->need_bytes[i] == c->ratios.forecast_bytes)
			return false;
	return !c->ratios.is_scaled;
}

static const char *basis_text(const struct choice *c)
{
	if (c->only_open_kills)
		return "twice the amount at which the newest run was killed";
	if (c->ratios.is_scaled)
		return "largest peak so far, scaled up to the next input size";
	return is_of_kill(c) ? "twice the amount at which a run was killed" : basis_names[c->basis];
}

static void explain_basis(const struct choice *c, const struct trk_memory_tuning *tuning,
			  struct trk_memory_advice *a)
{
	char size[TRK_HUMAN_SIZE], least[TRK_HUMAN_SIZE];

	if (c->only_open_kills) {
		trk__memory_say(
			a,
			"no run has succeeded yet, so it is not known how much memory a run needs");
		return;
	}
	trk__memory_say(a, "%s (%s) x %.3g, rounded up, from %zu run%s", a->basis_text,
			size_text(c->ratios.forecast_bytes, size), c->factor, c->history.count,
			c->history.count == 1 ? "" : "s");
	if (c->ratios.forecast_bytes * c->factor <= tuning->floor_bytes - tuning->step_bytes &&
	    a->request_bytes == tuning->floor_bytes)
		trk__memory_say(a, "%s is the smallest request",
				size_text(tuning->floor_bytes, least));
	if (c->no_success)
		trk__memory_say(
			a,
			"no run has succeeded yet, so it is not known how much memory a run needs");
	if (c->forgotten > 0)
		trk__memory_say(a, "memory %s %zu runs ago: the %zu older ones are not used",
				c->shift_up ? "rose" : "fell", c->history.count, c->forgotten);
}

static void explain_chance(const struct choice *c, struct trk_memory_advice *a)
{
	char next[TRK_HUMAN_SIZE];

	if (c->only_open_kills)
		return;
	if (a->is_of_part)
		trk__memory_say(
			a,
			"only the largest process or task was measured: how much all of them held "
			"together is unknown, and so is the chance of needing more");
	else if (isnan(a->chance_exceed))
		trk__memory_say(a, "no run did the same work, so it is not known how sure that is");
	else if (!a->retry && trk__memory_history_growth(&c->history) > 0)
		trk__memory_say(
			a,
			"each of the newest runs needed more than all before it: at that rate the "
			"next one needs %s",
			size_text(trk__memory_history_growth(&c->history), next));
	else if (a->retry)
		trk__memory_say(a, "chance that the retry needs more: %.2g %%",
				100 * a->chance_exceed);
	else
		trk__memory_say(
			a,
			"chance that the next run needs more: %.2g %%; that it exceeds every "
			"run so "
			"far: 1 in %zu",
			100 * a->chance_exceed, c->history.count + 1);
}

static void explain_failure(const struct run_floor *floor, struct trk_memory_advice *a)
{
	char need[TRK_HUMAN_SIZE], held[TRK_HUMAN_SIZE];

	if (!floor->run)
		return;
	size_text(trk__earlier_held(floor->run), held);
	if (floor->run->end == TRK_PAST_OUT_OF_MEMORY)
		trk__memory_say(
			a,
			"a run was killed at %s, and no run has succeeded above that: its need is "
			"counted as %s",
			held, size_text(floor->bytes, need));
	else
		trk__memory_say(a, "a run failed at a peak of %s: it may have needed more", held);
}

/* Explain the request for a retry after the newest runs were killed. */
static void explain_retry(const struct choice *c, const struct trk_earlier_view *view,
			  struct trk_memory_advice *a)
{
	struct trk_open_kills kills = trk__open_kills(view);
	double twice = round_up(view->options->tuning, 2 * kills.failed_bytes);
	char held[TRK_HUMAN_SIZE];

	if (!a->retry)
		return;
	trk__memory_say(a, "the newest run%s out of memory at %s%s: the retry gets %s",
			kills.count > 1 ? "s ran" : " ran", kills.count > 1 ? "up to " : "",
			size_text(kills.failed_bytes, held),
			c->only_open_kills || a->request_bytes == twice
				? "twice as much"
				: "the cheapest amount above that, estimated from the runs so far");
}

static void explain_jump(const struct choice *c, const struct run_floor *jump,
			 struct trk_memory_advice *a)
{
	char peak[TRK_HUMAN_SIZE];

	if (jump->bytes > c->ratios.forecast_bytes * c->factor)
		trk__memory_say(a,
				"the newest run needed 10 %% more than all runs before it, so the "
				"request is at least its peak of %s",
				size_text(jump->bytes, peak));
}

/* Why the request stays below an earlier peak. */
static void explain_passed(const struct choice *c, const struct trk_memory_options *options,
			   struct trk_memory_advice *a)
{
	char peak[TRK_HUMAN_SIZE], request[TRK_HUMAN_SIZE];
	const char *why;

	if (isnan(a->passed_peak_bytes))
		return;
	if (a->exceeds_machine)
		why = "the machine has no more memory";
	else if (c->basis >= TRK_BASIS_LINE)
		why = "the input of the next run needs less";
	else if (c->forgotten > 0 && !c->shift_up)
		why = "that peak was before the memory use of the job fell";
	else
		why = "an occasional retry costs less than reserving that much for every run";
	trk__memory_say(
		a, "%s is below an earlier peak of %s (chance of meeting it again %.2g %%): %s",
		size_text(a->request_bytes, request), size_text(a->passed_peak_bytes, peak),
		100 * a->passed_peak_chance, why);
	if (options->risk == TRK_RISK_SAFE && !a->exceeds_machine)
		trk__memory_say(
			a, "with --risk safe, the request is below an earlier peak only if that "
			   "run had a larger input");
}

/* For peaks that vary this much, both reserving and failing are expensive. */
static void explain_wide(const struct choice *c, struct trk_memory_advice *a)
{
	struct trk_spread s;
	char low[TRK_HUMAN_SIZE], high[TRK_HUMAN_SIZE];

	if (!trk__memory_history_is_wide(&c->history, &s))
		return;
	a->is_wide = true;
	/* Inputs that are all the same explain nothing. */
	trk__memory_say(a, "peaks vary from %s to %s and the size of the input is not known: %s",
			size_text(s.least_bytes, low), size_text(s.most_bytes, high),
			s.most_input_bytes > s.least_input_bytes
				? "state it for the next run with recommend --input-size SIZE"
				: "state it with run --input-size SIZE, then with recommend "
				  "--input-size SIZE");
}

static void explain(const struct choice *choice, const struct trk_earlier_view *view,
		    const struct run_floor *failure, const struct run_floor *jump,
		    struct trk_memory_advice *ret)
{
	const struct trk_memory_options *options = view->options;
	char size[TRK_HUMAN_SIZE];

	ret->reason_count = 0;
	ret->basis_text = basis_text(choice);
	explain_retry(choice, view, ret);
	explain_basis(choice, options->tuning, ret);
	explain_chance(choice, ret);
	explain_wide(choice, ret);
	explain_failure(failure, ret);
	explain_jump(choice, jump, ret);
	explain_passed(choice, options, ret);
	if (ret->exceeds_machine)
		trk__memory_say(ret, "the machine has only %s, so the request was reduced to that",
				size_text(options->machine_bytes, size));
}

/* 0: no input is known. */
static double largest_input(const struct trk_history *h)
{
	double most = 0;

	for (size_t i = 0; i < h->count; i++)
		most = h->input_bytes[i] > most ? h->input_bytes[i] : most;
	return most;
}

/* --- choice ---------------------------------------------------------------------------------- */

/* Fill *c from a non-empty history. False if no predictor has a finite price: figures of a damaged
 * recording may overflow. */
static bool choose(struct choice *c, const struct trk_memory_options *options)
{
	struct trk_fail_price fail = {.lambda = lambdas[options->risk],
				      .charge = options->tuning->failing_charge[options->risk],
				      .young_share = options->tuning->young_share};
	struct trk_spread spread;
	double least = INFINITY;

	c->lambda = fail.lambda;
	c->forgotten = 0;
	c->shift_up = false;
	if (isnan(c->history.next_input_bytes)) {
		c->forgotten =
			trk__memory_history_shift(&c->history, options->tuning, &c->shift_up);
		trk__memory_history_forget(&c->history, c->forgotten);
	}
	if (trk__memory_history_is_wide(&c->history, &spread)) {
		fail.charge *= options->tuning->wide_charge;
		fail.young_share = options->tuning->wide_young_share;
	}
	for (int basis = 0; basis < TRK_BASES; basis++) {
		struct trk_ratios r;
		double price, factor;

		if (basis != TRK_BASIS_MAX && !(options->tuning->predictors >> basis & 1))
			continue;
		if (!trk__ratios_make(&c->history, (enum trk_basis) basis, options->tuning, &r))
			continue;
		factor = trk__ratios_best(&r, options->tuning, &fail, 0, &price);
		price *= r.forecast_per_use;
		if (price < least) {
			least = price;
			c->basis = (enum trk_basis) basis;
			c->factor = factor;
			c->ratios = r;
		}
	}
	return least < INFINITY;
}

static double request_of(const struct choice *c, const struct trk_memory_options *options)
{
	return round_up(options->tuning, c->ratios.forecast_bytes * c->factor);
}

/* Choose from the successes and from all runs: failed runs may raise the request, never lower it.
 * False when no run has usable figures. */
static bool choose_from(struct choice *c, struct choice *other, const struct trk_earlier_view *view)
{
	c->only_open_kills = false;
	trk__memory_history_fill(&c->history, view, TRK_TAKE_ALL);
	if (c->history.count == 0) {
		trk__memory_history_fill(&c->history, view, TRK_TAKE_OPEN_KILLS);
		c->only_open_kills = true;
	}
	if (c->history.count == 0)
		return false;
	trk__memory_history_fill(&other->history, view, TRK_TAKE_SUCCESSES);
	c->no_success = other->history.count == 0;
	if (!choose(c, view->options))
		return false;
	if (other->history.count == 0 || other->history.count == c->history.count + c->forgotten)
		return true;
	if (!choose(other, view->options))
		return true;
	other->no_success = other->only_open_kills = false;
	if (request_of(other, view->options) > request_of(c, view->options))
		*c = *other;
	return true;
}

/* --- the chance of needing more --------------------------------------------------------------- */

/* Chance that the next run needs more than that. The distribution of ratios prices a request; what
 * is stated is corrected by what happened in the replay. */
static double chance_above(const struct choice *c, double bytes)
{
	/* A run whose input is not larger than all before is less often a record. */
	static const double seen_input = 0.6;
	static const double wide_scale = 0.25; /* of the logarithm of largest / smallest peak */
	const struct trk_history *h = &c->history;
	double ratio = bytes / c->ratios.forecast_bytes;
	double chance = trk__ratios_chance(&c->ratios, ratio);
	struct trk_beyond beyond;
	struct trk_spread s;

	if (trk__memory_is_beyond(h, &beyond)) {
		double there = trk__memory_beyond_chance(&beyond, bytes);

		return there > chance ? there : chance;
	}
	/* Records of a wide job are further apart. */
	if (trk__memory_history_is_wide(h, &s) && ratio > c->ratios.highest_ratio)
		return 1.0 / (double) (h->count + 1) /
		       (1 + trk__ln(ratio / c->ratios.highest_ratio) /
				    (wide_scale * trk__ln(s.most_bytes / s.least_bytes)));
	return h->next_input_bytes <= largest_input(h) ? chance * seen_input : chance;
}

/* --- the next rung --------------------------------------------------------------------------- */

static double cut_to_machine(double bytes, const struct trk_memory_options *options)
{
	return trk__memory_known(options->machine_bytes) && bytes > options->machine_bytes
		       ? options->machine_bytes
		       : bytes;
}

/* The cheapest request given that the need is above failed_bytes; twice failed_bytes beyond the
 * range of the history. */
static double rung_of(const struct choice *c, const struct trk_memory_options *options,
		      double failed_bytes)
{
	/* For a retry only memory-hours count, as the failure has happened; except at risk safe. */
	struct trk_fail_price fail = {.lambda = options->risk == TRK_RISK_SAFE ? c->lambda : 0};
	double forecast = c->ratios.forecast_bytes, factor, rung;

	if (c->only_open_kills)
		return round_up(options->tuning, 2 * failed_bytes);
	factor =
		trk__ratios_best(&c->ratios, options->tuning, &fail, failed_bytes / forecast, NULL);
	rung = round_up(options->tuning, factor * forecast);
	/* Beyond the runs of the job, the distribution is a guess. */
	if (!(rung > failed_bytes) ||
	    chance_above(c, rung) > retry_chance_most * chance_above(c, failed_bytes))
		return round_up(options->tuning, 2 * failed_bytes);
	return rung;
}

/* --- floors ---------------------------------------------------------------------------------- */

/* The highest need of a failed run that is recent and not explained by its input. */
static struct run_floor failure_floor(const struct trk_earlier_view *view)
{
	const struct trk_memory_options *o = view->options;
	struct run_floor floor = {0};
	size_t later = 0;

	for (size_t i = view->count; i-- > 0;) {
		const struct trk_past_run *run = &view->runs[i];
		double need = trk__earlier_need(run, o->tuning);

		if (run->end == TRK_PAST_SUCCEEDED) {
			later += trk__memory_known(need);
			continue;
		}
		if (run->end == TRK_PAST_STOPPED)
			continue;
		if (o->risk != TRK_RISK_SAFE && later >= FLOOR_RUNS)
			break;
		if (trk__earlier_counts(view, i) && need > floor.bytes &&
		    !trk__input_explains(run, o))
			floor = (struct run_floor){need, run};
	}
	return floor;
}

/* Whether the run's peak is only a lower bound of its need. */
static bool is_lower_bound(const struct trk_past_run *run)
{
	return run->end == TRK_PAST_SUCCEEDED || run->end == TRK_PAST_STOPPED;
}

/* The peak of the newest run if it exceeded all runs before it by 10 %: the next run may do so
 * too. */
static struct run_floor jump_floor(const struct trk_earlier_view *view)
{
	const struct trk_memory_tuning *tuning = view->options->tuning;
	const struct trk_past_run *newest = NULL;
	size_t before = 0;

	for (size_t i = view->count; i-- > 0 && before < tuning->jump_before;) {
		const struct trk_past_run *run = &view->runs[i];

		if (!trk__earlier_counts(view, i))
			continue;
		if (!newest) {
			newest = run;
			continue;
		}
		before++;
		if (!(trk__past_run_held(newest) > trk__earlier_need(run, tuning) * jump_margin))
			return (struct run_floor){0};
	}
	if (!newest || before < tuning->jump_before_min || !is_lower_bound(newest) ||
	    trk__input_explains(newest, view->options))
		return (struct run_floor){0};
	return (struct run_floor){trk__past_run_held(newest), newest};
}

/* The highest need of the runs that count and are not explained by their input. */
static double highest_need(const struct trk_earlier_view *view)
{
	double max = 0;

	for (size_t i = 0; i < view->count; i++) {
		double need = trk__earlier_need(&view->runs[i], view->options->tuning);

		if (need > max && trk__earlier_counts(view, i) &&
		    !trk__input_explains(&view->runs[i], view->options))
			max = need;
	}
	return max;
}

/* The most that an earlier run held; 0: not known. */
static double highest_held(const struct trk_earlier_view *view)
{
	double max = 0;

	for (size_t i = 0; i < view->count; i++) {
		double held = trk__earlier_held(&view->runs[i]);

		if (held > max)
			max = held;
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

/* The earlier runs with their options, checked, and the choice from them. */
struct question {
	struct trk_memory_options options;
	struct trk_earlier_view view;
	struct choice choice, of_successes;
};

static int fill_in(struct question *q, const struct trk_past_run *runs, size_t count,
		   const struct trk_memory_options *options)
{
	q->options = options ? *options : (struct trk_memory_options){.input_bytes = NAN};
	q->view = (struct trk_earlier_view){runs, count, &q->options};
	if (!q->options.tuning)
		q->options.tuning = &trk__memory_tuning;
	if ((unsigned int) q->options.risk > TRK_RISK_SAFE)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if ((unsigned int) runs[i].end > TRK_PAST_OUT_OF_MEMORY)
			return -EINVAL;
	return choose_from(&q->choice, &q->of_successes, &q->view) ? 0 : -TRK_ERR_NODATA;
}

/* On success the caller frees *ret. */
static int ask(struct question **ret, const struct trk_past_run *runs, size_t count,
	       const struct trk_memory_options *options)
{
	struct question *q = malloc(sizeof(*q)); /* 32 KiB */
	int r = q ? fill_in(q, runs, count, options) : -ENOMEM;

	if (r == 0)
		*ret = q;
	else
		free(q);
	return r;
}

/* Bound a request by the peaks so far, unless the input of the next run is larger. */
static double bounded(const struct trk_history *h, double request)
{
	double most = 0;

	for (size_t i = 0; i < h->count; i++)
		most = h->need_bytes[i] > most ? h->need_bytes[i] : most;
	if (h->next_input_bytes > largest_input(h) * jump_margin || request < most * peaks_most)
		return request;
	return most * peaks_most;
}

static double request_with_floors(const struct choice *c, const struct trk_earlier_view *view,
				  const struct run_floor *failure, const struct run_floor *jump)
{
	double request = bounded(&c->history, c->ratios.forecast_bytes * c->factor);
	struct trk_beyond beyond;

	if (trk__memory_is_beyond(&c->history, &beyond)) {
		double there = trk__memory_beyond_request(&beyond, c->lambda);

		if (there > request)
			request = there;
	}
	if (trk__memory_history_growth(&c->history) > request)
		request = trk__memory_history_growth(&c->history);
	if (failure->bytes > request)
		request = failure->bytes;
	if (jump->bytes > request)
		request = jump->bytes;
	if (view->options->risk == TRK_RISK_SAFE) {
		double peak = highest_need(view);

		if (peak > request)
			request = peak;
	}
	if (c->history.count + c->forgotten == 1 && c->history.need_bytes[0] > request)
		request = c->history.need_bytes[0];
	return round_up(view->options->tuning, request);
}

/* The part of the advice on its confidence and on the peaks above the request. */
static void judge(const struct choice *c, const struct trk_earlier_view *view,
		  const struct trk_open_kills *kills, struct trk_memory_advice *a)
{
	double above;

	a->chance_exceed = chance_above(c, a->request_bytes);
	if (a->retry) {
		/* Given that the need exceeds the amount that was not enough. */
		above = chance_above(c, kills->failed_bytes);
		a->chance_exceed = a->chance_exceed < above ? a->chance_exceed / above : 1;
	}
	a->confidence = confidence_of(c->history.count, a->chance_exceed);
	a->is_of_part = view->runs[view->count - 1].memory.is_of_part;
	if (view->options->is_new_work || a->is_of_part) {
		a->chance_exceed = NAN;
		a->confidence = TRK_CONFIDENCE_FIRST_ESTIMATE;
	}
	a->highest_bytes = highest_held(view);
	a->passed_peak_bytes = a->passed_peak_chance = NAN;
	if (a->highest_bytes > a->request_bytes) {
		a->passed_peak_bytes = a->highest_bytes;
		a->passed_peak_chance = chance_above(c, a->highest_bytes * (1 - 1e-9));
	}
}

/* The figures of the request, which is no less than `least`. */
static void fill(struct trk_memory_advice *a, const struct choice *c,
		 const struct trk_earlier_view *view, const struct trk_open_kills *kills,
		 double least)
{
	const struct trk_memory_options *o = view->options;
	double request = least;

	a->basis = c->basis;
	a->forecast_bytes = c->only_open_kills ? kills->failed_bytes : c->ratios.forecast_bytes;
	a->median_bytes = trk__ratios_median(&c->ratios) * c->ratios.forecast_bytes;
	a->factor = c->only_open_kills ? 2 : c->factor;
	a->runs_used = c->history.count + c->forgotten;
	a->runs_forgotten = c->forgotten;
	a->retry = kills->failed_bytes > 0;
	if (a->retry) {
		double rung = rung_of(c, o, kills->failed_bytes);

		request = rung > least ? rung : least;
	}
	a->exceeds_machine = trk__memory_known(o->machine_bytes) && request > o->machine_bytes;
	a->request_bytes = cut_to_machine(request, o);
	a->next_rung_bytes = cut_to_machine(rung_of(c, o, a->request_bytes), o);
}

int trk__memory_advise(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, struct trk_memory_advice *ret)
{
	struct trk_memory_advice a = {0};
	struct question *q = NULL;
	struct run_floor failure, jump;
	struct trk_open_kills kills;
	int rc = ask(&q, runs, count, options);

	if (!q)
		return rc;
	failure = failure_floor(&q->view);
	jump = jump_floor(&q->view);
	kills = trk__open_kills(&q->view);
	fill(&a, &q->choice, &q->view, &kills,
	     request_with_floors(&q->choice, &q->view, &failure, &jump));
	judge(&q->choice, &q->view, &kills, &a);
	explain(&q->choice, &q->view, &failure, &jump, &a);
	free(q);
	*ret = a;
	return 0;
}

int trk__memory_next_rung(const struct trk_past_run *runs, size_t count,
			  const struct trk_memory_options *options, double failed_bytes,
			  double *ret_bytes)
{
	struct question *q = NULL;
	int rc = trk__memory_known(failed_bytes) ? ask(&q, runs, count, options) : -EINVAL;

	if (!q)
		return rc;
	*ret_bytes = cut_to_machine(rung_of(&q->choice, &q->options, failed_bytes), &q->options);
	free(q);
	return 0;
}

int trk__memory_chance(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, double bytes, double *ret)
{
	struct question *q = NULL;
	int rc = trk__memory_known(bytes) ? ask(&q, runs, count, options) : -EINVAL;

	if (!q)
		return rc;
	*ret = chance_above(&q->choice, bytes);
	free(q);
	return 0;
}
