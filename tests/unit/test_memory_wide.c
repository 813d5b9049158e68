/* Memory advice for peaks that vary by more than a factor of three, and for a next input that is
 * larger than all before. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "advise/memory.h"
#include "past_runs.h"

#define MIB 1048576.0

enum { RUNS = 60 };

static struct trk_past_run runs[RUNS];
static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double) (seed >> 11) / 9007199254740992.0;
}

static struct trk_past_run run_of(double peak_mib, double input_mib)
{
	return past_run_of(peak_mib * MIB, 60, input_mib * MIB, NAN, TRK_PAST_SUCCEEDED);
}

static double chance_after(size_t count, double input_mib, const struct trk_memory_tuning *tuning)
{
	struct trk_memory_options o = {
		.input_bytes = input_mib * MIB, .machine_bytes = NAN, .tuning = tuning};
	struct trk_memory_advice a;

	assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
	return a.chance_exceed;
}

static void of_a_wide_job_without_an_input_size_a_failure_costs_more(void **state)
{
	static const size_t counts[] = {4, 8, 20, RUNS};
	struct trk_memory_tuning as_others = trk__memory_tuning;
	double sum = 0, sum_of_others = 0;

	as_others.wide_charge = 1;
	as_others.wide_young_share = as_others.young_share;
	seed = 5;
	for (size_t i = 0; i < RUNS; i++)
		runs[i] = run_of(500 * exp(3 * chance()), 100);
	for (size_t i = 0; i < 4; i++) {
		double now = chance_after(counts[i], NAN, NULL);
		double others = chance_after(counts[i], NAN, &as_others);

		assert_true(now <= others);
		sum += now;
		sum_of_others += others;
		/* With the next input known they are as others. */
		assert_true(chance_after(counts[i], 100, NULL) ==
			    chance_after(counts[i], 100, &as_others));
	}
	assert_true(sum < 0.9 * sum_of_others);
	for (size_t i = 0; i < RUNS; i++)
		runs[i] = run_of(1000 * (1 + 1.9 * chance()), NAN);
	assert_true(chance_after(RUNS, NAN, NULL) == chance_after(RUNS, NAN, &as_others));
}

/* Programs of one name: a line through the runs of all would ask for terabytes. */
static void a_line_does_not_follow_an_input_that_is_far_larger(void **state)
{
	const double largest = 200 * exp(3.8) * MIB;
	struct trk_memory_options o = {.machine_bytes = NAN};
	struct trk_memory_advice a;

	for (size_t i = 0; i < 20; i++) {
		double ln_input = (double) (i * 7 % 20) / 5;

		runs[i] = run_of(200 * exp(ln_input), exp(ln_input));
	}
	for (double times = 1; times < 1e4; times *= 3) {
		o.input_bytes = exp(3.8) * MIB * times;
		assert_int_equal(trk__memory_advise(runs, 20, &o, &a), 0);
		/* The bound is four times the largest peak; on top come margin and rounding. */
		assert_true(a.request_bytes < 4 * largest * 1.5);
		assert_true(a.request_bytes >= largest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_wide_job_without_an_input_size_a_failure_costs_more),
		cmocka_unit_test(a_line_does_not_follow_an_input_that_is_far_larger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
