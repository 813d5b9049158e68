/* The advice on GPUs: whether a run used those that it had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "advise/verdict.h"

/* Two GPUs, both well used, in a run whose CPU and memory are right. */
static struct trk_gpu_facts busy(void)
{
	return (struct trk_gpu_facts){.stated = true,
				      .given = 2,
				      .used = 2,
				      .usage_mean = 1.8,
				      .usage_p95 = 1.99,
				      .utilization = 0.9,
				      .sm_activity = 0.7,
				      .starved_share = 0.02};
}

static struct trk_sizing_verdict judge(const struct trk_gpu_facts *f)
{
	struct trk_sizing_verdict v = {.sizing = TRK_SIZING_RIGHT, .reason_count = 1};

	(void) strcpy(v.reason[0], "all is well");
	trk__sizing_judge_gpus(f, &v);
	return v;
}

static void assert_says(const struct trk_sizing_verdict *v, const char *text)
{
	for (size_t i = 0; i < v->reason_count; i++)
		if (strstr(v->reason[i], text))
			return;
	fail_msg("nothing says: %s", text);
}

static void gpus_in_use_are_right(void **state)
{
	struct trk_gpu_facts f = busy();
	struct trk_sizing_verdict v = judge(&f);

	assert_int_equal(v.sizing, TRK_SIZING_RIGHT);
	assert_int_equal(v.reason_count, 1);
	assert_string_equal(v.reason[0], "all is well");
	assert_true(trk__gpu_advise(&f, 1.99) == 2);
}

static void idle_gpus_that_nobody_asked_for_are_not_too_many(void **state)
{
	struct trk_gpu_facts f = busy();
	struct trk_sizing_verdict v;

	f.stated = false;
	f.used = f.usage_mean = f.usage_p95 = 0;
	v = judge(&f);
	assert_true(v.sizing == TRK_SIZING_RIGHT && !v.gpu_over);
	assert_says(&v, "no GPU was used");
}

static void idle_gpus_are_too_many(void **state)
{
	struct trk_gpu_facts f = busy();
	struct trk_sizing_verdict v;

	f.used = f.usage_mean = f.usage_p95 = 0;
	f.utilization = f.sm_activity = NAN;
	v = judge(&f);
	assert_int_equal(v.sizing, TRK_SIZING_OVER);
	assert_true(v.gpu_over);
	assert_string_equal(v.reason[0], "no GPU was used: 2 were idle");
	assert_true(trk__gpu_advise(&f, 0) == 0);
	f.used = 1;
	f.usage_mean = f.usage_p95 = 0.9;
	v = judge(&f);
	assert_string_equal(v.reason[0], "1 of 2 GPUs were idle");
	f = busy();
	f.usage_mean = 0.02;
	v = judge(&f);
	assert_says(&v, "the GPUs were busy 1.0 % of the time");
}

static void gpus_that_are_used_in_turns_are_all_needed(void **state)
{
	struct trk_gpu_facts f = busy();
	struct trk_sizing_verdict v;

	f.usage_mean = 0.8;
	f.usage_p95 = 1.0; /* in turns: never both */
	v = judge(&f);
	assert_false(v.gpu_over);
	assert_says(&v, "1 GPU would be enough for its work: of 2, at most 1 were busy at once");
	assert_true(trk__gpu_advise(&f, 1.0) == 2);
	f.used = 1;
	assert_true(trk__gpu_advise(&f, 1.4) == 2); /* an earlier run needed both */
}

static void low_activity_and_starvation_are_told(void **state)
{
	struct trk_gpu_facts f = busy();
	struct trk_sizing_verdict v;

	f.sm_activity = 0.12;
	f.starved_share = 0.34;
	v = judge(&f);
	assert_int_equal(v.sizing, TRK_SIZING_RIGHT);
	assert_says(&v, "on 12 % of its multiprocessors");
	assert_says(&v, "waited 34 % of the time while a core was busy");
}

static void what_is_not_known_is_not_judged(void **state)
{
	struct trk_gpu_facts f = {NAN, false, NAN, NAN, NAN, NAN, NAN, NAN};
	struct trk_sizing_verdict v = judge(&f), none = {.sizing = TRK_SIZING_NOT_ENOUGH_DATA};

	assert_int_equal(v.sizing, TRK_SIZING_RIGHT);
	assert_int_equal(v.reason_count, 1);
	assert_true(isnan(trk__gpu_advise(&f, NAN)));
	f = busy();
	f.used = 0;
	trk__sizing_judge_gpus(&f, &none);
	assert_int_equal(none.reason_count, 0);
	f = busy();
	f.given = NAN; /* nobody asked for any, nor held one */
	f.used = f.usage_mean = f.usage_p95 = 0;
	v = judge(&f);
	assert_false(v.gpu_over);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_in_use_are_right),
		cmocka_unit_test(idle_gpus_are_too_many),
		cmocka_unit_test(idle_gpus_that_nobody_asked_for_are_not_too_many),
		cmocka_unit_test(gpus_that_are_used_in_turns_are_all_needed),
		cmocka_unit_test(low_activity_and_starvation_are_told),
		cmocka_unit_test(what_is_not_known_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
