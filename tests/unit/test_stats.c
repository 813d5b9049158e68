/* Online statistics of columns. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/stats.h"

static bool near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b) + 1e-12;
}

static void add(struct trk_stats *s, int column, int64_t value, int64_t interval_us)
{
	struct trk_sample row = {0};

	trk__sample_set(&row, TRK_INTERVAL, interval_us);
	trk__sample_set(&row, column, value);
	trk__stats_add(s, 1, &row, &row, &row);
}

static void means_are_weighted_by_the_interval(void **state)
{
	struct trk_stats *s = trk__stats_new();
	struct trk_column_stats c;

	add(s, TRK_PROCESS_CPU_USAGE, 40000, 1000000);
	add(s, TRK_PROCESS_CPU_USAGE, 10000, 3000000);
	c = trk__stats_get(s, TRK_PROCESS_CPU_USAGE);
	assert_true(near(c.mean, 1.75, 1e-9));
	assert_true(c.min == 1 && c.max == 4 && c.rows == 2);
	assert_true(isnan(c.sum)); /* of rates there is none */
	assert_true(near(c.p50, 1, 0.016) && near(c.p95, 4, 0.016));
	trk__stats_free(s);
}

static void percentiles_are_near_the_exact_ones(void **state)
{
	static const int64_t scales[] = {1, 1000, 1048576, 1099511627776};

	for (size_t k = 0; k < 4; k++) {
		struct trk_stats *s = trk__stats_new();
		struct trk_column_stats c;

		for (int64_t i = 1; i <= 1000; i++) /* 1 to 1,000 in a mixed order */
			add(s, TRK_PROCESS_THREADS, (i * 617 % 1000 + 1) * scales[k], 1000000);
		c = trk__stats_get(s, TRK_PROCESS_THREADS);
		assert_true(near(c.p50, 500 * (double) scales[k], 0.016));
		assert_true(near(c.p95, 950 * (double) scales[k], 0.016));
		assert_true(near(c.p99, 990 * (double) scales[k], 0.016));
		trk__stats_free(s);
	}
}

static void small_values_have_exact_percentiles(void **state)
{
	struct trk_stats *s = trk__stats_new();
	struct trk_column_stats c;

	for (int64_t i = 0; i < 64; i++)
		add(s, TRK_PROCESS_THREADS, i, 1000000);
	c = trk__stats_get(s, TRK_PROCESS_THREADS);
	assert_true(c.p50 == 31 && c.p95 == 60 && c.p99 == 63);
	trk__stats_free(s);
}

static void percentiles_stay_between_the_extremes(void **state)
{
	static const int64_t values[] = {INT64_MAX, INT64_MIN, -1, 0, 1, 63, 64, 65, 1ll << 62};

	for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
		struct trk_stats *s = trk__stats_new();
		struct trk_column_stats c;

		add(s, TRK_PROCESS_THREADS, values[k], 1000000);
		c = trk__stats_get(s, TRK_PROCESS_THREADS);
		assert_true(c.p50 == (double) values[k] && c.min == c.max && c.p99 == c.max);
		trk__stats_free(s);
	}
}

static void sums_are_exact(void **state)
{
	struct trk_stats *s = trk__stats_new();
	struct trk_column_stats c;
	int64_t want = 0;

	for (int64_t i = 0; i < 5000; i++) {
		int64_t value = (1ll << 38) + i * 1000003;

		add(s, TRK_PROCESS_DISK_READ, value, 1);
		want += value;
	}
	c = trk__stats_get(s, TRK_PROCESS_DISK_READ);
	assert_true(c.sum == (double) want / (double) trk__columns[TRK_PROCESS_DISK_READ].divisor);
	assert_int_equal(c.rows, 5000);
	trk__stats_free(s);
}

static void thinned_rows_have_the_sum_and_extremes_of_plain_ones(void **state)
{
	struct trk_stats *plain = trk__stats_new(), *thinned = trk__stats_new();
	struct trk_sample mean = {0}, min = {0}, max = {0};
	struct trk_column_stats a, b;

	for (int64_t i = 1; i <= 10; i++)
		add(plain, TRK_PROCESS_DISK_READ, i * 100, 1000000);
	trk__sample_set(&mean, TRK_INTERVAL, 10000000);
	trk__sample_set(&min, TRK_INTERVAL, 1000000);
	trk__sample_set(&max, TRK_INTERVAL, 1000000);
	trk__sample_set(&mean, TRK_PROCESS_DISK_READ, 5500);
	trk__sample_set(&min, TRK_PROCESS_DISK_READ, 100);
	trk__sample_set(&max, TRK_PROCESS_DISK_READ, 1000);
	trk__stats_add(thinned, 10, &mean, &min, &max);
	a = trk__stats_get(plain, TRK_PROCESS_DISK_READ);
	b = trk__stats_get(thinned, TRK_PROCESS_DISK_READ);
	assert_true(a.sum == b.sum && a.min == b.min && a.max == b.max && a.rows == b.rows);
	assert_true(near(a.mean, b.mean, 1e-9));
	trk__stats_free(plain);
	trk__stats_free(thinned);
}

static void columns_without_a_value_are_not_a_number(void **state)
{
	struct trk_stats *s = trk__stats_new();
	struct trk_column_stats c;

	add(s, TRK_PROCESS_THREADS, 4, 1000000);
	c = trk__stats_get(s, TRK_SYSTEM_GPU_USAGE);
	assert_true(isnan(c.mean) && isnan(c.min) && isnan(c.max) && isnan(c.sum));
	assert_true(isnan(c.p50) && isnan(c.p95) && isnan(c.p99) && c.rows == 0);
	trk__stats_clear(s);
	c = trk__stats_get(s, TRK_PROCESS_THREADS);
	assert_true(isnan(c.mean) && c.rows == 0);
	trk__stats_free(s);
}

static void a_row_that_covers_no_time_counts_where_it_is_the_only_one(void **state)
{
	struct trk_stats *s = trk__stats_new();
	struct trk_column_stats c;

	add(s, TRK_PROCESS_THREADS, 4, 0);
	c = trk__stats_get(s, TRK_PROCESS_THREADS);
	assert_true(near(c.mean, 4, 1e-9) && c.p50 == 4);
	trk__stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_weighted_by_the_interval),
		cmocka_unit_test(percentiles_are_near_the_exact_ones),
		cmocka_unit_test(small_values_have_exact_percentiles),
		cmocka_unit_test(percentiles_stay_between_the_extremes),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(thinned_rows_have_the_sum_and_extremes_of_plain_ones),
		cmocka_unit_test(columns_without_a_value_are_not_a_number),
		cmocka_unit_test(a_row_that_covers_no_time_counts_where_it_is_the_only_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
