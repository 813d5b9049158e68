/* The soft resource limits of one process (setrlimit(2)).
 *
 * Source: /proc/PID/limits (Linux 2.6.24+). */
#ifndef TRK_PROBE_LINUX_RLIMITS_H
#define TRK_PROBE_LINUX_RLIMITS_H

#include <stdint.h>
#include <sys/types.h>

/* UINT64_MAX: unlimited. */
struct trk_rlimits {
	uint64_t address_space_bytes; /* RLIMIT_AS, ulimit -v: allocations fail beyond it */
	uint64_t open_files;          /* RLIMIT_NOFILE */
	uint64_t processes;           /* RLIMIT_NPROC: threads of the user in all processes */
	uint64_t cpu_seconds;         /* RLIMIT_CPU: SIGXCPU beyond it */
};

/* Parse the text of one limits file. Pure. Returns 0, or -EBADMSG and leaves *ret untouched. */
int trk__rlimits_parse(const char *text, struct trk_rlimits *ret);

/* Read PID/limits below proc_fd (borrowed). 0; -ENOENT or -ESRCH when it is gone. */
int trk__rlimits_read(int proc_fd, pid_t pid, struct trk_rlimits *ret);

#endif
