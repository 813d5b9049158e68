/* CPU clocks that the processes of the job inherit from their parents.
 *
 * Source: perf_event_open(2), software event task-clock. Allowed without privilege unless
 * kernel.perf_event_paranoid is 3 or more, or a container's seccomp filter forbids it. It includes
 * children that wait4(2) does not report (their parent ignores SIGCHLD), and differs from the
 * kernel's CPU accounting: sample/cpu_clocks.h. */
#ifndef TRK_PROBE_PERF_H
#define TRK_PROBE_PERF_H

#include <stdint.h>
#include <sys/types.h>

enum trk_perf_scope {
	TRK_PERF_DESCENDANTS, /* the process, its threads, and all that they fork */
	TRK_PERF_THREADS,     /* the process and its threads alone (Linux 5.13) */
};

/* Open a clock for process `pid` (0: this one) that starts at its next exec. Two clocks of one
 * process start and stop at the same instants: their difference is 0 as long as it has no
 * descendants. The kernel removes the clocks when the process executes a program in which it may
 * not be traced (set-user-ID). Returns a descriptor (close-on-exec; the caller closes), or a
 * negative errno. */
int trk__perf_open(pid_t pid, enum trk_perf_scope scope);

/* CPU time so far, ns; also after the processes have ended. 0 or a negative errno. */
int trk__perf_read(int fd, uint64_t *ret_ns);

#endif
