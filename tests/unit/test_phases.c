/* Change points, and where to split. */
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

#include "advise/cpu.h"
#include "advise/phases.h"
#include "base/error.h"

#define GIB 1073741824.0

enum { ROWS = 400 };

/* tests/fixtures/phases/cuts.txt: what the Python package ruptures cuts (generate.py). */
static void cuts_are_those_of_ruptures(void **state)
{
	FILE *in = fopen(TRK_FIXTURES "/phases/cuts.txt", "re");
	size_t columns, rows, min_rows, segments, cases = 0;
	double penalty;

	assert_non_null(in);
	while (fscanf(in, "%zu %zu %zu %lf", &columns, &rows, &min_rows, &penalty) == 4) {
		static double data[4][ROWS];
		const double *column[4] = {data[0], data[1], data[2], data[3]};
		size_t end[TRK_PHASES_MAX], want;

		assert_true(columns <= 4 && rows <= ROWS);
		for (size_t c = 0; c < columns; c++)
			for (size_t i = 0; i < rows; i++)
				assert_int_equal(fscanf(in, "%lf", &data[c][i]), 1);
		assert_int_equal(fscanf(in, "%zu", &segments), 1);
		assert_int_equal(trk__phases_cut(column, columns, rows, min_rows, penalty,
						 TRK_PHASES_MAX - 1, end),
				 segments);
		for (size_t i = 0; i < segments; i++) {
			assert_int_equal(fscanf(in, "%zu", &want), 1);
			assert_int_equal(end[i], want);
		}
		cases++;
	}
	(void) fclose(in);
	assert_int_equal(cases, 6);
}

static void cuts_are_bounded_and_bad_input_is_refused(void **state)
{
	double data[100];
	const double *column[] = {data};
	size_t end[TRK_PHASES_MAX];

	for (size_t i = 0; i < 100; i++)
		data[i] = (double) (i % 10 < 5);
	assert_int_equal(trk__phases_cut(column, 1, 100, 1, 0.01, 3, end), 4);
	assert_int_equal(end[3], 100);
	assert_int_equal(trk__phases_cut(column, 1, 100, 60, 0, 3, end), 1);
	assert_int_equal(trk__phases_cut(column, 1, 0, 1, 0, 3, end), 0);
	assert_int_equal(trk__phases_cut(column, 1, 100, 1, 0, TRK_PHASES_MAX, end), -EINVAL);
	data[50] = NAN;
	assert_int_equal(trk__phases_cut(column, 1, 100, 1, 0, 3, end), -EINVAL);
}

static void a_normalised_column_has_mean_0_and_variance_1(void **state)
{
	double data[50], mean = 0, square = 0;

	for (size_t i = 0; i < 50; i++)
		data[i] = 1e9 + (double) (i * 13 % 50);
	trk__phases_normalise(data, 50);
	for (size_t i = 0; i < 50; i++) {
		mean += data[i] / 50;
		square += data[i] * data[i] / 50;
	}
	assert_true(fabs(mean) < 1e-9 && fabs(square - 1) < 1e-9);
	for (size_t i = 0; i < 50; i++)
		data[i] = 3;
	trk__phases_normalise(data, 50);
	assert_true(data[0] == 0 && data[49] == 0);
}

static double dt[ROWS], cores[ROWS], memory[ROWS];
static struct trk_split split;

/* A small serial part, then a large parallel one. */
static void rows_init(void)
{
	for (size_t i = 0; i < ROWS; i++) {
		dt[i] = 10;
		cores[i] = i < 300 ? 1 : 16;
		memory[i] = i < 300 ? GIB : 64 * GIB;
	}
}

static void two_phases_are_worth_a_split_at_their_border(void **state)
{
	double sum = 0;

	rows_init();
	assert_int_equal(trk__split_advise(dt, cores, memory, ROWS, NULL, &split), 0);
	assert_true(split.pays && split.piece_count == 2 && split.saving > 0.3);
	assert_int_equal(split.piece[0].end_row, 300);
	assert_true(split.piece[0].cores == 1 && split.piece[1].cores == 16);
	assert_true(split.piece[0].request_bytes < 2 * GIB);
	assert_true(split.piece[1].request_bytes >= 70 * GIB);
	assert_non_null(strstr(split.hint, "split here: after 3000 s"));
	for (size_t i = 0; i < split.piece_count; i++)
		sum += split.piece[i].price;
	sum += 60.0 / 3600 * (2 * TRK_PRICE_CORE_HOUR + 4 * TRK_PRICE_GIB_HOUR);
	assert_true(fabs(1 - sum / split.price_whole - split.saving) < 1e-9);
}

static void a_steady_job_is_left_whole(void **state)
{
	rows_init();
	for (size_t i = 0; i < ROWS; i++)
		cores[i] = memory[i] = 2;
	assert_int_equal(trk__split_advise(dt, cores, memory, ROWS, NULL, &split), 0);
	assert_true(!split.pays && split.piece_count == 1 && split.saving == 0);
	assert_string_equal(split.hint, "");
}

static void no_split_where_its_overhead_eats_the_saving(void **state)
{
	struct trk_split_options o = {.overhead_s = 1e7};

	rows_init();
	assert_int_equal(trk__split_advise(dt, cores, memory, ROWS, &o, &split), 0);
	assert_true(!split.pays && split.piece_count == 1);
}

/* All ways to cut a few rows, by brute force, against the programme. */
static void the_programme_finds_the_cheapest_of_all_cuts(void **state)
{
	enum { SMALL = 9 };

	for (unsigned int seed = 1; seed < 40; seed++) {
		struct trk_split_options never = {.overhead_s = 1e12}, o = {.overhead_s = 20};
		double overhead = 20.0 / 3600 * (2 * TRK_PRICE_CORE_HOUR + 4 * TRK_PRICE_GIB_HOUR);
		double one[SMALL + 1][SMALL + 1], least = INFINITY;

		for (size_t i = 0; i < SMALL; i++) {
			dt[i] = 30;
			cores[i] = (double) (seed * (i + 1) * 7919 % 17) / 2;
			memory[i] = (double) (seed * (i + 3) * 104729 % 29) * GIB;
		}
		for (size_t a = 0; a < SMALL; a++)
			for (size_t b = a + 1; b <= SMALL; b++) {
				assert_int_equal(trk__split_advise(dt + a, cores + a, memory + a,
								   b - a, &never, &split),
						 0);
				one[a][b] = split.price_whole;
			}
		for (unsigned int cuts = 0; cuts < 1u << (SMALL - 1); cuts++) {
			double price = 0;
			size_t first = 0;

			for (size_t i = 1; i <= SMALL; i++)
				if (i == SMALL || cuts >> (i - 1) & 1) {
					price += one[first][i] + (first > 0 ? overhead : 0);
					first = i;
				}
			least = fmin(least, price);
		}
		assert_int_equal(trk__split_advise(dt, cores, memory, SMALL, &o, &split), 0);
		assert_true(fabs(split.price_whole * (1 - split.saving) - least) < 1e-9);
	}
}

static void rows_without_time_are_no_data(void **state)
{
	rows_init();
	for (size_t i = 0; i < ROWS; i++)
		dt[i] = i % 2 ? NAN : 0;
	assert_int_equal(trk__split_advise(dt, cores, memory, ROWS, NULL, &split), -TRK_ERR_NODATA);
	assert_int_equal(trk__split_advise(dt, cores, memory, 0, NULL, &split), -TRK_ERR_NODATA);
	rows_init();
	cores[310] = NAN; /* counts with the last known one */
	memory[310] = NAN;
	assert_int_equal(trk__split_advise(dt, cores, memory, ROWS, NULL, &split), 0);
	assert_int_equal(split.piece_count, 2);
}

static void more_rows_than_blocks_are_summed(void **state)
{
	enum { MANY = 50000 };
	double *t = malloc(MANY * sizeof(*t)), *u = malloc(MANY * sizeof(*u)),
	       *m = malloc(MANY * sizeof(*m));

	assert_true(t && u && m);
	for (size_t i = 0; i < MANY; i++) {
		t[i] = 1;
		u[i] = i < 40000 ? 1 : 8;
		m[i] = i < 40000 ? GIB : 32 * GIB;
	}
	assert_int_equal(trk__split_advise(t, u, m, MANY, NULL, &split), 0);
	assert_true(split.pays && split.piece_count == 2);
	assert_true(llabs((long long) split.piece[0].end_row - 40000) <= 50);
	assert_int_equal(split.piece[1].end_row, MANY);
	free(t);
	free(u);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_are_those_of_ruptures),
		cmocka_unit_test(cuts_are_bounded_and_bad_input_is_refused),
		cmocka_unit_test(a_normalised_column_has_mean_0_and_variance_1),
		cmocka_unit_test(two_phases_are_worth_a_split_at_their_border),
		cmocka_unit_test(a_steady_job_is_left_whole),
		cmocka_unit_test(no_split_where_its_overhead_eats_the_saving),
		cmocka_unit_test(the_programme_finds_the_cheapest_of_all_cuts),
		cmocka_unit_test(rows_without_time_are_no_data),
		cmocka_unit_test(more_rows_than_blocks_are_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
