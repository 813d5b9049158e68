/* The peak of a job's memory: best figure, the interval that it lies in, and how far each can be
 * trusted.
 *
 * Sources: the process tree (sampled PSS, VmHWM, ru_maxrss), and the memory controller's own peak
 * where the control group holds the job alone. Pure: no I/O. docs/memory.md explains the labels. */
#ifndef TRK_TRACK_PEAK_H
#define TRK_TRACK_PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/tree/tree.h"
#include "model/run.h"
#include "sample/sampler.h"

/* Which processes are in the memory control group? */
enum trk_peak_group {
	TRK_PEAK_GROUP_NONE,  /* others too, or not known */
	TRK_PEAK_GROUP_ALONE, /* the tracker and the job were alone in it */
	TRK_PEAK_GROUP_OWN,   /* made for the job, without the tracker */
};

struct trk_peak_facts {
	struct trk_tree_peak tree;
	struct trk_sampler_memory memory;
	bool is_run;        /* the tracker started the job, and sees its orphans */
	bool is_alone;      /* there was one process, and it was reaped */
	bool can_be_missed; /* children of a parent that ignores SIGCHLD: their size is unknown */
	uint64_t rss_slack_bytes; /* by which the kernel's size of a process may be off */
	uint64_t start_bytes; /* of the tracker: what the maxrss of a forked child starts from */
	enum trk_peak_group group;
	int group_version;         /* 1 or 2 */
	uint64_t group_peak_bytes; /* 0: it did not rise during the run */
	uint64_t
		group_slack_bytes; /* by which the kernel may count too much: charges are batched */
	uint64_t
		tracker_bytes; /* largest size of the tracker, where that is in the group as well */
	uint64_t tracker_anon_bytes; /* the part of it that is certainly charged to the group */
	uint64_t machine_bytes; /* memory of the machine: no more can be resident; 0: not known */
	uint64_t io_bytes; /* read from and written to disks: no more page cache can have come */
};

/* Fill in the totals of memory: the peak, its bounds, the group's peak, memory outside the
 * processes. */
void trk__peak_judge(const struct trk_peak_facts *facts, struct trk_quantity total[TRK_TOTALS]);

/* After that, the totals of what no size of a process contains: swap and huge pages; and the memory
 * that the job needed with them. */
void trk__peak_outside(const struct trk_peak_facts *facts, struct trk_quantity total[TRK_TOTALS]);

#endif
