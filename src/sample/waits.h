/* Where the time of one interval went, for a process tree: each microsecond to one item.
 *
 * On a CPU: the tree's CPU time, the interval at most. What is left of the interval goes, in this
 * order, to a GPU that was busy, the disk, memory and the queue for a CPU, each as long as it can
 * have been. The kernel tells no unprivileged reader what one process waited for the disk and for
 * memory; pressure-stall information does it for a control group or the machine, and is taken for
 * the tree's where the tree gave a sign of it in the same interval. So all but the first are
 * estimates, but for block I/O where the kernel keeps account of delays, and the rest of the interval (sleep, network, locks, user input) is not named here. */
#ifndef TRK_SAMPLE_WAITS_H
#define TRK_SAMPLE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum trk_wait {
	TRK_WAIT_ON_CPU,
	TRK_WAIT_GPU,
	TRK_WAIT_DISK,
	TRK_WAIT_MEMORY,
	TRK_WAIT_FOR_CPU,
	TRK_WAITS
};

enum { TRK_WAIT_UNKNOWN = -1 }; /* of a time below */

struct trk_wait_facts {
	int64_t interval_us;
	int64_t cpu_us;          /* of the tree, all cores */
	int64_t gpu_us;          /* a GPU was busy for it */
	int64_t disk_stall_us;   /* io pressure: some task waited */
	int64_t memory_stall_us; /* memory pressure */
	int64_t queue_us;        /* its threads could run, and waited for a CPU */
	int64_t throttled_us;    /* held back by a quota, all CPUs */
	int64_t blocked_us; /* some thread by block I/O for certain; 0 also where nobody counts that */
	bool touched_disk;   /* read, wrote, or faulted from the disk */
	bool touched_memory; /* took page faults */
	bool seen_on_disk;   /* a process was found in an uninterruptible wait */
};

struct trk_waits {
	int64_t us
		[TRK_WAITS]; /* or TRK_WAIT_UNKNOWN; the known ones add up to interval_us at most */
};

/* Pure. An interval of no length, or a CPU time that is unknown, makes all unknown. */
void trk__waits_divide(const struct trk_wait_facts *facts, struct trk_waits *ret);

#endif
