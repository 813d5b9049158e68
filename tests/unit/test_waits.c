/* The breakdown of the time of an interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model/waits.h"

enum { SECOND = 1000000, UNKNOWN = TRK_WAIT_UNKNOWN };

/* A second of which nothing is known but that nothing ran. */
static struct trk_wait_facts idle_second(void)
{
	return (struct trk_wait_facts){
		.interval_us = SECOND,
		.gpu_us = UNKNOWN,
		.disk_stall_us = UNKNOWN,
		.memory_stall_us = UNKNOWN,
		.queue_us = UNKNOWN,
		.throttled_us = UNKNOWN,
		.high_stall_us = UNKNOWN,
	};
}

static void assert_waits(const struct trk_wait_facts *f, int64_t cpu, int64_t gpu, int64_t disk,
			 int64_t memory, int64_t queue)
{
	struct trk_waits w;

	trk__waits_divide(f, &w);
	assert_int_equal(w.us[TRK_WAIT_ON_CPU], cpu);
	assert_int_equal(w.us[TRK_WAIT_GPU], gpu);
	assert_int_equal(w.us[TRK_WAIT_DISK], disk);
	assert_int_equal(w.us[TRK_WAIT_MEMORY], memory);
	assert_int_equal(w.us[TRK_WAIT_FOR_CPU], queue);
}

static void work_on_several_cores_fills_the_interval_once(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.cpu_us = 3 * SECOND;
	f.disk_stall_us = SECOND / 2;
	f.touched_disk = true;
	assert_waits(&f, SECOND, UNKNOWN, 0, UNKNOWN, UNKNOWN);
}

static void what_is_known_of_a_wait_for_the_disk_goes_before_what_is_guessed(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.blocked_us = 400000;
	assert_waits(&f, 0, UNKNOWN, 400000, UNKNOWN, UNKNOWN);
	f.disk_stall_us = 100000; /* others or not: it waited for so long */
	assert_waits(&f, 0, UNKNOWN, 400000, UNKNOWN, UNKNOWN);
	f.touched_disk = true;
	f.disk_stall_us = 500000; /* its other threads may have */
	assert_waits(&f, 0, UNKNOWN, 500000, UNKNOWN, UNKNOWN);
	f.blocked_us = 3 * SECOND; /* of several processes */
	assert_waits(&f, 0, UNKNOWN, SECOND, UNKNOWN, UNKNOWN);
}

static void what_work_leaves_goes_to_each_wait_in_turn(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.cpu_us = 300000;
	f.gpu_us = 200000;
	f.disk_stall_us = 100000;
	f.memory_stall_us = 50000;
	f.queue_us = 900000;
	f.touched_disk = f.touched_memory = true;
	assert_waits(&f, 300000, 200000, 100000, 50000, 350000);
}

static void a_stall_of_others_is_not_the_jobs(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.disk_stall_us = f.memory_stall_us = SECOND;
	assert_waits(&f, 0, UNKNOWN, 0, 0, UNKNOWN);
	f.seen_on_disk = true;
	assert_waits(&f, 0, UNKNOWN, SECOND, 0, UNKNOWN);
}

static void without_pressure_a_process_found_waiting_stands_for_its_interval(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.cpu_us = 400000;
	f.touched_disk = true;
	assert_waits(&f, 400000, UNKNOWN, 0, UNKNOWN, UNKNOWN);
	f.seen_on_disk = true;
	assert_waits(&f, 400000, UNKNOWN, 600000, UNKNOWN, UNKNOWN);
}

static void throttling_counts_where_the_queue_is_not_known(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.throttled_us = 700000;
	assert_waits(&f, 0, UNKNOWN, 0, UNKNOWN, 700000);
	f.queue_us = 100000;
	assert_waits(&f, 0, UNKNOWN, 0, UNKNOWN, 700000);
	f.throttled_us = UNKNOWN;
	assert_waits(&f, 0, UNKNOWN, 0, UNKNOWN, 100000);
}

/* Above memory.high the kernel lets a task sleep, which takes no page fault then. */
static void a_sleep_above_memory_high_is_a_memory_stall(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.memory_stall_us = 950000;
	assert_waits(&f, 0, UNKNOWN, 0, 0, UNKNOWN);
	f.high_stall_us = 900000;
	assert_waits(&f, 0, UNKNOWN, 0, 900000, UNKNOWN);
	f.touched_memory = true;
	assert_waits(&f, 0, UNKNOWN, 0, 950000, UNKNOWN);
}

static void throttling_of_several_cpus_is_no_more_than_the_interval(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.cpu_us = 500000;
	f.throttled_us = 1500000; /* two threads at half a core */
	assert_waits(&f, 500000, UNKNOWN, 0, UNKNOWN, 500000);
	assert_int_equal(trk__waits_held_back(1500000, 500000, 1000000), 750000);
	assert_int_equal(trk__waits_held_back(400000, 500000, 1000000), 400000);
	assert_int_equal(trk__waits_held_back(UNKNOWN, 500000, 1000000), UNKNOWN);
	assert_int_equal(trk__waits_held_back(INT64_MAX, INT64_MAX, 1000000), 500000);
	assert_int_equal(trk__waits_held_back(5, 5, 0), 5);
}

static void without_the_tree_s_cpu_time_nothing_is_known(void **state)
{
	struct trk_wait_facts f = idle_second();

	f.cpu_us = UNKNOWN;
	f.queue_us = 5;
	assert_waits(&f, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
	f.cpu_us = 5;
	f.interval_us = 0;
	assert_waits(&f, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_of_a_wait_for_the_disk_goes_before_what_is_guessed),
		cmocka_unit_test(work_on_several_cores_fills_the_interval_once),
		cmocka_unit_test(what_work_leaves_goes_to_each_wait_in_turn),
		cmocka_unit_test(a_stall_of_others_is_not_the_jobs),
		cmocka_unit_test(without_pressure_a_process_found_waiting_stands_for_its_interval),
		cmocka_unit_test(throttling_counts_where_the_queue_is_not_known),
		cmocka_unit_test(a_sleep_above_memory_high_is_a_memory_stall),
		cmocka_unit_test(throttling_of_several_cpus_is_no_more_than_the_interval),
		cmocka_unit_test(without_the_tree_s_cpu_time_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
