/* One task: time on a CPU and time waiting for one.
 *
 * Source: /proc/PID/schedstat, or /proc/PID/task/TID/schedstat (CONFIG_SCHED_INFO). One task only:
 * PID/schedstat is the main thread's, not the process's. */
#ifndef TRK_PROBE_LINUX_PID_SCHEDSTAT_H
#define TRK_PROBE_LINUX_PID_SCHEDSTAT_H

#include <stddef.h>
#include <stdint.h>

struct trk_pid_schedstat {
	uint64_t run_ns;  /* on a CPU */
	uint64_t wait_ns; /* runnable, waiting for a CPU */
	uint64_t slices;
};

/* Parse the text of one schedstat file, `len` bytes and a NUL. Pure. Returns 0, or -EBADMSG and
 * leaves *ret untouched. */
int trk__pid_schedstat_parse(const char *text, size_t len, struct trk_pid_schedstat *ret);

#endif
