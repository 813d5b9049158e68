/* The soft limit of one process's address space (RLIMIT_AS, ulimit -v): allocations fail beyond it.
 *
 * Source: /proc/PID/limits (Linux 2.6.24+). */
#ifndef TRK_PROBE_LINUX_RLIMITS_H
#define TRK_PROBE_LINUX_RLIMITS_H

#include <stdint.h>
#include <sys/types.h>

/* Parse the text of one limits file; UINT64_MAX: unlimited. Pure. Returns 0, or -EBADMSG and leaves
 * *ret_bytes untouched. */
int trk__rlimits_parse(const char *text, uint64_t *ret_bytes);

/* Read PID/limits below proc_fd (borrowed). 0; -ENOENT or -ESRCH when it is gone. */
int trk__rlimits_read(int proc_fd, pid_t pid, uint64_t *ret_bytes);

#endif
