/* Delay accounting, which few kernels have on: the files of a process are the test's, its clock is real. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "probe/tree.h"

static char folder[32], file[40];

/* PID/stat of a process of this start, that so many ticks waited for block I/O. */
static void set_stat(struct live *live, unsigned long long start, int delay)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"%d (job) S 1 1 1 0 -1 4194560 10 0 0 0 1 1 0 0 20 0 1 0 %llu 1000000 100 "
			"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 %d 0 0\n",
			(int) getpid(), start, delay);
	live_write(live, file, text);
}

static void burn_a_little(void)
{
	uint64_t end = trk__clock_process_cpu_ns() + 20 * TRK_NS_PER_MS;

	while (trk__clock_process_cpu_ns() < end)
		;
}

/* Ticks of delay that are told after readings of 7 and then 12 ticks. */
static void assert_told(unsigned long long start, uint64_t first, uint64_t second)
{
	struct trk_tree_options options = {
		.root = getpid(), .one_process = true, .self = getppid()};
	const uint64_t tick_ns = TRK_NS_PER_S / (uint64_t) sysconf(_SC_CLK_TCK);
	const struct trk_tree_state *state;
	struct trk_tree *tree;
	struct live live;
	int error = 0;

	(void) snprintf(folder, sizeof(folder), "%d", (int) getpid());
	(void) snprintf(file, sizeof(file), "%d/stat", (int) getpid());
	live_init(&live, "vm-virtio");
	live.env.monotonic_ns = trk__clock_monotonic_ns;
	assert_int_equal(mkdirat(live.env.proc_fd, folder, 0700), 0);
	set_stat(&live, start, 7);
	tree = trk__tree_new(&live.env, &options, &error);
	assert_non_null(tree);
	trk__tree_update(tree, &state);
	assert_int_equal(state->blocked_ns, first * tick_ns);
	burn_a_little();
	set_stat(&live, start, 12);
	trk__tree_update(tree, &state);
	assert_int_equal(state->blocked_ns, second * tick_ns);
	trk__tree_free(tree);
	(void) unlinkat(live.env.proc_fd, file, 0);
	(void) unlinkat(live.env.proc_fd, folder, AT_REMOVEDIR);
	live_release(&live);
}

static void what_a_process_waited_before_it_was_tracked_does_not_count(void **state)
{
	(void) state;
	assert_told(1, 0, 5);
}

static void all_that_a_newborn_waited_counts(void **state)
{
	(void) state;
	assert_told(1ULL << 50, 7, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_waited_before_it_was_tracked_does_not_count),
		cmocka_unit_test(all_that_a_newborn_waited_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
