/* Whether the job was right-sized, and how its wall time was spent. Pure functions over totals that
 * the caller fills in. The thresholds are the constants below, and docs/advice.md lists them. */
#ifndef TRK_ADVISE_VERDICT_H
#define TRK_ADVISE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/past_run.h"

enum { TRK_SIZING_REASONS_MAX = 8, TRK_SIZING_REASON_SIZE = 160 };

/* --- sizing ----------------------------------------------------------------------------------- */

#define TRK_SIZING_RUN_MIN_S    10.0 /* shorter: not enough data */
#define TRK_SIZING_SAMPLES_MIN  5
#define TRK_SIZING_MEMORY_NEAR  0.95  /* peak / limit from here: near the limit */
#define TRK_SIZING_MEMORY_LOW   0.50  /* below: over-provisioned */
#define TRK_SIZING_MEMORY_SPARE 512.0 /* MiB that may be unused for a job of any size */
#define TRK_SIZING_CPU_LOW      0.50  /* mean busy / limit below this, and a core to spare */
#define TRK_SIZING_THROTTLED    0.10  /* of the run held back by the CPU limit */
#define TRK_SIZING_MEMORY_STALL 0.05  /* of the run stalled for memory */
#define TRK_SIZING_SWAP_MIB     64.0

enum trk_sizing {
	TRK_SIZING_NOT_ENOUGH_DATA,
	TRK_SIZING_RIGHT,
	TRK_SIZING_OVER,
	TRK_SIZING_UNDER,
	TRK_SIZING_UNSTATED, /* nothing was requested or limited, and nothing was short */
};

/* Beside the figures of the run; NaN: not known; such figures are not judged. */
struct trk_sizing_facts {
	double throttled_s;     /* part of the run time lost to CPU limits */
	double memory_stall_s;  /* waited for memory */
	double saturated_share; /* of the time all cores were busy (cpu.h) */
	double cpu_next_cores;  /* that the advice asks for */
};

struct trk_sizing_verdict {
	enum trk_sizing sizing;
	/* The resources that caused the verdict. */
	bool memory_under, memory_over, cpu_under, cpu_over, gpu_over;
	size_t reason_count;
	char reason[TRK_SIZING_REASONS_MAX][TRK_SIZING_REASON_SIZE];
};

/* Judge peak, swap, mean cores, run time, samples and end of a run by its capacities. Being out of
 * memory decides alone; a capacity of the machine is never too large; of a run that ended early
 * unused memory is not judged. Under-provisioned in one resource wins over over-provisioned in the
 * other. */
void trk__sizing_judge(const struct trk_past_run *run, const struct trk_sizing_facts *facts,
		       struct trk_sizing_verdict *ret);
/* Add a reason; ignored when the list is full. */
__attribute__((format(printf, 2, 3))) void trk__sizing_say(struct trk_sizing_verdict *v,
							   const char *format, ...);
/* "right-sized", "over-provisioned", "under-provisioned", "not enough data", "nothing
 * requested". */
const char *trk__sizing_name(enum trk_sizing sizing);

/* --- where the wall time went
 * ------------------------------------------------------------------ */

enum trk_wall {
	TRK_WALL_ON_CPU,       /* at least one task ran */
	TRK_WALL_GPU,          /* a GPU was busy and no task ran */
	TRK_WALL_DISK,         /* waiting for the disk */
	TRK_WALL_MEMORY_STALL, /* waiting for memory: reclaim, swap */
	TRK_WALL_CPU_WAIT,     /* waiting for a CPU, throttling included */
	TRK_WALL_OTHER,        /* the rest: network, sleep, locks; and what is not known */
	TRK_WALL_ITEMS
};

/* Seconds of each item, from 0 to wall_s; NaN: not known. Items may overlap. */
struct trk_wall_facts {
	double wall_s;
	double item_s[TRK_WALL_ITEMS]; /* [TRK_WALL_OTHER] is not read */
};

struct trk_wall_split {
	double share[TRK_WALL_ITEMS]; /* sum to 1; NaN: not known, then part of other */
	bool other_holds_unknown;     /* an item is not known: other is at most that */
	size_t unknown_count;
};

/* Assign each second to one item, in the order above, so that a wait that overlaps with work counts
 * as work. Returns 0, or -EINVAL when wall_s is not a positive number or an item is negative or
 * infinite. */
int trk__wall_divide(const struct trk_wall_facts *facts, struct trk_wall_split *ret);
/* "on CPU", "GPU busy", "waiting for disk", "memory stall", "waiting for a CPU", "other". */
const char *trk__wall_name(enum trk_wall item);

/* --- GPUs ------------------------------------------------------------------------------------
 *
 * Whether a run used its GPUs. docs/gpu.md lists the thresholds. */
#define TRK_GPU_IDLE_SHARE    0.05 /* busy less than this on average: idle */
#define TRK_GPU_LOW_SM        0.30 /* multiprocessors busy less than this … */
#define TRK_GPU_LOW_SM_BUSY   0.50 /* … though a kernel ran at least this much */
#define TRK_GPU_STARVED_SHARE 0.20 /* of the time a GPU waited while a core was busy */

/* NaN: not known; such figures are not judged. */
struct trk_gpu_facts {
	double given;      /* GPUs that were requested, else that the job held */
	bool stated;       /* they were requested: only then can they be too many */
	double used;       /* GPUs that it kept busy at any time */
	double usage_mean; /* GPUs busy */
	double usage_p95;
	double utilization; /* mean of the GPUs that it used, of their time */
	double sm_activity; /* of their multiprocessors */
	double starved_share;
};

/* Adds reasons to the verdict, and makes it over-provisioned if requested GPUs were idle. A verdict
 * of not enough data is not changed. */
void trk__sizing_judge_gpus(const struct trk_gpu_facts *facts, struct trk_sizing_verdict *v);

/* Number of GPUs to request for the next run: as many as were used, also in turns, and at least the
 * most that were busy at once in any run; 0 if none was used; NaN if not known. */
double trk__gpu_advise(const struct trk_gpu_facts *facts, double busiest);

#endif
