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
#include "base/bytes.h"
#include "past_runs.h"

/* A run and what is known beside its figures. */
struct judged_run {
	struct trk_past_run run;
	struct trk_sizing_facts facts;
};

/* A run that used its limits well. */
static struct judged_run facts_init(void)
{
	struct judged_run f = {.facts = {.saturated_share = 0.05, .cpu_next_cores = 2}};

	past_run_init(&f.run);
	f.run.code = 0;
	f.run.duration_s = 600;
	f.run.samples = 600;
	f.run.memory.bytes = 6000 * TRK_MIB;
	f.run.swap.bytes = 0;
	f.run.cpu_mean = 3;
	f.run.capacity[TRK_RESOURCE_CPU] = (struct trk_capacity){4, TRK_CAPACITY_LIMIT, ""};
	f.run.capacity[TRK_RESOURCE_MEMORY_MIB] =
		(struct trk_capacity){8192, TRK_CAPACITY_LIMIT, ""};
	return f;
}

static void judge(const struct judged_run *f, struct trk_sizing_verdict *v)
{
	trk__sizing_judge(&f->run, &f->facts, v);
}

static enum trk_sizing judged(const struct judged_run *f)
{
	struct trk_sizing_verdict v;

	judge(f, &v);
	assert_true(v.reason_count > 0 && v.reason_count <= TRK_SIZING_REASONS_MAX);
	return v.sizing;
}

static void use_within_the_limits_is_right_sized(void **state)
{
	struct judged_run f = facts_init();

	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	assert_string_equal(trk__sizing_name(TRK_SIZING_RIGHT), "right-sized");
}

static void each_shortage_is_under_provisioned(void **state)
{
	for (int shortage = 0; shortage < 5; shortage++) {
		struct judged_run f = facts_init();

		f.run.end = shortage == 0 ? TRK_PAST_OUT_OF_MEMORY : TRK_PAST_SUCCEEDED;
		f.run.memory.bytes = (shortage == 1 ? 7800 : 6000) * TRK_MIB;
		f.run.swap.bytes = shortage == 2 ? 100 * TRK_MIB : 0;
		f.facts.memory_stall_s = shortage == 3 ? 31 : 0;
		f.facts.throttled_s = shortage == 4 ? 61 : 0;
		assert_int_equal(judged(&f), TRK_SIZING_UNDER);
	}
}

static void a_killed_run_is_under_provisioned_whatever_else_is_known(void **state)
{
	struct judged_run f = {.facts = {NAN, NAN, NAN, NAN}};

	past_run_init(&f.run);
	f.run.end = TRK_PAST_OUT_OF_MEMORY;
	assert_int_equal(judged(&f), TRK_SIZING_UNDER);
}

static void idle_memory_or_cores_are_over_provisioned(void **state)
{
	struct judged_run f = facts_init();
	struct trk_sizing_verdict v;

	f.run.memory.bytes = 1000 * TRK_MIB;
	judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.memory_over && !v.cpu_over);
	assert_string_equal(v.reason[0], "memory peaked at 12 % of its limit");
	f.run.needed_bytes = 6000 * TRK_MIB; /* most of it in huge pages */
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f.run.needed_bytes = NAN;
	f.run.memory.bytes = 13 * TRK_MIB;
	f.run.capacity[TRK_RESOURCE_MEMORY_MIB].kind = TRK_CAPACITY_REQUESTED;
	judge(&f, &v);
	assert_string_equal(v.reason[0], "memory peaked at < 1 % of its request");
	f.run.code = 1; /* it ended early: what it did not reach says nothing */
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f = facts_init();
	f.run.cpu_mean = 1.2;
	judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.cpu_over && !v.memory_over);
	f.facts.saturated_share = 0.3; /* it needs them for a third of the time */
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f = facts_init();
	f.run.capacity[TRK_RESOURCE_MEMORY_MIB].value = 512; /* little is lost */
	f.run.memory.bytes = 100 * TRK_MIB;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
}

static void the_machine_is_not_a_request_that_is_too_large(void **state)
{
	struct judged_run f = facts_init();
	struct trk_sizing_verdict v;

	f.run.memory.bytes = 100 * TRK_MIB;
	f.run.cpu_mean = 0.1;
	f.run.capacity[TRK_RESOURCE_MEMORY_MIB].kind = TRK_CAPACITY_MACHINE;
	judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_OVER && v.cpu_over && !v.memory_over);
	f.run.capacity[TRK_RESOURCE_CPU].kind = TRK_CAPACITY_MACHINE;
	judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_UNSTATED && !v.cpu_over && !v.memory_over);
	assert_string_equal(trk__sizing_name(v.sizing), "nothing requested");
	f.run.memory.bytes = 8000 * TRK_MIB; /* too small it can be */
	assert_int_equal(judged(&f), TRK_SIZING_UNDER);
}

static void cores_that_the_advice_keeps_are_not_too_many(void **state)
{
	struct judged_run f = facts_init();

	f.run.cpu_mean = 1.2;
	f.facts.cpu_next_cores = 4;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
}

static void a_shortage_of_one_wins_over_idleness_of_the_other(void **state)
{
	struct judged_run f = facts_init();
	struct trk_sizing_verdict v;

	f.run.memory.bytes = 8192 * TRK_MIB;
	f.run.cpu_mean = 0.5;
	judge(&f, &v);
	assert_true(v.sizing == TRK_SIZING_UNDER && v.memory_under && v.cpu_over && !v.memory_over);
}

static void too_little_is_not_enough_data(void **state)
{
	struct judged_run f = facts_init();

	f.run.duration_s = 3;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f.run.duration_s = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f = facts_init();
	f.run.samples = 4;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
	f = facts_init();
	f.run.capacity[TRK_RESOURCE_MEMORY_MIB].value = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_RIGHT);
	f.run.capacity[TRK_RESOURCE_CPU].value = NAN;
	assert_int_equal(judged(&f), TRK_SIZING_NOT_ENOUGH_DATA);
}

static void each_second_goes_to_one_item(void **state)
{
	struct trk_wall_facts f = {100, {60, 30, 50, 0, 5, NAN}};
	struct trk_wall_split s;
	double sum = 0;

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
