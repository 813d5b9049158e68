/* The rule of the original package. */
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

#include "advise/original.h"
#include "base/bytes.h"
#include "base/error.h"
#include "past_runs.h"

static void memory_is_rounded_as_the_original_does(void **state)
{
	static const double cases[][2] = {{0, 128},     {1, 128},        {128, 128},
					  {128.1, 256}, {512, 512},      {513, 1024},
					  {2048, 2048}, {2048.5, 3072},  {3719, 4096},
					  {4097, 5120}, {120832, 120832}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(trk__original_round_memory(cases[i][0]) == cases[i][1]);
	assert_true(isnan(trk__original_round_memory(NAN)));
}

static struct trk_past_run figures(double cores, double mib, double mean_gpus, double max_gpus,
				   double vram_mib)
{
	struct trk_past_run run;

	past_run_init(&run);
	run.cpu_mean = cores;
	run.memory.bytes = mib * TRK_MIB;
	run.gpu_mean = mean_gpus;
	run.gpu_max = max_gpus;
	run.vram.bytes = vram_mib * TRK_MIB;
	return run;
}

/* Peaks and answers of the rule as it was before the unit slip. */
static void the_largest_peak_gets_a_fifth_more(void **state)
{
	static const double cases[][2] = {
		{300, 512}, {1000, 2048}, {4124, 5120}, {16000, 19456}, {100000, 120832}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_past_run run = figures(1, cases[i][0], NAN, NAN, NAN);
		struct trk_original_advice a;

		assert_int_equal(trk__original_advise(&run, 1, &a), 0);
		assert_true(a.memory_mib == cases[i][1] && a.gpu == 0 && a.vram_mib == 0);
	}
}

static void cores_are_rounded_to_even_and_one_at_least(void **state)
{
	static const double cases[][2] = {{0, 1},   {0.4, 1}, {1.5, 2},
					  {2.5, 2}, {3.5, 4}, {2.51, 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_past_run run = figures(cases[i][0], 1, NAN, NAN, NAN);
		struct trk_original_advice a;

		assert_int_equal(trk__original_advise(&run, 1, &a), 0);
		assert_true(a.cpu == cases[i][1]);
	}
}

static void runs_are_joined_by_mean_of_means_and_max_of_max(void **state)
{
	struct trk_past_run runs[] = {
		figures(1, 1000, 0.5, 1.6, 900),
		figures(4, 500, 0, 0.2, 100),
		figures(NAN, NAN, NAN, NAN, NAN),
	};
	struct trk_original_advice a;

	assert_int_equal(trk__original_advise(runs, 3, &a), 0);
	assert_true(a.cpu == 2 && a.memory_mib == 2048 && a.gpu == 2 && a.vram_mib == 2048);
}

static void without_data_there_is_no_answer(void **state)
{
	struct trk_past_run run = figures(NAN, NAN, 1, 1, 1);
	struct trk_original_advice a;

	assert_int_equal(trk__original_advise(&run, 1, &a), -TRK_ERR_NODATA);
	assert_int_equal(trk__original_advise(&run, 0, &a), -TRK_ERR_NODATA);
	run.cpu_mean = 3;
	assert_int_equal(trk__original_advise(&run, 1, &a), 0);
	assert_true(a.cpu == 3 && isnan(a.memory_mib));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_rounded_as_the_original_does),
		cmocka_unit_test(the_largest_peak_gets_a_fifth_more),
		cmocka_unit_test(cores_are_rounded_to_even_and_one_at_least),
		cmocka_unit_test(runs_are_joined_by_mean_of_means_and_max_of_max),
		cmocka_unit_test(without_data_there_is_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
