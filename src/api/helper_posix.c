/* A helper: the program by posix_spawn(3), or a thread. */
#include "api/helper_system.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "track/track.h"

enum { PATH_SIZE = 4096, STACK_SIZE = 1024 * 1024 };

/* ---- the program ---- */

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
	return r;
}

int trk__helper_spawn(const char *program, char *const words[], int fd, bool detached,
		      pid_t *ret_pid)
{
	int r = spawn(program, words, fd, detached, ret_pid);

	/* It forks into the background at once, so that the caller has no child left. */
	while (r == 0 && detached && waitpid(*ret_pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}

/* ---- the thread ---- */

struct work {
	struct trk_helper_options options; /* its texts are kept below */
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
		.interval_ns = w->options.interval_ns,
		.one_process = w->options.one_process,
		.no_system = w->options.no_system,
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
		(void) trk__control_send(w->fd, "error", text);
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

int trk__helper_thread(struct trk_helper *h, const struct trk_helper_options *o, int fd)
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
