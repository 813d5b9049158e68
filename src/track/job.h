/* Starting the job, and forwarding signals and the exit status between it and the tracker's parent.
 *
 * The child inherits everything as it is: standard streams, terminal, process group, session,
 * limits, and the signal mask and dispositions that the tracker was started with. What an exec
 * keeps and a fork does not (interval timers, the subreaper flag, the parent-death signal) is set
 * again in the child; docs/faults.md lists what cannot be. An exec that fails is reported through a
 * close-on-exec pipe. */
#ifndef TRK_TRACK_JOB_H
#define TRK_TRACK_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <sys/types.h>

#include "probe/tree/usage.h"

enum { TRK_JOB_UNPROTECTED = 1 << 16 };
enum { TRK_JOB_ADJUSTED = 4, TRK_JOB_TIMERS = 3 };

struct trk_job {
	pid_t pid;
	sigset_t original_mask;
	sigset_t handled;                            /* the signals with a handler */
	struct sigaction original[TRK_JOB_ADJUSTED]; /* restored in the job */
	struct itimerval timer[TRK_JOB_TIMERS];      /* interval timers that the job gets */
	int was_subreaper;
	int parent_death_signal; /* as of PR_GET_PDEATHSIG; 0: none */
	/* oom_score_adj of this process before it was lowered; or TRK_JOB_UNPROTECTED. */
	int oom_adjustment;
	int group_fd;       /* cgroup.procs of a control group for the job alone, or -1; borrowed */
	bool group_refused; /* the job could not enter it */
	bool wants_clocks;  /* whether to open the two perf clocks; see probe/perf.h */
	int perf_fd;        /* of the job with all descendants, or -1; owned */
	int root_perf_fd;   /* of its first process alone, or -1; owned */
	/* The exec is going on: the pipe that tells why it fails, if it does; or -1. */
	int exec_fd;
	int signal_fd; /* readable while one of them is pending; they are blocked meanwhile */
};

#define TRK_JOB_NONE                                                                               \
	{                                                                                          \
		.oom_adjustment = TRK_JOB_UNPROTECTED, .group_fd = -1, .signal_fd = -1,            \
		.perf_fd = -1, .root_perf_fd = -1, .exec_fd = -1                                   \
	}

/* The pid of the calling thread, below /proc. */
pid_t trk__job_thread(void);
/* Can the tracker adopt orphans of the job as a subreaper? */
bool trk__job_can_adopt(void);

/* A descriptor that is readable while one of these signals, which are blocked, is pending. Or a
 * negative errno. */
int trk__job_open_signals(const sigset_t *set);

/* Block the signals that the loop handles, and become a subreaper. Call before _spawn or alone
 * (attach). Returns 0 or a negative errno. */
int trk__job_prepare(struct trk_job *job);

/* Start argv[0..] with `assignment` ("NAME=value") added to its environment. Returns 0, or a
 * negative errno: of fork, or of exec (then *ret_exec_failed is set). An exec that takes longer than
 * a second, as of a program on a dead file server, goes on: see _exec_error. After a success
 * SIGPIPE, SIGXFSZ and SIGTTOU are ignored in the tracker until it exits, and SIGCHLD is not; the
 * job has the inherited dispositions. */
int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment,
		   bool *ret_exec_failed);

/* Why the exec of a job that has ended failed after _spawn: errno; 0: it did not. */
int trk__job_exec_error(struct trk_job *job);

/* Lower oom_score_adj of the tracker, so that the kernel kills other processes first and the
 * verdict is not lost: if memory that no process maps (tmpfs, sockets) fills the limit, the tracker
 * may be the largest process. Needs CAP_SYS_RESOURCE, else does nothing. Call after _spawn, as
 * children inherit the value; _release restores it. */
void trk__job_protect_self(struct trk_job *job);

/* Call instead of _spawn where no job is started: ignores SIGXFSZ, so that a file size limit loses
 * rows but does not kill the tracker. */
void trk__job_none(void);

/* What to do with a signal that has arrived. */
enum trk_job_action {
	TRK_JOB_IGNORE,  /* the process group has received it already */
	TRK_JOB_CHILD,   /* SIGCHLD: look at the children */
	TRK_JOB_FORWARD, /* *ret_signal was sent to the tracker: pass it on */
};
/* Read one pending signal. False when there is none. */
bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal);

/* Stop this process by this signal, so that its parent sees the reason. Returns when it is
 * continued. */
void trk__job_stop_self(int signo);
/* The same after the job has stopped by this signal; continues the job afterwards. */
void trk__job_stop_with(struct trk_job *job, int signo);

/* Reap a child that may have ended. Returns 1 with its status, as of waitpid(2), and usage; 0 while
 * it has not ended; or a negative errno: -ECHILD when it is not, or no longer, a child of this
 * process. Uses another wait call where a system call filter refuses one. */
int trk__job_reap(pid_t pid, int *ret_status, struct trk_usage *ret_usage);

/* Drop the signals that arrived after the end of the job. After an out-of-memory kill, a service
 * manager ends the rest of the group by SIGTERM (systemd's OOMPolicy=stop): with `hold_term` that
 * signal stays blocked after _release, so that the tracker can still print the summary. */
void trk__job_drop_signals(struct trk_job *job, bool hold_term);

void trk__job_release(struct trk_job *job);

#endif
