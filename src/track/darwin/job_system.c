/* macOS: signals wake a kernel queue, and handlers, which run only while one is read, say who sent
 * it. There is no subreaper, no parent-death signal, and no oom_score_adj. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "track/job_system.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"

/* ---- signals ---- */

enum { ARRIVALS_MAX = 64, EVENTS = 32 };

struct arrival {
	int signo;
	bool is_from_kernel;
};

/* The signals are blocked except in read_all, so that these entries do not change meanwhile. */
static struct arrival arrival[ARRIVALS_MAX];
static int arrivals;
static sigset_t handled;

static void add_arrival(int signo, bool is_from_kernel)
{
	if (arrivals < ARRIVALS_MAX)
		arrival[arrivals++] = (struct arrival){signo, is_from_kernel};
}

/* The standard streams may be files. */
static bool is_in_foreground(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && tcgetpgrp(fd) == getpgrp();

	trk__close(fd);
	return is;
}

/* For a key or a change of size, which signal the foreground group, the kernel may report the
 * terminal program, which is in another session, as the sender. */
static bool is_of_terminal(int signo, pid_t sender)
{
	if (sender == 0)
		return true;
	if (signo != SIGINT && signo != SIGQUIT && signo != SIGTSTP && signo != SIGINFO &&
	    signo != SIGWINCH)
		return false;
	return getsid(sender) != getsid(0) && is_in_foreground();
}

static void note(int signo, siginfo_t *info, void *context)
{
	int before = errno;

	add_arrival(signo, is_of_terminal(signo, info->si_pid));
	errno = before;
}

void trk__job_add_signals(sigset_t *set)
{
	(void) sigaddset(set, SIGINFO); /* Ctrl-T */
}

/* SIGCHLD is ignored where nothing is done about it, and reported all the same. A signal that this
 * process was started with ignored stays so. */
static int watch(int queue_fd, int signo)
{
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before;
	struct kevent event;

	EV_SET(&event, signo, EVFILT_SIGNAL, EV_ADD | EV_CLEAR, 0, 0, NULL);
	if (kevent(queue_fd, &event, 1, NULL, 0, NULL) < 0)
		return -errno;
	(void) sigfillset(&action.sa_mask);
	if (signo != SIGCHLD && sigaction(signo, NULL, &before) == 0 &&
	    before.sa_handler != SIG_IGN)
		(void) sigaction(signo, &action, NULL);
	return 0;
}

int trk__job_open_signals(const sigset_t *set)
{
	int fd = kqueue(), r = 0;

	if (fd < 0)
		return -errno;
	(void) fcntl(fd, F_SETFD, FD_CLOEXEC);
	handled = *set;
	arrivals = 0;
	for (int signo = 1; signo < NSIG && r == 0; signo++)
		if (sigismember(set, signo) > 0)
			r = watch(fd, signo);
	if (r == 0)
		return fd;
	trk__job_close_signals(fd);
	return r;
}

void trk__job_close_signals(int signal_fd)
{
	struct sigaction now;

	trk__close(signal_fd);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&handled, signo) > 0 && sigaction(signo, NULL, &now) == 0 &&
		    now.sa_flags & SA_SIGINFO && now.sa_sigaction == note)
			(void) signal(signo, SIG_DFL);
}

static void read_all(int signal_fd)
{
	static const struct timespec at_once = {0, 0};
	struct kevent events[EVENTS];
	sigset_t mask;
	int n = kevent(signal_fd, NULL, 0, events, EVENTS, &at_once);

	for (int i = 0; i < n; i++)
		if (events[i].ident == SIGCHLD)
			add_arrival(SIGCHLD, true);
	if (n <= 0)
		return;
	(void) sigprocmask(SIG_UNBLOCK, &handled, &mask); /* the handlers run here */
	(void) sigprocmask(SIG_SETMASK, &mask, NULL);
}

bool trk__job_read_signal(int signal_fd, int *ret_signal, bool *ret_from_kernel)
{
	if (arrivals == 0)
		read_all(signal_fd);
	if (arrivals == 0)
		return false;
	*ret_signal = arrival[0].signo;
	*ret_from_kernel = arrival[0].is_from_kernel;
	arrivals--;
	memmove(arrival, arrival + 1, (size_t) arrivals * sizeof(arrival[0]));
	return true;
}

bool trk__job_take_pending(struct trk_job *job, int signo)
{
	sigset_t set;
	int got;

	if (sigpending(&set) < 0 || sigismember(&set, signo) <= 0)
		return false;
	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	return sigwait(&set, &got) == 0;
}

/* ---- what macOS lacks ---- */

bool trk__job_can_adopt(void)
{
	return false;
}

void trk__job_take_ties(struct trk_job *job)
{
}

void trk__job_give_ties(const struct trk_job *job, pid_t tracker)
{
}

void trk__job_leave_ties(const struct trk_job *job)
{
}

void trk__job_protect_self(struct trk_job *job)
{
}

void trk__job_unprotect_self(struct trk_job *job)
{
}

/* ---- start and end ---- */

/* The program begins suspended, as by SIGSTOP. */
int trk__job_exec(char *const argv[], char *const env[])
{
	posix_spawnattr_t attributes;
	int error = posix_spawnattr_init(&attributes);

	if (error)
		return -error;
	error = posix_spawnattr_setflags(&attributes,
					 POSIX_SPAWN_SETEXEC | POSIX_SPAWN_START_SUSPENDED);
	if (error == 0)
		error = posix_spawnp(NULL, argv[0], NULL, &attributes, argv, env);
	(void) posix_spawnattr_destroy(&attributes);
	return -error;
}

/* One that was killed meanwhile is a zombie until it is reaped, so that its pid is not reused. */
void trk__job_let_run(const struct trk_job *job)
{
	(void) kill(job->pid, SIGCONT);
}

/* Blocks are not counted, and maxrss is resident memory instead of footprint: both are taken from
 * the last look at a process. */
int trk__job_reap(pid_t pid, int *ret_status, struct trk_usage *ret_usage)
{
	struct rusage u;
	pid_t r = wait4(pid, ret_status, WNOHANG, &u);

	if (r < 0)
		return -errno;
	if (r != pid)
		return 0;
	*ret_usage = (struct trk_usage){
		.user_ns = trk__timeval_ns(&u.ru_utime),
		.system_ns = trk__timeval_ns(&u.ru_stime),
		.major_faults = (uint64_t) u.ru_majflt,
		.switches = (uint64_t) (u.ru_nvcsw + u.ru_nivcsw),
	};
	return 1;
}

#endif
