/* Starting a job on macOS, and which signals are passed on to it. src/track/darwin is compiled for
 * Linux; the kernel queue and the suspended start are implemented with functions of Linux. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "track/job.h"

/* ---- what macOS has ---- */

int kqueue(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The queue holds signals alone. */
int kevent(int queue, const struct kevent *changes, int count, struct kevent *events, int room,
	   const struct timespec *patience)
{
	sigset_t pending;
	int n = 0;

	(void) queue;
	(void) changes;
	(void) count;
	(void) patience;
	(void) sigpending(&pending);
	for (int signo = 1; signo < NSIG && n < room; signo++)
		if (sigismember(&pending, signo) > 0)
			events[n++] = (struct kevent){.ident = (uintptr_t) signo};
	return n;
}

/* A shell that stops itself is a program that starts suspended. */
int stand_in_spawnp(const char *file, const posix_spawn_file_actions_t *actions,
		    const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	static char script[] = "kill -STOP $$; exec \"$0\" \"$@\"";
	char *held[16] = {(char[]){"sh"}, (char[]){"-c"}, script};
	short flags;

	(void) actions;
	if (posix_spawnattr_getflags(attributes, &flags) || !(flags & POSIX_SPAWN_SETEXEC))
		return EINVAL;
	if (flags & POSIX_SPAWN_START_SUSPENDED) {
		for (size_t i = 0; argv[i]; i++)
			held[i + 3] = argv[i];
		(void) execvpe("sh", held, env);
	}
	(void) execvpe(file, argv, env);
	return errno;
}

/* ---- the start ---- */

static void a_job_waits_until_it_may_run(void **state)
{
	char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
	char assignment[] = "RESOURCE_TRACKER_RUN=1";
	siginfo_t info = {.si_pid = 0};
	struct trk_job job;
	bool exec_failed;
	int status;

	(void) state;
	assert_int_equal(trk__job_prepare(&job), 0);
	assert_int_equal(trk__job_spawn(&job, argv, assignment, &exec_failed), 0);
	assert_int_equal(waitid(P_PID, (id_t) job.pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_STOPPED);
	trk__job_let_run(&job);
	assert_int_equal(waitpid(job.pid, &status, 0), job.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	trk__job_release(&job);
}

/* ---- signals ---- */

struct answer {
	enum trk_job_action action;
	int signo;
};

/* A tracker in a session of its own, with a terminal or none; standard input is a file. A signal
 * comes from the caller, as the program that shows the terminal, or from a process of that
 * session. */
static void be_tracker(const char *terminal, int fd, int from_own_session)
{
	struct answer answer = {TRK_JOB_CHILD, 0};
	struct trk_job job;

	(void) setsid();
	(void) signal(SIGINT, SIG_DFL); /* a test in the background ignores both */
	(void) signal(SIGQUIT, SIG_DFL);
	if (terminal[0] && open(terminal, O_RDWR) < 0)
		_exit(1);
	(void) close(STDIN_FILENO);
	if (open("/dev/null", O_RDONLY) != STDIN_FILENO || trk__job_prepare(&job) < 0)
		_exit(2);
	if (write(fd, "r", 1) != 1)
		_exit(3);
	if (from_own_session && fork() == 0) {
		(void) kill(getppid(), from_own_session);
		_exit(0);
	}
	while (!trk__job_next_signal(&job, &answer.action, &answer.signo) ||
	       answer.action == TRK_JOB_CHILD)
		(void) poll(NULL, 0, 1);
	_exit(write(fd, &answer, sizeof(answer)) != sizeof(answer));
}

/* What is done with a signal. */
static enum trk_job_action action_of(int signo, bool has_terminal, bool from_own_session)
{
	int ends[2], master = posix_openpt(O_RDWR | O_NOCTTY);
	struct answer answer = {TRK_JOB_CHILD, 0};
	char ready;
	pid_t pid;

	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0)
		be_tracker(has_terminal ? ptsname(master) : "", ends[1],
			   from_own_session ? signo : 0);
	(void) close(ends[1]);
	assert_int_equal(read(ends[0], &ready, 1), 1);
	if (!from_own_session)
		assert_int_equal(kill(pid, signo), 0);
	assert_int_equal(read(ends[0], &answer, sizeof(answer)), sizeof(answer));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void) close(ends[0]);
	(void) close(master);
	assert_int_equal(answer.signo, signo);
	return answer.action;
}

static void a_key_of_the_terminal_reaches_the_job_once(void **state)
{
	static const int keys[] = {SIGINT, SIGQUIT, SIGTSTP, SIGINFO, SIGWINCH};

	(void) state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(action_of(keys[i], true, false), TRK_JOB_IGNORE);
}

static void what_a_program_sends_is_passed_on(void **state)
{
	(void) state;
	assert_int_equal(action_of(SIGINT, false, false), TRK_JOB_FORWARD); /* no terminal */
	assert_int_equal(action_of(SIGINT, true, true), TRK_JOB_FORWARD);   /* kill of a shell */
	assert_int_equal(action_of(SIGTERM, true, false), TRK_JOB_FORWARD); /* not of a key */
	assert_int_equal(action_of(SIGUSR1, true, false), TRK_JOB_FORWARD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_waits_until_it_may_run),
		cmocka_unit_test(a_key_of_the_terminal_reaches_the_job_once),
		cmocka_unit_test(what_a_program_sends_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
