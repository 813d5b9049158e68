/* Sizing verdicts, and the breakdown of the elapsed time. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "advise/verdict.h"

/* A run that used its limits well. */
static struct trk_sizing_facts facts_init(void)
{
	return (struct trk_sizing_facts){.run_time_s = 600,
					 .samples = 600,
					 .memory_peak_mib = 6000,
					 .memory_limit_mib = 8192,
					 .swap_peak_mib = 0,
					 .cpu_mean_cores = 3,
					 .cpu_limit_cores = 4,
					 .throttled_s = 0,
					 .memory_stall_s = 0,
					 .saturated_share = 0.05,
					 .memory_stated = true,
					 .cpu_stated = true,
					 .cpu_next_cores = 2};
}

static enum trk_sizing judged(const struct trk_sizing_facts *f)
{
	struct trk_sizing_verdict v;

	trk__sizing_judge(f, &v);
	assert_true(v.reason_count > 0 && v.reason_count <= TRK_SIZING_REASONS_MAX);
	return v.sizing;
}

static void use_within_the_limits_is_right_sized(void **state)
{
	struct trk_sizing_facts f = facts_init();

	(void) state;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	assert_string_equal(trk__sizing_name(TRK_SIZING_RIGHT), "right-sized");
}

static void each_shortage_is_under_provisioned(void **state)
{
	(void) state;
	for (int shortage = 0; shortage < 5; shortage++) {
		struct trk_sizing_facts f = facts_init();

		f.out_of_memory = shortage == 0;
		f.memory_peak_mib = shortage == 1 ? 7800 : 6000;
		f.swap_peak_mib = shortage == 2 ? 100 : 0;
		f.memory_stall_s = shortage == 3 ? 31 : 0;
		f.throttled_s = shortage == 4 ? 61 : 0;
		assert_int_equal(judged(&f), TRK_SIZING_UNDER);
	}
}

static void a_killed_run_is_under_provisioned_whatever_else_is_known(void **state)
{
	struct trk_sizing_facts f = {NAN, NAN, NAN,  NAN,  NAN,  NAN,  NAN, NAN,
				     NAN, NAN, true, true, true, true, NAN, true};

	(void) state;
	assert_int_equal(judged(&f), TRK_SIZING_UNDER);
}

static void idle_memory_or_cores_are_over_provisioned(void **state)
{
	struct trk_sizing_facts f = facts_init();
	struct trk_sizing_verdict v;

	(void) state;
	f.memory_peak_mib = 1000;
	trk__sizing_judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.memory_over && !v.cpu_over);
	assert_string_equal(v.reason[0], "memory peaked at 12 % of its limit");
	f.memory_peak_mib = 13;
	f.memory_requested = true;
	trk__sizing_judge(&f, &v);
	assert_string_equal(v.reason[0], "memory peaked at < 1 % of its request");
	f.failed = true; /* it ended early: what it did not reach says nothing */
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f = facts_init();
	f.cpu_mean_cores = 1.2;
	trk__sizing_judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.cpu_over && !v.memory_over);
	f.saturated_share = 0.3; /* it needs them for a third of the time */
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f = facts_init();
	f.memory_limit_mib = 512; /* little is lost */
	f.memory_peak_mib = 100;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
}

static void the_machine_is_not_a_request_that_is_too_large(void **state)
{
	struct trk_sizing_facts f = facts_init();
	struct trk_sizing_verdict v;

	(void) state;
	f.memory_peak_mib = 100;
	f.cpu_mean_cores = 0.1;
	f.memory_stated = false;
	trk__sizing_judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.cpu_over && !v.memory_over);
	f.cpu_stated = false;
	trk__sizing_judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_UNSTATED && !v.cpu_over && !v.memory_over);
	assert_string_equal(trk__sizing_name(v.sizing), "nothing requested");
	f.memory_peak_mib = 8000; /* too small it can be */
	assert_int_equal(judged(&f), TRK_SIZING_UNDER);
}

static void cores_that_the_advice_keeps_are_not_too_many(void **state)
{
	struct trk_sizing_facts f = facts_init();

	(void) state;
	f.cpu_mean_cores = 1.2;
	f.cpu_next_cores = 4;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
}

static void a_shortage_of_one_wins_over_idleness_of_the_other(void **state)
{
	struct trk_sizing_facts f = facts_init();
	struct trk_sizing_verdict v;

	(void) state;
	f.memory_peak_mib = 8192;
	f.cpu_mean_cores = 0.5;
	trk__sizing_judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_UNDER && v.memory_under && v.cpu_over && !v.memory_over);
}

static void too_little_is_not_enough_data(void **state)
{
	struct trk_sizing_facts f = facts_init();

	(void) state;
	f.run_time_s = 3;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f.run_time_s = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f = facts_init();
	f.samples = 4;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f = facts_init();
	f.memory_limit_mib = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f.cpu_limit_cores = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
}

static void each_second_goes_to_one_item(void **state)
{
	struct trk_wall_facts f = {100, {60, 30, 50, 0, 5, NAN}};
	struct trk_wall_split s;
	double sum = 0;

	(void) state;
	assert_int_equal(trk__wall_divide(&f, &s), 0);
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		sum += s.share[i];
	assert_true(fabs(sum - 1) < 1e-12);
	assert_true(fabs(s.share[TRK_WALL_ON_CPU] - 0.6) < 1e-12);
	assert_true(fabs(s.share[TRK_WALL_DISK] - 0.1) < 1e-12); /* what was left */
	assert_true(s.share[TRK_WALL_CPU_WAIT] == 0 && !s.other_holds_unknown);
	assert_string_equal(trk__wall_name(TRK_WALL_DISK), "waiting for disk");
}

static void what_is_not_known_is_said_and_part_of_other(void **state)
{
	struct trk_wall_facts f = {100, {20, NAN, NAN, 5, NAN, NAN}};
	struct trk_wall_split s;

	(void) state;
	assert_int_equal(trk__wall_divide(&f, &s), 0);
	assert_true(isnan(s.share[TRK_WALL_GPU]) && isnan(s.share[TRK_WALL_DISK]));
	assert_true(s.other_holds_unknown && s.unknown_count == 3);
	assert_true(fabs(s.share[TRK_WALL_OTHER] - 0.75) < 1e-12);
	f.item_s[0] = -1;
	assert_int_equal(trk__wall_divide(&f, &s), -EINVAL);
	f.wall_s = 0;
	assert_int_equal(trk__wall_divide(&f, &s), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(use_within_the_limits_is_right_sized),
		cmocka_unit_test(each_shortage_is_under_provisioned),
		cmocka_unit_test(a_killed_run_is_under_provisioned_whatever_else_is_known),
		cmocka_unit_test(idle_memory_or_cores_are_over_provisioned),
		cmocka_unit_test(the_machine_is_not_a_request_that_is_too_large),
		cmocka_unit_test(cores_that_the_advice_keeps_are_not_too_many),
		cmocka_unit_test(a_shortage_of_one_wins_over_idleness_of_the_other),
		cmocka_unit_test(too_little_is_not_enough_data),
		cmocka_unit_test(each_second_goes_to_one_item),
		cmocka_unit_test(what_is_not_known_is_said_and_part_of_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
