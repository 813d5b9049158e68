/* Starting the job, and standing in for it towards whoever waits for us.
 *
 * The child inherits everything as it is: standard streams, terminal, process group, session,
 * limits, and the signal mask and dispositions that we were started with. An exec that fails is
 * told through a close-on-exec pipe. */
#ifndef TRK_RECORD_JOB_H
#define TRK_RECORD_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { TRK_JOB_ADJUSTED = 3 };

struct trk_job {
	pid_t pid;
	sigset_t original_mask;
	struct sigaction original[TRK_JOB_ADJUSTED]; /* dispositions that are not ours to keep */
	int was_subreaper;
	int signal_fd; /* the signals that we handle, blocked meanwhile */
};

/* Block the signals that the loop handles, and become a subreaper. Call before _spawn or alone
 * (attach). Returns 0 or a negative errno. */
int trk__job_prepare(struct trk_job *job);

/* Start argv[0..] with `assignment` ("NAME=value") added to its environment. Returns 0, or a negative
 * errno: of fork, or of exec (then *ret_exec_failed is set). After a success SIGPIPE and SIGXFSZ are
 * ignored here for good, and SIGCHLD is not; the job has what we were started with. */
int trk__job_spawn(struct trk_job *job, char *const argv[], char *assignment,
		   bool *ret_exec_failed);

/* Instead of _spawn, where no job is started: SIGXFSZ is ignored from now on. A limit on the size of
 * files costs rows, not the tracker. */
void trk__job_none(void);

/* What to do with a signal that has arrived. */
enum trk_job_action {
	TRK_JOB_IGNORE,  /* the group has it already */
	TRK_JOB_CHILD,   /* SIGCHLD: look at the children */
	TRK_JOB_FORWARD, /* *ret_signal was sent to us: pass it on */
};
/* Read one pending signal. Returns false when there is none. */
bool trk__job_next_signal(struct trk_job *job, enum trk_job_action *ret, int *ret_signal);

/* Stop ourselves by this signal, so that our parent sees why, until continued. */
void trk__job_stop_self(int signo);
/* The same as the job has stopped of it; the job is then continued too. */
void trk__job_stop_with(struct trk_job *job, int signo);

/* Reap a child that may have ended. Returns 1 with its status, as of waitpid(2), and usage; 0 while it
 * has not ended; or a negative errno: -ECHILD where it is nobody's child of ours (any more). One way of
 * waiting that is refused (a filter of system calls) does not lose the result. */
int trk__job_reap(pid_t pid, int *ret_status, struct rusage *ret_usage);

void trk__job_release(struct trk_job *job);

#endif
