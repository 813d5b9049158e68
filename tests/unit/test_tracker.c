/* The public C API: real trackers, in a process and in a thread, of real processes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/columns.h"
#include "resource_tracker.h"

static char why[256];

static struct trk_tracker_options fast(void)
{
	struct trk_tracker_options o = TRK_TRACKER_OPTIONS_INIT;

	o.interval_s = 0.05;
	o.program = TRK_TEST_PROGRAM;
	return o;
}

/* A process that burns so much CPU time, then waits to be killed. */
static pid_t start_burner(long ms)
{
	pid_t pid = fork();
	struct timespec now = {0, 0};

	if (pid != 0)
		return pid;
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* should a test fail */
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms)
		(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	for (;;)
		(void) pause();
}

static void end_burner(pid_t pid)
{
	(void) kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* CPU time that a process has used since its start. */
static double cpu_s_of(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &used), 0);
	return (double) used.tv_sec + (double) used.tv_nsec / 1e9;
}

static double sum_of(struct trk_recording *r, const char *name)
{
	struct trk_column_summary s;

	assert_int_equal(trk_recording_stats(r, (size_t) trk__column_find(name), &s), 0);
	return s.sum;
}

/* Started by a thread of this process. */
static void *start_of_a_thread(void *in_thread)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	char sentence[96];

	o.in_thread = in_thread != NULL;
	o.pid = (pid_t) syscall(SYS_gettid);
	(void) snprintf(sentence, sizeof(sentence),
			"pid %d: a thread of process %d, which is tracked as a whole", (int) o.pid,
			(int) getpid());
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_string_equal(why, sentence);
	trk_tracker_free(t);
	o.pid = getpid();
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	trk_tracker_free(t);
	return NULL;
}

static void a_threads_process_is_tracked_and_why_says_so(void **state)
{
	int in_thread = 1;

	(void) state;
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		assert_int_equal(
			pthread_create(&thread, NULL, start_of_a_thread, i ? &in_thread : NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
}

static void track_burner(struct trk_tracker_options o)
{
	pid_t pid = start_burner(
		3600 * 1000); /* burns until it is killed, however late the tracker starts */
	struct trk_recording *r;
	struct trk_tracker *t;
	struct trk_figure total;
	struct stat st;
	const char *name;
	double at;

	o.pid = pid;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(stat(trk_tracker_recording(t), &st), 0);
	assert_true(trk_tracker_running(t));
	assert_int_equal(trk_tracker_wait(t, 5, 30), 1);
	assert_true(trk_tracker_samples(t) >= 5);
	assert_int_equal(trk_tracker_mark(t, "half"), 0);
	assert_int_equal(trk_tracker_wait(t, 12, 30), 1);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_false(trk_tracker_running(t));
	assert_int_equal(trk_tracker_wait(t, 1000000, 30), 0); /* over: not waited for */
	assert_string_equal(trk_tracker_error(t), "");
	assert_int_equal(trk_tracker_read(t, &r), 0);
	assert_int_equal(trk_recording_samples(r), trk_tracker_samples(t));
	assert_int_equal(trk_recording_total(r, "cpu_s", &total), 0);
	assert_true(total.value > 0 && total.value <= cpu_s_of(pid));
	assert_int_equal(trk_recording_total(r, "nonsense", &total), -ENOENT);
	assert_int_equal(trk_recording_mark(r, 0, &name, &at), 0);
	assert_string_equal(name, "half");
	assert_int_equal(trk_recording_mark(r, 1, &name, &at), -ENOENT);
	assert_true(o.no_system ? isnan(sum_of(r, "system_utime")) : sum_of(r, "system_utime") > 0);
	trk_recording_free(r);
	trk_tracker_free(t);
	end_burner(pid);
}

static void a_process_of_its_own_tracks_another(void **state)
{
	track_burner(fast());
}

static void a_thread_tracks_another(void **state)
{
	struct trk_tracker_options o = fast();

	o.in_thread = 1;
	track_burner(o);
}

static void the_system_can_be_left_out(void **state)
{
	struct trk_tracker_options o = fast();

	o.no_system = 1;
	track_burner(o);
}

/* Its own CPU time must be in the figures, the sampler's must not. */
static void track_self(struct trk_tracker_options o)
{
	struct timespec now, start;
	struct trk_recording *r;
	struct trk_tracker *t;
	double used;

	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(trk_tracker_wait(t, 1, 30), 1);
	(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do
		(void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 200);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_int_equal(trk_tracker_read(t, &r), 0);
	used = sum_of(r, "process_utime") + sum_of(r, "process_stime");
	assert_true(used >= 0.18 && used < 1);
	trk_recording_free(r);
	trk_tracker_free(t);
}

static void tracks_this_program_itself(void **state)
{
	struct trk_tracker_options o = fast();

	track_self(o);
	o.in_thread = 1;
	track_self(o);
}

static void leaves_no_child_and_no_descriptor(void **state)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	int before = dup(0), after;

	(void) close(before);
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	trk_tracker_free(t);
	after = dup(0);
	(void) close(after);
	assert_int_equal(after, before);
}

/* Open descriptors of a process that point to `target`. */
static int holds(pid_t pid, const char *target)
{
	char path[64], file[400], link[256];
	struct dirent *e;
	DIR *dir;
	int n = 0;

	(void) snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		ssize_t len;

		(void) snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		len = readlink(file, link, sizeof(link) - 1);
		if (len < 0)
			continue;
		link[len] = '\0';
		n += strcmp(link, target) == 0;
	}
	if (dir)
		(void) closedir(dir);
	return n;
}

/* The sampler of a recording: the process that has it open and is not us. */
static pid_t sampler_of(const char *recording)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	assert_non_null(dir);
	while (!found && (e = readdir(dir))) {
		pid_t pid = (pid_t) strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && holds(pid, recording))
			found = pid;
	}
	(void) closedir(dir);
	return found;
}

static int await_end(pid_t pid)
{
	struct timespec nap = {0, 10000000};

	for (int i = 0; i < 12000; i++) {
		if (kill(pid, 0) < 0)
			return 1;
		(void) nanosleep(&nap, NULL);
	}
	return 0;
}

static void the_sampler_holds_no_pipe_of_ours_and_ends_with_us(void **state)
{
	int pipe_fd[2], note[2];
	char path[64], target[64], recording[256] = "";
	pid_t child, sampler;
	ssize_t len;

	assert_int_equal(pipe(pipe_fd), 0); /* inheritable */
	assert_int_equal(pipe(note), 0);
	child = fork();
	if (child == 0) { /* a program that is killed while it is tracked */
		struct trk_tracker_options o = fast();
		struct trk_tracker *t;

		if (trk_tracker_start(&o, &t, why, sizeof(why)) < 0)
			_exit(1);
		(void) !write(note[1], trk_tracker_recording(t), strlen(trk_tracker_recording(t)));
		for (;;)
			(void) pause();
	}
	len = read(note[0], recording, sizeof(recording) - 1);
	assert_true(len > 0);
	sampler = sampler_of(recording);
	assert_true(sampler > 0);
	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe_fd[0]);
	len = readlink(path, target, sizeof(target) - 1);
	assert_true(len > 0);
	target[len] = '\0';
	assert_int_equal(holds(getpid(), target), 2);
	assert_int_equal(holds(sampler, target), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(await_end(sampler));
	for (int i = 0; i < 2; i++) {
		(void) close(pipe_fd[i]);
		(void) close(note[i]);
	}
}

static void sampling_ends_with_the_tracked_process(void **state)
{
	struct trk_tracker_options o = fast();
	pid_t pid = start_burner(0);
	struct trk_recording *r;
	struct trk_tracker *t;

	o.pid = pid;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(trk_tracker_wait(t, 2, 30), 1);
	end_burner(pid);
	assert_int_equal(trk_tracker_wait(t, 1000000, 30), 0);
	assert_false(trk_tracker_running(t));
	assert_int_equal(trk_tracker_read(t, &r), 0);
	trk_recording_free(r);
	trk_tracker_free(t);
}

/* Whether the recording of a process that was started with a secret holds the secret. */
static bool keeps_arguments(struct trk_tracker_options o)
{
	pid_t pid = fork();
	struct trk_recording *r;
	struct trk_tracker *t;
	char *summary;
	bool kept;

	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) execlp("sh", "sh", "-c", "while :; do :; done", "hunter2", (char *) NULL);
		_exit(1);
	}
	o.pid = pid;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(trk_tracker_wait(t, 8, 30), 1);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_int_equal(trk_tracker_read(t, &r), 0);
	summary = trk_recording_summary(r);
	assert_non_null(summary);
	kept = strstr(summary, "hunter2") != NULL;
	free(summary);
	trk_recording_free(r);
	trk_tracker_free(t);
	end_burner(pid);
	return kept;
}

static void arguments_are_left_out_by_the_variable_and_not_in_a_thread(void **state)
{
	struct trk_tracker_options o = fast();

	assert_true(keeps_arguments(o));
	assert_int_equal(setenv("TRACKER_REDACT_ARGS", "1", 1), 0);
	assert_false(keeps_arguments(o));
	o.in_thread = 1;
	assert_true(keeps_arguments(o));
	assert_int_equal(unsetenv("TRACKER_REDACT_ARGS"), 0);
}

static void runs_a_command_and_has_its_exit_code(void **state)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
	struct trk_tracker_options o = fast();
	struct trk_recording *r;
	struct trk_tracker *t;
	struct trk_figure cpu;
	int status;

	o.argv = argv;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(trk_tracker_wait_command(t, &status), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(trk_tracker_read(t, &r), 0);
	assert_int_equal(trk_recording_total(r, "cpu_s", &cpu), 0);
	assert_int_equal(cpu.quality, TRK_EXACT);
	trk_recording_free(r);
	trk_tracker_free(t);
}

/* All processes of the command hold the pipe, also those that leave its session. */
static void a_limit_ends_all_processes_of_a_command(void **state)
{
	static char script[] = "(setsid sh -c 'trap \"\" TERM; sleep 100' &) & sleep 100";
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
	char *limits[] = {(char[]){"--timeout"}, (char[]){"1s"}, (char[]){"--grace"},
			  (char[]){"50ms"}, NULL};
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	int ends[2], status, before = dup(STDOUT_FILENO);
	char text[16];
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDOUT_FILENO) >= 0 && close(ends[1]) == 0);
	o.argv = argv;
	o.options = limits;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_true(dup2(before, STDOUT_FILENO) >= 0 && close(before) == 0);
	assert_int_equal(trk_tracker_stop(t), 0);
	assert_int_equal(trk_tracker_wait_command(t, &status), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 124);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	while ((n = read(ends[0], text, sizeof(text))) > 0)
		;
	assert_int_equal(n, 0); /* the end: else it is -1 and EAGAIN */
	assert_int_equal(close(ends[0]), 0);
	trk_tracker_free(t);
}

static void several_trackers_run_at_once_and_keep_their_recordings_apart(void **state)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t[4];

	for (int i = 0; i < 4; i++) {
		o.in_thread = i % 2;
		assert_int_equal(trk_tracker_start(&o, &t[i], why, sizeof(why)), 0);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(trk_tracker_wait(t[i], 3, 30), 1);
	assert_string_not_equal(trk_tracker_recording(t[0]), trk_tracker_recording(t[1]));
	for (int i = 0; i < 4; i++)
		trk_tracker_free(t[i]);
}

static void a_forked_child_stops_nothing(void **state)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	int status;
	pid_t pid;

	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	pid = fork();
	if (pid == 0) {
		trk_tracker_free(t);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(trk_tracker_running(t));
	assert_int_equal(trk_tracker_wait(t, trk_tracker_samples(t) + 3, 30), 1);
	trk_tracker_free(t);
}

static void a_temporary_recording_is_removed_and_a_named_one_kept(void **state)
{
	char dir[] = "/tmp/trk-test-XXXXXX", path[4096], command[128];
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	struct stat st;

	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	(void) snprintf(path, sizeof(path), "%s", trk_tracker_recording(t));
	trk_tracker_free(t);
	assert_int_equal(stat(path, &st), -1);
	assert_non_null(mkdtemp(dir));
	o.dir = dir;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	(void) snprintf(path, sizeof(path), "%s", trk_tracker_recording(t));
	trk_tracker_free(t);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	(void) snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* The summary of what a tracker recorded; the caller frees it. */
static char *summary_of(const char *path)
{
	struct trk_recording *r;
	char *text;

	assert_int_equal(trk_recording_open(path, &r), 0);
	text = trk_recording_summary(r);
	assert_non_null(text);
	trk_recording_free(r);
	return text;
}

static void the_recording_has_the_exit_code_that_was_stated(void **state)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	char *text;

	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), 0);
	assert_int_equal(trk_tracker_stop_as(t, 256), -EINVAL);
	assert_int_equal(trk_tracker_stop_as(t, -1), -EINVAL);
	assert_int_equal(trk_tracker_stop_as(t, 3), 0);
	text = summary_of(trk_tracker_recording(t));
	assert_non_null(strstr(text, "\"verdict\": \"exited\""));
	assert_non_null(strstr(text, "\"code\": 3"));
	free(text);
	trk_tracker_free(t);
}

/* In the child of a fork: tracks itself into `dir`, says where to, and waits to be killed. */
static void track_until_killed(const char *dir, int fd)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t;
	const char *path;

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	o.dir = dir;
	if (trk_tracker_start(&o, &t, NULL, 0) < 0)
		_exit(1);
	path = trk_tracker_recording(t);
	(void) !write(fd, path, strlen(path) + 1);
	for (;;)
		(void) pause();
}

static void a_process_that_was_killed_ended_without_a_word(void **state)
{
	char dir[] = "/tmp/trk-test-XXXXXX", path[512] = "", command[64];
	struct timespec nap = {0, 20000000};
	struct trk_recording *r;
	char *text = NULL;
	int ends[2];
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0)
		track_until_killed(dir, ends[1]);
	(void) close(ends[1]);
	assert_true(read(ends[0], path, sizeof(path)) > 0);
	(void) close(ends[0]);
	end_burner(pid);
	for (int i = 0; i < 12000 && !text; i++) {
		(void) nanosleep(&nap, NULL);
		text = summary_of(path);
		if (strstr(text, "\"verdict\": \"running\"")) {
			free(text);
			text = NULL;
		}
	}
	assert_non_null(text);
	assert_non_null(strstr(text, "\"verdict\": \"vanished\""));
	free(text);
	assert_int_equal(trk_recording_open(path, &r), 0);
	trk_recording_free(r);
	(void) snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void says_why_a_command_does_not_start(void **state)
{
	char none[] = "/none", also[] = "also", *nothing[] = {NULL},
	     *missing[] = {none, also, NULL};
	struct trk_tracker_options o = fast();
	struct trk_tracker *t = NULL;

	o.argv = nothing;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "argv: no command");
	o.argv = missing;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EIO);
	assert_string_equal(why, "/none: the command cannot be started: No such file or directory");
	o.pid = 1;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "pid 1 and a command"));
	assert_null(t);
}

static void says_what_is_wrong(void **state)
{
	struct trk_tracker_options o = fast();
	struct trk_tracker *t = NULL;

	o.pid = INT32_MAX;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -ESRCH);
	assert_string_equal(why, "pid 2147483647: no such process");
	o.in_thread = 1;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -ESRCH);
	assert_string_equal(why, "pid 2147483647: no such process");
	assert_int_equal(trk_tracker_start(NULL, &t, why, sizeof(why)), -EINVAL);
	assert_int_equal(trk_tracker_start(&o, NULL, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "ret: NULL"));
	o = fast();
	o.program = "/nonexistent/resource-tracker";
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/nonexistent/resource-tracker"));
	o = fast();
	o.lines_hz = 20;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	o.in_thread = 1;
	o.lines_hz = 2000;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -TRK_ERR_RANGE);
	assert_string_equal(why, "lines_hz: must be from 0.1 to 1000 a second");
	o = fast();
	o.interval_s = -1;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -TRK_ERR_RANGE);
	o.interval_s = (double) NAN;
	assert_int_equal(trk_tracker_start(&o, &t, NULL, 0), -TRK_ERR_RANGE);
	o = fast();
	o.size = 0;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	o = fast();
	o.no_process = o.no_system = 1;
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	o = fast();
	o.dir = "/proc/nonexistent";
	assert_true(trk_tracker_start(&o, &t, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "/proc/nonexistent: no recording: "));
	o.dir = "";
	assert_int_equal(trk_tracker_start(&o, &t, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "dir"));
	assert_null(t);
	assert_int_equal(trk_mark(NULL, "x"), -EINVAL);
	assert_int_equal(trk_mark("id", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_threads_process_is_tracked_and_why_says_so),
		cmocka_unit_test(leaves_no_child_and_no_descriptor),
		cmocka_unit_test(a_process_of_its_own_tracks_another),
		cmocka_unit_test(a_thread_tracks_another),
		cmocka_unit_test(the_system_can_be_left_out),
		cmocka_unit_test(tracks_this_program_itself),
		cmocka_unit_test(the_sampler_holds_no_pipe_of_ours_and_ends_with_us),
		cmocka_unit_test(sampling_ends_with_the_tracked_process),
		cmocka_unit_test(arguments_are_left_out_by_the_variable_and_not_in_a_thread),
		cmocka_unit_test(runs_a_command_and_has_its_exit_code),
		cmocka_unit_test(a_limit_ends_all_processes_of_a_command),
		cmocka_unit_test(several_trackers_run_at_once_and_keep_their_recordings_apart),
		cmocka_unit_test(a_forked_child_stops_nothing),
		cmocka_unit_test(a_temporary_recording_is_removed_and_a_named_one_kept),
		cmocka_unit_test(the_recording_has_the_exit_code_that_was_stated),
		cmocka_unit_test(a_process_that_was_killed_ended_without_a_word),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(says_why_a_command_does_not_start),
	};

	(void) unsetenv("RESOURCE_TRACKER_RUN");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
