/* The process tree for macOS on live processes of Linux, through a libproc that reads /proc. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/os.h"
#include "probe/darwin/process.h"
#include "probe/tree/private.h"
#include "../unit/skip.h"
#include "stand_in.h"

enum { STORM = 40, MIB = 1024 * 1024 };

/* Two figures of each process are cut to ticks of 10 ms, and two of those that it waited for. */
#define TICK_S 0.01

static const struct timespec nap = {.tv_nsec = 20000000};

static void burn(double seconds)
{
	struct timespec t;

	do
		(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while ((double) t.tv_sec + (double) t.tv_nsec / 1e9 < seconds);
}

static void burn_in_children(int n, double seconds)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(seconds);
			_exit(0);
		}
		(void) waitpid(pid, NULL, 0);
	}
}

static struct trk_tree *follow(pid_t root, const struct trk_env *env)
{
	struct trk_tree_options options = {.root = root, .subreaper = true, .self = getpid()};
	int r = 0;
	struct trk_tree *t = trk__tree_new(env, &options, &r);

	assert_non_null(t);
	return t;
}

static const struct trk_env env = {-1,
				   -1,
				   -1,
				   trk__clock_monotonic_ns,
				   trk__clock_wall_ns,
				   trk__clock_boot_ns,
				   trk__clock_thread_cpu_ns};

static bool has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

static double time_of(const struct timeval *t)
{
	return (double) t->tv_sec + (double) t->tv_usec / 1e6;
}

/* Look until the job has ended, and at the zombie; then take what wait4(2) says. Returns that. */
static double track(struct trk_tree *t, pid_t pid, const struct trk_tree_state **ret)
{
	struct trk_usage usage = {0};
	struct rusage u;

	while (!has_ended(pid)) {
		trk__tree_update(t, ret);
		(void) nanosleep(&nap, NULL);
	}
	trk__tree_close_accounts(t);
	trk__tree_update(t, ret);
	assert_int_equal(wait4(pid, NULL, 0, &u), pid);
	usage.user_ns = (uint64_t) (time_of(&u.ru_utime) * 1e9);
	usage.system_ns = (uint64_t) (time_of(&u.ru_stime) * 1e9);
	trk__tree_reaped(t, pid, &usage);
	trk__tree_update(t, ret);
	return time_of(&u.ru_utime) + time_of(&u.ru_stime);
}

static double told(const struct trk_tree_state *state)
{
	return (double) state->counter[TRK_TREE_CPU] / 1e9;
}

static void a_storm_of_children_is_told_in_full(void **state)
{
	const struct trk_tree_state *s;
	struct trk_tree *t;
	double truth;
	pid_t pid = fork();

	(void) state;
	if (pid == 0) {
		burn_in_children(STORM, 0.02);
		burn(0.1);
		_exit(0);
	}
	t = follow(pid, &env);
	truth = track(t, pid, &s);
	assert_true(truth >= STORM * 0.02 + 0.1);
	assert_true(told(s) <= truth + 2 * TICK_S);
	assert_true(told(s) >= truth - 2 * TICK_S);
	assert_true(s->root_gone && s->processes == 0);
	trk__tree_free(t);
}

/* The job ends; the orphan, which a look has seen, goes on and is followed. */
static void an_orphan_that_was_seen_is_followed(void **state)
{
	const struct trk_tree_state *s;
	struct trk_tree *t;
	int ends[2], go[2];
	pid_t pid;
	char end;

	(void) state;
	assert_int_equal(trk__os_pipe(ends), 0);
	assert_int_equal(trk__os_pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		pid_t parent = getpid();

		if (fork() == 0) {
			while (getppid() == parent)
				(void) nanosleep(&nap, NULL);
			burn(0.3);
			(void) !write(ends[1], "", 1);
			(void) close(ends[1]);
			(void) pause();
		}
		(void) !read(go[0], &end, 1);
		_exit(0);
	}
	t = follow(pid, &env);
	do
		trk__tree_update(t, &s);
	while (s->processes < 2);
	assert_int_equal(write(go[1], "", 1), 1);
	(void) track(t, pid, &s);
	assert_int_equal(read(ends[0], &end, 1), 1);
	trk__tree_update(t, &s);
	assert_int_equal(s->orphans, 1);
	assert_int_equal(s->processes, 1);
	assert_true(told(s) >= 0.3 - 2 * TICK_S);
	(void) kill(trk__tree_newest(t), SIGKILL);
	(void) close(ends[0]);
	(void) close(ends[1]);
	(void) close(go[0]);
	(void) close(go[1]);
	trk__tree_free(t);
}

static void memory_is_the_sum_of_footprints(void **state)
{
	/* The child has the memory of the checker as well: of valgrind, almost 64 MiB. */
	const uint64_t most = (checks_memory() ? 256 : 128) * MIB;
	const struct trk_tree_state *s;
	struct trk_tree_peak peak;
	struct trk_tree *t;
	int ends[2];
	pid_t pid;

	(void) state;
	assert_int_equal(trk__os_pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		size_t size = 64 * MIB;
		char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		char end;

		if (block != MAP_FAILED)
			memset(block, 1, size);
		(void) close(ends[1]);
		(void) !read(ends[0], &end, 1);
		_exit(0);
	}
	t = follow(pid, &env);
	do
		trk__tree_update(t, &s);
	while (s->pss_bytes < 64 * MIB);
	assert_true(s->pss_bytes < most);
	assert_int_equal(s->pss_estimated_bytes, 0);
	(void) close(ends[1]);
	(void) track(t, pid, &s);
	trk__tree_peak(t, &peak);
	assert_true(peak.bytes >= 64 * MIB && peak.bytes < most);
	assert_non_null(strstr(peak.source, "footprint"));
	(void) close(ends[0]);
	trk__tree_free(t);
}

/* A program with the set-user-id bit: it is there, and what it uses is not known. */
static void what_may_not_be_read_is_counted_as_unknown(void **state)
{
	const struct trk_tree_state *s;
	struct trk_tree *t;
	pid_t pid = fork();

	(void) state;
	if (pid == 0) {
		burn(0.05);
		(void) pause();
		_exit(0);
	}
	stand_in_denied = pid;
	t = follow(pid, &env);
	trk__tree_update(t, &s);
	assert_int_equal(s->processes, 1);
	assert_int_equal(s->unreadable_memory, 1);
	assert_int_equal(s->unreadable_io, 1);
	assert_int_equal(s->counter[TRK_TREE_CPU], 0);
	stand_in_denied = 0;
	(void) kill(pid, SIGKILL);
	(void) waitpid(pid, NULL, 0);
	trk__tree_free(t);
}

static void counters_that_macos_lacks_are_named(void **state)
{
	const struct trk_tree_state *s;
	struct trk_tree *t = follow(getpid(), &env);

	(void) state;
	s = trk__tree_state(t);
	assert_true(s->lacks[TRK_TREE_MINOR_FAULTS] && s->lacks[TRK_TREE_READ_CHARS]);
	assert_false(s->lacks[TRK_TREE_CPU] || s->lacks[TRK_TREE_WRITE_BYTES]);
	assert_true(s->loses_orphans);
	trk__tree_free(t);
}

/* A factor of 125/3 without an overflow: a machine that has been up for a hundred years. */
static void ticks_become_nanoseconds(void **state)
{
	static const uint64_t year_ns = UINT64_C(365) * 86400 * TRK_NS_PER_S;
	uint64_t hz = 24000000, ticks = UINT64_C(100) * 365 * 86400 * hz;

	(void) state;
	assert_true(trk__mac_ticks_ns(3, hz) == 125);
	assert_true(trk__mac_ticks_ns(24, hz) == 1000);
	assert_true(trk__mac_ticks_ns(ticks, hz) == 100 * year_ns);
	assert_true(trk__mac_ticks_ns(12345678901, 1000000000) == 12345678901);
}

/* Neither the path of the program nor its environment. */
static void arguments_alone_are_kept(void **state)
{
	char text[4096];
	ssize_t len = trk__mac_arguments(getpid(), text, sizeof(text));

	(void) state;
	assert_true(len > 0);
	assert_non_null(strstr(text, "test_live_darwin"));
	for (ssize_t at = 0; at < len; at += (ssize_t) strlen(text + at) + 1) {
		assert_null(strstr(text + at, "SECRET"));
		assert_null(strstr(text + at, "/the/path"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_of_children_is_told_in_full),
		cmocka_unit_test(an_orphan_that_was_seen_is_followed),
		cmocka_unit_test(memory_is_the_sum_of_footprints),
		cmocka_unit_test(what_may_not_be_read_is_counted_as_unknown),
		cmocka_unit_test(counters_that_macos_lacks_are_named),
		cmocka_unit_test(ticks_become_nanoseconds),
		cmocka_unit_test(arguments_alone_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
