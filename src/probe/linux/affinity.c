#include "probe/linux/affinity.h"

#include <errno.h>

/* Far beyond any kernel's CONFIG_NR_CPUS (8192). */
#define FIRST_CPUS ((size_t) 1024)
#define MAX_CPUS   ((size_t) 1 << 20)

int trk__affinity_count_by(int (*get)(pid_t pid, size_t size, cpu_set_t *set), pid_t pid)
{
	for (size_t cpus = FIRST_CPUS; cpus <= MAX_CPUS; cpus *= 2) {
		size_t size = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = CPU_ALLOC(cpus);
		int count = 0, error = 0;

		if (!set)
			return -ENOMEM;
		CPU_ZERO_S(size, set);
		if (get(pid, size, set) == 0)
			count = CPU_COUNT_S(size, set);
		else
			error = errno;
		CPU_FREE(set);
		if (error == 0)
			return count;
		if (error != EINVAL)
			return -error;
	}
	return -EINVAL;
}

int trk__affinity_count(pid_t pid)
{
	return trk__affinity_count_by(sched_getaffinity, pid);
}
