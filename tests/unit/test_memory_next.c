/* The memory request for a next run that is not like those before it: a larger input, growth, a
 * retry, other work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "advise/memory.h"
#include "past_runs.h"

#define MIB 1048576.0

enum { RUNS = 40 };

static struct trk_past_run runs[RUNS];
static size_t count;

static void add(double peak_mib, double input_mib)
{
	runs[count++] =
		past_run_of(peak_mib * MIB, 600, input_mib * MIB, 16384 * MIB, TRK_PAST_SUCCEEDED);
}

static void add_kill(double limit_mib)
{
	runs[count++] =
		past_run_of(limit_mib * MIB, 100, NAN, limit_mib * MIB, TRK_PAST_OUT_OF_MEMORY);
	runs[count - 1].end_name = "out_of_memory";
}

static struct trk_memory_advice advice_for(double input_mib)
{
	struct trk_memory_options o = {.input_bytes = input_mib * MIB, .machine_bytes = NAN};
	struct trk_memory_advice a;

	assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
	return a;
}

static bool says(const struct trk_memory_advice *a, const char *what)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (strstr(a->reason[i], what))
			return true;
	return false;
}

static int empty(void **state)
{
	(void) state;
	count = 0;
	return 0;
}

static void one_outlier_does_not_multiply_the_request(void **state)
{
	(void) state;
	for (int i = 0; i < 20; i++)
		add(950 + 5 * (i % 7), NAN);
	add(12000, NAN);
	assert_true(advice_for(NAN).request_bytes <= 1.5 * 12000 * MIB + 128 * MIB);
}

/* Without growth with the input nothing is added; with it, half as much again. */
static void a_young_job_gets_more_for_an_input_beyond_the_largest(void **state)
{
	struct trk_memory_advice same, twice;

	(void) state;
	for (int i = 1; i <= 5; i++)
		add(1000 * i, 1000 * i);
	same = advice_for(5000);
	twice = advice_for(10000);
	assert_true(same.request_bytes < 7500 * MIB);
	assert_true(twice.request_bytes > 8000 * MIB && twice.request_bytes < 13000 * MIB);
	assert_true(twice.chance_exceed > 2 * same.chance_exceed);
	assert_true(advice_for(1e9).request_bytes < 20000 * MIB);
	/* The same inputs, without any effect on the peak. */
	for (int i = 0; i < 5; i++)
		runs[i].memory.bytes = (1000 + i) * MIB;
	assert_true(advice_for(10000).request_bytes < 1400 * MIB);
}

static void the_chance_grows_with_the_input(void **state)
{
	double before = 0;

	(void) state;
	for (int i = 1; i <= 5; i++)
		add(1000 + 200 * i, 1000 * i);
	for (double input = 5000; input < 5e6; input *= 1.5) {
		double chance = 0, request = 3000 * MIB;
		struct trk_memory_options o = {.input_bytes = input * MIB, .machine_bytes = NAN};

		assert_int_equal(trk__memory_chance(runs, count, &o, request, &chance), 0);
		assert_true(chance >= before - 1e-12 && chance <= 1);
		before = chance;
	}
	assert_true(before > 0.5);
}

static void a_job_that_grows_gets_its_next_step(void **state)
{
	struct trk_memory_advice a;

	(void) state;
	for (int i = 0; i < 5; i++)
		add(1000 + 300 * i, NAN);
	a = advice_for(NAN);
	assert_true(a.request_bytes >= 2500 * MIB && a.request_bytes < 3200 * MIB);
	assert_true(says(&a, "each of the newest runs needed more") && says(&a, "2.44 GiB"));
	assert_false(says(&a, "1 in 6"));
	add(2100, NAN); /* less than the one before */
	a = advice_for(NAN);
	assert_true(!says(&a, "each of the newest runs") && says(&a, "1 in 7"));
}

static void unresolved_kills_are_doubled(void **state)
{
	(void) state;
	for (int i = 0; i < 20; i++) {
		if (i % 2)
			add_kill(4096);
		else
			add(1950 + i, NAN);
	}
	assert_true(advice_for(NAN).request_bytes >= 8192 * MIB);
}

static void a_retry_that_would_probably_fail_gets_twice_as_much(void **state)
{
	struct trk_memory_advice a;

	(void) state;
	for (int i = 0; i < 12; i++)
		add(2000 + i % 3, NAN);
	add_kill(3900);
	a = advice_for(NAN);
	assert_true(a.retry && a.request_bytes >= 7800 * MIB);
	assert_true(says(&a, "twice as much"));
}

static void of_work_that_no_run_did_the_chance_is_not_known(void **state)
{
	struct trk_memory_options o = {
		.input_bytes = NAN, .machine_bytes = NAN, .is_new_work = true};
	struct trk_memory_advice a;

	(void) state;
	for (int i = 0; i < RUNS; i++)
		add(1000, NAN);
	assert_int_equal(trk__memory_advise(runs, count, &o, &a), 0);
	assert_true(isnan(a.chance_exceed) && a.confidence == TRK_CONFIDENCE_FIRST_ESTIMATE);
	assert_true(says(&a, "no run did the same work"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, empty)
	const struct CMUnitTest tests[] = {
		TEST(one_outlier_does_not_multiply_the_request),
		TEST(a_young_job_gets_more_for_an_input_beyond_the_largest),
		TEST(the_chance_grows_with_the_input),
		TEST(a_job_that_grows_gets_its_next_step),
		TEST(unresolved_kills_are_doubled),
		TEST(a_retry_that_would_probably_fail_gets_twice_as_much),
		TEST(of_work_that_no_run_did_the_chance_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
