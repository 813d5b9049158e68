/* Detection of odd runs and drifts. */
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

#include "advise/anomaly.h"
#include "base/error.h"

static double steady[40];

static void steady_init(void)
{
	for (size_t i = 0; i < 40; i++)
		steady[i] = 100 + (double) (i * 17 % 7) - 3; /* 97 to 103 */
}

static void a_fifth_more_is_odd_and_noise_is_not(void **state)
{
	struct trk_anomaly o;

	steady_init();
	assert_int_equal(trk__anomaly_judge(steady, 20, 120, TRK_ANOMALY_FLOOR_TIME, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_HIGH);
	assert_true(fabs(o.median - 100) < 1.1 && fabs(o.change - 0.2) < 0.02 && o.distance > 5);
	assert_int_equal(trk__anomaly_judge(steady, 20, 80, TRK_ANOMALY_FLOOR_TIME, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_LOW);
	assert_int_equal(trk__anomaly_judge(steady, 20, 104, TRK_ANOMALY_FLOOR_TIME, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_NO);
}

static void one_outlier_does_not_hide_the_next(void **state)
{
	struct trk_anomaly o;

	steady_init();
	steady[5] = 100000;
	assert_int_equal(trk__anomaly_judge(steady, 20, 125, TRK_ANOMALY_FLOOR_TIME, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_HIGH);
}

static void fewer_than_five_runs_are_too_few_to_tell(void **state)
{
	double few[] = {100, NAN, 0, -1, 101, 99, 100};
	struct trk_anomaly o;

	assert_int_equal(trk__anomaly_judge(few, 7, 500, 0.03, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_TOO_FEW);
	assert_int_equal(o.runs, 4);
	assert_true(fabs(o.median - 100) < 0.6 && isnan(o.distance));
	few[1] = 100;
	assert_int_equal(trk__anomaly_judge(few, 7, 500, 0.03, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_HIGH);
	assert_int_equal(trk__anomaly_judge(few, 0, 500, 0.03, &o), 0);
	assert_true(o.kind == TRK_ANOMALY_TOO_FEW && isnan(o.median));
	assert_int_equal(trk__anomaly_judge(few, 7, NAN, 0.03, &o), -EINVAL);
	assert_int_equal(trk__anomaly_judge(few, 7, 1, -1, &o), -EINVAL);
}

static void equal_runs_have_the_floor_as_noise(void **state)
{
	double same[] = {50, 50, 50, 50, 50};
	struct trk_anomaly o;

	assert_int_equal(trk__anomaly_judge(same, 5, 51, 0.01, &o), 0);
	assert_true(o.kind == TRK_ANOMALY_NO && fabs(o.noise_share - 0.01) < 1e-12);
	assert_int_equal(trk__anomaly_judge(same, 5, 53, 0.01, &o), 0);
	assert_int_equal(o.kind, TRK_ANOMALY_HIGH);
}

static double drift_at(size_t count)
{
	double drift = NAN;

	assert_int_equal(trk__anomaly_drift(steady, count, 0.03, &drift), 0);
	return drift;
}

static void a_small_lasting_change_is_a_drift(void **state)
{
	static const double factors[] = {1.1, 0.9};
	double drift;

	for (int f = 0; f < 2; f++) {
		size_t told = 0;

		steady_init();
		for (size_t n = 6; n <= 40; n++)
			assert_true(drift_at(n) == 0);
		for (size_t i = 34; i < 40; i++)
			steady[i] *= factors[f];
		assert_true(drift_at(35) == 0); /* one run alone is none */
		for (size_t n = 36; n <= 40; n++) {
			drift = drift_at(n);
			told += drift != 0;
			assert_true(drift == 0 || fabs(drift) > TRK_DRIFT_LIMIT);
			assert_true(drift == 0 || (drift > 0) == (factors[f] > 1));
		}
		assert_true(drift_at(37) != 0 || drift_at(36) != 0);
		assert_true(told < 5); /* not again in each run that follows */
	}
	assert_int_equal(trk__anomaly_drift(steady, 5, 0.03, &drift), -TRK_ERR_NODATA);
	assert_int_equal(trk__anomaly_drift(steady, 40, 0, &drift), -EINVAL);
}

static void one_odd_run_is_no_drift_however_odd(void **state)
{
	steady_init();
	steady[30] *= 100;
	for (size_t n = 6; n <= 40; n++)
		assert_true(drift_at(n) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fifth_more_is_odd_and_noise_is_not),
		cmocka_unit_test(one_outlier_does_not_hide_the_next),
		cmocka_unit_test(fewer_than_five_runs_are_too_few_to_tell),
		cmocka_unit_test(equal_runs_have_the_floor_as_noise),
		cmocka_unit_test(a_small_lasting_change_is_a_drift),
		cmocka_unit_test(one_odd_run_is_no_drift_however_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
