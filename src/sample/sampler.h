/* The sampler: from kernel counters to rows.
 *
 * Each tick reads the system's files and walks the process tree, takes the difference to the tick
 * before over the monotonic time between the two readings of the same source, and fills one row.
 * What a source cannot give stays unknown. */
#ifndef TRK_SAMPLE_SAMPLER_H
#define TRK_SAMPLE_SAMPLER_H

#include "probe/gpu/poller.h"
#include "probe/linux/cgroup.h"
#include "probe/tree/tree.h"
#include "sample/cpu_clocks.h"
#include "model/sample.h"

struct trk_sampler; /* opaque */

struct trk_sampler_options {
	const struct trk_tree_options *tree; /* NULL: the system only */
	bool no_system;                      /* the tree only */
	bool group_is_own;                   /* the control group of memory is the job's alone */
	/* Of trk__perf_open, of all descendants and of the root alone; or -1. Borrowed. */
	int perf_fd, root_perf_fd;
	/* The group of CPU time holds the job and the tracker alone; what both had used before
	 * the start. */
	bool cpu_group_is_own;
	uint64_t group_cpu_ns, own_cpu_ns;
	uint64_t min_interval_ns; /* rates over less than this are unknown */
	uint64_t start_ns;        /* monotonic, when the tree was about to be started; 0: now */
	enum trk_gpu_mode gpu;
	const struct trk_gpu_hints *gpu_hints; /* borrowed; NULL: none */
};

/* Where a group of columns comes from, or why it is unknown. */
struct trk_source {
	const char *name; /* "process_memory", "system_disk" … */
	const char *text; /* a view until the next tick */
};

enum { TRK_SOURCES_MAX = 16 };

/* env and both perf_fd are borrowed until _free. NULL with *reterr on failure (-ESRCH: no such
 * process). The first tick's deltas count from here. */
struct trk_sampler *trk__sampler_new(const struct trk_env *env,
				     const struct trk_sampler_options *options, int *reterr);
void trk__sampler_free(struct trk_sampler *s);

/* Take one row; *ret is a view until the next tick. late_ns: how far past its deadline. */
void trk__sampler_tick(struct trk_sampler *s, uint64_t late_ns, const struct trk_sample **ret);

/* Have the next tick leave out nothing that is read less often while nothing seems to move: the
 * last one of a run. */
void trk__sampler_force_full(struct trk_sampler *s);

/* What the ticks have seen of memory that is not in the tree's PSS. NaN where nothing is known. */
struct trk_sampler_memory {
	/* Of the job's own control group: largest page cache; largest difference of the group's
	 * peak and its page cache; largest amount of shared memory that the tree did not map. */
	double group_cache_bytes, group_need_bytes, group_unmapped_bytes;
	/* How far the machine's shared memory (Shmem of /proc/meminfo) rose above what it was at
	 * the start and what the tree mapped of it. */
	double shmem_growth_bytes;
	/* Largest sum of the pages that processes map and of the other charges of the job's own
	 * group (unmapped shared memory, kernel memory), without page cache. */
	double group_held_bytes;
	/* Most that was swapped out of the control group, beyond what was at the start; others'
	 * included where the group is not the job's own. With the kernel's own peak nothing lies
	 * between ticks. */
	double group_swap_bytes;
	bool swap_is_peak;
};
void trk__sampler_memory(const struct trk_sampler *s, struct trk_sampler_memory *ret);

/* The memory that a limit counts, at the last look at the tree: its PSS and the other charges of
 * the job's own group except page cache. Reads the group. There must be a tree. */
uint64_t trk__sampler_held_bytes(struct trk_sampler *s);

/* The tree cannot use more cores than these (> 0): its CPU time above that in one interval was
 * used in another one, and is shown there. Until this is called the machine's cores count. */
void trk__sampler_hold_cores(struct trk_sampler *s, double cores);

/* Others were found in the control group that was taken for the job's: its figures of memory do
 * not count. */
void trk__sampler_share_group(struct trk_sampler *s);

/* The process tree, or NULL. */
struct trk_tree *trk__sampler_tree(struct trk_sampler *s);
/* The control group of the tracked process, where it was at the last tick. */
const struct trk_cgroup *trk__sampler_cgroup(const struct trk_sampler *s);
/* The limits of that group and its ancestors, and how often they have changed since the start. */
const struct trk_cgroup_limits *trk__sampler_limits(const struct trk_sampler *s,
						    unsigned int *ret_changes);
/* Look now whether the process is in another group: the last moment is that between its end and
 * wait4. */
void trk__sampler_look_at_group(struct trk_sampler *s);
/* How often the process has moved to another group since the start. */
unsigned int trk__sampler_group_moves(const struct trk_sampler *s);
/* The GPUs as the last row has them; NULL: none, or nothing known. A view until the next tick. */
const struct trk_gpu_reading *trk__sampler_gpus(const struct trk_sampler *s);
/* Both accounts of the CPU time after the last tick; NULL without a perf clock. A view. */
const struct trk_cpu_clocks *trk__sampler_clocks(const struct trk_sampler *s);
/* Fill list[0..TRK_SOURCES_MAX); returns the count. */
size_t trk__sampler_sources(const struct trk_sampler *s, struct trk_source *list);

#endif
