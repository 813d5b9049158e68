/* Programs that the tracker starts for itself, such as nvidia-smi: never part of what is tracked.
 *
 * The tracker of a job is its subreaper and takes every child for the job's. So each program that
 * is started here is registered before any other thread can reap it; code that reaps children
 * asks first.
 * Such a program has a process group of its own (what the terminal sends does not reach it), its
 * output comes through a pipe, and it inherits no other descriptor.
 *
 * Safe to use from several threads; at most TRK_HELPER_PROCESSES_MAX at a time in a process. */
#ifndef TRK_PROBE_HELPER_PROCESS_H
#define TRK_PROBE_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_HELPER_PROCESSES_MAX = 4 };

struct trk_helper_process {
	int slot; /* -1: none */
	int fd;   /* its standard output and error, not blocking; the caller closes */
};

/* Start the file with these arguments and this environment, in the folder /. 0 or a negative
 * errno. */
int trk__helper_process_start(struct trk_helper_process *h, const char *file, char *const argv[],
			      char *const envp[]);
/* The same without another program: fork(2). 0 in the child, which calls _exit; in the parent the
 * pid or a negative errno. The child keeps all descriptors but h->fd, which is -1. */
pid_t trk__helper_process_fork(struct trk_helper_process *h);
/* Has it ended? 1 with *ret_status as of waitpid(2), else 0. The caller that sees the end ends its
 * process group with it, and h->slot is -1. */
int trk__helper_process_ended(struct trk_helper_process *h, int *ret_status);
/* SIGKILL to its process group. */
void trk__helper_process_kill(const struct trk_helper_process *h);

/* Whether this child is a helper, or was left behind by one: 1, 0, or -EBUSY where a helper is
 * still being started after a short wait. */
int trk__helper_process_is(pid_t pid);
/* The child `pid` has ended. True, after reaping it here, if it was a helper. */
bool trk__helper_process_reap(pid_t pid);
/* CPU time of all of them so far. True when that is all: none is living, and nothing that one of
 * them has started. */
bool trk__helper_process_cpu_ns(uint64_t *ret_ns);
/* End all of them, and start none until it is let go: so that what they have used is known. */
void trk__helper_process_hold(bool hold);
bool trk__helper_process_is_held(void);

#endif
