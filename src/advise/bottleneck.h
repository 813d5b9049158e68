/* What a run, or a part of it, spent its time on: one word and one sentence. Pure. */
#ifndef TRK_ADVISE_BOTTLENECK_H
#define TRK_ADVISE_BOTTLENECK_H

#include "advise/cpu.h"
#include "advise/verdict.h"

enum { TRK_BOTTLENECK_SIZE = 160 };

/* Smallest share of the time of each bottleneck, in the order in which they are tested. */
#define TRK_BOTTLENECK_MEMORY   0.10 /* stalled for memory: the most expensive wait */
#define TRK_BOTTLENECK_CPU_WAIT 0.20
#define TRK_BOTTLENECK_RUNNABLE                                                                    \
	0.50 /* on a CPU or waiting for one, where waits overlap with work */
#define TRK_BOTTLENECK_GPU      0.50
#define TRK_BOTTLENECK_GPU_BUSY 0.90 /* busy for so much of the time, whatever the CPUs did */
#define TRK_BOTTLENECK_DISK     0.30
#define TRK_BOTTLENECK_ON_CPU   0.70
#define TRK_BOTTLENECK_FULL     0.90 /* mean share of the cores that are busy: all cores */
#define TRK_BOTTLENECK_ONE_CORE 1.2  /* largest mean of busy cores: one core */

enum trk_bottleneck {
	TRK_BOUND_UNKNOWN,
	TRK_BOUND_MEMORY,
	TRK_BOUND_CPU_WAIT,
	TRK_BOUND_GPU,
	TRK_BOUND_DISK,
	TRK_BOUND_ALL_CORES,
	TRK_BOUND_ONE_CORE,
	TRK_BOUND_CPU,   /* some of the cores */
	TRK_BOUND_OTHER, /* sleep, network, locks, or not measured */
	TRK_BOUND_MIXED,
};

struct trk_bottleneck_facts {
	struct trk_wall_split split;
	double cores_mean;          /* busy; NaN: not known */
	double cores_limit;         /* NaN: not known */
	double gpu_busy;            /* share of the time that its GPUs were busy; NaN: not known */
	struct trk_cpu_queue queue; /* cause TRK_QUEUE_NONE where it is not known */
};

enum trk_bottleneck trk__bottleneck(const struct trk_bottleneck_facts *facts,
				    char ret_sentence[TRK_BOTTLENECK_SIZE]);
/* "disk-bound", "one core" …; "" for unknown and mixed. */
const char *trk__bottleneck_word(enum trk_bottleneck b);

#endif
