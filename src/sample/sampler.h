/* The sampler: from kernel counters to rows.
 *
 * Each tick reads the system's files and walks the process tree, takes the difference to the tick
 * before over the monotonic time between the two readings of the same source, and fills one row.
 * What a source cannot give stays unknown. */
#ifndef TRK_SAMPLE_SAMPLER_H
#define TRK_SAMPLE_SAMPLER_H

#include "probe/gpu/poller.h"
#include "probe/linux/cgroup.h"
#include "probe/tree.h"
#include "sample/sample.h"

struct trk_sampler; /* opaque */

struct trk_sampler_options {
	const struct trk_tree_options *tree; /* NULL: the system only */
	bool no_system;                      /* the tree only */
	int perf_fd;                         /* of trk__perf_open, or -1; borrowed */
	uint64_t min_interval_ns;            /* rates over less than this are unknown */
	enum trk_gpu_mode gpu;
	const struct trk_gpu_hints *gpu_hints; /* borrowed; NULL: none */
};

/* Where a group of columns comes from, or why it is unknown. */
struct trk_source {
	const char *name; /* "process_memory", "system_disk" … */
	const char *text; /* a view until the next tick */
};

enum { TRK_SOURCES_MAX = 16 };

/* env and perf_fd are borrowed until _free. NULL with *reterr on failure (-ESRCH: no such process).
 * The first tick's deltas count from here. */
struct trk_sampler *trk__sampler_new(const struct trk_env *env,
				     const struct trk_sampler_options *options, int *reterr);
void trk__sampler_free(struct trk_sampler *s);

/* Take one row; *ret is a view until the next tick. late_ns: how far past its deadline. */
void trk__sampler_tick(struct trk_sampler *s, uint64_t late_ns, const struct trk_sample **ret);

/* Have the next tick leave out nothing that is read less often while nothing seems to move: the last one
 * of a run. */
void trk__sampler_rouse(struct trk_sampler *s);

/* The process tree, or NULL. */
struct trk_tree *trk__sampler_tree(struct trk_sampler *s);
/* The control group of the tracked process, found once at the start. */
const struct trk_cgroup *trk__sampler_cgroup(const struct trk_sampler *s);
/* The GPUs as the last row has them; NULL: none, or nothing known. A view until the next tick. */
const struct trk_gpu_reading *trk__sampler_gpus(const struct trk_sampler *s);
/* CPU time that the perf counter has proven, or -1. */
int64_t trk__sampler_perf_ns(const struct trk_sampler *s);
/* Fill list[0..TRK_SOURCES_MAX); returns the count. */
size_t trk__sampler_sources(const struct trk_sampler *s, struct trk_source *list);

#endif
