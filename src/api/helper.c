#include "api/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/install_path.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/os.h"
#include "track/track.h"

enum { PATH_SIZE = 4096, WORDS_MAX = 24, STACK_SIZE = 1024 * 1024 };

/* ---- the program ---- */

/* Path of the program. In this order: the caller's, the installed one, one next to the library (as in
 * a Python wheel), one in PATH. */
static const char *program_of(const struct trk_tracker_options *o, char *path)
{
	static const char *const places[] = {"../bin/", "../../bin/", ""};

	if (o->program)
		return o->program;
	if (access(TRK_PROGRAM, X_OK) == 0)
		return TRK_PROGRAM;
	return trk__install_path(places, 3, "resource-tracker", X_OK, path, PATH_SIZE)
		       ? path
		       : "resource-tracker";
}

uint64_t trk__helper_interval_ns(const struct trk_tracker_options *o)
{
	return (uint64_t) (o->interval_s * 1e9 + 0.5);
}

static size_t count_of(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static size_t add_all(const char **word, size_t n, char *const *words)
{
	while (words && *words)
		word[n++] = *words++;
	return n;
}

static size_t add_options(const char **word, size_t n, const struct trk_helper *h,
			  const struct trk_tracker_options *o)
{
	const struct {
		bool is_set;
		const char *option, *value;
	} options[] = {
		{o->job, "--job", o->job},
		{o->no_children, "--no-children", NULL},
		{o->no_system, "--no-system", NULL},
		{!o->argv, "--detach", NULL},
		{!o->argv && h->is_temporary, "--temporary", NULL},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!options[i].is_set)
			continue;
		word[n++] = options[i].option;
		if (options[i].value)
			word[n++] = options[i].value;
	}
	return n;
}

/* The arguments of the program; `text` holds the generated ones. */
static char **words_of(const struct trk_helper *h, const struct trk_tracker_options *o,
		       int control_fd, char text[3][32])
{
	const char *const first[] = {"resource-tracker",
				     "internal",
				     o->argv  ? "run"
				     : o->pid ? "attach"
					      : "system",
				     "--quiet",
				     "--control-fd",
				     text[0],
				     "--interval",
				     text[1],
				     "--recording",
				     o->dir};
	size_t n = sizeof(first) / sizeof(first[0]);
	const char **word =
		calloc(WORDS_MAX + count_of(o->argv) + count_of(o->options), sizeof(*word));

	if (!word)
		return NULL;
	(void) snprintf(text[0], 32, "%d", control_fd);
	(void) snprintf(text[1], 32, "%llums",
			(unsigned long long) (trk__helper_interval_ns(o) / TRK_NS_PER_MS));
	(void) snprintf(text[2], 32, "%d", (int) o->pid);
	memcpy(word, first, sizeof(first));
	n = add_options(word, n, h, o);
	n = add_all(word, n, o->options);
	word[n++] = "--";
	if (o->pid)
		word[n++] = text[2];
	(void) add_all(word, n, o->argv);
	return (char **) (void *) word;
}

/* A command inherits the caller's descriptors. A sampler keeps only the socket, closes the rest,
 * and runs in its own session, which the terminal's Ctrl-C does not reach (glibc before 2.26 lacks
 * the flag: then it applies once the sampler is in the background).
 *
 * `fd` is closed on exec. `copy` is the same socket: dup2() from it clears that flag, which before
 * glibc 2.29 it did not do from a descriptor onto itself. */
static int set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int fd,
		  int copy, bool detached)
{
	sigset_t none, all;
	const short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	int r = posix_spawn_file_actions_adddup2(actions, copy, fd);

	for (int i = 0; i < 3 && r == 0 && detached; i++)
		r = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
	if (r != 0 || !detached)
		return -r;
	(void) sigemptyset(&none);
	(void) sigfillset(&all);
	(void) posix_spawnattr_setsigmask(attributes, &none);
	(void) posix_spawnattr_setsigdefault(attributes, &all);
	r = posix_spawnattr_setflags(attributes, flags | POSIX_SPAWN_SETSID);
	return r == EINVAL ? -posix_spawnattr_setflags(attributes, flags) : -r;
}

/* Start a program, which inherits fd. Detached: in the background, where it inherits nothing else, is
 * no child of this process, and gets no signal of the terminal. Else with all that this process has,
 * as the child *ret. */
static int spawn(const char *program, char *const words[], int fd, bool detached, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	TRK_FD_CLEANUP int copy = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
	int r = copy < 0 ? -errno : -posix_spawn_file_actions_init(&actions);

	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attributes);
	if (r < 0) {
		(void) posix_spawn_file_actions_destroy(&actions);
		return r;
	}
	r = set_up(&actions, &attributes, fd, copy, detached);
	if (r == 0)
		r = -posix_spawnp(ret, program, &actions, &attributes, words,
				  trk__os_environment());
	(void) posix_spawnattr_destroy(&attributes);
	(void) posix_spawn_file_actions_destroy(&actions);
	/* It forks into the background at once, so that the caller has no child left. */
	while (r == 0 && detached && waitpid(*ret, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

static int start_process(struct trk_helper *h, const struct trk_tracker_options *o, int fd,
			 char *error)
{
	char path[PATH_SIZE], text[3][32];
	const char *program = program_of(o, path);
	char **words = words_of(h, o, fd, text);
	pid_t pid = 0;
	int r = words ? spawn(program, words, fd, !o->argv, &pid) : -ENOMEM;

	free(words);
	(void) snprintf(h->program, sizeof(h->program), "%s", program);
	if (r < 0) {
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "%.200s: %s", program,
				trk__strerror(r));
		return r;
	}
	if (o->argv)
		h->job_pid = pid;
	return 0;
}

/* ---- the thread ---- */

struct work {
	struct trk_tracker_options options; /* its texts are kept below */
	char dir[PATH_SIZE], job[256];
	int fd;
	jmp_buf lost;
};

static void leave(void *data)
{
	struct work *w = data;

	longjmp(w->lost, 1);
}

static void *sample(void *data)
{
	struct work *w = data;
	struct trk_track_result *result = calloc(1, sizeof(*result));
	struct trk_track_options options = {
		.pid = w->options.pid,
		.job = w->job,
		.interval_ns = trk__helper_interval_ns(&w->options),
		.one_process = w->options.no_children != 0,
		.no_system = w->options.no_system != 0,
		.pss_share = -1,
		.dir = w->dir,
		.control_fd = w->fd,
		.in_thread = true,
		.on_lost = leave,
		.data = w,
		.lines = w->options.lines_hz != 0,
		.stacks.hz = w->options.lines_hz > 0 ? w->options.lines_hz : 0,
	};
	struct trk_env env;
	int r = result ? trk__env_init(&env) : -ENOMEM;

	if (r == 0) {
		r = trk__track(&env, &options, result);
		trk__record_release(&result->record);
		trk__env_release(&env);
	}
	if (r < 0) {
		char text[96];

		(void) snprintf(text, sizeof(text), "pid %d: %s", (int) w->options.pid,
				r == -ESRCH ? "no such process" : trk__strerror(r));
		(void) trk__control_send(w->fd, r == -ESRCH ? "gone" : "error", text);
	}
	(void) close(w->fd);
	free(result);
	free(w);
	return NULL;
}

/* What the thread holds when its descriptors are lost is not released. */
static void *sample_until_lost(void *data)
{
	struct work *w = data;

	return setjmp(w->lost) ? NULL : sample(w);
}

/* Start the thread h->thread, which samples and exchanges lines over a copy of fd. */
static int start_thread(struct trk_helper *h, const struct trk_tracker_options *o, int fd)
{
	struct work *w = calloc(1, sizeof(*w));
	pthread_attr_t attributes;
	sigset_t all, before;
	int r;

	if (!w)
		return -ENOMEM;
	w->options = *o;
	w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the caller closes its own */
	if (w->fd < 0) {
		r = -errno;
		free(w);
		return r;
	}
	(void) snprintf(w->dir, sizeof(w->dir), "%s", o->dir);
	(void) snprintf(w->job, sizeof(w->job), "%s", o->job ? o->job : "");
	/* Signals of the program are handled by its own threads. */
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_attr_init(&attributes);
	if (r == 0) {
		/* The default is the limit of the program's stack, which may be small. */
		(void) pthread_attr_setstacksize(&attributes, STACK_SIZE);
		r = -pthread_create(&h->thread, &attributes, sample_until_lost, w);
		(void) pthread_attr_destroy(&attributes);
	}
	(void) pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0) {
		(void) close(w->fd);
		free(w);
		return r;
	}
	h->threaded = true;
	return 0;
}

/* ---- life ---- */

int trk__helper_start(struct trk_helper *h, const struct trk_tracker_options *o, bool is_temporary,
		      char error[TRK_HELPER_TEXT_SIZE])
{
	int pair[2], r = trk__os_socket_pair(pair);

	*h = (struct trk_helper){.control = {.fd = -1}, .is_temporary = is_temporary};
	if (r < 0) {
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "socket: %s", trk__strerror(r));
		return r;
	}
	if (o->in_thread) {
		r = start_thread(h, o, pair[1]);
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "thread: %s", trk__strerror(r));
	} else {
		r = start_process(h, o, pair[1], error);
	}
	(void) close(pair[1]);
	if (r < 0)
		(void) close(pair[0]);
	else
		h->control.fd = pair[0];
	h->identity = trk__fd_identity(h->control.fd);
	return r;
}

int trk__helper_fd(struct trk_helper *h)
{
	if (h->control.fd >= 0 && !trk__fd_is(h->control.fd, h->identity))
		h->control.fd = -1;
	return h->control.fd;
}

char *trk__helper_alert(struct trk_helper *h)
{
	char *text = h->alerts ? h->alert[0] : NULL;

	if (text)
		memmove(&h->alert[0], &h->alert[1], --h->alerts * sizeof(h->alert[0]));
	return text;
}

/* The next line that is not an alert. */
static int next_line(struct trk_helper *h, char *line)
{
	int r;

	while ((r = trk__control_next(&h->control, line)) > 0 && !strncmp(line, "alert ", 6)) {
		char *text = strdup(line + 6);

		if (h->alerts == TRK_HELPER_ALERTS_MAX)
			free(trk__helper_alert(h));
		if (text)
			h->alert[h->alerts++] = text;
	}
	return r;
}

int trk__helper_line(struct trk_helper *h, int timeout_ms, char line[TRK_CONTROL_LINE])
{
	uint64_t now = trk__clock_monotonic_ns();
	uint64_t end = now + (uint64_t) timeout_ms * TRK_NS_PER_MS;
	const struct timespec nap = {.tv_nsec = TRK_NS_PER_MS};
	int r;

	if (trk__helper_fd(h) < 0)
		return -EPIPE;
	while ((r = next_line(h, line)) == 0 && now < end) {
		struct pollfd fd = {.fd = h->control.fd, .events = POLLIN};

		if (poll(&fd, 1, (int) ((end - now + TRK_NS_PER_MS - 1) / TRK_NS_PER_MS)) < 0)
			(void) nanosleep(&nap, NULL); /* no busy loop if poll fails */
		now = trk__clock_monotonic_ns();
	}
	return r;
}

int trk__helper_stop(struct trk_helper *h, int exit_code, int timeout_ms)
{
	char line[TRK_CONTROL_LINE], code[16] = "";
	int r;

	if (trk__helper_fd(h) < 0)
		return 0;
	if (exit_code >= 0)
		(void) snprintf(code, sizeof(code), "%d", exit_code);
	if (!h->job_pid)
		(void) trk__control_send(h->control.fd, "stop", code);
	while ((r = trk__helper_line(h, timeout_ms, line)) > 0)
		;
	if (r == 0)
		return -ETIMEDOUT;
	if (h->threaded && !h->joined)
		h->joined = pthread_join(h->thread, NULL) == 0;
	return 0;
}

void trk__helper_release(struct trk_helper *h)
{
	trk__close(trk__helper_fd(h));
	h->control.fd = -1;
	while (h->alerts)
		free(h->alert[--h->alerts]);
	if (h->threaded && !h->joined) {
		(void) pthread_detach(h->thread);
		h->joined = true;
	}
}
