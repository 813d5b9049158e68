/* Linux: signals by signalfd(2), orphans by the subreaper flag, and the attributes that exec keeps
 * and fork does not. */
#include "track/job_system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* ---- signals ---- */

void trk__job_add_signals(sigset_t *set)
{
	(void) sigaddset(set, SIGPWR);
	(void) sigaddset(set, SIGSTKFLT);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		(void) sigaddset(set, signo);
}

int trk__job_open_signals(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void trk__job_close_signals(int signal_fd)
{
	trk__close(signal_fd);
}

bool trk__job_read_signal(int signal_fd, int *ret_signal, bool *ret_from_kernel)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*ret_signal = (int) info.ssi_signo;
	*ret_from_kernel = info.ssi_code == SI_KERNEL;
	return true;
}

bool trk__job_take_pending(struct trk_job *job, int signo)
{
	static const struct timespec now = {0, 0};
	sigset_t set;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	return sigtimedwait(&set, NULL, &now) == signo;
}

/* ---- ties to the parent and to orphans ---- */

bool trk__job_can_adopt(void)
{
	int old;

	return prctl(PR_GET_CHILD_SUBREAPER, &old, 0, 0, 0) == 0;
}

void trk__job_take_ties(struct trk_job *job)
{
	/* Orphans of the job are reparented to the tracker instead of init: their figures would be
	 * lost. */
	(void) prctl(PR_GET_CHILD_SUBREAPER, &job->was_subreaper, 0, 0, 0);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void) prctl(PR_GET_PDEATHSIG, &job->parent_death_signal, 0, 0, 0);
}

/* A parent-death signal that the tracker forwards needs nothing here. One that it cannot forward
 * (SIGKILL) ends the tracker, and the job with it. */
static void set_parent_death_signal(const struct trk_job *job, pid_t tracker)
{
	int signo = job->parent_death_signal;

	if (signo == 0 || sigismember(&job->handled, signo) > 0)
		return;
	(void) prctl(PR_SET_PDEATHSIG, signo, 0, 0, 0);
	if (getppid() != tracker) /* it died first */
		(void) kill(getpid(), signo);
}

void trk__job_give_ties(const struct trk_job *job, pid_t tracker)
{
	(void) prctl(PR_SET_CHILD_SUBREAPER, job->was_subreaper, 0, 0, 0);
	set_parent_death_signal(job, tracker);
}

void trk__job_leave_ties(const struct trk_job *job)
{
	(void) prctl(PR_SET_CHILD_SUBREAPER, job->was_subreaper, 0, 0, 0);
}

/* ---- when memory runs out ---- */

/* -1000 would exempt it permanently: it could then hang in a full group whose memory no process can
 * free. */
enum { OOM_LAST = -999 };

static bool write_oom_adjustment(int value)
{
	TRK_FD_CLEANUP int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", value);

	return fd >= 0 && write(fd, text, (size_t) len) == len;
}

void trk__job_protect_self(struct trk_job *job)
{
	char text[16];
	long value;

	if (trk__read_at(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) <= 0)
		return;
	value = strtol(text, NULL, 10);
	if (value > OOM_LAST && write_oom_adjustment(OOM_LAST))
		job->oom_adjustment = (int) value;
}

void trk__job_unprotect_self(struct trk_job *job)
{
	if (job->oom_adjustment != TRK_JOB_UNPROTECTED)
		(void) write_oom_adjustment(job->oom_adjustment);
	job->oom_adjustment = TRK_JOB_UNPROTECTED;
}

/* ---- start and end ---- */

int trk__job_exec(char *const argv[], char *const env[])
{
	(void) execvpe(argv[0], argv, env);
	return -errno;
}

#ifndef WCOREFLAG /* musl */
#define WCOREFLAG 0x80
#endif

/* As of waitpid(2). */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

/* The blocks are of 512 bytes, and come from the same counters as PID/io. */
static void convert(const struct rusage *u, struct trk_usage *ret)
{
	*ret = (struct trk_usage){
		.user_ns = trk__timeval_ns(&u->ru_utime),
		.system_ns = trk__timeval_ns(&u->ru_stime),
		.read_bytes = (uint64_t) u->ru_inblock * 512,
		.write_bytes = (uint64_t) u->ru_oublock * 512,
		.major_faults = (uint64_t) u->ru_majflt,
		.minor_faults = (uint64_t) u->ru_minflt,
		.peak_bytes = (uint64_t) u->ru_maxrss * 1024,
		.switches = (uint64_t) (u->ru_nvcsw + u->ru_nivcsw),
	};
}

int trk__job_reap(pid_t pid, int *ret_status, struct trk_usage *ret_usage)
{
	siginfo_t info = {.si_pid = 0};
	struct rusage usage;
	pid_t r = wait4(pid, ret_status, WNOHANG, &usage);

	if (r >= 0) {
		if (r == pid)
			convert(&usage, ret_usage);
		return r == pid;
	}
	/* The kernel's waitid also returns the usage, for which libc's has no parameter. */
	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG, &usage) < 0)
		return -errno;
	if (info.si_pid == 0)
		return 0;
	*ret_status = status_of(&info);
	convert(&usage, ret_usage);
	return 1;
}
