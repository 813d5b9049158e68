/* Programs that the tracker starts for itself, which are never tracked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/helper_process.h"
#include "skip.h"

static void nap(void)
{
	const struct timespec moment = {0, 1000000};

	(void) nanosleep(&moment, NULL);
}

static int start(struct trk_helper_process *tool, char *script)
{
	char shell[] = "sh", c[] = "-c", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = {shell, c, script, NULL}, *envp[] = {path, NULL};

	return trk__helper_process_start(tool, "/bin/sh", argv, envp);
}

/* What it has printed, until it says no more. */
static void read_all(struct trk_helper_process *tool, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(tool->fd, text + len, size - 1 - len)) != 0) {
		if (n > 0)
			len += (size_t) n;
		else
			nap();
	}
	text[len] = '\0';
	(void) close(tool->fd);
}

/* The one child that has ended; it stays a zombie. */
static pid_t ended_child(void)
{
	siginfo_t info = {.si_pid = 0};

	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
	return info.si_pid;
}

static void whoever_reaps_children_leaves_it_to_its_owner(void **state)
{
	char script[] = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; exit 7";
	uint64_t before_ns, after_ns;
	struct trk_helper_process tool;
	char text[64];
	int status;
	pid_t pid;

	(void) state;
	assert_true(trk__helper_process_cpu_ns(&before_ns));
	assert_int_equal(start(&tool, script), 0);
	read_all(&tool, text, sizeof(text));
	assert_string_equal(text, "done\n");
	pid = ended_child();
	assert_int_equal(trk__helper_process_is(pid), 1);
	assert_false(trk__helper_process_cpu_ns(&after_ns)); /* it is not over yet */
	assert_true(trk__helper_process_reap(pid));
	assert_int_equal(waitpid(pid, &status, WNOHANG), -1); /* it is gone */
	assert_int_equal(trk__helper_process_ended(&tool, &status), 1);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(trk__helper_process_ended(&tool, &status), 0); /* told once */
	assert_true(trk__helper_process_cpu_ns(&after_ns));
	assert_true(after_ns > before_ns + TRK_NS_PER_MS);
}

static void a_fork_is_left_out_as_a_program_is(void **state)
{
	uint64_t before_ns, after_ns;
	struct trk_helper_process tool;
	int status, ends[2];
	char end;
	pid_t pid;

	(void) state;
	assert_true(trk__helper_process_cpu_ns(&before_ns));
	assert_int_equal(pipe(ends), 0);
	pid = trk__helper_process_fork(&tool);
	if (pid == 0) {
		volatile unsigned work = 0;

		while (work < 20000000)
			work++;
		(void) !read(ends[0], &end, 1);
		_exit(7);
	}
	assert_true(pid > 0);
	assert_int_equal(trk__helper_process_is(pid), 1);
	assert_int_equal(getpgid(pid), pid);
	assert_int_equal(trk__helper_process_ended(&tool, &status), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_int_equal(ended_child(), pid);
	assert_true(trk__helper_process_reap(pid));
	assert_int_equal(trk__helper_process_ended(&tool, &status), 1);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_true(trk__helper_process_cpu_ns(&after_ns));
	assert_true(after_ns > before_ns + TRK_NS_PER_MS);
	trk__helper_process_hold(true);
	assert_int_equal(trk__helper_process_fork(&tool), -ECANCELED);
	trk__helper_process_hold(false);
	(void) close(ends[0]);
	(void) close(ends[1]);
}

static void another_child_is_none_of_ours(void **state)
{
	char script[] = "exec sleep 1000";
	struct trk_helper_process tool;
	pid_t child = fork();
	int status;

	(void) state;
	if (child == 0)
		_exit(3);
	assert_int_equal(start(&tool, script), 0);
	assert_int_equal(ended_child(), child);
	assert_int_equal(trk__helper_process_is(child), 0);
	assert_false(trk__helper_process_reap(child));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 3);
	trk__helper_process_kill(&tool);
	while (trk__helper_process_ended(&tool, &status) == 0)
		nap();
	assert_true(WIFSIGNALED(status));
	(void) close(tool.fd);
}

static void what_it_leaves_behind_is_ended_and_adopted_by_nobody_else(void **state)
{
	char script[] = "sleep 1000 >/dev/null 2>&1 & echo $!";
	uint64_t cpu_ns;
	struct trk_helper_process tool;
	char text[64];
	int status;
	pid_t orphan;

	(void) state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(start(&tool, script), 0);
	read_all(&tool, text, sizeof(text));
	orphan = (pid_t) strtol(text, NULL, 10);
	while (trk__helper_process_ended(&tool, &status) == 0)
		nap();
	while (ended_child() != orphan)
		nap();
	assert_int_equal(trk__helper_process_is(orphan), 1); /* though its parent has gone */
	assert_false(trk__helper_process_cpu_ns(&cpu_ns));
	assert_true(trk__helper_process_reap(orphan));
	assert_true(trk__helper_process_cpu_ns(&cpu_ns));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	(void) close(tool.fd);
}

static void on_hold_all_are_ended_and_none_is_started(void **state)
{
	char script[] = "sleep 1000 & sleep 1000";
	struct trk_helper_process tool, other;
	uint64_t cpu_ns;
	int status = 0;

	(void) state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(start(&tool, script), 0);
	trk__helper_process_hold(true);
	assert_true(trk__helper_process_is_held());
	while (!trk__helper_process_cpu_ns(&cpu_ns))
		trk__helper_process_hold(true);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* no child is left */
	assert_int_equal(trk__helper_process_ended(&tool, &status), 1);
	assert_int_equal(start(&other, script), -ECANCELED);
	trk__helper_process_hold(false);
	assert_int_equal(start(&other, script), 0);
	trk__helper_process_hold(true);
	while (trk__helper_process_ended(&other, &status) == 0)
		nap();
	trk__helper_process_hold(false);
	while (waitpid(-1, &status, 0) > 0)
		;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	(void) close(tool.fd);
	(void) close(other.fd);
}

static void a_file_that_is_no_program_is_refused(void **state)
{
	char name[] = "x", *argv[] = {name, NULL}, *envp[] = {NULL};
	struct trk_helper_process tool;
	uint64_t cpu_ns;

	(void) state;
	SKIP_UNDER_VALGRIND("a child's failed exec does not reach its parent");
	assert_int_equal(trk__helper_process_start(&tool, "/nonexistent/x", argv, envp), -ENOENT);
	assert_int_equal(tool.slot, -1);
	assert_int_equal(trk__helper_process_start(&tool, "/", argv, envp), -EACCES);
	assert_true(trk__helper_process_cpu_ns(&cpu_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_reaps_children_leaves_it_to_its_owner),
		cmocka_unit_test(a_fork_is_left_out_as_a_program_is),
		cmocka_unit_test(another_child_is_none_of_ours),
		cmocka_unit_test(what_it_leaves_behind_is_ended_and_adopted_by_nobody_else),
		cmocka_unit_test(on_hold_all_are_ended_and_none_is_started),
		cmocka_unit_test(a_file_that_is_no_program_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
