/* A part of the tracker that may block for good or crash: it runs in a process of its own.
 *
 * Reading the memory of a process, or a driver's library, can block without a limit (a dead file
 * server, userfaultfd, a memory map that is locked) or crash. Such code runs in a fork of the
 * tracker, and the tracker talks to it over a socket without waiting. In a tracker inside a host
 * program (trk_track_options.in_thread) it runs in a thread, because the host would see another
 * child: a thread may block, too, but its crash ends the host.
 *
 * A worker that blocks in the kernel may survive SIGKILL until the kernel returns. It holds no
 * descriptor of the job or of the terminal, so nobody waits for it. */
#ifndef TRK_PROBE_LINUX_WORKER_H
#define TRK_PROBE_LINUX_WORKER_H

#include "base/env.h"
#include "probe/helper_process.h"

struct trk_worker {
	struct trk_helper_process process; /* slot -1: a thread, or none */
	pid_t pid;                         /* 0: a thread, or none */
	int fd; /* stream socket to the worker, non-blocking; at its end the stream ends. -1: none */
};

#define TRK_WORKER_NONE ((struct trk_worker){.process = {-1, -1}, .fd = -1})

/* What the worker does: it ends when the stream ends. fd is its end of the socket, blocking. */
typedef void trk_worker_fn(int fd, void *data);

struct trk_worker_options {
	const char *name;          /* of the process, at most 15 bytes */
	const struct trk_env *env; /* whose descriptors the worker keeps; borrowed */
	bool as_thread;
	trk_worker_fn *run;
	void *data; /* taken: `release` is called when the tracker or a thread no longer needs it */
	void (*release)(void *data);
};

/* Whether only an ancestor of a process, or its threads, may read its memory, so that a worker that
 * reads the memory of the job must be a thread: kernel.yama.ptrace_scope is 1, and this process has
 * no CAP_SYS_PTRACE. */
bool trk__worker_must_be_thread(const struct trk_env *env);

/* 0 or a negative errno; *ret is TRK_WORKER_NONE then. */
int trk__worker_start(struct trk_worker *ret, const struct trk_worker_options *options);
/* True if it has ended, as after a crash. Its socket is then closed; *w is TRK_WORKER_NONE. */
bool trk__worker_has_ended(struct trk_worker *w);
/* True if the process computes or waits for a CPU; false if it waits in the kernel, or is unknown. */
bool trk__worker_runs(const struct trk_worker *w, const struct trk_env *env);
/* Kill the process, or close the stream to the thread. Does not wait. *w is TRK_WORKER_NONE. */
void trk__worker_end(struct trk_worker *w);

/* Number of workers that are threads, which may be inside a driver. If there are any, end the program
 * with _exit(2): the driver's own clean-up might wait for them. */
int trk__worker_threads(void);

/* For the worker: read exactly len bytes. False at the end of the stream. */
bool trk__worker_receive(int fd, void *data, size_t len);
/* For the worker: write all. False if the tracker has gone. */
bool trk__worker_send(int fd, const void *data, size_t len);

#endif
