/* Columns of samples in memory. */
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

#include "base/error.h"
#include "frame/frame.h"
#include "frame/load.h"
#include "rows.h"

/* Rows of 1, 2, 3 ... in column 0, their half in column 1, a second each. */
static void frame_fill(struct trk_frame *f, size_t rows)
{
	assert_int_equal(trk__frame_init(f, 2), 0);
	for (size_t i = 1; i <= rows; i++) {
		double values[] = {(double) i, (double) i / 2};

		assert_int_equal(trk__frame_add(f, (double) i, 1, values), 0);
	}
}

static struct trk_frame_view whole(const struct trk_frame *f)
{
	return (struct trk_frame_view){f, 0, f->rows};
}

static void rows_must_be_in_time_order(void **state)
{
	struct trk_frame f;
	double values[] = {1, 2};

	(void) state;
	frame_fill(&f, 3);
	assert_int_equal(trk__frame_add(&f, 2.5, 1, values), -EINVAL);
	assert_int_equal(trk__frame_add(&f, NAN, 1, values), -EINVAL);
	assert_int_equal(trk__frame_add(&f, 3, 1, values), 0);
	assert_int_equal(f.rows, 4);
	trk__frame_release(&f);
	assert_int_equal(trk__frame_init(&f, 1000), -EINVAL);
	trk__frame_release(&f);
}

static void a_slice_has_the_rows_that_end_in_it(void **state)
{
	struct trk_frame f;
	struct trk_frame_view v;

	(void) state;
	frame_fill(&f, 1000);
	v = trk__frame_slice(&f, 10, 20);
	assert_true(v.first == 10 && v.end == 20); /* ends 11 to 20 */
	v = trk__frame_slice(&f, -5, 1e9);
	assert_true(v.first == 0 && v.end == 1000);
	v = trk__frame_slice(&f, 20, 10);
	assert_true(v.first == v.end);
	v = trk__frame_slice(&f, NAN, 10);
	assert_true(v.first == v.end);
	trk__frame_release(&f);
}

static void a_join_takes_the_last_row_that_had_ended(void **state)
{
	struct trk_frame left, right, both;
	double values[] = {7};

	(void) state;
	frame_fill(&left, 5);
	assert_int_equal(trk__frame_init(&right, 1), 0);
	assert_int_equal(trk__frame_add(&right, 2.5, 1, values), 0);
	assert_int_equal(trk__frame_join(&left, &right, 1, &both), 0);
	assert_true(both.rows == 5 && both.columns == 3 && both.column[1][4] == 2.5);
	assert_true(isnan(both.column[2][1]) && both.column[2][2] == 7);
	assert_true(isnan(both.column[2][3])); /* 1.5 s later */
	trk__frame_release(&both);
	assert_int_equal(trk__frame_join(&left, &right, NAN, &both), -EINVAL);
	trk__frame_release(&left);
	trk__frame_release(&right);
}

static void statistics_know_rows_and_time(void **state)
{
	struct trk_frame f;
	struct trk_frame_view v;
	struct trk_frame_stats s;
	double a[] = {4}, b[] = {1}, nothing[] = {NAN};

	(void) state;
	assert_int_equal(trk__frame_init(&f, 1), 0);
	assert_int_equal(trk__frame_add(&f, 1, 1, a), 0);
	assert_int_equal(trk__frame_add(&f, 4, 3, b), 0);
	assert_int_equal(trk__frame_add(&f, 9, 5, nothing), 0);
	v = whole(&f);
	assert_int_equal(trk__frame_stats(&v, 0, &s), 0);
	assert_true(s.known == 2 && s.min == 1 && s.max == 4 && s.sum == 5 && s.mean == 2.5);
	assert_true(s.weighted_mean == 1.75 && s.weighted_sum == 7 && s.seconds == 4);
	v = trk__frame_slice(&f, 5, 10);
	assert_int_equal(trk__frame_stats(&v, 0, &s), 0);
	assert_true(s.known == 0 && isnan(s.mean) && isnan(s.min) && isnan(s.sum));
	assert_int_equal(trk__frame_stats(&v, 1, &s), -EINVAL);
	trk__frame_release(&f);
}

static void percentiles_by_rows_and_by_time(void **state)
{
	static const double share[] = {0, 0.25, 0.5, 0.95, 1};
	double p[5], long_one[] = {1000, 0};
	struct trk_frame f;
	struct trk_frame_view v;

	(void) state;
	frame_fill(&f, 101);
	v = whole(&f);
	assert_int_equal(trk__frame_percentiles(&v, 0, false, share, 5, p), 0);
	assert_true(p[0] == 1 && p[1] == 26 && p[2] == 51 && fabs(p[3] - 96) < 1e-9 && p[4] == 101);
	assert_int_equal(trk__frame_add(&f, 1000, 899, long_one), 0);
	v = whole(&f);
	assert_int_equal(trk__frame_percentiles(&v, 0, true, share, 5, p), 0);
	assert_true(p[0] == 1 && p[2] == 1000 && p[4] == 1000);
	v.end = v.first;
	assert_int_equal(trk__frame_percentiles(&v, 0, true, share, 5, p), 0);
	assert_true(isnan(p[0]));
	assert_int_equal(trk__frame_percentiles(&v, 0, true, (double[]){1.5}, 1, p), -EINVAL);
	trk__frame_release(&f);
}

static void a_histogram_has_all_the_time(void **state)
{
	struct trk_frame f;
	struct trk_frame_view v;
	double bins[4];

	(void) state;
	frame_fill(&f, 10);
	v = whole(&f);
	assert_int_equal(trk__frame_histogram(&v, 0, 2, 2, 4, bins), 0);
	assert_true(bins[0] == 3 && bins[1] == 2 && bins[2] == 2 && bins[3] == 3);
	assert_int_equal(trk__frame_histogram(&v, 0, 2, 0, 4, bins), -EINVAL);
	trk__frame_release(&f);
}

static void buckets_keep_extremes_and_the_mean(void **state)
{
	struct trk_frame f;
	struct trk_frame_view v;
	struct trk_bucket b[10];
	struct trk_frame_stats s;
	double mean = 0;

	(void) state;
	frame_fill(&f, 1000);
	v = whole(&f);
	assert_int_equal(trk__frame_buckets(&v, 0, 10, b), 0);
	assert_int_equal(trk__frame_stats(&v, 0, &s), 0);
	for (int i = 0; i < 10; i++) {
		assert_true(b[i].min == 100 * i + 1 && b[i].max == 100 * i + 100);
		assert_true(fabs(b[i].mean - (100 * i + 50.5)) < 1e-9);
		assert_true(b[i].start_s == 100 * i && b[i].end_s == 100 * (i + 1));
		mean += b[i].mean / 10;
	}
	assert_true(fabs(mean - s.weighted_mean) < 1e-9);
	trk__frame_release(&f);
}

static void a_bucket_without_a_value_is_not_known(void **state)
{
	struct trk_frame f;
	struct trk_frame_view v;
	struct trk_bucket b[4];
	double one[] = {5}, nothing[] = {NAN};

	(void) state;
	assert_int_equal(trk__frame_init(&f, 1), 0);
	assert_int_equal(trk__frame_add(&f, 1, 1, one), 0);
	assert_int_equal(trk__frame_add(&f, 2, 1, nothing), 0);
	assert_int_equal(trk__frame_add(&f, 8, 1, one), 0);
	v = whole(&f);
	assert_int_equal(trk__frame_buckets(&v, 0, 4, b), 0);
	assert_true(b[0].mean == 5 && isnan(b[1].mean) && isnan(b[2].min) && b[3].max == 5);
	v.end = 0;
	assert_int_equal(trk__frame_buckets(&v, 0, 4, b), -TRK_E_NODATA);
	v = whole(&f);
	assert_int_equal(trk__frame_buckets(&v, 0, 0, b), -EINVAL);
	trk__frame_release(&f);
}

static void a_recording_becomes_a_frame(void **state)
{
	static const int columns[] = {TRK_PROCESS_MEMORY, TRK_PROCESS_THREADS};
	struct folder d;
	struct trk_frame f;
	struct trk_sample row;
	struct trk_error error;

	(void) state;
	folder_init(&d);
	recording_write(d.fd, "a.rtrk", 9, true);
	assert_int_equal(trk__frame_load(d.fd, "a.rtrk", columns, NULL, 2, &f, NULL, &error), 0);
	assert_true(f.rows == 9 && f.columns == 2);
	for (int64_t i = 0; i < 9; i++) {
		row_init(&row, i);
		assert_true(f.time_s[i] == (double) i && f.dt_s[i] == 1);
		assert_true(f.column[1][i] == trk__sample_get(&row, TRK_PROCESS_THREADS));
		assert_int_equal(isnan(f.column[0][i]), i % 3 == 0);
	}
	trk__frame_release(&f);
	assert_int_equal(
		trk__frame_load(d.fd, "a.rtrk", (int[]){TRK_COLUMNS}, NULL, 1, &f, NULL, &error),
		-EINVAL);
	assert_int_equal(trk__frame_load(d.fd, "b.rtrk", columns, NULL, 2, &f, NULL, &error),
			 -ENOENT);
	assert_int_equal(unlinkat(d.fd, "a.rtrk", 0), 0);
	folder_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_must_be_in_time_order),
		cmocka_unit_test(a_slice_has_the_rows_that_end_in_it),
		cmocka_unit_test(a_join_takes_the_last_row_that_had_ended),
		cmocka_unit_test(statistics_know_rows_and_time),
		cmocka_unit_test(percentiles_by_rows_and_by_time),
		cmocka_unit_test(a_histogram_has_all_the_time),
		cmocka_unit_test(buckets_keep_extremes_and_the_mean),
		cmocka_unit_test(a_bucket_without_a_value_is_not_known),
		cmocka_unit_test(a_recording_becomes_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
