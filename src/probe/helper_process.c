#include "probe/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"

/* How long a group is remembered after its leader has ended. The rest of the group is killed with
 * the leader, but may remain as zombies if their new parent does not reap them. */
#define GROUP_NS (2 * TRK_NS_PER_S)
#define STEPS    10
#define NAP_NS   (TRK_NS_PER_MS)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	bool taken, is_spared;
	pid_t pid;   /* 0: none, or reaped */
	pid_t group; /* 0: none is left, so its number may be reused; or that of a forked helper */
	uint64_t started_cpu_ns; /* of what it has started, by its own account */
	uint64_t forget_ns;
	bool ended; /* and its status was not read by the owner yet */
	int status;
} slot[TRK_HELPER_PROCESSES_MAX]; /* under the lock, as is ended_ns */
static uint64_t ended_ns;
static bool is_forked; /* this process is a helper itself, and its programs are in its group */
static atomic_bool on_hold;
static atomic_uint refused; /* forks */
static atomic_bool any;     /* true once one was started */

static bool end_slot(int at);

/* ---- starting ---- */

/* Close all descriptors except 0, 1 and 2, such as the ends of the job's pipes. */
static int close_the_rest(posix_spawn_file_actions_t *actions)
{
	/* Without /proc, nothing can be tracked anyway. */
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(AT_FDCWD, "/proc/self/fd");
	struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = trk__next_entry(dir))) {
		int fd = atoi(entry->d_name), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			r = posix_spawn_file_actions_addclose(actions, fd);
	}
	return r;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int out)
{
	const short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	sigset_t none, plain;
	int r = close_the_rest(actions);

	(void) sigemptyset(&none);
	(void) sigemptyset(&plain);
	(void) sigaddset(&plain, SIGPIPE);
	(void) sigaddset(&plain, SIGXFSZ);
	(void) sigaddset(&plain, SIGCHLD);
	/* The pipe may have the number 0, 1 or 2 itself. */
	r = r ? r : posix_spawn_file_actions_adddup2(actions, out, 1);
	r = r ? r : posix_spawn_file_actions_adddup2(actions, out, 2);
	r = r ? r : posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
	r = r ? r : posix_spawnattr_setsigmask(attributes, &none);
	r = r ? r : posix_spawnattr_setsigdefault(attributes, &plain);
	if (r != 0 || is_forked)
		return r ? r : posix_spawnattr_setflags(attributes, flags);
	r = posix_spawnattr_setflags(attributes, flags | POSIX_SPAWN_SETSID);
	/* glibc before 2.26 has no sessions here: a process group must do. */
	return r == EINVAL ? posix_spawnattr_setflags(attributes, flags | POSIX_SPAWN_SETPGROUP)
			   : r;
}

/* True if the group is empty. It exists as long as one of its processes, zombies included. */
static bool is_quiet(int at)
{
	if (slot[at].group && !slot[at].pid &&
	    ((kill(-slot[at].group, 0) < 0 && errno == ESRCH) ||
	     trk__clock_monotonic_ns() > slot[at].forget_ns))
		slot[at].group = 0;
	return slot[at].group == 0;
}

/* A free slot, or one whose group may be forgotten. */
static int free_slot(void)
{
	int at = -1;

	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++)
		if (!slot[i].taken && (!slot[i].pid || end_slot(i)) && (at < 0 || is_quiet(i)))
			at = i;
	return at;
}

/* Under the lock: a slot for one more process, or a negative errno. */
static int reserve(void)
{
	int at = free_slot();

	return atomic_load(&on_hold) ? -ECANCELED : at < 0 ? -EAGAIN : at;
}

static void take(struct trk_helper_process *h, int at, pid_t pid)
{
	slot[at].taken = true;
	slot[at].pid = pid;
	slot[at].group = is_forked ? 0 : pid;
	slot[at].ended = slot[at].is_spared = false;
	slot[at].started_cpu_ns = 0;
	h->slot = at;
}

/* The lock is held until the pid of the new process is stored. */
static int spawn(struct trk_helper_process *h, const char *file, char *const argv[],
		 char *const envp[], int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = 0;
	int r, at;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		(void) posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	r = prepare(&actions, &attributes, out);
	(void) pthread_mutex_lock(&lock);
	at = reserve();
	r = r ? r : at < 0 ? -at : 0;
	if (r == 0) {
		atomic_store(&any, true);
		r = posix_spawn(&pid, file, &actions, &attributes, argv, envp);
	}
	if (r == 0)
		take(h, at, pid);
	(void) pthread_mutex_unlock(&lock);
	(void) posix_spawnattr_destroy(&attributes);
	(void) posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int trk__helper_process_start(struct trk_helper_process *h, const char *file, char *const argv[],
			      char *const envp[])
{
	int fds[2], r;

	*h = (struct trk_helper_process){.slot = -1, .fd = -1};
	r = trk__os_pipe(fds);
	if (r < 0)
		return r;
	(void) fcntl(fds[0], F_SETFL, O_NONBLOCK);
	r = spawn(h, file, argv, envp, fds[1]);
	(void) close(fds[1]);
	if (r < 0)
		(void) close(fds[0]);
	else
		h->fd = fds[0];
	return r;
}

int trk__helper_process_shell(struct trk_helper_process *h, const char *command, char *const envp[])
{
	char *argv[] = {(char *) (uintptr_t) "sh", (char *) (uintptr_t) "-c", NULL, NULL};
	int r;

	if (asprintf(&argv[2], "cd -- \"$RT_DIR\" || exit\n%s", command) < 0)
		return -ENOMEM;
	r = trk__helper_process_start(h, "/bin/sh", argv, envp);
	free(argv[2]);
	return r;
}

ssize_t trk__helper_process_read(const struct trk_helper_process *h, void *data, size_t size)
{
	ssize_t n = read(h->fd, data, size);

	return n < 0 ? -errno : n;
}

/* The registry of a forked helper: it knows nothing of the tracker's other helpers. The lock, which
 * the fork has copied, belongs to this thread. */
static void begin_own_registry(void)
{
	(void) setsid();
	memset(slot, 0, sizeof(slot));
	ended_ns = 0;
	is_forked = true;
	atomic_store(&any, false);
	(void) pthread_mutex_unlock(&lock);
}

/* A limit of the user's processes (RLIMIT_NPROC) fails with the same error; it binds not root. */
void trk__helper_process_note_refusal(int error)
{
	struct rlimit limit;

	if (error == EAGAIN && (geteuid() == 0 || (getrlimit(RLIMIT_NPROC, &limit) == 0 &&
						   limit.rlim_cur == RLIM_INFINITY)))
		(void) atomic_fetch_add(&refused, 1);
}

unsigned int trk__helper_process_refused(void)
{
	return atomic_load(&refused);
}

pid_t trk__helper_process_fork(struct trk_helper_process *h)
{
	pid_t pid;
	int at;

	*h = (struct trk_helper_process){.slot = -1, .fd = -1};
	(void) pthread_mutex_lock(&lock);
	at = reserve();
	if (at >= 0) {
		atomic_store(&any, true);
		pid = fork();
		if (pid == 0) {
			begin_own_registry();
			return 0;
		}
		if (pid > 0) {
			take(h, at, pid);
		} else {
			pid = -errno;
			trk__helper_process_note_refusal(errno);
		}
	} else {
		pid = at;
	}
	(void) pthread_mutex_unlock(&lock);
	return pid;
}

/* ---- ending ---- */

static uint64_t usage_ns(const struct rusage *u)
{
	return trk__timeval_ns(&u->ru_utime) + trk__timeval_ns(&u->ru_stime);
}

/* The zombie's CPU clock is exact; its rusage includes reaped children. */
static bool reap(pid_t pid, int *ret_status)
{
	uint64_t clock_ns = 0;
	struct rusage usage;

	(void) trk__clock_pid_cpu_ns(pid, &clock_ns);
	if (wait4(pid, ret_status, WNOHANG, &usage) != pid)
		return false;
	ended_ns += usage_ns(&usage) > clock_ns ? usage_ns(&usage) : clock_ns;
	return true;
}

/* In a forked helper the rest of a program's processes have the group of this process, which blocks
 * the signal. */
static void kill_slot(int at)
{
	/* It may not have made its group yet. */
	(void) kill(slot[at].pid, SIGKILL);
	if (slot[at].group)
		(void) kill(-slot[at].group, SIGKILL);
	if (is_forked)
		(void) kill(0, SIGTERM);
}

/* The group is killed while its leader is a zombie, so that its number is not reused. If children
 * are reaped by the kernel (SIGCHLD is ignored) or by another thread, the status is lost. */
static bool end_slot(int at)
{
	siginfo_t info = {.si_pid = 0};
	bool lost;

	lost = waitid(P_PID, (id_t) slot[at].pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
	       errno == ECHILD;
	if (info.si_pid == 0 && !lost)
		return false;
	slot[at].status = 0;
	if (!lost)
		kill_slot(at);
	if (!lost && !reap(slot[at].pid, &slot[at].status))
		return false;
	slot[at].pid = 0;
	slot[at].ended = true;
	slot[at].forget_ns = trk__clock_monotonic_ns() + GROUP_NS;
	return true;
}

int trk__helper_process_ended(struct trk_helper_process *h, int *ret_status)
{
	int ended = 0;

	if (h->slot < 0)
		return 0;
	(void) pthread_mutex_lock(&lock);
	if (slot[h->slot].ended || end_slot(h->slot)) {
		*ret_status = slot[h->slot].status;
		slot[h->slot].ended = slot[h->slot].taken = false;
		h->slot = -1;
		ended = 1;
	}
	(void) pthread_mutex_unlock(&lock);
	return ended;
}

void trk__helper_process_kill(const struct trk_helper_process *h)
{
	if (h->slot < 0)
		return;
	(void) pthread_mutex_lock(&lock);
	if (slot[h->slot].pid)
		kill_slot(h->slot);
	(void) pthread_mutex_unlock(&lock);
}

bool trk__helper_process_stop(const struct trk_helper_process *h)
{
	bool is_there = false;

	if (h->slot < 0)
		return false;
	(void) pthread_mutex_lock(&lock);
	is_there = slot[h->slot].pid && kill(slot[h->slot].pid, SIGSTOP) == 0;
	(void) pthread_mutex_unlock(&lock);
	return is_there;
}

void trk__helper_process_leave(struct trk_helper_process *h)
{
	trk__helper_process_kill(h);
	if (h->slot < 0)
		return;
	(void) pthread_mutex_lock(&lock);
	slot[h->slot].taken = false;
	(void) pthread_mutex_unlock(&lock);
	h->slot = -1;
}

/* ---- for callers that examine children ---- */

/* Take the lock within a short time: starting a program holds it and may hang on a file system. */
static bool lock_for_a_moment(void)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (int i = 0; i < STEPS; i++) {
		if (pthread_mutex_trylock(&lock) == 0)
			return true;
		(void) nanosleep(&nap, NULL);
	}
	return false;
}

/* The slot of this process, or of its group; -1: none. */
static int slot_of(pid_t pid)
{
	pid_t group = getpgid(pid);

	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++) {
		if (slot[i].pid == pid)
			return i;
		if (!is_quiet(i) && slot[i].group == group)
			return i;
	}
	return -1;
}

int trk__helper_process_is(pid_t pid)
{
	int at;

	if (!atomic_load(&any) || pid <= 0)
		return 0;
	if (!lock_for_a_moment())
		return -EBUSY;
	at = slot_of(pid);
	(void) pthread_mutex_unlock(&lock);
	return at >= 0;
}

bool trk__helper_process_reap(pid_t pid)
{
	int at, status;
	bool ours;

	if (!atomic_load(&any) || pid <= 0 || !lock_for_a_moment())
		return false; /* an ended process is not the one being started */
	at = slot_of(pid);
	ours = at >= 0 && (slot[at].pid == pid ? end_slot(at) : reap(pid, &status));
	(void) pthread_mutex_unlock(&lock);
	return ours;
}

bool trk__helper_process_cpu_ns(uint64_t *ret_ns)
{
	bool is_all = true;
	uint64_t one;

	*ret_ns = 0;
	if (!atomic_load(&any))
		return true;
	if (!lock_for_a_moment())
		return false;
	*ret_ns = ended_ns;
	for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++) {
		is_all &= is_quiet(i);
		if (slot[i].pid && trk__clock_pid_cpu_ns(slot[i].pid, &one) == 0)
			*ret_ns += one + slot[i].started_cpu_ns;
	}
	(void) pthread_mutex_unlock(&lock);
	return is_all;
}

void trk__helper_process_started_cpu_ns(const struct trk_helper_process *h, uint64_t cpu_ns)
{
	if (h->slot < 0)
		return;
	(void) pthread_mutex_lock(&lock);
	slot[h->slot].started_cpu_ns = cpu_ns;
	(void) pthread_mutex_unlock(&lock);
}

/* Kill the group, and reap its members that are children of this process: the leader, and orphans
 * where this process is a subreaper. */
static bool end_group(int at)
{
	int status;
	pid_t pid;

	(void) kill(-slot[at].group, SIGKILL);
	if (slot[at].pid)
		(void) end_slot(at);
	while (!slot[at].pid) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_PGID, (id_t) slot[at].group, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    (pid = info.si_pid) == 0 || !reap(pid, &status))
			break;
	}
	return is_quiet(at);
}

void trk__helper_process_spare(const struct trk_helper_process *h)
{
	(void) pthread_mutex_lock(&lock);
	slot[h->slot].is_spared = true;
	(void) pthread_mutex_unlock(&lock);
}

void trk__helper_process_hold(bool hold)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	bool quiet = false;

	if (!atomic_load(&any) || !lock_for_a_moment())
		return;
	atomic_store(&on_hold, hold);
	for (int step = 0; hold && !quiet && step < STEPS; step++) {
		quiet = true;
		for (int i = 0; i < TRK_HELPER_PROCESSES_MAX; i++)
			quiet &= slot[i].is_spared || is_quiet(i) || end_group(i);
		if (!quiet)
			(void) nanosleep(&nap, NULL);
	}
	(void) pthread_mutex_unlock(&lock);
}
