/* User and system time as two totals that never decrease and add up to the exact total. */
#ifndef TRK_SAMPLE_CPU_SPLIT_H
#define TRK_SAMPLE_CPU_SPLIT_H

#include <stdint.h>

struct trk_cpu_split {
	uint64_t user, system;
};

/* The kernel counts its split in ticks, which may exceed the exact total: the increase since the
 * last call is cut to it. */
static inline void trk__cpu_split(struct trk_cpu_split *s, uint64_t cpu, uint64_t system)
{
	uint64_t before = s->user + s->system;
	uint64_t more = cpu > before ? cpu - before : 0;
	uint64_t more_system = system > s->system ? system - s->system : 0;

	if (more_system > more)
		more_system = more;
	s->system += more_system;
	s->user += more - more_system;
}

#endif
