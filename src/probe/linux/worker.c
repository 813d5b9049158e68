#include "probe/linux/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"
#include "base/os.h"
#include "probe/linux/pid_children.h"
#include "probe/linux/pid_stat.h"

enum { STACK_SIZE = 1024 * 1024, END_POLLS = 10, END_POLL_MS = 3, STARTED_MAX = 64, DEPTH_MAX = 8 };

struct start {
	trk_worker_fn *run;
	void *data; /* owned */
	void (*release)(void *data);
	int fd; /* owned */
};

static atomic_int threads;

/* ---- the worker ---- */

static int compare(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

/* Close all descriptors, such as the ends of the job's pipes, except for those of env and fd. The
 * first three lead to /dev/null: a library may write to them. */
static void keep_only(const struct trk_env *env, int fd)
{
	int keep[] = {env->proc_fd, env->sys_fd, env->cgroup_fd, fd}, null;
	unsigned int first = 3;

	qsort(keep, sizeof(keep) / sizeof(keep[0]), sizeof(keep[0]), compare);
	for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++) {
		if (keep[i] < (int) first)
			continue;
		if (keep[i] > (int) first)
			trk__close_range(first, (unsigned int) keep[i] - 1);
		first = (unsigned int) keep[i] + 1;
	}
	trk__close_range(first, ~0U);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int stream = 0; stream < 3; stream++)
		if (stream != fd && stream != null && (null < 0 || dup2(null, stream) < 0))
			(void) close(stream);
}

static void become(const struct trk_worker_options *o, const struct start *s, pid_t tracker)
{
	static const struct rlimit no_core = {0, 0};
	sigset_t all;

	(void) sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, NULL);
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (getppid() != tracker)
		_exit(0);
	(void) setrlimit(RLIMIT_CORE, &no_core);
	trk__os_name_self(o->name);
	keep_only(o->env, s->fd);
	s->run(s->fd, s->data);
	_exit(0);
}

static void *run_thread(void *data)
{
	struct start s = *(struct start *) data;

	free(data);
	s.run(s.fd, s.data);
	s.release(s.data);
	atomic_fetch_sub(&threads, 1);
	(void) close(s.fd);
	return NULL;
}

bool trk__worker_receive(int fd, void *data, size_t len)
{
	unsigned char *at = data;

	while (len > 0) {
		ssize_t n = recv(fd, at, len, 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t) n;
		}
	}
	return true;
}

bool trk__worker_send(int fd, const void *data, size_t len)
{
	const unsigned char *at = data;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			len -= (size_t) n;
		}
	}
	return true;
}

/* ---- the tracker ---- */

static bool may_trace_all(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE);
}

bool trk__worker_must_be_thread(const struct trk_env *env)
{
	char text[16];

	return trk__read_at(env->proc_fd, "sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0 &&
	       text[0] == '1' && !may_trace_all();
}

/* Start a detached thread. It gets no signals: the tracking thread handles them. */
static int start_thread(const struct start *s)
{
	struct start *own = malloc(sizeof(*own));
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r = own ? pthread_attr_init(&attributes) : ENOMEM;

	if (r != 0) {
		free(own);
		return -r;
	}
	*own = *s;
	(void) pthread_attr_setstacksize(&attributes, STACK_SIZE);
	(void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&threads, 1);
	r = pthread_create(&thread, &attributes, run_thread, own);
	(void) pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void) pthread_attr_destroy(&attributes);
	if (r != 0) {
		atomic_fetch_sub(&threads, 1);
		free(own);
	}
	return -r;
}

int trk__worker_threads(void)
{
	return atomic_load(&threads);
}

static int start_process(struct trk_worker *ret, const struct trk_worker_options *o,
			 const struct start *s)
{
	pid_t tracker = getpid(), pid = trk__helper_process_fork(&ret->process);

	if (pid == 0)
		become(o, s, tracker);
	if (pid < 0)
		return (int) pid;
	ret->pid = pid;
	trk__helper_process_spare(&ret->process);
	s->release(s->data);
	(void) close(s->fd);
	return 0;
}

int trk__worker_start(struct trk_worker *ret, const struct trk_worker_options *o)
{
	struct start s = {.run = o->run, .data = o->data, .release = o->release};
	struct trk_worker w = TRK_WORKER_NONE;
	int ends[2], r = trk__os_socket_pair(ends);

	*ret = w;
	if (r < 0) {
		o->release(o->data);
		return r;
	}
	s.fd = ends[1];
	r = o->as_thread ? start_thread(&s) : start_process(&w, o, &s);
	if (r < 0) {
		(void) close(ends[0]);
		(void) close(ends[1]);
		o->release(o->data);
		return r;
	}
	(void) fcntl(ends[0], F_SETFL, O_NONBLOCK);
	w.fd = ends[0];
	*ret = w;
	return 0;
}

bool trk__worker_runs(const struct trk_worker *w, const struct trk_env *env)
{
	struct trk_pid_stat stat;

	return w->pid && trk__pid_stat_read(env->proc_fd, w->pid, &stat) == 0 && stat.state == 'R';
}

/* Wait until a thread has closed its end of the socket, but not for one that blocks. */
static void await_thread(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};
	char unread[1024];
	ssize_t n = 1;

	(void) shutdown(fd, SHUT_WR);
	for (int i = 0; i < END_POLLS && n != 0; i++) {
		(void) poll(&end, 1, END_POLL_MS);
		while ((n = recv(fd, unread, sizeof(unread), MSG_DONTWAIT)) > 0)
			;
	}
}

/* Kill what a driver's library has started, in whatever session it is. The orphans among these are
 * children of the worker, which is their subreaper; it is stopped, so that it reaps and starts none
 * meanwhile. */
static void kill_started(int proc_fd, pid_t pid, int depth)
{
	pid_t child[STARTED_MAX];
	int n = trk__pid_children_read(proc_fd, pid, child, STARTED_MAX);

	for (int i = 0; i < n && i < STARTED_MAX; i++) {
		if (depth < DEPTH_MAX)
			kill_started(proc_fd, child[i], depth + 1);
		(void) kill(child[i], SIGKILL);
	}
}

void trk__worker_end(struct trk_worker *w)
{
	if (w->fd >= 0 && !w->pid)
		await_thread(w->fd);
	if (trk__helper_process_stop(&w->process)) {
		TRK_FD_CLEANUP int proc_fd = trk__open_dir_at(AT_FDCWD, "/proc");

		kill_started(proc_fd, w->pid, 0);
	}
	trk__helper_process_leave(&w->process);
	trk__close(w->fd);
	*w = TRK_WORKER_NONE;
}

bool trk__worker_has_ended(struct trk_worker *w)
{
	struct pollfd end = {.fd = w->fd};

	if (w->fd < 0)
		return true;
	if (poll(&end, 1, 0) <= 0 || !(end.revents & (POLLHUP | POLLERR)))
		return false;
	trk__worker_end(w);
	return true;
}
