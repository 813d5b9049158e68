/* The sampler: from kernel counters to rows.
 *
 * Each tick reads the system's files, walks the process tree and fills one row. A rate is the
 * difference to the previous tick over the monotonic time between the two readings of the same
 * source. Columns without a source stay unknown. */
#ifndef TRK_SAMPLE_SAMPLER_H
#define TRK_SAMPLE_SAMPLER_H

#include "probe/gpu/poller.h"
#include "probe/linux/cgroup.h"
#include "probe/tree/tree.h"
#include "sample/cpu_clocks.h"
#include "sample/machine_now.h"
#include "model/sample.h"

struct trk_sampler; /* opaque */

struct trk_sampler_options {
	const struct trk_tree_options *tree; /* NULL: the system only */
	bool no_system;                      /* the tree only */
	bool group_is_own;                   /* the control group of memory is the job's alone */
	/* From trk__perf_open, for all descendants and for the root alone; or -1. Borrowed. */
	int perf_fd, root_perf_fd;
	/* The control group of CPU time holds the job and the tracker only; the CPU time of both
	 * before the start. */
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

/* Make the next tick read all sources, also those that are read less often while they seem
 * unchanged: for the last tick of a run. */
void trk__sampler_force_full(struct trk_sampler *s);

/* Memory outside the tree's PSS that the ticks measured. NaN if unknown. */
struct trk_sampler_memory {
	/* For the job's own control group: largest page cache; largest difference between the
	 * group's peak and its page cache; largest amount of shared memory that the tree did not
	 * map. */
	double group_cache_bytes, group_need_bytes, group_unmapped_bytes;
	/* Growth of the machine's shared memory (Shmem of /proc/meminfo) since its least, less what
	 * the tree mapped of it. */
	double shmem_growth_bytes;
	/* Largest sum of the pages that processes map and of the other charges of the job's own
	 * group (unmapped shared memory, kernel memory), without page cache. */
	double group_held_bytes;
	/* Largest growth of the control group's swap since the start; includes other processes
	 * where the group is not the job's own. swap_is_peak: the kernel's own peak, which misses
	 * nothing between ticks. */
	double group_swap_bytes;
	bool swap_is_peak;
	/* Growth of what is in swap and in huge pages (hugetlbfs) of the machine since its least:
	 * no size of a process contains it. NaN: not read, or there are huge pages of several
	 * sizes. */
	double outside_growth_bytes;
	/* Largest swap and largest amount of huge pages of the tree, both lower bounds. */
	double tree_swap_bytes, tree_huge_bytes;
	/* Largest memory of the tree at one tick; largest sum of its memory, swap and huge pages. */
	double row_bytes, needed_bytes;
	double file_bytes;   /* unchanged pages of mapped files, when row_bytes was the memory */
	bool misses_outside; /* at some tick, swap or huge pages of the tree were not known */
};
void trk__sampler_memory(const struct trk_sampler *s, struct trk_sampler_memory *ret);

/* The memory that a limit counts, at the last walk of the tree: its PSS, the other charges of
 * the job's own group except page cache, what is swapped out, and huge pages of hugetlbfs. Reads
 * the group. There must be a tree. */
uint64_t trk__sampler_held_bytes(struct trk_sampler *s);

/* Set the number of cores (> 0) that the tree can use at once; the default is that of the machine.
 * CPU time above that in one interval is moved to the next one. */
void trk__sampler_hold_cores(struct trk_sampler *s, double cores);

/* Other processes were found in the control group that was assumed to be the job's own: ignore its
 * memory figures from now on. */
void trk__sampler_share_group(struct trk_sampler *s);

/* The process tree, or NULL. */
struct trk_tree *trk__sampler_tree(struct trk_sampler *s);
/* The control group of the tracked process, where it was at the last tick. */
const struct trk_cgroup *trk__sampler_cgroup(const struct trk_sampler *s);
/* The limits of that group and its ancestors, and how often they have changed since the start. */
const struct trk_cgroup_limits *trk__sampler_limits(const struct trk_sampler *s,
						    unsigned int *ret_changes);
/* Check now whether the process has moved to another group. This is possible until wait4 reaps
 * it. */
void trk__sampler_look_at_group(struct trk_sampler *s);
/* How often the process has moved to another group since the start. */
unsigned int trk__sampler_group_moves(const struct trk_sampler *s);
/* The machine at the last tick: unknown with no_system. A view until the next tick. */
struct trk_machine_now *trk__sampler_machine(struct trk_sampler *s);
/* The GPUs as the last row has them; NULL: none, or nothing known. A view until the next tick. */
const struct trk_gpu_reading *trk__sampler_gpus(const struct trk_sampler *s);
/* Ledger and perf clock of CPU time after the last tick; NULL without a perf clock. A view. */
const struct trk_cpu_clocks *trk__sampler_clocks(const struct trk_sampler *s);
/* Fill list[0..TRK_SOURCES_MAX); returns the count. */
size_t trk__sampler_sources(const struct trk_sampler *s, struct trk_source *list);

/* CPU time of the tracker and of its helper programs. */
uint64_t trk__own_cpu_ns(void);

#endif
