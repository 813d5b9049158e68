/* How many CPUs a process may run on.
 *
 * Source: sched_getaffinity(2): the affinity mask (taskset, Slurm, OpenMP binding) limited to the
 * cpuset of the process's control group and to the online CPUs. */
#ifndef TRK_PROBE_LINUX_AFFINITY_H
#define TRK_PROBE_LINUX_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

/* Number of CPUs that the main thread of PID (0: the calling thread) may run on, on a machine of
 * any size; -ESRCH when the process is gone; -ENOMEM. */
int trk__affinity_count(pid_t pid);
/* As above with another system call, so that tests simulate large machines. `get` is
 * sched_getaffinity(2): -1 and EINVAL when the set is smaller than the kernel's. */
int trk__affinity_count_by(int (*get)(pid_t pid, size_t size, cpu_set_t *set), pid_t pid);

#endif
