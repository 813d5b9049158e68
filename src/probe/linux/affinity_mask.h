/* The CPUs of an affinity mask, whatever the size of the machine. */
#ifndef TRK_PROBE_LINUX_AFFINITY_MASK_H
#define TRK_PROBE_LINUX_AFFINITY_MASK_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

/* trk__affinity_count with another system call, so that tests simulate large machines. `get` is
 * sched_getaffinity(2): -1 and EINVAL when the set is smaller than the kernel's. */
int trk__affinity_count_by(int (*get)(pid_t pid, size_t size, cpu_set_t *set), pid_t pid);

#endif
