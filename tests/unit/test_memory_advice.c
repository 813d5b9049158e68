/* The recommended memory request: its promises, over many synthetic histories. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/memory.h"
#include "past_runs.h"
#include "advise/memory_private.h"
#include "base/error.h"

#define MIB 1048576.0
#define GIB 1073741824.0

enum { RUNS = 230, HISTORIES = 60 };

static uint64_t seed;

/* 0 to 1. */
static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double) (seed >> 11) / 9007199254740992.0;
}

static struct trk_past_run run_of(double peak_mib)
{
	return past_run_of(peak_mib * MIB, 60, NAN, NAN, TRK_PAST_SUCCEEDED);
}

/* Families of histories: steady, noisy, growing with input, of two kinds, with a shift of level. */
static size_t history_init(struct trk_past_run *runs, int family, size_t count)
{
	double level = 100 + 8000 * chance();

	for (size_t i = 0; i < count; i++) {
		double input = 100 + 1000 * chance(), peak = level * (1 + 0.02 * chance());

		if (family == 1)
			peak = level * (0.3 + chance());
		if (family == 2)
			peak = 50 + 4 * input * (1 + 0.05 * chance());
		if (family == 3)
			peak = level * (chance() < 0.2 ? 1 : 0.1);
		if (family == 4)
			peak = level * (i > count / 2 ? 0.4 : 1) * (1 + 0.05 * chance());
		runs[i] = run_of(peak);
		runs[i].duration_s = 1 + 1000 * chance();
		if (family == 2)
			runs[i].input_bytes = input * MIB;
	}
	return count;
}

static struct trk_memory_options options_of(enum trk_risk risk)
{
	return (struct trk_memory_options){.risk = risk, .input_bytes = NAN, .machine_bytes = NAN};
}

static double highest(const struct trk_past_run *runs, size_t count)
{
	double max = 0;

	for (size_t i = 0; i < count; i++)
		max = fmax(max, runs[i].memory.bytes);
	return max;
}

/* Run `check` over histories of every family, length and risk. */
static void over_histories(void (*check)(const struct trk_past_run *runs, size_t count,
					 const struct trk_memory_options *options,
					 const struct trk_memory_advice *a))
{
	static struct trk_past_run runs[RUNS];

	for (seed = 1; seed < 1000 * HISTORIES; seed = seed % 1000000 + 997) {
		uint64_t here = seed;
		size_t count = history_init(runs, (int) (seed % 5), 1 + (size_t) (chance() * RUNS));
		struct trk_memory_options o = options_of((enum trk_risk)(here % 3));
		struct trk_memory_advice a;

		if (here % 5 == 2 && here % 2)
			o.input_bytes = 100 * MIB + 1000 * MIB * chance();
		assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
		check(runs, count, &o, &a);
		seed = here;
	}
}

static void check_sane(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, const struct trk_memory_advice *a)
{
	double again;

	assert_true(a->request_bytes >= 256 * MIB && a->request_bytes < INFINITY);
	assert_true(fmod(a->request_bytes, 128 * MIB) == 0);
	assert_true(a->next_rung_bytes > a->request_bytes);
	assert_true(a->chance_exceed >= 0 && a->chance_exceed <= 1);
	assert_true(a->runs_used == (count < 200 ? count : 200));
	assert_true(a->highest_bytes == highest(runs, count));
	assert_true(a->reason_count >= 2 && a->reason_count <= TRK_MEMORY_REASONS_MAX);
	assert_int_equal(trk__memory_next_rung(runs, count, options, a->request_bytes, &again), 0);
	assert_true(again == a->next_rung_bytes);
}

static void requests_are_sane_whatever_the_history(void **state)
{
	over_histories(check_sane);
}

static void check_safe(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, const struct trk_memory_advice *a)
{
	if (options->risk != TRK_RISK_SAFE)
		return;
	for (size_t i = 0; i < count; i++)
		assert_true(a->request_bytes >= runs[i].memory.bytes ||
			    runs[i].input_bytes > options->input_bytes);
}

static void at_risk_safe_only_input_size_lets_an_earlier_peak_be_passed(void **state)
{
	over_histories(check_safe);
}

static void check_named(const struct trk_past_run *runs, size_t count,
			const struct trk_memory_options *options, const struct trk_memory_advice *a)
{
	double max = highest(runs, count);
	bool named = false;

	(void) options;
	for (size_t i = 0; i < a->reason_count; i++)
		named = named || strstr(a->reason[i], "is below an earlier peak of ");
	assert_int_equal(named, a->request_bytes < max);
	if (named)
		assert_true(a->passed_peak_bytes == max && a->passed_peak_chance > 0 &&
			    a->passed_peak_chance <= a->chance_exceed);
	else
		assert_true(isnan(a->passed_peak_bytes) && isnan(a->passed_peak_chance));
}

static void a_request_below_an_earlier_peak_names_it_and_its_chance(void **state)
{
	over_histories(check_named);
}

static void a_rare_outlier_is_cheaper_to_retry_than_to_reserve(void **state)
{
	struct trk_past_run runs[60];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (int i = 0; i < 60; i++)
		runs[i] = run_of(i == 20 ? 8192 : 1000 + i % 7);
	assert_int_equal(trk__memory_advise(runs, 60, &o, &a), 0);
	assert_true(a.request_bytes >= 1006 * MIB && a.request_bytes <= 1536 * MIB);
	assert_true(a.passed_peak_bytes == 8192 * MIB && a.passed_peak_chance > 0);
	assert_true(a.next_rung_bytes >= 8192 * MIB);
	o.risk = TRK_RISK_SAFE;
	assert_int_equal(trk__memory_advise(runs, 60, &o, &a), 0);
	assert_true(a.request_bytes >= 8192 * MIB);
}

static void from_one_run_the_request_is_never_below_its_peak(void **state)
{
	for (double mib = 0.01; mib < 4e6; mib *= 1.07)
		for (int risk = 0; risk <= TRK_RISK_SAFE; risk++) {
			struct trk_past_run run = run_of(mib);
			struct trk_memory_options o = options_of((enum trk_risk) risk);
			struct trk_memory_advice a;

			run.input_bytes = 1000 * MIB;
			o.input_bytes = risk ? 10 * MIB : NAN;
			assert_int_equal(trk__memory_advise(&run, 1, &o, &a), 0);
			assert_true(a.request_bytes >= run.memory.bytes);
			assert_int_equal(a.confidence, TRK_CONFIDENCE_FIRST_ESTIMATE);
		}
}

static void a_peak_of_844_mib_asks_for_a_gib(void **state)
{
	struct trk_past_run run = run_of(844);
	struct trk_memory_advice a;

	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), 0);
	assert_true(a.request_bytes == 1 * GIB);
}

static void a_failed_run_never_lowers_a_request(void **state)
{
	static struct trk_past_run runs[RUNS + 1];

	for (seed = 5; seed < 400000; seed = seed % 1000000 + 1999) {
		uint64_t here = seed;
		size_t count = history_init(runs, (int) (seed % 5), 1 + (size_t) (chance() * 100));
		struct trk_memory_options o = options_of((enum trk_risk)(here % 3));
		struct trk_memory_advice before, after;

		assert_int_equal(trk__memory_advise(runs, count, &o, &before), 0);
		runs[count] = run_of(1 + 20000 * chance());
		runs[count].end = here % 2 ? TRK_PAST_FAILED : TRK_PAST_OUT_OF_MEMORY;
		runs[count].limit_memory_bytes = runs[count].memory.bytes * 1.01;
		assert_int_equal(trk__memory_advise(runs, count + 1, &o, &after), 0);
		assert_true(after.request_bytes >= before.request_bytes);
		assert_true(after.request_bytes >= runs[count].memory.bytes);
		assert_int_equal(after.retry, !(here % 2));
		if (after.retry)
			assert_true(after.request_bytes > runs[count].limit_memory_bytes);
		seed = here;
	}
}

static void a_killed_run_alone_raises_the_request_above_its_limit(void **state)
{
	struct trk_past_run run = past_run_of(NAN, 60, NAN, 8 * GIB, TRK_PAST_OUT_OF_MEMORY);
	struct trk_memory_advice a;

	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), 0);
	assert_true(a.retry && a.request_bytes >= 9.6 * GIB && a.request_bytes < 24 * GIB);
	assert_true(a.next_rung_bytes > a.request_bytes);
	/* Also where the least request would be above the limit. */
	run.limit_memory_bytes = 200 * 1048576.0;
	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), 0);
	assert_true(a.request_bytes >= 2 * run.limit_memory_bytes);
	assert_non_null(strstr(a.reason[0], "ran out of memory at 200 MiB: the retry gets twice"));
}

static bool says(const struct trk_memory_advice *a, const char *what)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (strstr(a->reason[i], what))
			return true;
	return false;
}

static void where_no_run_succeeded_it_is_said(void **state)
{
	struct trk_past_run runs[2] = {run_of(1000), run_of(900)};
	struct trk_memory_advice a;

	runs[0].end = TRK_PAST_FAILED;
	assert_int_equal(trk__memory_advise(runs, 1, NULL, &a), 0);
	assert_true(says(&a, "no run has succeeded yet"));
	assert_int_equal(trk__memory_advise(runs, 2, NULL, &a), 0);
	assert_false(says(&a, "no run has succeeded yet"));
	assert_int_equal(trk__memory_advise(runs + 1, 1, NULL, &a), 0);
	assert_false(says(&a, "no run has succeeded yet"));
}

static void the_least_that_is_requested_is_called_so(void **state)
{
	struct trk_past_run run = run_of(5);
	struct trk_memory_advice a;

	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), 0);
	assert_true(a.request_bytes == 256 * MIB && says(&a, "256 MiB is the smallest"));
	run.memory.bytes = 1000 * MIB;
	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), 0);
	assert_false(says(&a, "is the smallest request"));
}

static void a_failure_long_ago_is_no_floor_any_more(void **state)
{
	struct trk_past_run runs[100];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice recent, old;

	for (size_t i = 0; i < 100; i++)
		runs[i] = run_of(1000 + (double) (i % 7));
	runs[95].end = TRK_PAST_FAILED;
	runs[95].memory.bytes = 3 * GIB;
	assert_int_equal(trk__memory_advise(runs, 100, &o, &recent), 0);
	assert_true(recent.request_bytes >= 3 * GIB);
	runs[5] = runs[95];
	runs[95] = runs[94];
	for (size_t i = 6; i < 100; i++)
		runs[i].memory.bytes = (1000 + (double) (i % 7)) * MIB;
	assert_int_equal(trk__memory_advise(runs, 100, &o, &old), 0);
	assert_true(old.request_bytes <= recent.request_bytes);
	o.risk = TRK_RISK_SAFE;
	assert_int_equal(trk__memory_advise(runs, 100, &o, &old), 0);
	assert_true(old.request_bytes >= 3 * GIB);
}

static void input_size_is_followed_where_it_explains_memory(void **state)
{
	struct trk_past_run runs[40];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice small, large;

	for (size_t i = 0; i < 40; i++) {
		double x = 1 + (double) (i * 17 % 40);

		runs[i] = run_of(100 + 200 * x);
		runs[i].input_bytes = x * GIB;
	}
	o.input_bytes = 5 * GIB;
	assert_int_equal(trk__memory_advise(runs, 40, &o, &small), 0);
	assert_true(small.basis == TRK_BASIS_LINE || small.basis == TRK_BASIS_ALIKE);
	assert_true(small.request_bytes >= 1100 * MIB && small.request_bytes < 2 * GIB);
	o.input_bytes = 80 * GIB;
	assert_int_equal(trk__memory_advise(runs, 40, &o, &large), 0);
	assert_int_equal(large.basis, TRK_BASIS_LINE);
	assert_true(large.request_bytes >= 16100 * MIB && large.request_bytes < 19 * GIB);
}

static void after_memory_fell_the_older_runs_are_forgotten(void **state)
{
	struct trk_past_run runs[60];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 60; i++)
		runs[i] = run_of((i < 50 ? 8000 : 2000) + (double) (i % 5));
	assert_int_equal(trk__memory_advise(runs, 60, &o, &a), 0);
	assert_int_equal(a.runs_forgotten, 50);
	assert_true(a.request_bytes < 3 * GIB);
	assert_non_null(strstr(a.reason[1], "fell"));
	for (size_t i = 50; i < 60; i++) /* a rise is known after two runs */
		runs[i] = i < 58 ? runs[0] : run_of(16000);
	assert_int_equal(trk__memory_advise(runs, 60, &o, &a), 0);
	assert_int_equal(a.runs_forgotten, 58);
	assert_true(a.request_bytes >= 16000 * MIB);
}

static void what_the_machine_has_is_the_most(void **state)
{
	struct trk_past_run run = run_of(30000);
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	o.machine_bytes = 16 * GIB;
	assert_int_equal(trk__memory_advise(&run, 1, &o, &a), 0);
	assert_true(a.request_bytes == 16 * GIB && a.next_rung_bytes == 16 * GIB);
	assert_true(a.exceeds_machine);
	o.machine_bytes = 64 * GIB;
	assert_int_equal(trk__memory_advise(&run, 1, &o, &a), 0);
	assert_true(!a.exceeds_machine && a.request_bytes > 30000 * MIB);
}

static void a_steady_job_needs_less_and_less_margin(void **state)
{
	struct trk_past_run runs[100];
	double factor = 2, surer = 1;

	for (size_t i = 0; i < 100; i++)
		runs[i] = run_of(20000);
	for (size_t n = 1; n <= 100; n = n * 3 + 1) {
		struct trk_memory_advice a;

		assert_int_equal(trk__memory_advise(runs, n, NULL, &a), 0);
		assert_true(a.factor < factor && a.factor > 1 && a.chance_exceed < surer);
		factor = a.factor;
		surer = a.chance_exceed;
	}
}

static double request_after(const double *mib, size_t count)
{
	struct trk_past_run runs[8];
	struct trk_memory_advice a;

	for (size_t i = 0; i < count; i++)
		runs[i] = run_of(mib[i]);
	assert_int_equal(trk__memory_advise(runs, count, NULL, &a), 0);
	return a.request_bytes / MIB;
}

static void the_distance_of_the_two_largest_peaks_sets_the_margin(void **state)
{
	static const double near[] = {20001, 20002, 20000, 20001};
	static const double apart[] = {20000, 17000, 18000, 19000};
	static const double outlier[] = {20000, 11000, 10000, 10500};
	static const double far[] = {20000, 7000, 7100, 6900}; /* not yet wide */

	assert_true(request_after(near, 4) < 20002 * 1.04);
	assert_true(request_after(apart, 4) > 20000 * 1.1);
	/* Above a large gap records are no larger for its being larger. */
	assert_true(request_after(outlier, 4) < 20000 * 1.25);
	assert_true(request_after(far, 4) == request_after(outlier, 4));
}

static void a_record_far_beyond_stays_possible_however_steady_the_job(void **state)
{
	struct trk_past_run runs[20];
	double beyond, half;

	for (int i = 0; i < 20; i++)
		runs[i] = run_of(20000);
	assert_int_equal(trk__memory_chance(runs, 20, NULL, 20000.001 * MIB, &beyond), 0);
	assert_int_equal(trk__memory_chance(runs, 20, NULL, 30000 * MIB, &half), 0);
	assert_true(fabs(beyond - 1.0 / 21) < 0.001);
	assert_true(half > 0.1 / (1 + 0.41 / 0.2) / 21 && half < 0.1 / 21);
}

static void more_caution_asks_for_no_less(void **state)
{
	static struct trk_past_run runs[RUNS];
	double sum[3] = {0};

	for (seed = 3; seed < 60000; seed = seed % 100000 + 499) {
		uint64_t here = seed;
		size_t count = history_init(runs, (int) (seed % 5), 1 + (size_t) (chance() * 60));

		for (int risk = 0; risk < 3; risk++) {
			struct trk_memory_options o = options_of((enum trk_risk) risk);
			struct trk_memory_advice a;

			assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
			sum[risk] += a.request_bytes;
		}
		seed = here;
	}
	assert_true(sum[TRK_RISK_CHEAP] < sum[TRK_RISK_DEFAULT]);
	assert_true(sum[TRK_RISK_DEFAULT] < sum[TRK_RISK_SAFE]);
}

static void chances_fall_as_requests_grow(void **state)
{
	struct trk_past_run runs[30];
	double before = 1;

	for (size_t i = 0; i < 30; i++)
		runs[i] = run_of(1000 + (double) (i * 37 % 100));
	for (double mib = 900; mib < 8000; mib *= 1.01) {
		double chance_of;

		assert_int_equal(trk__memory_chance(runs, 30, NULL, mib * MIB, &chance_of), 0);
		assert_true(chance_of <= before && chance_of > 0);
		before = chance_of;
	}
	assert_int_equal(trk__memory_chance(runs, 30, NULL, 1099 * MIB, &before), 0);
	assert_true(fabs(before - 1.0 / 31) < 0.01);
}

static void runs_that_say_nothing_are_left_out(void **state)
{
	static const double nothing[] = {NAN, 0, -5, INFINITY};
	struct trk_past_run runs[5];
	struct trk_memory_advice a = {.request_bytes = 7};

	for (size_t i = 0; i < 4; i++) {
		runs[i] = run_of(1);
		runs[i].memory.bytes = nothing[i];
		runs[i].limit_memory_bytes = nothing[i];
		runs[i].end = i % 2 ? TRK_PAST_OUT_OF_MEMORY : TRK_PAST_SUCCEEDED;
	}
	assert_int_equal(trk__memory_advise(runs, 4, NULL, &a), -TRK_ERR_NODATA);
	assert_int_equal(trk__memory_advise(NULL, 0, NULL, &a), -TRK_ERR_NODATA);
	assert_true(a.request_bytes == 7);
	runs[4] = run_of(1000);
	runs[4].duration_s = NAN;
	assert_int_equal(trk__memory_advise(runs, 5, NULL, &a), 0);
	assert_int_equal(a.runs_used, 1);
}

static void what_does_not_exist_is_refused(void **state)
{
	struct trk_past_run run = run_of(1000);
	struct trk_memory_options o = options_of((enum trk_risk) 7);
	struct trk_memory_advice a;
	double rung;

	assert_int_equal(trk__memory_advise(&run, 1, &o, &a), -EINVAL);
	assert_int_equal(trk__memory_next_rung(&run, 1, NULL, NAN, &rung), -EINVAL);
	assert_int_equal(trk__memory_next_rung(&run, 1, NULL, 0, &rung), -EINVAL);
	run.end = (enum trk_past_end) 9;
	assert_int_equal(trk__memory_advise(&run, 1, NULL, &a), -EINVAL);
}

static void rungs_climb_to_any_need(void **state)
{
	struct trk_past_run runs[10];
	double request = 100 * MIB;

	for (size_t i = 0; i < 10; i++)
		runs[i] = run_of(1000 + (double) i);
	for (int attempt = 0; attempt < 40; attempt++) {
		double rung;

		assert_int_equal(trk__memory_next_rung(runs, 10, NULL, request, &rung), 0);
		assert_true(rung > request);
		request = rung;
	}
	assert_true(request > 1024 * GIB);
}

/* --- failures in the history
 * ------------------------------------------------------------------- */

static struct trk_past_run kill_at(double limit_mib)
{
	return past_run_of(limit_mib * MIB * 0.98, 60, NAN, limit_mib * MIB,
			   TRK_PAST_OUT_OF_MEMORY);
}

/* One run after another with what is advised, killed where that is too little. Returns the failures
 * of the last one; *ret_request is what let it succeed. */
static unsigned int live(struct trk_past_run *runs, size_t *count, double need_mib,
			 double *ret_request)
{
	unsigned int fails = 0;

	for (;;) {
		struct trk_memory_advice a;

		assert_int_equal(trk__memory_advise(runs, *count, NULL, &a), 0);
		*ret_request = a.request_bytes / MIB;
		if (*ret_request >= need_mib)
			break;
		runs[(*count)++] = kill_at(*ret_request);
		fails++;
	}
	runs[(*count)++] = run_of(need_mib);
	return fails;
}

static void a_success_above_its_limit_resolves_a_kill(void **state)
{
	struct trk_past_run runs[3] = {run_of(1400), kill_at(1500), run_of(1613)};
	struct trk_past_run without[2] = {runs[0], runs[2]};
	struct trk_memory_advice a, plain;

	assert_int_equal(trk__memory_advise(runs, 3, NULL, &a), 0);
	assert_int_equal(trk__memory_advise(without, 2, NULL, &plain), 0);
	assert_true(a.request_bytes == plain.request_bytes);
	assert_true(a.highest_bytes == 1613 * MIB && a.runs_used == 2 && !a.retry);
	assert_true(says(&a, "largest peak so far (1.58 GiB)") && !says(&a, "1.76 GiB"));
}

static void a_jump_takes_few_failures_and_leaves_no_trace(void **state)
{
	struct trk_past_run runs[64];
	size_t count = 0, dear = 0;
	double request;

	while (count < 10)
		runs[count++] = run_of(1024);
	assert_true(live(runs, &count, 10240, &request) <= 4);
	for (int i = 0; i < 18; i++) {
		assert_int_equal(live(runs, &count, 1024, &request), 0);
		dear += request >= 10240;
	}
	assert_true(dear <= 2);
}

static void the_next_rung_is_what_is_advised_after_the_kill(void **state)
{
	static struct trk_past_run runs[RUNS + 5];

	for (seed = 11; seed < 400000; seed = seed % 1000000 + 1999) {
		uint64_t here = seed;
		size_t count = history_init(runs, (int) (seed % 5), 1 + (size_t) (chance() * 100));
		struct trk_memory_options o = options_of((enum trk_risk)(here % 3));
		struct trk_memory_advice a, retry;

		assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
		for (int i = 0; i < 5; i++) {
			runs[count++] = kill_at(a.request_bytes / MIB);
			assert_int_equal(trk__memory_advise(runs, count, &o, &retry), 0);
			assert_true(retry.retry && retry.request_bytes == a.next_rung_bytes);
			a = retry;
		}
		seed = here;
	}
}

static void several_kills_at_once_are_resolved_by_one_success(void **state)
{
	struct trk_past_run runs[20];
	struct trk_memory_advice a;

	for (size_t i = 0; i < 20; i++)
		runs[i] = i < 10 ? run_of(1000) : kill_at(1152);
	assert_int_equal(trk__memory_advise(runs, 20, NULL, &a), 0);
	assert_true(a.retry && a.request_bytes > 1152 * MIB && says(&a, "newest runs ran out"));
	runs[19] = run_of(1300);
	assert_int_equal(trk__memory_advise(runs, 20, NULL, &a), 0);
	assert_true(!a.retry && a.runs_used == 11 && a.highest_bytes == 1300 * MIB);
}

static void a_kill_without_such_a_success_counts_and_is_not_called_a_peak(void **state)
{
	struct trk_past_run runs[8];
	struct trk_memory_advice a;

	for (size_t i = 0; i < 8; i++)
		runs[i] = i == 3 ? kill_at(1500) : run_of(1000);
	assert_int_equal(trk__memory_advise(runs, 8, NULL, &a), 0);
	assert_true(a.request_bytes >= 3000 * MIB && a.highest_bytes == 1500 * MIB);
	assert_false(says(&a, "largest peak so far (1.76 GiB)"));
	assert_non_null(strstr(a.basis_text, "twice the amount at which a run was killed"));
	assert_true(says(&a, "killed at 1.46 GiB, and no run has succeeded above that"));
}

static void a_success_on_other_input_resolves_nothing(void **state)
{
	struct trk_past_run runs[4] = {run_of(900), run_of(950), kill_at(1000), run_of(1613)};
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 4; i++)
		runs[i].input_bytes = 5 * GIB;
	assert_int_equal(trk__memory_advise(runs, 4, &o, &a), 0);
	assert_int_equal(a.runs_used, 3);
	runs[2].input_bytes = 20 * GIB;
	assert_int_equal(trk__memory_advise(runs, 4, &o, &a), 0);
	assert_int_equal(a.runs_used, 4);
}

static void a_kill_at_a_larger_input_asks_for_no_retry_at_a_smaller(void **state)
{
	struct trk_past_run runs[4] = {run_of(900), run_of(950), run_of(980), kill_at(8000)};
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 4; i++)
		runs[i].input_bytes = i < 3 ? 1 * GIB : 50 * GIB;
	o.input_bytes = 50 * GIB;
	assert_int_equal(trk__memory_advise(runs, 4, &o, &a), 0);
	assert_true(a.retry && a.request_bytes > 8000 * MIB);
	o.input_bytes = 1 * GIB;
	assert_int_equal(trk__memory_advise(runs, 4, &o, &a), 0);
	assert_false(a.retry);
}

/* --- jumps, levels, wide jobs
 * ------------------------------------------------------------------ */

static void of_a_wide_job_two_high_runs_are_no_new_level(void **state)
{
	struct trk_past_run runs[22];
	struct trk_memory_advice a;

	for (size_t i = 0; i < 22; i++)
		runs[i] = run_of(i < 20 ? 1000 * (double) (1 + i * 7 % 10) : 11500);
	assert_int_equal(trk__memory_advise(runs, 22, NULL, &a), 0);
	assert_int_equal(a.runs_forgotten, 0);
	runs[20] = runs[21] = run_of(40000);
	assert_int_equal(trk__memory_advise(runs, 22, NULL, &a), 0);
	assert_int_equal(a.runs_forgotten, 20);
}

static void after_a_jump_the_next_request_is_no_less_than_it(void **state)
{
	struct trk_past_run runs[21];
	struct trk_memory_options o = options_of(TRK_RISK_CHEAP);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 21; i++) {
		runs[i] = run_of(i < 20 ? 1000 : 3000);
		runs[i].input_bytes = i < 20 ? 1 * GIB : 3 * GIB;
	}
	assert_int_equal(trk__memory_advise(runs, 21, &o, &a), 0);
	assert_true(a.request_bytes >= 3000 * MIB && says(&a, "at least its peak of 2.93 GiB"));
	o.input_bytes = 1 * GIB; /* the jump was the larger input's */
	assert_int_equal(trk__memory_advise(runs, 21, &o, &a), 0);
	assert_true(a.request_bytes < 3000 * MIB);
	o.input_bytes = NAN;
	runs[19] = run_of(2900); /* not a tenth above all before it: no jump */
	assert_int_equal(trk__memory_advise(runs, 21, &o, &a), 0);
	assert_false(says(&a, "at least its peak"));
}

static void the_newest_run_weighs_four_times(void **state)
{
	struct trk_past_run runs[20];
	double chance_of, share = 4.0 / 23;

	for (size_t i = 0; i < 20; i++)
		runs[i] = run_of(i < 19 ? 10000 : 10500);
	assert_int_equal(trk__memory_chance(runs, 20, NULL, 10400 * MIB, &chance_of), 0);
	/* Weights halve in 120 runs: the newest has a little more than its share. */
	assert_true(chance_of > share * 20 / 21 + 1.0 / 21 - 1e-9 && chance_of < share + 0.06);
}

static void wide_jobs_pay_for_safety_and_steady_ones_do_not(void **state)
{
	struct trk_past_run wide[60], steady[60];
	struct trk_memory_tuning tuning = trk__memory_tuning;
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice with, without;

	seed = 21;
	for (size_t i = 0; i < 60; i++) {
		wide[i] = run_of(500 * exp(3 * chance()));
		steady[i] = run_of(8000 * (1 + 0.01 * chance()));
	}
	memset(tuning.failing_charge, 0, sizeof(tuning.failing_charge));
	assert_int_equal(trk__memory_advise(wide, 60, &o, &with), 0);
	o.tuning = &tuning;
	assert_int_equal(trk__memory_advise(wide, 60, &o, &without), 0);
	assert_true(with.chance_exceed < 0.06 && with.chance_exceed < without.chance_exceed / 2);
	assert_true(with.is_wide && says(&with, "--input-size"));
	assert_int_equal(trk__memory_advise(steady, 60, &o, &without), 0);
	o.tuning = NULL;
	assert_int_equal(trk__memory_advise(steady, 60, &o, &with), 0);
	assert_true(with.request_bytes == without.request_bytes && !with.is_wide);
}

static void a_wide_job_is_told_to_state_the_input_size_until_it_does(void **state)
{
	struct trk_past_run runs[6];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 6; i++)
		runs[i] = run_of(300 * (double) (i + 1));
	assert_int_equal(trk__memory_advise(runs, 6, &o, &a), 0);
	assert_true(a.is_wide && says(&a, "vary from 300 MiB to 1.76 GiB") &&
		    says(&a, "run --input-size SIZE"));
	for (size_t i = 0; i < 6; i++)
		runs[i].input_bytes = (double) (i + 1) * GIB;
	assert_int_equal(trk__memory_advise(runs, 6, &o, &a), 0);
	assert_true(a.is_wide && says(&a, "recommend --input-size SIZE") &&
		    !says(&a, "run --input-size SIZE"));
	for (size_t i = 0; i < 6; i++) /* as of a script that is always the same */
		runs[i].input_bytes = 1000;
	assert_int_equal(trk__memory_advise(runs, 6, &o, &a), 0);
	assert_true(says(&a, "run --input-size SIZE, then"));
	o.input_bytes = 3 * GIB;
	assert_int_equal(trk__memory_advise(runs, 6, &o, &a), 0);
	assert_false(a.is_wide || says(&a, "--input-size"));
}

/* --- input size
 * -------------------------------------------------------------------------------- */

static void memory_that_grows_as_a_power_of_input_is_followed(void **state)
{
	struct trk_past_run runs[30];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 30; i++) {
		double x = 1 + (double) (i * 17 % 30);

		runs[i] = run_of(2000 * sqrt(x));
		runs[i].input_bytes = x * GIB;
	}
	o.input_bytes = 400 * GIB;
	assert_int_equal(trk__memory_advise(runs, 30, &o, &a), 0);
	assert_int_equal(a.basis, TRK_BASIS_POWER);
	assert_true(a.request_bytes >= 40000 * MIB && a.request_bytes < 42500 * MIB);
}

static void a_line_needs_three_points(void **state)
{
	static struct trk_history h = {.count = 4, .next_input_bytes = 9 * GIB};
	double past[5];

	for (size_t i = 0; i < 4; i++) {
		h.input_bytes[i] = (double) (1 + i) * GIB;
		h.need_bytes[i] = (double) (2 + i) * GIB;
		h.ln_input[i] = log(h.input_bytes[i]);
		h.ln_need[i] = log(h.need_bytes[i]);
	}
	for (int basis = TRK_BASIS_LINE; basis < TRK_BASES; basis++) {
		trk__memory_forecast(&h, (enum trk_basis) basis, past);
		if (basis != TRK_BASIS_ALIKE)
			assert_true(isnan(past[2]) && past[3] > 0);
	}
	trk__memory_forecast(&h, TRK_BASIS_LINE, past);
	assert_true(fabs(past[3] - 5 * GIB) < 1 && fabs(past[4] - 10 * GIB) < 1);
}

static void of_a_young_job_peaks_are_scaled_up_to_the_next_input(void **state)
{
	struct trk_past_run runs[3];
	struct trk_memory_options o = options_of(TRK_RISK_DEFAULT);
	struct trk_memory_advice a;

	for (size_t i = 0; i < 3; i++) {
		runs[i] = run_of(4000 * (double) (1 << i));
		runs[i].input_bytes = (double) (1 << i) * GIB;
	}
	o.input_bytes = 2 * GIB; /* the largest input was larger: never down */
	assert_int_equal(trk__memory_advise(runs, 3, &o, &a), 0);
	assert_true(a.forecast_bytes == 16000 * MIB);
	o.input_bytes = 6 * GIB;
	assert_int_equal(trk__memory_advise(runs, 3, &o, &a), 0);
	assert_true(a.forecast_bytes > 17000 * MIB && a.forecast_bytes <= 24000 * MIB);
	assert_non_null(strstr(a.basis_text, "scaled up to the next input"));
	o.input_bytes = 1000 * GIB; /* half as much again at most */
	assert_int_equal(trk__memory_advise(runs, 3, &o, &a), 0);
	assert_true(fabs(a.forecast_bytes - 24000 * MIB) < 1);
	o.input_bytes = NAN;
	assert_int_equal(trk__memory_advise(runs, 3, &o, &a), 0);
	assert_true(a.forecast_bytes == 16000 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_sane_whatever_the_history),
		cmocka_unit_test(at_risk_safe_only_input_size_lets_an_earlier_peak_be_passed),
		cmocka_unit_test(a_request_below_an_earlier_peak_names_it_and_its_chance),
		cmocka_unit_test(a_rare_outlier_is_cheaper_to_retry_than_to_reserve),
		cmocka_unit_test(from_one_run_the_request_is_never_below_its_peak),
		cmocka_unit_test(a_peak_of_844_mib_asks_for_a_gib),
		cmocka_unit_test(a_failed_run_never_lowers_a_request),
		cmocka_unit_test(a_killed_run_alone_raises_the_request_above_its_limit),
		cmocka_unit_test(where_no_run_succeeded_it_is_said),
		cmocka_unit_test(the_least_that_is_requested_is_called_so),
		cmocka_unit_test(a_failure_long_ago_is_no_floor_any_more),
		cmocka_unit_test(input_size_is_followed_where_it_explains_memory),
		cmocka_unit_test(after_memory_fell_the_older_runs_are_forgotten),
		cmocka_unit_test(what_the_machine_has_is_the_most),
		cmocka_unit_test(a_steady_job_needs_less_and_less_margin),
		cmocka_unit_test(the_distance_of_the_two_largest_peaks_sets_the_margin),
		cmocka_unit_test(a_record_far_beyond_stays_possible_however_steady_the_job),
		cmocka_unit_test(more_caution_asks_for_no_less),
		cmocka_unit_test(chances_fall_as_requests_grow),
		cmocka_unit_test(runs_that_say_nothing_are_left_out),
		cmocka_unit_test(what_does_not_exist_is_refused),
		cmocka_unit_test(rungs_climb_to_any_need),
		cmocka_unit_test(a_success_above_its_limit_resolves_a_kill),
		cmocka_unit_test(a_jump_takes_few_failures_and_leaves_no_trace),
		cmocka_unit_test(the_next_rung_is_what_is_advised_after_the_kill),
		cmocka_unit_test(several_kills_at_once_are_resolved_by_one_success),
		cmocka_unit_test(a_kill_without_such_a_success_counts_and_is_not_called_a_peak),
		cmocka_unit_test(a_success_on_other_input_resolves_nothing),
		cmocka_unit_test(a_kill_at_a_larger_input_asks_for_no_retry_at_a_smaller),
		cmocka_unit_test(of_a_wide_job_two_high_runs_are_no_new_level),
		cmocka_unit_test(after_a_jump_the_next_request_is_no_less_than_it),
		cmocka_unit_test(the_newest_run_weighs_four_times),
		cmocka_unit_test(wide_jobs_pay_for_safety_and_steady_ones_do_not),
		cmocka_unit_test(a_wide_job_is_told_to_state_the_input_size_until_it_does),
		cmocka_unit_test(memory_that_grows_as_a_power_of_input_is_followed),
		cmocka_unit_test(a_line_needs_three_points),
		cmocka_unit_test(of_a_young_job_peaks_are_scaled_up_to_the_next_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
