#include "track/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/perf.h"

/* Signals that are handled while a job runs, with SIGPWR and others of Linux: signals sent to the
 * tracker are passed on to the job. Terminal stops are in the list so that the tracker stops after
 * the job. */
static const int handled[] = {
	SIGCHLD, SIGTERM,  SIGHUP,  SIGINT,  SIGQUIT,   SIGUSR1, SIGUSR2, SIGALRM,
	SIGCONT, SIGWINCH, SIGTSTP, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,
};

/* Dispositions that may be inherited, and those that the tracker needs. With an ignored SIGCHLD the
 * kernel would reap the job and its result would be lost. SIGPIPE and SIGXFSZ: a closed reader of
 * the summary, or a limit on the size of files, must not kill the tracker while the job runs.
 * SIGTTOU: a job that takes the terminal must not stop the tracker at its next message. */
static const struct {
	int signo;
	void (*disposition)(int);
} adjusted[TRK_JOB_ADJUSTED] = {
	{SIGCHLD, SIG_DFL},
	{SIGPIPE, SIG_IGN},
	{SIGXFSZ, SIG_IGN},
	{SIGTTOU, SIG_IGN},
};

static void adjust_dispositions(struct trk_job *job)
{
	for (size_t i = 0; i < TRK_JOB_ADJUSTED; i++) {
		struct sigaction action = {.sa_handler = adjusted[i].disposition};

		(void) sigaction(adjusted[i].signo, &action, &job->original[i]);
	}
}

static void restore_dispositions(const struct trk_job *job)
{
	for (size_t i = 0; i < TRK_JOB_ADJUSTED; i++)
		(void) sigaction(adjusted[i].signo, &job->original[i], NULL);
}

/* ---- signals ---- */

int trk__job_open_signals(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* Take this signal if it is pending. */
static bool take_pending(int signo)
{
	static const struct timespec now = {0, 0};
	sigset_t set;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	return sigtimedwait(&set, NULL, &now) == signo;
}

/* ---- ties to the parent and to orphans ---- */

pid_t trk__job_thread(void)
{
	return (pid_t) syscall(SYS_gettid);
}

bool trk__job_can_adopt(void)
{
	int old;

	return prctl(PR_GET_CHILD_SUBREAPER, &old, 0, 0, 0) == 0;
}

/* Save the process attributes that exec keeps and fork does not, and become a subreaper if
 * possible. */
static void take_ties(struct trk_job *job)
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

static void unprotect_self(struct trk_job *job)
{
	if (job->oom_adjustment != TRK_JOB_UNPROTECTED)
		(void) write_oom_adjustment(job->oom_adjustment);
	job->oom_adjustment = TRK_JOB_UNPROTECTED;
}

/* ---- start and end ---- */

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

/* ---- the job ---- */

void trk__job_none(void)
{
	(void) signal(SIGXFSZ, SIG_IGN);
}

int trk__job_prepare(struct trk_job *job)
{
	int fd;

	*job = (struct trk_job) TRK_JOB_NONE;
	(void) sigemptyset(&job->handled);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		(void) sigaddset(&job->handled, handled[i]);
	(void) sigaddset(&job->handled, SIGPWR);
	(void) sigaddset(&job->handled, SIGSTKFLT);
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		(void) sigaddset(&job->handled, signo);
	if (sigprocmask(SIG_BLOCK, &job->handled, &job->original_mask) < 0)
		return -errno;
	fd = trk__job_open_signals(&job->handled);
	if (fd < 0)
		return fd;
	job->signal_fd = fd;
	take_ties(job);
	return 0;
}

/* The environment with one more variable. The caller frees the array; the texts are borrowed. */
static char **environment_with(char *assignment)
{
	char **environment = trk__os_environment();
	size_t n = 0, kept = 0, name = (size_t) (strchr(assignment, '=') - assignment) + 1;
	char **env;

	while (environment && environment[n])
		n++;
	env = malloc((n + 2) * sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environment[i], assignment, name) != 0)
			env[kept++] = environment[i];
	env[kept++] = assignment;
	env[kept] = NULL;
	return env;
}

/* Stop and save the interval timers of this process. One that has just expired is a pending signal,
 * which is forwarded. */
static void save_timers(struct trk_job *job)
{
	static const struct itimerval off;

	(void) setitimer(ITIMER_REAL, &off, &job->timer[0]);
	(void) setitimer(ITIMER_VIRTUAL, &off, &job->timer[1]);
	(void) setitimer(ITIMER_PROF, &off, &job->timer[2]);
}

/* Timers that were not set are not touched. */
static void restore_timers(const struct trk_job *job)
{
	(void) setitimer(ITIMER_REAL, &job->timer[0], NULL);
	(void) setitimer(ITIMER_VIRTUAL, &job->timer[1], NULL);
	(void) setitimer(ITIMER_PROF, &job->timer[2], NULL);
}

enum { EXEC_WAIT_MS = 1000 };

/* Close-on-exec pipes between the tracker and the child. */
struct pipes {
	int error[2]; /* the child writes why its exec failed; the exec closes it */
	int clock[2]; /* the child waits until the tracker closes it; -1: it need not wait */
};

static int open_pipes(const struct trk_job *job, struct pipes *ret)
{
	int r;

	*ret = (struct pipes){{-1, -1}, {-1, -1}};
	r = trk__os_pipe(ret->error);
	if (r < 0)
		return r;
	if (job->wants_clocks && trk__os_pipe(ret->clock) < 0)
		ret->clock[0] = ret->clock[1] = -1;
	return 0;
}

static _Noreturn void run_child(struct trk_job *job, char *const argv[], char *const env[],
				pid_t tracker, struct pipes *pipes)
{
	static const int group_refused = 0;
	int error;
	char end;

	/* "0" is the writing process. An error of 0 means that the group was refused. */
	if (job->group_fd >= 0 && write(job->group_fd, "0", 1) != 1)
		(void) trk__write_all(pipes->error[1], &group_refused, sizeof(group_refused));
	restore_dispositions(job);
	(void) prctl(PR_SET_CHILD_SUBREAPER, job->was_subreaper, 0, 0, 0);
	set_parent_death_signal(job, tracker);
	restore_timers(job);
	(void) sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
	if (pipes->clock[0] >= 0) {
		trk__close(pipes->clock[1]); /* else the child would wait if the tracker died */
		while (read(pipes->clock[0], &end, 1) < 0 && errno == EINTR)
			continue;
	}
	(void) execvpe(argv[0], argv, env);
	error = errno;
	(void) trk__write_all(pipes->error[1], &error, sizeof(error));
	_exit(error == ENOENT ? 127 : 126);
}

/* Call while the child waits. Kernels before 5.13 have only the first clock. */
static void open_clocks(struct trk_job *job)
{
	job->perf_fd = trk__perf_open(job->pid, TRK_PERF_DESCENDANTS);
	if (job->perf_fd >= 0)
		job->root_perf_fd = trk__perf_open(job->pid, TRK_PERF_THREADS);
}

/* The exec closes the pipe. While it goes on signals are pending, and limits do not act. */
static int await_exec(struct trk_job *job, int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};
	int error = 0;
	ssize_t n;

	do {
		if (poll(&end, 1, EXEC_WAIT_MS) == 0) {
			job->exec_fd = fd;
			return 0;
		}
		n = read(fd, &error, sizeof(error));
		job->group_refused |= n == sizeof(error) && error == 0;
	} while ((n < 0 && errno == EINTR) || (n == sizeof(error) && error == 0));
	trk__close(fd);
	return n == sizeof(error) ? -error : 0;
}

int trk__job_exec_error(struct trk_job *job)
{
	int error = 0;

	if (job->exec_fd < 0)
		return 0;
	if (read(job->exec_fd, &error, sizeof(error)) != sizeof(error))
		error = 0;
	trk__close(job->exec_fd);
	job->exec_fd = -1;
	return error;
}

/* Returns 0 once the exec has happened or takes long, else a negative errno of fork or of the
 * exec. */
static int start(struct trk_job *job, char *const argv[], char *const env[], bool *ret_exec_failed)
{
	pid_t tracker = getpid();
	struct pipes pipes;
	int error, r = open_pipes(job, &pipes);

	if (r < 0)
		return r;
	job->pid = fork();
	if (job->pid == 0)
		run_child(job, argv, env, tracker, &pipes);
	error = errno;
	trk__close(pipes.error[1]);
	if (job->pid > 0 && pipes.clock[0] >= 0)
		open_clocks(job);
	trk__close(pipes.clock[0]);
	trk__close(pipes.clock[1]);
	if (job->pid < 0) {
		trk__close(pipes.error[0]);
		return -error;
	}
	r = await_exec(job, pipes.error[0]);
	*ret_exec_failed = r < 0;
	return r;
}

int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment, bool *ret_exec_failed)
{
	char **env = environment_with(assignment);
	int r;

	*ret_exec_failed = false;
	if (!env)
		return -ENOMEM;
	adjust_dispositions(job);
	save_timers(job);
	r = start(job, argv, env, ret_exec_failed);
	if (r < 0) { /* the job may still replace this process by exec */
		restore_timers(job);
		restore_dispositions(job);
	}
	free(env);
	return r;
}

/* Signals from the kernel come from the terminal and reach the whole group, with two exceptions: a
 * timer that was set before this program started (perl -e 'alarm 5; exec ...') and expired before
 * the job could get it; and a terminal that closes, which signals the leader of its session
 * only. */
static bool is_for_us_alone(int signo)
{
	return signo == SIGALRM || signo == SIGVTALRM || signo == SIGPROF ||
	       ((signo == SIGHUP || signo == SIGCONT) && getsid(0) == getpid());
}

bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal)
{
	struct signalfd_siginfo info;

	if (read(job->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	*ret_signal = (int) info.ssi_signo;
	if (*ret_signal == SIGCHLD)
		*ret = TRK_JOB_CHILD;
	else if (info.ssi_code == SI_KERNEL && !is_for_us_alone(*ret_signal))
		*ret = TRK_JOB_IGNORE;
	else
		*ret = TRK_JOB_FORWARD;
	return true;
}

void trk__job_stop_self(int signo)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, before;
	sigset_t set, mask;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, signo);
	(void) sigaction(signo, &plain, &before);
	/* To this thread: another one could take it after the disposition is restored. */
	(void) raise(signo);
	(void) sigprocmask(SIG_UNBLOCK, &set, &mask); /* stops here, or above if not blocked */
	(void) sigprocmask(SIG_SETMASK, &mask, NULL);
	(void) sigaction(signo, &before, NULL);
}

/* A shell with job control gives the job a process group of its own, and continues the group that
 * has stopped. Other parents (timeout(1), a program that waits for this one) do not. */
static bool has_job_control(void)
{
	return getpgid(getppid()) != getpgrp();
}

void trk__job_stop_with(struct trk_job *job, int signo)
{
	siginfo_t info = {.si_pid = 0};

	if (!has_job_control())
		return;
	trk__job_stop_self(signo);
	/* The signal that continued the tracker is pending. There is none where the kernel did not
	 * stop it: in an orphaned process group, or as PID 1 of a namespace. */
	if (!take_pending(SIGCONT))
		return;
	/* A shell's fg or bg continues the whole group; kill -CONT of the tracker alone does
	 * not. */
	(void) waitid(P_PID, (id_t) job->pid, &info, WCONTINUED | WNOHANG);
	if (info.si_pid == 0) /* or cannot be checked: a further SIGCONT is harmless */
		(void) kill(job->pid, SIGCONT);
}

/* The kernel drops pending signals of which the disposition becomes "ignore". Reading them one by
 * one takes a minute where the job has sent 100,000. */
void trk__job_drop_signals(struct trk_job *job, bool hold_term)
{
	static const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (signo != SIGCHLD && sigismember(&job->handled, signo) > 0 &&
		    sigaction(signo, &ignore, &before) == 0)
			(void) sigaction(signo, &before, NULL);
	if (hold_term)
		(void) sigaddset(&job->original_mask, SIGTERM);
}

void trk__job_release(struct trk_job *job)
{
	trk__close(job->signal_fd);
	trk__close(job->exec_fd);
	trk__close(job->perf_fd);
	trk__close(job->root_perf_fd);
	job->exec_fd = job->signal_fd = job->perf_fd = job->root_perf_fd = -1;
	unprotect_self(job);
	(void) prctl(PR_SET_CHILD_SUBREAPER, job->was_subreaper, 0, 0, 0);
	(void) sigprocmask(SIG_SETMASK, &job->original_mask, NULL);
}
