/* CPU time of the whole machine, by kind and by core.
 *
 * Source: /proc/stat. Times are clock ticks (USER_HZ). `user` and `nice` include guests. */
#ifndef TRK_PROBE_LINUX_CPU_STAT_H
#define TRK_PROBE_LINUX_CPU_STAT_H

#include <stddef.h>
#include <stdint.h>

struct trk_cpu_times {
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
};

struct trk_cpu_stat {
	struct trk_cpu_times all;
	size_t cores;              /* cpuN lines: online cores */
	uint64_t forks;            /* "processes": forks and clones since boot */
	uint64_t context_switches; /* since boot */
};

/* Parse the text of the file; cores[0..max_cores) receives the times of the online cores in the
 * file's order. `cores` may be NULL; ret->cores may exceed max_cores. Columns that an old kernel
 * lacks are 0. Pure. Returns 0, or -EBADMSG and leaves *ret, but not cores[], untouched. */
int trk__cpu_stat_parse(const char *text, struct trk_cpu_stat *ret, struct trk_cpu_times *cores,
			size_t max_cores);

/* Ticks of user, nice, system, irq and softirq; not of steal (other guests) and iowait (idle). */
uint64_t trk__cpu_times_busy(const struct trk_cpu_times *t);

#endif
