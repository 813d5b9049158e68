/* How many cores to request, from how many were busy and for how long.
 *
 * A histogram of busy cores (0.1 core a bin) predicts the run time on k cores: T(k) = sum of
 * seconds * max(1, busy / k). Only the time with more than k busy cores becomes longer. For fewer
 * cores of the same machine the prediction is right within a few per cent for ordinary programs. It
 * does not cover jobs on several machines, nor more cores than the run had: where nearly all were
 * busy, the advice says that more might help.
 *
 * Where threads waited for a CPU, busy cores are less than the run's demand. In an interval with
 * `busy` cores and `queued` waiting threads, busy + queued threads were runnable. With a CPU for
 * each, the interval would have been shorter, with the same work on more cores:
 * trk__busy_add_free() adds it that way. */
#ifndef TRK_ADVISE_CPU_H
#define TRK_ADVISE_CPU_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TRK_BUSY_BINS = 2048,
	TRK_CPU_POINTS_MAX = 12,
	TRK_CPU_REASONS_MAX = 4,
	TRK_CPU_REASON_SIZE = 160
};

#define TRK_BUSY_BIN_CORES 0.1

/* Price of a core and of a GiB for an hour, $; a fit to general, compute and memory servers of one
 * vendor. Only their ratio affects the choice of cores, and how a price divides between idle cores
 * and idle memory. */
#define TRK_PRICE_CORE_HOUR 0.0373
#define TRK_PRICE_GIB_HOUR  0.00433

/* Zero-initialise it. */
struct trk_busy {
	double seconds[TRK_BUSY_BINS];      /* time with [0.1 i, 0.1 (i + 1)) cores busy; the last
					     * bin holds all above */
	double core_seconds[TRK_BUSY_BINS]; /* work done in it */
	double peak_cores;                  /* largest that was added */
};

/* Smallest share of the runnable time that threads waited for a CPU, for the queue to count: behind
 * other work, and behind the job's own threads. docs/advice-replay.md has the sources. */
#define TRK_QUEUE_SHARE     0.10
#define TRK_QUEUE_OWN_SHARE 0.20

/* What the threads waited behind. */
enum trk_queue_cause {
	TRK_QUEUE_NONE,    /* they did not wait, or for too small a share */
	TRK_QUEUE_OTHERS,  /* other work on the machine */
	TRK_QUEUE_OWN,     /* the job's own threads: more than it has CPUs */
	TRK_QUEUE_QUOTA,   /* a CPU quota */
	TRK_QUEUE_UNKNOWN, /* the machine was short of CPU; the job's part is not known */
};

struct trk_cpu_queue {
	enum trk_queue_cause cause;
	/* Of the runnable time; behind other work, of as many threads as the run has cores. NaN:
	 * not known. */
	double share;
};

/* Add one interval. Unknown (NaN), negative or infinite figures are left out. */
void trk__busy_add(struct trk_busy *h, double cores, double seconds);
/* Add one interval in which `queued` (>= 0) threads waited for a CPU, as if none had waited. */
void trk__busy_add_free(struct trk_busy *h, double cores, double queued, double seconds);
/* The share of such an interval that is left when no thread waits: 1 without a queue, 0 if none
 * ran. */
double trk__busy_free_share(double cores, double queued);
/* Add the histogram of another run. */
void trk__busy_merge(struct trk_busy *h, const struct trk_busy *more);
/* Run time that the histogram covers. */
double trk__busy_seconds(const struct trk_busy *h);
/* Predicted run time in s on `cores` cores (> 0; a quota may be a fraction); NaN when empty. */
double trk__busy_run_time(const struct trk_busy *h, double cores);

struct trk_cpu_options {
	double cores_now;    /* cores of the runs; NaN: not known (largest seen is used) */
	double memory_bytes; /* of the request: dear memory favours more cores; NaN: 4 GiB a core */
	double slowdown_max; /* longest run time, as a multiple of the present; NaN: no bound */
	double stated_cores; /* requested, or an enforced limit; NaN: neither. Not lowered if the
				queue is unknown */
	double least_s; /* cores_now or fewer take at least so long: the run, less its queue behind
			 * other work; 0: no bound */
	bool only_mean; /* the histogram is the worst course with the mean of `seen` */
	struct trk_cpu_queue queue;  /* with a cause: the histogram is of trk__busy_add_free … */
	const struct trk_busy *seen; /* … and this one holds what was seen; NULL: the histogram */
};

struct trk_cpu_point {
	double cores;
	double run_time_s; /* NaN: unknown */
	double price;      /* $ of one run by TRK_PRICE_...: for comparison only */
	bool at_most; /* more cores than there were, which all threads had: it takes this long at
			 most */
};

struct trk_cpu_advice {
	double cores;           /* to request */
	double run_time_s;      /* predicted with them, without a queue; NaN: unknown */
	double run_time_now_s;  /* that was seen */
	double mean_cores;      /* busy */
	double peak_cores;      /* busy */
	double saturated_share; /* of the time at least 95 % of cores_now were busy */
	bool saturated;         /* more than 10 % of it: more cores might help */
	struct trk_cpu_queue queue;
	bool only_mean;     /* peak_cores is unknown, and run times are upper bounds */
	size_t point_count; /* 1, 2, 4 ... cores up to the first power of two >= 2 * cores_now */
	struct trk_cpu_point point[TRK_CPU_POINTS_MAX];
	size_t reason_count;
	char reason[TRK_CPU_REASONS_MAX][TRK_CPU_REASON_SIZE];
};

/* The number of cores (a power of two, or cores_now) with the least price of a run. Half as many
 * cores are considered only if less than half of the cores were in use, or if the run time grows by
 * less than 10 %. If it is unknown how many threads waited for a CPU, the result is at least
 * stated_cores; behind a quota, more cores than the run had are considered. options may be NULL.
 * Returns 0, or -TRK_ERR_NODATA when the histogram is empty. */
int trk__cpu_advise(const struct trk_busy *h, const struct trk_cpu_options *options,
		    struct trk_cpu_advice *ret);

/* "other work", "own threads", "quota", "not known"; NULL for TRK_QUEUE_NONE. */
const char *trk__queue_cause_name(enum trk_queue_cause cause);

/* "behind other work" …: what they waited for, to end a sentence. */
const char *trk__queue_behind(enum trk_queue_cause cause);

#endif
