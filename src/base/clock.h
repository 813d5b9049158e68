/* Clocks. Rates and schedules use monotonic time, wall time is a label only.
 *
 * Source: clock_gettime(2); src/base/linux, darwin and windows choose the monotonic clocks. */
#ifndef TRK_BASE_CLOCK_H
#define TRK_BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#define TRK_NS_PER_S  UINT64_C(1000000000)
#define TRK_NS_PER_MS UINT64_C(1000000)

/* Stops while the machine is suspended, so that no burst of missed ticks follows. */
uint64_t trk__clock_monotonic_ns(void);
uint64_t trk__clock_wall_ns(void);
/* Time since boot, suspend included: the clock of field 22 of /proc/PID/stat. */
uint64_t trk__clock_boot_ns(void);
/* CPU time that this thread has used. */
uint64_t trk__clock_thread_cpu_ns(void);
/* CPU time that this process has used. */
uint64_t trk__clock_process_cpu_ns(void);

/* CPU time of all threads of any process, ns, one system call, no privilege needed (on Linux the
 * scheduler clock of the thread group, 2.6.12+). Returns 0, also for a zombie, or -ESRCH when no
 * such process exists. */
int trk__clock_pid_cpu_ns(pid_t pid, uint64_t *ret_ns);

uint64_t trk__timeval_ns(const struct timeval *t);
/* clock_gettime(2) in ns; 0 on failure. */
uint64_t trk__clock_read_ns(clockid_t id);

/* ISO 8601 in UTC: "2026-01-31T23:59:59Z". */
void trk__clock_iso8601(uint64_t wall_ns, char text[32]);

#endif
