/* A program that uses the C API while libc calls fail, for tests/cli/test_faults.py:
 *
 *     api_user process|thread|command PROGRAM DIR
 *
 * With ROBBED set, other code may wait for the command first: its result is lost, and the library
 * reports that. HELPER_PRELOAD is preloaded into the sampling process, not into this one.
 *
 * Exit code: 0 tracked, 3 refused with a sentence on stdout, 4 a broken promise, described on
 * stderr. Output uses system calls directly, because libc calls may fail. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resource_tracker.h"

enum { TRACKED = 0, REFUSED = 3, BROKEN = 4 };

static void put(int fd, const char *text)
{
	(void) syscall(SYS_write, fd, text, strlen(text));
	(void) syscall(SYS_write, fd, "\n", 1);
}

static int broken(const char *promise)
{
	put(STDERR_FILENO, promise);
	return BROKEN;
}

/* Descriptors that are open, the lowest 64 looked at. */
static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += syscall(SYS_fcntl, fd, 1 /* F_GETFD */) >= 0;
	return n;
}

static void preload_into_the_helper(void)
{
	static const char *const names[][2] = {
		{"HELPER_PRELOAD", "LD_PRELOAD"},
		{"HELPER_FAULT", "TRK_FAULT"},
		{"HELPER_FAULT_MARK", "TRK_FAULT_MARK"},
		{"HELPER_FAULT_FORKS", "TRK_FAULT_FORKS"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i][0]))
			(void) setenv(names[i][1], getenv(names[i][0]), 1);
}

/* Everything that a caller does with a tracker; whatever each call answers, it must answer. */
static void use(struct trk_tracker *t)
{
	struct trk_recording *recording;

	(void) trk_tracker_wait(t, 3, 2);
	(void) trk_tracker_mark(t, "half");
	(void) trk_tracker_samples(t);
	(void) trk_tracker_error(t);
	if (trk_tracker_read(t, &recording) == 0) {
		free(trk_recording_summary(recording));
		trk_recording_free(recording);
	}
}

int main(int argc, char **argv)
{
	struct trk_tracker_options options = TRK_TRACKER_OPTIONS_INIT;
	char shell[] = "sh", flag[] = "-c", script[] = "echo out; timeout 5 head -n 1; exit 7";
	char *job[] = {shell, flag, script, NULL};
	struct trk_tracker *t = NULL;
	int before, r, status = 0, line[2];
	char why[256] = "";
	bool command;

	if (argc != 4)
		return broken("usage: api_user process|thread|command PROGRAM DIR");
	command = strcmp(argv[1], "command") == 0;
	/* The command ends after its last sample, or after 5 s if the tracker does not start. */
	if (pipe2(line, O_CLOEXEC) < 0 || dup2(line[0], STDIN_FILENO) < 0)
		return broken("no pipe");
	preload_into_the_helper();
	options.in_thread = strcmp(argv[1], "thread") == 0;
	options.argv = command ? job : NULL;
	options.interval_s = 0.02;
	options.program = argv[2];
	options.dir = argv[3];
	before = descriptors();
	r = trk_tracker_start(&options, &t, why, sizeof(why));
	if (r < 0) {
		if (t || !why[0] || strchr(why, '\n'))
			return broken("refused without a sentence");
		put(STDOUT_FILENO, why);
	} else {
		use(t);
		put(line[1], "");
		r = command ? trk_tracker_wait_command(t, &status) : 0;
		if (command && !(r == -ECHILD && getenv("ROBBED")) &&
		    (r < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 7))
			return broken("the command's result is not its own");
		r = 0;
		if (trk_tracker_stop(t) < 0 && trk_tracker_stop(t) < 0)
			return broken("it does not stop");
		trk_tracker_free(t);
	}
	/* A thread that reads closes its own when it has ended. */
	for (int i = 0; i < 3000 && descriptors() != before; i++)
		(void) usleep(10000);
	if (descriptors() != before)
		return broken("a descriptor was left open");
	if (syscall(SYS_wait4, -1, NULL, WNOHANG, NULL) != -1 || errno != ECHILD)
		return broken("a child was left");
	return r < 0 ? REFUSED : TRACKED;
}
