/* Programs that the tracker starts for itself, such as nvidia-smi; they are never tracked.
 *
 * The tracker is the job's subreaper and counts every child as the job's. So each program that is
 * started here is registered before any other thread can reap it; code that reaps children first
 * checks whether a child is such a helper. A helper has its own session (signals from the
 * terminal do not reach it, and a process of the job cannot join its process group), its output comes through a pipe, and it inherits no other descriptor.
 * What a forked helper starts in turn has the group of that helper, and ends with it.
 *
 * Thread-safe; at most TRK_HELPER_PROCESSES_MAX concurrent helpers in a process. */
#ifndef TRK_PROBE_HELPER_PROCESS_H
#define TRK_PROBE_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_HELPER_PROCESSES_MAX = 32 };

struct trk_helper_process {
	int slot; /* -1: none */
	int fd;   /* its standard output and error, non-blocking; the caller closes */
};

/* Execute a command by /bin/sh, in the folder that RT_DIR of the environment names. 0 or a negative
 * errno. */
int trk__helper_process_shell(struct trk_helper_process *h, const char *command,
			      char *const envp[]);
/* As read(2) of h->fd: -EAGAIN while there is nothing. */
ssize_t trk__helper_process_read(const struct trk_helper_process *h, void *data, size_t size);
/* Execute the file with these arguments and environment, in directory /. 0 or a negative errno. */
int trk__helper_process_start(struct trk_helper_process *h, const char *file, char *const argv[],
			      char *const envp[]);
/* Register a helper that runs this program: fork(2). 0 in the child, which ends with _exit; in the
 * parent the pid or a negative errno. The child keeps all descriptors; h->fd is -1. The child may
 * start programs if it blocks SIGTERM, but not fork a helper. */
pid_t trk__helper_process_fork(struct trk_helper_process *h);
/* CPU time so far of the programs that the helper has started, which it reports itself. */
void trk__helper_process_started_cpu_ns(const struct trk_helper_process *h, uint64_t cpu_ns);
/* 1 with *ret_status as of waitpid(2) if it has ended, else 0. The call that returns 1 also kills
 * the helper's process group and sets h->slot to -1. */
int trk__helper_process_ended(struct trk_helper_process *h, int *ret_status);
/* Send SIGKILL to its process group, or to the process if it is in the group of a forked helper. */
void trk__helper_process_kill(const struct trk_helper_process *h);
/* Send SIGSTOP to the process, before it is killed. True if it has not been reaped yet. */
bool trk__helper_process_stop(const struct trk_helper_process *h);
/* Kill it without waiting; it is reaped later. h->slot is -1. */
void trk__helper_process_leave(struct trk_helper_process *h);

/* 1 if this child is a helper, or an orphan that a helper started; else 0. -EBUSY if after a short
 * wait a helper is still being started. */
int trk__helper_process_is(pid_t pid);
/* If the ended child `pid` was a helper, reap it and return true. */
bool trk__helper_process_reap(pid_t pid);
/* CPU time of all helpers so far. True when it is final: no helper or descendant of one is
 * alive. */
bool trk__helper_process_cpu_ns(uint64_t *ret_ns);
/* Forks of this process that a limit of its control group has refused: pids.events counts them. */
unsigned int trk__helper_process_refused(void);
/* A fork, or the start of a thread, has failed with this errno. */
void trk__helper_process_note_refusal(int error);
/* Workers use no CPU time unless they are asked: leave this one alive in _hold. */
void trk__helper_process_spare(const struct trk_helper_process *h);
/* true: kill all helpers that are not spared, and start none until `false`, so that their CPU time
 * is final. */
void trk__helper_process_hold(bool hold);

#endif
