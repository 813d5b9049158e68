/* Delay accounting, which few kernels enable. The files of a process are written by the test; its
 * clock is real. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "probe/tree/tree.h"

#define NEVER (1ULL << 50) /* ticks since boot: whoever started then is younger than any tree */

/* PID/stat of a process of this start, that so many ticks waited for block I/O. */
static void set_stat(const struct live *live, pid_t pid, unsigned long long start, int delay)
{
	char text[512], file[40];

	(void) snprintf(text, sizeof(text),
			"%d (job) S %d 1 1 0 -1 4194560 10 0 0 0 1 1 0 0 20 0 1 0 %llu 1000000 100 "
			"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 %d 0 0\n",
			(int) pid, pid == getpid() ? 1 : (int) getpid(), start, delay);
	(void) snprintf(file, sizeof(file), "%d/stat", (int) pid);
	live_write(live, file, text);
}

static void add_folder(const struct live *live, pid_t pid, const char *below)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%d%s", (int) pid, below);
	assert_int_equal(mkdirat(live->env.proc_fd, path, 0700), 0);
}

/* child 0: there is none. */
static void make_files(struct live *live, pid_t child)
{
	char path[64], text[32];

	live_init(live, "vm-virtio");
	live->env.monotonic_ns = trk__clock_monotonic_ns;
	add_folder(live, getpid(), "");
	if (!child)
		return;
	add_folder(live, child, "");
	add_folder(live, getpid(), "/task");
	(void) snprintf(path, sizeof(path), "/task/%d", (int) getpid());
	add_folder(live, getpid(), path);
	(void) snprintf(path, sizeof(path), "%d/task/%d/children", (int) getpid(), (int) getpid());
	(void) snprintf(text, sizeof(text), "%d ", (int) child);
	live_write(live, path, text);
}

static void remove_files(struct live *live, pid_t child)
{
	const pid_t pid[] = {getpid(), child};
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		(void) snprintf(path, sizeof(path), "%s/%d", live->path, (int) pid[i]);
		trk__remove_tree(path);
	}
	live_release(live);
}

static struct trk_tree *tree_of(const struct live *live, bool one_process)
{
	struct trk_tree_options options = {
		.root = getpid(), .one_process = one_process, .self = getppid()};
	int error = 0;
	struct trk_tree *tree = trk__tree_new(&live->env, &options, &error);

	assert_non_null(tree);
	return tree;
}

static uint64_t ticks_told(struct trk_tree *tree)
{
	const struct trk_tree_state *state;

	trk__tree_update(tree, &state);
	return state->blocked_ns * (uint64_t) sysconf(_SC_CLK_TCK) / TRK_NS_PER_S;
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
	struct trk_tree *tree;
	struct live live;

	make_files(&live, 0);
	set_stat(&live, getpid(), start, 7);
	tree = tree_of(&live, true);
	assert_int_equal(ticks_told(tree), first);
	burn_a_little();
	set_stat(&live, getpid(), start, 12);
	assert_int_equal(ticks_told(tree), second);
	trk__tree_free(tree);
	remove_files(&live, 0);
}

static void what_a_process_waited_before_it_was_tracked_does_not_count(void **state)
{
	assert_told(1, 0, 5);
}

static void all_that_a_newborn_waited_counts(void **state)
{
	assert_told(NEVER, 7, 12);
}

static void of_members_that_may_have_waited_at_once_the_longest_counts(void **state)
{
	struct trk_tree *tree;
	struct live live;
	pid_t child = fork();

	if (child == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void) pause();
	}
	make_files(&live, child);
	set_stat(&live, getpid(), NEVER, 7);
	set_stat(&live, child, NEVER, 12);
	tree = tree_of(&live, false);
	assert_int_equal(ticks_told(tree), 12);
	assert_int_equal(trk__tree_state(tree)->processes, 2);
	burn_a_little(); /* the root alone: its next wait comes on top */
	set_stat(&live, getpid(), NEVER, 10);
	assert_int_equal(ticks_told(tree), 15);
	trk__tree_free(tree);
	(void) kill(child, SIGKILL);
	(void) waitpid(child, NULL, 0);
	remove_files(&live, child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_waited_before_it_was_tracked_does_not_count),
		cmocka_unit_test(all_that_a_newborn_waited_counts),
		cmocka_unit_test(of_members_that_may_have_waited_at_once_the_longest_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
