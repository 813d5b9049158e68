/* The loop of ticks, on a machine made of files with the real clocks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "machine.h"
#include "track/job.h"
#include "track/private.h"
#include "track/track.h"

struct seen {
	struct machine *m;
	size_t rows;
	double first_load, last_load;
};

/* The load changes behind the first row: less than the five seconds later in which it is read
 * again. */
static void see(void *data, const struct trk_record *record, const struct trk_sample *row,
		struct trk_sampler *sampler)
{
	struct seen *seen = data;
	double load = trk__sample_get(row, TRK_SYSTEM_LOAD_1M);

	(void) record;
	(void) sampler;
	if (seen->rows++ == 0) {
		seen->first_load = load;
		live_write(&seen->m->live, "loadavg", "1.25 0.50 0.10 2/321 4242\n");
	}
	seen->last_load = load;
}

static void nothing_is_left_out_of_the_last_row(void **state)
{
	static struct trk_track_result result;
	struct machine m;
	struct seen seen = {.m = &m};
	const struct trk_track_options options = {
		.interval_ns = 100 * MS,
		.duration_ns = 250 * MS,
		.control_fd = -1,
		.in_thread = true,
		.on_row = see,
		.data = &seen,
	};

	machine_init(&m);
	m.live.env.monotonic_ns = trk__clock_monotonic_ns;
	m.live.env.wall_ns = trk__clock_wall_ns;
	m.live.env.boot_ns = trk__clock_boot_ns;
	set_cpu(&m, 1, 0, 0, 0);
	live_write(&m.live, "loadavg", "0.75 0.50 0.10 2/321 4242\n");
	assert_int_equal(trk__track(&m.live.env, &options, &result), 0);
	assert_true(seen.rows >= 2);
	assert_true(seen.first_load == 0.75);
	assert_true(seen.last_load == 1.25);
	trk__record_release(&result.record);
	machine_release(&m);
}

static bool is_blocked(int signo)
{
	sigset_t mask;

	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	return sigismember(&mask, signo) == 1;
}

static void signals_that_come_after_the_job_do_not_end_its_tracker(void **state)
{
	struct trk_job job;

	assert_int_equal(trk__job_prepare(&job), 0);
	assert_int_equal(raise(SIGTERM), 0);
	trk__job_drop_signals(&job, false);
	trk__job_release(&job); /* would end this process */
	assert_false(is_blocked(SIGTERM));
	assert_int_equal(trk__job_prepare(&job), 0);
	trk__job_drop_signals(&job, true);
	trk__job_release(&job);
	assert_true(is_blocked(SIGTERM));
	assert_false(is_blocked(SIGINT));
}

static void orphans_are_reaped_in_parts_so_that_they_delay_no_tick(void **state)
{
	enum { ORPHANS = 300 };
	char *argv[] = {(char[]){"job"}, NULL};
	const struct trk_track_options options = {.argv = argv};
	struct track t = {.options = &options, .job = TRK_JOB_NONE};
	siginfo_t info;

	t.job.pid = getpid(); /* none of them */
	for (int i = 0; i < ORPHANS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	}
	trk__track_look_at_children(&t);
	assert_true(t.has_more_children);
	assert_in_range(t.finish.reaped, 1, ORPHANS - 1);
	while (t.has_more_children)
		trk__track_look_at_children(&t);
	assert_int_equal(t.finish.reaped, ORPHANS);
}

/* ---- the end of all processes ---- */

static uint64_t late_ns;

/* A machine so busy that each look at the clock is 100 ms after the last one. */
static uint64_t busy_clock(void)
{
	return late_ns += 100 * MS;
}

static uint64_t no_cpu_time(void)
{
	return 1;
}

static void a_busy_machine_does_not_delay_the_next_search(void **state)
{
	char *argv[] = {(char[]){"job"}, NULL};
	const struct trk_track_options options = {.argv = argv};
	struct track t = {.options = &options, .has_proc = true, .job = TRK_JOB_NONE};
	pid_t job = fork();

	while (job == 0)
		(void) pause();
	assert_true(job > 0);
	assert_int_equal(trk__env_init(&t.env), 0);
	t.env.monotonic_ns = busy_clock;
	t.env.thread_cpu_ns = no_cpu_time;
	t.job.pid = job;
	trk__termination_begin(&t, SIGCONT); /* a signal that does not end it */
	(void) kill(job, SIGKILL);
	assert_int_equal(waitpid(job, NULL, 0), job);
	assert_true(trk__termination_goes_on(&t.ending));
	assert_int_equal(t.ending.count, 1);
	assert_true(t.ending.next_ns - late_ns < 100 * MS);
	trk__termination_release(&t.ending);
	trk__env_release(&t.env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_out_of_the_last_row),
		cmocka_unit_test(orphans_are_reaped_in_parts_so_that_they_delay_no_tick),
		cmocka_unit_test(a_busy_machine_does_not_delay_the_next_search),
		cmocka_unit_test(signals_that_come_after_the_job_do_not_end_its_tracker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
