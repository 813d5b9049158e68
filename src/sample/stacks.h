/* Sampling the stacks of a job: which lines its processes are on, and what is charged to each.
 *
 * At each sample the Python stack of every thread is read (probe/stack), with its state and the
 * memory of the process. The CPU time of the process between two samples is charged to the threads
 * that ran at one of them, so that the sum is exact. If no Python thread ran, threads of a library
 * did, and the time is charged to the line of the oldest thread. sample/stack_growth.h says which
 * line growth of memory is charged to.
 *
 * The cost is measured with the CPU clock of the sampling thread; the rate falls while the cost is
 * above the budget. */
#ifndef TRK_SAMPLE_STACKS_H
#define TRK_SAMPLE_STACKS_H

#include <stdatomic.h>

#include "base/env.h"
#include "model/lines.h"

enum { TRK_STACKS_HZ = 20, TRK_STACKS_HZ_MAX = 1000 };

/* What is being read, for an observer of a reading that blocks. */
struct trk_stacks_reading {
	_Atomic uint64_t since_ns; /* monotonic time; 0: nothing is read */
	_Atomic pid_t pid;         /* 0: no process in particular */
};

static inline void trk__stacks_reading_set(struct trk_stacks_reading *r, pid_t pid,
					   uint64_t since_ns)
{
	if (!r)
		return;
	atomic_store(&r->pid, pid);
	atomic_store(&r->since_ns, since_ns);
}

struct trk_stacks_options {
	double hz;       /* 0: the default, TRK_STACKS_HZ, and faster in the first seconds */
	bool base_names; /* keep the last part of a file's path only */
	struct trk_stacks_reading *reading; /* borrowed; may be NULL */
};

struct trk_stacks; /* opaque */

/* env and lines are borrowed until _free. NULL: no memory. */
struct trk_stacks *trk__stacks_new(const struct trk_env *env,
				   const struct trk_stacks_options *options,
				   struct trk_lines *lines, uint64_t start_ns);
void trk__stacks_free(struct trk_stacks *s);

/* Set the current processes of the job. */
void trk__stacks_follow(struct trk_stacks *s, const pid_t *pid, size_t count, uint64_t now_ns);
/* Take a sample if it is due. */
void trk__stacks_tick(struct trk_stacks *s, uint64_t now_ns);
/* When the next sample is due; UINT64_MAX: there is no process to read. */
uint64_t trk__stacks_next_ns(const struct trk_stacks *s);
/* Charge CPU time and growth of memory up to the last sample to lines; call it before _window. With
 * `last`, also growth whose line is not clear yet. */
void trk__stacks_settle(struct trk_stacks *s, bool last);
/* The sums since they were last cleared. A view. */
struct trk_lines_sums *trk__stacks_window(struct trk_stacks *s);
#endif
