/* The public tracker over a helper that writes a recording. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/helper.h"
#include "api/server_needs.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/error.h"
#include "base/os.h"
#include "probe/linux/pid_status.h"
#include "track/marks.h"
#include "recording/tail.h"
#include "sample/stacks.h"
#include "resource_tracker.h"

enum {
	START_TIMEOUT_MS = 60000, /* a busy node takes 10 s */
	STOP_TIMEOUT_MS = 5000,
	PATH_SIZE = 4096,
	JOB_SIZE = 256,
};

struct trk_tracker {
	pthread_mutex_t lock;
	struct trk_helper helper;
	struct trk_tail tail;
	pid_t owner; /* the process that started it, not a forked child */
	bool stopped, command_known;
	int command_status;
	uint64_t interval_ns;
	char path[PATH_SIZE];      /* of the recording */
	char temporary[PATH_SIZE]; /* directory to be removed; "": none */
	char error[TRK_HELPER_TEXT_SIZE];
};

/* ---- options ---- */

/* Check the options; the first violated rule gives the error and its text. */
static int check_options(const struct trk_tracker_options *o, char *why, size_t size)
{
	char interval[64], pid[48], both[64];
	const struct {
		bool holds;
		int code;
		const char *text;
	} wrong[] = {
		{!(o->interval_s >= 0.01 && o->interval_s <= 3600), -TRK_ERR_RANGE, interval},
		{o->pid < 0, -EINVAL, pid},
		{o->dir && !*o->dir, -EINVAL, "dir: an empty name"},
		{o->argv && !o->argv[0], -EINVAL, "argv: no command"},
		{o->argv && o->pid, -EINVAL, both},
		{o->no_process && (o->no_system || o->pid || o->argv), -EINVAL,
		 "no_process: nothing is left to track"},
		{o->in_thread && o->argv, -EINVAL, "argv: a command cannot be run with in_thread"},
		{o->lines_hz != 0 && !o->in_thread, -EINVAL,
		 "lines_hz needs in_thread. Try: --lines in options"},
		{!(o->lines_hz <= 0) && !(o->lines_hz >= 0.1 && o->lines_hz <= TRK_STACKS_HZ_MAX),
		 -TRK_ERR_RANGE, "lines_hz: must be from 0.1 to 1000 a second"},
	};

	(void) snprintf(interval, sizeof(interval), "interval of %g s: must be from 0.01 to 3600 s",
			o->interval_s);
	(void) snprintf(pid, sizeof(pid), "pid %d: not a process", (int) o->pid);
	(void) snprintf(both, sizeof(both), "pid %d and a command are both given. Try: one of them",
			(int) o->pid);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (wrong[i].holds)
			return trk__why(why, size, wrong[i].code, "%s", wrong[i].text);
	return 0;
}

static int read_options(const struct trk_tracker_options *given, struct trk_tracker_options *o,
			char *why, size_t size)
{
	int r = given ? 0 : trk__why(why, size, -EINVAL, "options: NULL");

	memset(o, 0, sizeof(*o));
	r = r ? r
	      : trk__options_copy("options", given,
				  offsetof(struct trk_tracker_options, interval_s), o, sizeof(*o),
				  why, size);
	if (o->interval_s == 0)
		o->interval_s = 1;
	return r ? r : check_options(o, why, size);
}

static int make_temporary(struct trk_tracker *t, char *why, size_t size)
{
	char folder[PATH_SIZE - 32];
	int r = trk__os_temporary_dir(folder, sizeof(folder));

	if (r < 0)
		return trk__why(why, size, r, "the temporary folder: %s", trk__strerror(r));
	(void) snprintf(t->temporary, sizeof(t->temporary), "%s/resource-tracker-XXXXXX", folder);
	r = trk__make_temporary(t->temporary);
	if (r == 0)
		return 0;
	t->temporary[0] = '\0';
	return trk__why(why, size, r, "%s: %s", folder, trk__strerror(r));
}

/* ---- life ---- */

/* Wait until the helper reports the path of its recording, or an error. */
static int await_start(struct trk_tracker *t, char *why, size_t size)
{
	char line[TRK_CONTROL_LINE];
	int r = trk__helper_line(&t->helper, START_TIMEOUT_MS, line), status;

	if (r > 0 && !strncmp(line, "recording ", 10)) {
		(void) snprintf(t->path, sizeof(t->path), "%s", line + 10);
		return 0;
	}
	if (r > 0 && !strncmp(line, "gone ", 5))
		return trk__why(why, size, -ESRCH, "%.500s", line + 5);
	if (r > 0 && !strncmp(line, "error ", 6))
		return trk__why(why, size, -EIO, "%.500s", line + 6);
	if (r == -EPIPE && t->helper.job_pid && waitpid(t->helper.job_pid, &status, 0) > 0)
		return trk__why(why, size, -ENOENT, "the command could not be started (%d)",
				WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return r == 0 ? trk__why(why, size, -ETIMEDOUT, "the sampler does not answer")
		      : trk__why(why, size, -ENOENT, "%.200s: the sampler could not be started",
				 t->helper.program);
}

static void follow_thread(struct trk_tracker_options *o, char *why, size_t size)
{
	struct trk_env env;
	char note[96];

	if (trk__env_init(&env) < 0)
		return;
	if (trk__thread_follow(env.proc_fd, &o->pid, note, sizeof(note)))
		(void) trk__why(why, size, 0, "%s", note);
	trk__env_release(&env);
}

static int start(struct trk_tracker *t, struct trk_tracker_options *o, char *why, size_t size)
{
	char error[TRK_HELPER_TEXT_SIZE];
	int r;

	(void) trk__why(why, size, 0, "%s", "");
	if (o->pid)
		follow_thread(o, why, size);
	if (o->argv || o->no_process)
		o->pid = 0;
	else if (!o->pid)
		o->pid = getpid();
	if (!o->dir)
		o->dir = t->temporary;
	t->interval_ns = trk__helper_interval_ns(o);
	r = trk__helper_start(&t->helper, o, t->temporary[0] != '\0', error);
	if (r < 0)
		return trk__why(why, size, r, "%.500s", error);
	return await_start(t, why, size);
}

int trk_tracker_start(const struct trk_tracker_options *options, struct trk_tracker **ret,
		      char *why, size_t why_size)
{
	struct trk_tracker_options o;
	struct trk_tracker *t;
	int r = read_options(options, &o, why, why_size);

	if (r < 0)
		return r;
	if (!ret)
		return trk__why(why, why_size, -EINVAL, "ret: NULL");
	t = calloc(1, sizeof(*t));
	if (!t)
		return trk__why(why, why_size, -ENOMEM, "out of memory");
	(void) pthread_mutex_init(&t->lock, NULL);
	t->owner = getpid();
	t->helper.control.fd = -1;
	if (!o.dir)
		r = make_temporary(t, why, why_size);
	if (r == 0)
		r = start(t, &o, why, why_size);
	if (r < 0) {
		trk_tracker_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* In the child of a fork the tracker is the parent's. */
static bool is_ours(const struct trk_tracker *t)
{
	return t->owner == getpid();
}

static int reap_command(struct trk_tracker *t)
{
	pid_t r;

	if (t->command_known)
		return 0;
	do
		r = waitpid(t->helper.job_pid, &t->command_status, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	t->command_known = true;
	return 0;
}

static int stop(struct trk_tracker *t, int exit_code)
{
	int r;

	if (t->stopped)
		return 0;
	if (t->helper.job_pid) {
		r = reap_command(t);
		if (r < 0 && r != -ECHILD)
			return r;
	}
	if (trk__helper_fd(&t->helper) < 0)
		(void) snprintf(t->error, sizeof(t->error),
				"this process has closed the descriptors of its tracker");
	r = trk__helper_stop(&t->helper, exit_code, STOP_TIMEOUT_MS);
	t->stopped = r == 0;
	return r;
}

/* Wait for the end of a command, without the lock, so that other threads can use the tracker
 * meanwhile. The next caller that gets the lock reaps it. */
static void await_command(struct trk_tracker *t)
{
	siginfo_t info;
	bool known;

	(void) pthread_mutex_lock(&t->lock);
	known = t->command_known || !t->helper.job_pid;
	(void) pthread_mutex_unlock(&t->lock);
	while (!known && waitid(P_PID, (id_t) t->helper.job_pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		continue;
}

static int stop_as(struct trk_tracker *t, int exit_code)
{
	int r;

	if (!is_ours(t))
		return 0;
	if (exit_code > 255)
		return -EINVAL;
	await_command(t);
	(void) pthread_mutex_lock(&t->lock);
	r = stop(t, exit_code);
	(void) pthread_mutex_unlock(&t->lock);
	return r;
}

int trk_tracker_stop(struct trk_tracker *t)
{
	return stop_as(t, -1);
}

int trk_tracker_stop_as(struct trk_tracker *t, int exit_code)
{
	return exit_code < 0 ? -EINVAL : stop_as(t, exit_code);
}

void trk_tracker_free(struct trk_tracker *t)
{
	if (!t)
		return;
	if (is_ours(t)) {
		(void) stop(t, -1);
		if (t->temporary[0])
			trk__remove_tree(t->temporary);
	}
	trk__helper_release(&t->helper);
	(void) pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- while it runs ---- */

/* Read messages of the helper, and detect its end. */
static void read_messages(struct trk_tracker *t)
{
	char line[TRK_CONTROL_LINE];
	int r = 1;

	while (!t->stopped && r > 0) {
		r = trk__helper_line(&t->helper, 0, line);
		if (r > 0 && !strncmp(line, "error ", 6))
			(void) snprintf(t->error, sizeof(t->error), "%s", line + 6);
		else if (r == -EPIPE && is_ours(t))
			(void) stop(t, -1);
	}
}

int trk_tracker_running(struct trk_tracker *t)
{
	int running;

	(void) pthread_mutex_lock(&t->lock);
	read_messages(t);
	running = !t->stopped;
	(void) pthread_mutex_unlock(&t->lock);
	return running;
}

uint64_t trk_tracker_samples(struct trk_tracker *t)
{
	uint64_t n;

	(void) pthread_mutex_lock(&t->lock);
	(void) trk__tail_update(&t->tail, t->path);
	n = t->tail.rows;
	(void) pthread_mutex_unlock(&t->lock);
	return n;
}

/* Time between two checks while waiting. */
static struct timespec nap_of(const struct trk_tracker *t)
{
	uint64_t ns = t->interval_ns / 20;

	if (ns < 2 * TRK_NS_PER_MS)
		ns = 2 * TRK_NS_PER_MS;
	if (ns > 50 * TRK_NS_PER_MS)
		ns = 50 * TRK_NS_PER_MS;
	return (struct timespec){0, (long) ns};
}

int trk_tracker_wait(struct trk_tracker *t, uint64_t samples, double timeout_s)
{
	uint64_t start = trk__clock_monotonic_ns();
	struct timespec nap = nap_of(t);

	for (;;) {
		/* Read first: rows written just before the end count. */
		int running = trk_tracker_running(t);

		if (trk_tracker_samples(t) >= samples)
			return 1;
		if (!running || (timeout_s >= 0 &&
				 (double) (trk__clock_monotonic_ns() - start) >= timeout_s * 1e9))
			return 0;
		(void) nanosleep(&nap, NULL);
	}
}

/* Take an alert that has arrived; 1, 0: none yet, or -EPIPE: none will come. */
static int next_alert(struct trk_tracker *t, char **ret)
{
	char *text;
	int r;

	(void) pthread_mutex_lock(&t->lock);
	read_messages(t);
	text = trk__helper_alert(&t->helper);
	r = text ? 1 : t->stopped || t->helper.threaded || !is_ours(t) ? -EPIPE : 0;
	(void) pthread_mutex_unlock(&t->lock);
	if (text)
		*ret = text;
	return r;
}

int trk_tracker_alert(struct trk_tracker *t, double timeout_s, char **ret)
{
	uint64_t start = trk__clock_monotonic_ns();
	double left_s = timeout_s;
	int r;

	while ((r = next_alert(t, ret)) == 0 && (timeout_s < 0 || left_s > 0)) {
		struct pollfd fd = {.fd = t->helper.control.fd, .events = POLLIN};
		/* Another thread may take the line that ends this wait. */
		int step_ms = timeout_s < 0 || left_s > 0.5 ? 500 : (int) (left_s * 1e3) + 1;

		(void) poll(&fd, 1, step_ms);
		left_s = timeout_s - (double) (trk__clock_monotonic_ns() - start) / 1e9;
	}
	return r > 0;
}

int trk_tracker_mark(struct trk_tracker *t, const char *name)
{
	int r = -EINVAL;

	(void) pthread_mutex_lock(&t->lock);
	if (t->stopped || !is_ours(t) || trk__helper_fd(&t->helper) < 0)
		r = -EPIPE;
	else if (name && *name)
		r = trk__control_send(t->helper.control.fd, "mark", name);
	(void) pthread_mutex_unlock(&t->lock);
	return r;
}

int trk_tracker_wait_command(struct trk_tracker *t, int *ret_status)
{
	int r = -ECHILD;

	if (!t->helper.job_pid || !is_ours(t))
		return r;
	await_command(t);
	(void) pthread_mutex_lock(&t->lock);
	r = reap_command(t);
	if (r == 0)
		*ret_status = t->command_status;
	(void) pthread_mutex_unlock(&t->lock);
	return r;
}

const char *trk_tracker_recording(const struct trk_tracker *t)
{
	return t->path;
}

const char *trk_tracker_error(struct trk_tracker *t)
{
	(void) pthread_mutex_lock(&t->lock);
	read_messages(t);
	(void) pthread_mutex_unlock(&t->lock);
	return t->error;
}

int trk_tracker_read(struct trk_tracker *t, struct trk_recording **ret)
{
	return trk_recording_open(t->path, ret);
}

int trk_mark(const char *guard, const char *name)
{
	return guard && name ? trk__marks_send(guard, name) : -EINVAL;
}
