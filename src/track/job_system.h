/* Functions of job.c that use calls of Linux alone, implemented in src/track/linux. */
#ifndef TRK_TRACK_JOB_SYSTEM_H
#define TRK_TRACK_JOB_SYSTEM_H

#include "track/job.h"

/* Add the signals that this system alone has. */
void trk__job_add_signals(sigset_t *set);
/* A descriptor that is readable while one of these signals, which are blocked, is pending. Or a
 * negative errno. */
int trk__job_open_signals(const sigset_t *set);
void trk__job_close_signals(int signal_fd);
/* Read one signal. False when none is pending. *ret_from_kernel: from the terminal or a timer, not
 * sent by a process. */
bool trk__job_read_signal(int signal_fd, int *ret_signal, bool *ret_from_kernel);
/* Take this one if it is pending. */
bool trk__job_take_pending(struct trk_job *job, int signo);

/* Save the process attributes that exec keeps and fork does not, and become a subreaper if
 * possible. */
void trk__job_take_ties(struct trk_job *job);
/* In the child, before exec: restore the attributes that the tracker was started with. */
void trk__job_give_ties(const struct trk_job *job, pid_t tracker);
void trk__job_leave_ties(const struct trk_job *job);

/* Undo trk__job_protect_self. */
void trk__job_unprotect_self(struct trk_job *job);

/* execvpe(3). Returns only on failure, with a negative errno. */
int trk__job_exec(char *const argv[], char *const env[]);

#endif
