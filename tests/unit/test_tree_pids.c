/* New members where the kernel's counter of pids is not shown, or is not true. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "probe/tree/private.h"

/* A last pid beyond all that the kernel assigns here. */
#define COUNTER 4000000

/* After so long a process is evidence of the counter. */
enum { WAIT_US = 250000 };

static struct trk_env env;
static struct trk_tree *tree;
static pid_t child[8];
static int children;

/* A process that waits. */
static pid_t add_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void) pause();
		_exit(0);
	}
	assert_true(pid > 0);
	child[children++] = pid;
	return pid;
}

/* The counter was read one second ago, by the clock of start times. */
static void age_counter(void)
{
	tree->counter_ticks -= TRK_NS_PER_S / tree->tick_ns;
}

static int begin(void **state)
{
	struct trk_tree_options options = {.root = getpid()};
	int error = 0;

	(void) state;
	children = 0;
	assert_int_equal(trk__env_init(&env), 0);
	tree = trk__tree_new(&env, &options, &error);
	assert_non_null(tree);
	return 0;
}

static int end(void **state)
{
	(void) state;
	trk__tree_free(tree);
	for (int i = 0; i < children; i++) {
		(void) kill(child[i], SIGKILL);
		(void) waitpid(child[i], NULL, 0);
	}
	trk__env_release(&env);
	return 0;
}

/* From now on loadavg has this last pid. */
static void set_counter(pid_t pid)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "0.50 0.40 0.30 1/500 %d\n", (int) pid);
	int fd = memfd_create("loadavg", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, text, (size_t) len) == len);
	assert_true(dup2(fd, tree->loadavg_fd) >= 0);
	(void) close(fd);
}

static size_t update(void)
{
	const struct trk_tree_state *s;

	trk__tree_update(tree, &s);
	return s->processes;
}

/* The first update, with this last pid. It may have taken long, and found younger processes. */
static size_t update_with(pid_t pid)
{
	size_t processes;

	set_counter(pid);
	processes = update();
	tree->counter_reach = 0;
	return processes;
}

static size_t sweep(void)
{
	tree->next_sweep_ns = 0;
	return update();
}

static void the_kernels_counter_is_trusted(void **state)
{
	for (size_t i = 1; i <= 3; i++) {
		assert_int_equal(update(), i);
		(void) usleep(WAIT_US);
		(void) add_child();
	}
	assert_int_equal(update(), 4);
	assert_false(tree->state.pids_unproven);
	assert_true(tree->loadavg_fd >= 0);
}

static void a_counter_that_is_0_is_not_trusted(void **state)
{
	set_counter(0);
	assert_int_equal(update(), 1);
	(void) add_child();
	assert_int_equal(update(), 2);
	assert_true(tree->state.pids_unproven);
	assert_true(tree->state.unseen_pids == UINT64_MAX);
}

static void a_counter_that_stands_still_is_trusted_until_a_process_shows_it(void **state)
{
	assert_int_equal(update_with(COUNTER), 1);
	age_counter();
	(void) add_child();
	assert_int_equal(sweep(), 2);
	assert_false(tree->state.pids_unproven);
	(void) add_child();
	assert_int_equal(update(), 3);
	assert_true(tree->state.pids_unproven);
	(void) add_child();
	assert_int_equal(update(), 4);
}

static void a_counter_behind_a_new_process_is_not_trusted(void **state)
{
	assert_int_equal(update_with(1), 1);
	age_counter();
	(void) add_child();
	assert_int_equal(sweep(), 2);
	set_counter(child[0] - 1);
	(void) update();
	assert_true(tree->state.pids_unproven);
}

static void a_counter_that_has_wrapped_explains_low_pids(void **state)
{
	pid_t pid;

	assert_int_equal(update_with(COUNTER), 1);
	age_counter();
	pid = add_child();
	assert_int_equal(sweep(), 2);
	set_counter(pid + COUNTER / 2); /* other processes may have started as well */
	(void) update();
	assert_false(tree->state.pids_unproven);
	assert_true(tree->loadavg_fd >= 0);
}

static void a_process_from_before_the_reading_says_nothing_of_the_counter(void **state)
{
	(void) add_child();
	assert_int_equal(update_with(COUNTER), 2);
	tree->counter_ticks += 3600 * TRK_NS_PER_S / tree->tick_ns;
	(void) add_child();
	assert_int_equal(sweep(), 3);
	assert_int_equal(update(), 3);
	assert_false(tree->state.pids_unproven);
}

/* Each reading of the clock costs 10 ms of CPU time. */
static uint64_t expensive(void)
{
	static uint64_t ns;

	return ns += 10 * TRK_NS_PER_MS;
}

static void without_the_counter_sweeps_take_half_a_percent_of_a_core(void **state)
{
	uint64_t now_ns;

	set_counter(0);
	(void) update();
	tree->env.thread_cpu_ns = expensive;
	now_ns = env.monotonic_ns();
	assert_int_equal(sweep(), 1);
	assert_true(tree->next_sweep_ns >= now_ns + 2 * TRK_NS_PER_S);
	/* Until then only the children of active members are found. */
	(void) add_child();
	for (uint64_t from_ns = trk__clock_thread_cpu_ns();
	     trk__clock_thread_cpu_ns() < from_ns + 50000000;)
		continue;
	assert_int_equal(update(), 2);
	assert_true(tree->next_sweep_ns > env.monotonic_ns());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_kernels_counter_is_trusted, begin, end),
		cmocka_unit_test_setup_teardown(a_counter_that_is_0_is_not_trusted, begin, end),
		cmocka_unit_test_setup_teardown(
			a_counter_that_stands_still_is_trusted_until_a_process_shows_it, begin,
			end),
		cmocka_unit_test_setup_teardown(a_counter_behind_a_new_process_is_not_trusted,
						begin, end),
		cmocka_unit_test_setup_teardown(a_counter_that_has_wrapped_explains_low_pids, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_process_from_before_the_reading_says_nothing_of_the_counter, begin, end),
		cmocka_unit_test_setup_teardown(
			without_the_counter_sweeps_take_half_a_percent_of_a_core, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
