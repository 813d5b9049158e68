/* What job.c leaves to each system: src/track/linux and src/track/darwin implement it, the build
 * takes one of them. Windows shares nothing with them: src/track/windows/job.c. */
#ifndef TRK_TRACK_JOB_SYSTEM_H
#define TRK_TRACK_JOB_SYSTEM_H

#include "track/job.h"

/* Add the signals that this system alone has. */
void trk__job_add_signals(sigset_t *set);
/* A descriptor that is readable while one of these signals, which are blocked, is pending. Or a
 * negative errno. */
int trk__job_open_signals(const sigset_t *set);
void trk__job_close_signals(int signal_fd);
/* Take one. False when there is none. From the kernel: of the terminal or a timer, not sent by a
 * process. */
bool trk__job_read_signal(int signal_fd, int *ret_signal, bool *ret_from_kernel);
/* Take this one if it is pending. */
bool trk__job_take_pending(struct trk_job *job, int signo);

/* Note what an exec keeps and a fork does not, and have orphans come to this process where that can
 * be done. */
void trk__job_take_ties(struct trk_job *job);
/* In the child of the tracker, before its exec: it gets what the tracker was started with. */
void trk__job_give_ties(const struct trk_job *job, pid_t tracker);
void trk__job_leave_ties(const struct trk_job *job);

/* Undo trk__job_protect_self. */
void trk__job_unprotect_self(struct trk_job *job);

/* execvpe(3). Returns a negative errno, if at all. */
int trk__job_exec(char *const argv[], char *const env[]);

#endif
