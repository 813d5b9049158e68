/* The time limit to request, from the run times of earlier runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "advise/time.h"
#include "base/error.h"
#include "past_runs.h"

enum { RUNS = 12 };

struct runs {
	struct trk_past_run run[RUNS + 1];
	size_t count;
};

static void add(struct runs *r, double duration_s, const char *end, enum trk_past_end past_end)
{
	struct trk_past_run *run = &r->run[r->count++];

	*run = past_run_of(1e9, duration_s, NAN, NAN, past_end);
	run->end_name = end;
	run->needed_bytes = 2e9; /* is no time */
}

static struct runs good_runs(size_t count, double duration_s)
{
	struct runs r = {.count = 0};

	while (r.count < count)
		add(&r, duration_s, "exited", TRK_PAST_SUCCEEDED);
	return r;
}

static struct trk_time_advice advice_of(const struct runs *r)
{
	struct trk_time_advice a;

	assert_int_equal(trk__time_advise(r->run, r->count, NAN, &a), 0);
	return a;
}

static void the_longest_good_run_fits_whatever_the_newest_did(void **state)
{
	static const double newest_s[] = {1, 60, 600, 35000};

	(void) state;
	for (size_t i = 0; i < sizeof(newest_s) / sizeof(*newest_s); i++) {
		struct runs r = good_runs(9, 36000);
		struct trk_time_advice a;

		add(&r, newest_s[i], "exited", TRK_PAST_SUCCEEDED);
		a = advice_of(&r);
		assert_true(a.limit_s > 36000 && a.limit_s < 2 * 36000);
		assert_true(a.longest_s == 36000 && a.runs_used == 10);
		assert_true(fmod(a.limit_s, 60) == 0);
	}
}

/* A run that did not end well can only raise a limit, and never the run time to expect. */
static void a_run_that_did_not_end_well_lowers_nothing(void **state)
{
	static const struct {
		const char *end;
		enum trk_past_end past_end;
	} ends[] = {{"exited", TRK_PAST_FAILED},
		    {"stopped", TRK_PAST_STOPPED},
		    {"running", TRK_PAST_STOPPED},
		    {"out_of_memory", TRK_PAST_OUT_OF_MEMORY},
		    {"memory_limit", TRK_PAST_OUT_OF_MEMORY},
		    {"timeout", TRK_PAST_STOPPED}};

	(void) state;
	for (size_t good = 1; good < RUNS; good++)
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
			for (double s = 1; s < 1e6; s *= 10) {
				struct runs r = good_runs(good, 1000);
				struct trk_time_advice before = advice_of(&r), after;

				add(&r, s, ends[i].end, ends[i].past_end);
				after = advice_of(&r);
				assert_true(after.limit_s >= before.limit_s);
				assert_true(after.expected_s >= 1000 && after.longest_s == 1000);
			}
}

static void the_retry_after_a_time_limit_gets_more_than_that(void **state)
{
	struct runs r = good_runs(3, 1000);
	struct trk_time_advice a;

	(void) state;
	add(&r, 3601, "timeout", TRK_PAST_STOPPED);
	r.run[r.count - 1].capacity[TRK_RESOURCE_TIME_S].value = 3600;
	a = advice_of(&r);
	assert_true(a.retry && a.limit_s > 3600 * 1.3);
	assert_non_null(strstr(a.reason[0], "1 h 0 m"));
	/* The batch system may have stopped it with a signal. */
	r.run[r.count - 1].end_name = "signalled";
	assert_true(advice_of(&r).retry);
	/* Long before the limit it was stopped for another reason. */
	r.run[r.count - 1].duration_s = 500;
	assert_false(advice_of(&r).retry);
}

static void a_first_run_at_its_limit_gets_twice_as_much(void **state)
{
	struct runs r = {.count = 0};
	struct trk_time_advice a;

	(void) state;
	add(&r, 600, "timeout", TRK_PAST_STOPPED);
	a = advice_of(&r);
	assert_true(a.retry && a.limit_s >= 1200 && isnan(a.longest_s));
	assert_non_null(strstr(a.reason[1], "not known"));
}

static void without_a_good_run_nothing_is_known(void **state)
{
	struct runs r = {.count = 0};
	struct trk_time_advice a;

	(void) state;
	assert_int_equal(trk__time_advise(r.run, 0, NAN, &a), -TRK_ERR_NODATA);
	add(&r, 10, "exited", TRK_PAST_FAILED);
	add(&r, 20, "stopped", TRK_PAST_STOPPED);
	assert_int_equal(trk__time_advise(r.run, r.count, NAN, &a), -TRK_ERR_NODATA);
}

static void a_larger_input_takes_longer(void **state)
{
	struct runs r = good_runs(RUNS, 1);
	struct trk_time_advice small, large;

	(void) state;
	for (size_t i = 0; i < RUNS; i++) {
		r.run[i].input_bytes = 1e9 * (double) (i + 1);
		r.run[i].duration_s = 600 * (double) (i + 1);
	}
	assert_int_equal(trk__time_advise(r.run, RUNS, 1e9, &small), 0);
	assert_int_equal(trk__time_advise(r.run, RUNS, 14e9, &large), 0);
	assert_true(small.limit_s < 1800 && small.expected_s < 900);
	assert_true(large.limit_s > 14 * 600 && large.expected_s > 13 * 600);
}

static void the_run_time_to_expect_is_in_the_middle(void **state)
{
	struct runs r = good_runs(9, 1000);

	(void) state;
	r.run[2].duration_s = 9000;
	r.run[5].duration_s = 10;
	assert_float_equal(advice_of(&r).expected_s, 1000, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_good_run_fits_whatever_the_newest_did),
		cmocka_unit_test(a_run_that_did_not_end_well_lowers_nothing),
		cmocka_unit_test(the_retry_after_a_time_limit_gets_more_than_that),
		cmocka_unit_test(a_first_run_at_its_limit_gets_twice_as_much),
		cmocka_unit_test(without_a_good_run_nothing_is_known),
		cmocka_unit_test(a_larger_input_takes_longer),
		cmocka_unit_test(the_run_time_to_expect_is_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
