/* Recommended cores from the histogram of busy cores. */
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
#include "base/error.h"

static struct trk_busy h;

static void busy_init(void)
{
	memset(&h, 0, sizeof(h));
}

static void work_above_the_cores_is_stretched(void **state)
{
	busy_init();
	trk__busy_add(&h, 4, 10);
	trk__busy_add(&h, 0.5, 20);
	assert_true(fabs(trk__busy_run_time(&h, 4) - 30) < 1e-9);
	assert_true(fabs(trk__busy_run_time(&h, 8) - 30) < 1e-9);
	assert_true(fabs(trk__busy_run_time(&h, 2) - 40) < 1e-9);
	assert_true(fabs(trk__busy_run_time(&h, 1) - 60) < 1e-9);
	assert_true(fabs(trk__busy_run_time(&h, 0.25) - 200) < 1e-9);
	assert_true(fabs(trk__busy_seconds(&h) - 30) < 1e-9);
}

static void what_is_not_known_is_left_out(void **state)
{
	static const double bad[] = {NAN, INFINITY, -1};

	busy_init();
	for (size_t i = 0; i < 3; i++) {
		trk__busy_add(&h, bad[i], 1);
		trk__busy_add(&h, 1, bad[i]);
	}
	trk__busy_add(&h, 1, 0);
	assert_true(trk__busy_seconds(&h) == 0 && isnan(trk__busy_run_time(&h, 1)));
	assert_int_equal(trk__cpu_advise(&h, NULL, &(struct trk_cpu_advice){0}), -TRK_ERR_NODATA);
	trk__busy_add(&h, 1e9, 2); /* above the last bin */
	assert_true(fabs(trk__busy_run_time(&h, 1) - 2e9) < 1);
	assert_true(isnan(trk__busy_run_time(&h, 0)));
}

static void a_serial_job_gets_one_core(void **state)
{
	struct trk_cpu_options o = {.cores_now = 8,
				    .memory_bytes = 4294967296.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add(&h, 0.9, 1000);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 1 && fabs(a.run_time_s - 1000) < 1e-6 && !a.saturated);
	assert_true(fabs(a.mean_cores - 0.9) < 1e-9 && a.point[a.point_count - 1].cores == 16);
	assert_true(a.point[a.point_count - 1].at_most && !a.point[0].at_most);
}

static void the_peak_is_that_of_an_interval_and_not_the_mean_of_its_bin(void **state)
{
	struct trk_cpu_options o = {.cores_now = 2, .memory_bytes = NAN, .slowdown_max = NAN};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add(&h, 0.61, 1);
	trk__busy_add(&h, 0.65, 1);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.peak_cores == 0.65);
	assert_string_equal(a.reason[0], "0.63 cores busy on average, 0.65 at most, of 2");
}

static void a_busy_job_is_said_to_be_saturated(void **state)
{
	struct trk_cpu_options o = {.cores_now = 4,
				    .memory_bytes = 64 * 1073741824.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN};
	struct trk_cpu_advice a;
	bool said = false;

	busy_init();
	trk__busy_add(&h, 3.9, 610);
	trk__busy_add(&h, 1, 390);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.saturated && fabs(a.saturated_share - 0.61) < 1e-9);
	assert_true(a.cores == 4); /* never more than there were: that is unknown */
	for (size_t i = 0; i < a.reason_count; i++)
		said = said || strstr(a.reason[i], "61 % of the time all 4 cores were busy; try 8");
	assert_true(said);
}

static void a_bound_on_the_slowdown_is_kept(void **state)
{
	struct trk_cpu_options o = {
		.cores_now = 8, .memory_bytes = 0, .slowdown_max = NAN, .stated_cores = NAN};
	struct trk_cpu_advice cheap, fast;

	busy_init();
	trk__busy_add(&h, 8, 100);
	trk__busy_add(&h, 0.2, 900);
	assert_int_equal(trk__cpu_advise(&h, &o, &cheap), 0);
	o.slowdown_max = 1.05;
	assert_int_equal(trk__cpu_advise(&h, &o, &fast), 0);
	assert_true(cheap.cores < 8 && fast.cores == 8);
	assert_true(fast.run_time_s <= 1.05 * fast.run_time_now_s);
}

/* Two threads that each had a fifth of a core: 13 s of work that took 32.5 s. */
static void a_queue_is_taken_out_of_the_run_time(void **state)
{
	struct trk_cpu_options o = {.cores_now = 2,
				    .memory_bytes = 268435456.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN,
				    .queue = {TRK_QUEUE_OTHERS, 0.8}};
	static struct trk_busy seen;
	struct trk_cpu_advice a;

	busy_init();
	memset(&seen, 0, sizeof(seen));
	o.seen = &seen;
	trk__busy_add(&seen, 0.4, 32.5);
	trk__busy_add_free(&h, 0.4, 1.6, 32.5);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 2 && fabs(a.run_time_s - 6.5) < 1e-6);
	assert_true(fabs(a.point[0].run_time_s - 13) < 1e-6 && !a.point[2].at_most);
	assert_true(fabs(a.run_time_now_s - 32.5) < 1e-6 && fabs(a.mean_cores - 0.4) < 1e-9);
	assert_non_null(strstr(a.reason[1], "about 6.5 s without the queue; it took 32.5 s"));
	assert_non_null(strstr(a.reason[2], "80 % of the time that they could run, behind other"));
}

static void one_thread_in_a_queue_needs_one_core_whatever_was_stated(void **state)
{
	struct trk_cpu_options o = {.cores_now = 2,
				    .memory_bytes = 268435456.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN,
				    .queue = {TRK_QUEUE_OTHERS, 0.5}};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add_free(&h, 0.5, 0.5, 20);
	trk__busy_add_free(&h, 0, 0, 5); /* sleep stays sleep */
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 1 && fabs(a.run_time_s - 15) < 1e-6);
	o.stated_cores = 4;
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 1 && fabs(a.run_time_s - 15) < 1e-6);
	o.queue.cause = TRK_QUEUE_UNKNOWN;
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 4 && isnan(a.run_time_s));
}

/* Four threads on two cores that were busy 85 % of the time: without the queue of its own threads
 * it would still take as long there, and less on four. */
static void on_its_own_cores_a_run_takes_no_less_than_it_took(void **state)
{
	struct trk_cpu_options o = {.cores_now = 2,
				    .memory_bytes = 268435456.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN,
				    .least_s = 100,
				    .queue = {TRK_QUEUE_OWN, 0.5}};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add_free(&h, 1.7, 2, 100);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 2 && a.run_time_s == 100);
	assert_true(a.point[0].cores == 1 && a.point[0].run_time_s > 169);
	assert_true(a.point[2].cores == 4 && a.point[2].run_time_s < 50);
}

static void a_mean_alone_is_the_course_that_fewer_cores_delay_most(void **state)
{
	static struct trk_busy seen;
	struct trk_cpu_options o = {.cores_now = 8,
				    .memory_bytes = 3e9,
				    .slowdown_max = NAN,
				    .stated_cores = 8,
				    .only_mean = true,
				    .seen = &seen};
	struct trk_cpu_advice a;

	busy_init();
	memset(&seen, 0, sizeof(seen));
	trk__busy_add(&seen, 1, 800);
	trk__busy_add(&h, 8, 100);
	trk__busy_add(&h, 0, 700);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.mean_cores == 1 && a.run_time_now_s == 800);
	assert_string_equal(a.reason[0], "1 core of 8 busy on average; only the mean is known");
	assert_true(a.point[0].run_time_s == 1500 && a.point[0].at_most);
	assert_true(a.point[3].run_time_s == 800 && !a.point[3].at_most);
	assert_non_null(strstr(a.reason[1], "takes up to "));
}

static void a_quota_that_held_threads_back_is_raised(void **state)
{
	struct trk_cpu_options o = {.cores_now = 1.5,
				    .memory_bytes = 1073741824.0,
				    .slowdown_max = NAN,
				    .stated_cores = 1.5,
				    .queue = {TRK_QUEUE_QUOTA, 0.5}};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add_free(&h, 1.5, 1.5, 100);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 2 && a.run_time_s < 76);
}

static void where_the_queue_cannot_be_known_nothing_is_predicted(void **state)
{
	struct trk_cpu_options o = {.cores_now = 4,
				    .memory_bytes = 268435456.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN,
				    .queue = {TRK_QUEUE_UNKNOWN, NAN}};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add(&h, 0.4, 100);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 4 && isnan(a.run_time_s) && isnan(a.point[0].run_time_s));
	assert_non_null(strstr(a.reason[1], "is not known"));
}

/* A build: mostly both cores, partly one. One core would be cheaper, and far slower. */
static void cores_that_were_mostly_busy_are_not_taken_away(void **state)
{
	struct trk_cpu_options o = {.cores_now = 2,
				    .memory_bytes = 268435456.0,
				    .slowdown_max = NAN,
				    .stated_cores = NAN};
	struct trk_cpu_advice a;

	busy_init();
	trk__busy_add(&h, 1.8, 40);
	trk__busy_add(&h, 0.93, 60);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.mean_cores > 1.27 && a.mean_cores < 1.29 && a.cores == 2);
	busy_init();
	trk__busy_add(&h, 1.8, 20); /* 42 % of them */
	trk__busy_add(&h, 0.6, 80);
	assert_int_equal(trk__cpu_advise(&h, &o, &a), 0);
	assert_true(a.cores == 1);
}

static void fewer_cores_never_take_less_time(void **state)
{
	for (unsigned int seed = 1; seed < 200; seed++) {
		double before = INFINITY;

		busy_init();
		for (unsigned int i = 0; i < 40; i++)
			trk__busy_add(&h, (double) (seed * i * 7919 % 1000) / 31, 1 + i % 7);
		for (double k = 0.5; k < 64; k *= 1.3) {
			double t = trk__busy_run_time(&h, k);

			assert_true(t <= before && t >= trk__busy_seconds(&h) * (1 - 1e-12));
			before = t;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_above_the_cores_is_stretched),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(a_serial_job_gets_one_core),
		cmocka_unit_test(the_peak_is_that_of_an_interval_and_not_the_mean_of_its_bin),
		cmocka_unit_test(a_busy_job_is_said_to_be_saturated),
		cmocka_unit_test(a_bound_on_the_slowdown_is_kept),
		cmocka_unit_test(a_queue_is_taken_out_of_the_run_time),
		cmocka_unit_test(one_thread_in_a_queue_needs_one_core_whatever_was_stated),
		cmocka_unit_test(on_its_own_cores_a_run_takes_no_less_than_it_took),
		cmocka_unit_test(a_mean_alone_is_the_course_that_fewer_cores_delay_most),
		cmocka_unit_test(a_quota_that_held_threads_back_is_raised),
		cmocka_unit_test(where_the_queue_cannot_be_known_nothing_is_predicted),
		cmocka_unit_test(cores_that_were_mostly_busy_are_not_taken_away),
		cmocka_unit_test(fewer_cores_never_take_less_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
