/* Programs that the tracker starts for itself, which are never tracked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
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
	assert_int_equal(trk__helper_process_ended(&tool, &status), 0);
	while (getsid(pid) != pid) /* the child does it */
		(void) sched_yield();
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

/* The fork starts a program that uses CPU time, and kills it after it has read a byte. */
static void fork_that_starts(int out, int in)
{
	char script[] =
		"i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $$; sleep 1000 & wait";
	struct trk_helper_process tool;
	uint64_t cpu_ns = 0;
	char text[16];
	sigset_t all;
	int status = -1;

	(void) sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, NULL);
	if (start(&tool, script) < 0)
		_exit(1);
	while (read(tool.fd, text, sizeof(text)) <= 0)
		nap();
	(void) trk__helper_process_cpu_ns(&cpu_ns);
	if (dprintf(out, "%ld %llu\n", strtol(text, NULL, 10), (unsigned long long) cpu_ns) < 0 ||
	    read(in, text, 1) != 1)
		_exit(2);
	trk__helper_process_kill(&tool);
	while (!trk__helper_process_ended(&tool, &status))
		nap();
	while (read(tool.fd, text, sizeof(text)) != 0) /* until its child has gone, too */
		nap();
	_exit(WIFSIGNALED(status) ? 7 : 3);
}

static void what_a_fork_starts_is_in_its_group(void **state)
{
	struct trk_helper_process fork;
	unsigned long long used_ns = 0;
	uint64_t before_ns, after_ns;
	int status, out[2], in[2];
	char text[64] = "";
	long program = 0;
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	pid = trk__helper_process_fork(&fork);
	if (pid == 0)
		fork_that_starts(out[1], in[0]);
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	assert_int_equal(sscanf(text, "%ld %llu", &program, &used_ns), 2);
	assert_int_equal(getpgid((pid_t) program), pid);
	assert_int_equal(trk__helper_process_is((pid_t) program), 1);
	assert_true(used_ns > TRK_NS_PER_MS);
	(void) trk__helper_process_cpu_ns(&before_ns);
	trk__helper_process_started_cpu_ns(&fork, used_ns);
	(void) trk__helper_process_cpu_ns(&after_ns);
	assert_true(after_ns >= before_ns + used_ns);
	trk__helper_process_spare(&fork);
	trk__helper_process_hold(true);
	trk__helper_process_hold(false);
	assert_int_equal(trk__helper_process_ended(&fork, &status), 0);
	assert_int_equal(write(in[1], "", 1), 1);
	while (!trk__helper_process_ended(&fork, &status))
		nap();
	assert_true(WIFEXITED(status) &&
		    WEXITSTATUS(status) == 7); /* it has outlived its program */
	while (waitpid(-1, &status, 0) > 0)    /* what the program has left */
		;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
	for (int i = 0; i < 2; i++) {
		(void) close(out[i]);
		(void) close(in[i]);
	}
}

static void what_is_left_is_reaped_later(void **state)
{
	struct trk_helper_process first, other;
	pid_t pid;
	int status;

	pid = trk__helper_process_fork(&first);
	if (pid == 0) {
		(void) pause();
		_exit(0);
	}
	trk__helper_process_leave(&first);
	assert_int_equal(first.slot, -1);
	assert_int_equal(ended_child(), pid);
	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX + 1; i++) { /* a slot is free again */
		pid = trk__helper_process_fork(&other);
		if (pid == 0)
			_exit(0);
		assert_true(pid > 0);
		assert_int_equal(ended_child(), pid);
		trk__helper_process_leave(&other);
	}
	assert_true(trk__helper_process_reap(pid));
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
}

static void another_child_is_none_of_ours(void **state)
{
	char script[] = "exec sleep 1000";
	struct trk_helper_process tool;
	pid_t child = fork();
	int status;

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
	struct trk_helper_process none, tool, other;
	uint64_t cpu_ns;
	int status = 0;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(start(&tool, script), 0);
	trk__helper_process_hold(true);
	assert_int_equal(trk__helper_process_fork(&none), -ECANCELED);
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
		cmocka_unit_test(what_a_fork_starts_is_in_its_group),
		cmocka_unit_test(what_is_left_is_reaped_later),
		cmocka_unit_test(another_child_is_none_of_ours),
		cmocka_unit_test(what_it_leaves_behind_is_ended_and_adopted_by_nobody_else),
		cmocka_unit_test(on_hold_all_are_ended_and_none_is_started),
		cmocka_unit_test(a_file_that_is_no_program_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
