/* A CPU counter that every process of the job inherits, whatever becomes of its parents.
 *
 * Source: perf_event_open(2), software event task-clock with inherit. Allowed without privilege
 * unless kernel.perf_event_paranoid is 3 or more, or a container's seccomp filter forbids it. It is
 * a few percent low for very short processes and exact where wait4 sees nothing (children of a
 * parent that ignores SIGCHLD): the larger of both is used, beyond a few percent. */
#ifndef TRK_PROBE_PERF_H
#define TRK_PROBE_PERF_H

#include <stdint.h>

/* Open a counter that stands still in this process and starts in each child forked from now on, at
 * its exec. Returns a descriptor (close-on-exec; the caller closes), or a negative errno. */
int trk__perf_open(void);

/* CPU time of all descendants that inherited the counter, ns. 0 or a negative errno. */
int trk__perf_read(int fd, uint64_t *ret_ns);

#endif
