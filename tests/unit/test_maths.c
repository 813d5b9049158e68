/* ln, exp and rounding, compared with libm. */
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

#include "base/maths.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 4e-16 * fabs(b) + 1e-300;
}

static void ln_is_the_logarithm_over_its_whole_range(void **state)
{
	for (double x = 1e-300; x < 1e300; x *= 1.37)
		assert_true(near(trk__ln(x), log(x)));
	for (double x = 0.5; x < 2; x += 0.0007) /* where it crosses zero */
		assert_true(fabs(trk__ln(x) - log(x)) <= 4e-16 * fabs(log(x)) + 1e-17);
	assert_true(trk__ln(1) == 0 && trk__ln(0) == -INFINITY);
	assert_true(isnan(trk__ln(-1)) && isnan(trk__ln(NAN)));
	assert_true(trk__ln(INFINITY) == INFINITY);
}

static void exp_is_the_exponential_over_its_whole_range(void **state)
{
	for (double x = -700; x < 700; x += 0.37)
		assert_true(fabs(trk__exp(x) / exp(x) - 1) < 1e-15);
	assert_true(trk__exp(0) == 1 && trk__exp(-800) == 0 && trk__exp(-INFINITY) == 0);
	assert_true(trk__exp(800) == INFINITY && isnan(trk__exp(NAN)));
}

static void rounding_agrees_with_libm(void **state)
{
	static const double odd[] = {0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e300, -1e300, 0x1p52};

	for (double x = -5; x < 5; x += 0.125) {
		assert_true(trk__floor(x) == floor(x));
		assert_true(trk__ceil(x) == ceil(x));
		assert_true(trk__round_even(x) == rint(x));
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_true(trk__floor(odd[i]) == floor(odd[i]));
		assert_true(trk__ceil(odd[i]) == ceil(odd[i]));
		assert_true(trk__round_even(odd[i]) == rint(odd[i]));
	}
	assert_true(isnan(trk__floor(NAN)) && trk__ceil(INFINITY) == INFINITY);
}

static void a_whole_number_stays_in_its_range_whatever_it_is_made_of(void **state)
{
	assert_int_equal(trk__whole(2.9, 0, 10), 2);
	assert_int_equal(trk__whole(-2.9, -10, 10), -2);
	assert_int_equal(trk__whole(10.5, 0, 10), 10);
	assert_int_equal(trk__whole(-1, 0, 10), 0);
	assert_int_equal(trk__whole(NAN, 3, 10), 3);
	assert_int_equal(trk__whole(INFINITY, 0, 10), 10);
	assert_int_equal(trk__whole(-INFINITY, 0, 10), 0);
	assert_int_equal(trk__whole(1e300, INT64_MIN, INT64_MAX), INT64_MAX);
	assert_int_equal(trk__whole(-1e300, INT64_MIN, INT64_MAX), INT64_MIN);
	assert_int_equal(trk__whole(0x1p63, 0, INT64_MAX), INT64_MAX);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Lists of all lengths to 70, of many and of few different values. */
static void the_middle_is_that_of_the_list_in_order(void **state)
{
	uint32_t bits = 12345;

	for (size_t n = 1; n <= 70; n++)
		for (uint32_t of = 2; of < 2000; of = of * 3) {
			double v[70], sorted[70], middle;

			for (size_t i = 0; i < n; i++) {
				bits = bits * 1664525 + 1013904223;
				v[i] = (double) (bits >> 8) / 7 + (bits >> 16) % of;
				if (of < 10)
					v[i] = (bits >> 16) % of;
				sorted[i] = v[i];
			}
			qsort(sorted, n, sizeof(*sorted), by_value);
			middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
			assert_true(trk__median(v, n) == middle);
			qsort(v, n, sizeof(*v), by_value);
			assert_memory_equal(v, sorted, n * sizeof(*v));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ln_is_the_logarithm_over_its_whole_range),
		cmocka_unit_test(exp_is_the_exponential_over_its_whole_range),
		cmocka_unit_test(rounding_agrees_with_libm),
		cmocka_unit_test(a_whole_number_stays_in_its_range_whatever_it_is_made_of),
		cmocka_unit_test(the_middle_is_that_of_the_list_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
