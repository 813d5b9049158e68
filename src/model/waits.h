/* Where the time of one interval went, for a process tree: each microsecond to one item.
 *
 * On a CPU: the tree's CPU time, the interval at most. What is left of the interval goes, in this
 * order, to a GPU that was busy, the disk, memory and the queue for a CPU, each as long as it can
 * have been. The kernel does not show unprivileged readers what one process waited for the disk and
 * for memory; pressure-stall information does it for a control group or the machine, and is taken
 * for the tree's where the tree gave a sign of it in the same interval. So all but the first are
 * estimates, but for block I/O where the kernel keeps account of delays, and the rest of the
 * interval (sleep, network, locks, user input) is not named here. */
#ifndef TRK_MODEL_WAITS_H
#define TRK_MODEL_WAITS_H

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
	int64_t high_stall_us; /* full memory pressure of a group that has memory.high; UNKNOWN: none */
	int64_t queue_us;      /* its threads could run, and waited for a CPU */
	int64_t throttled_us; /* held back by quotas, all CPUs */
	/* a thread was delayed by block I/O; 0 also where delays are not counted */
	int64_t blocked_us;
	bool touched_disk;   /* read, wrote, or faulted from the disk */
	bool touched_memory; /* took page faults */
	bool seen_on_disk;   /* a process was found in an uninterruptible wait */
};

struct trk_waits {
	int64_t us
		[TRK_WAITS]; /* or TRK_WAIT_UNKNOWN; the known ones add up to interval_us at most */
};

/* How much of an interval a quota took: `throttled_us` adds up all CPUs (and groups), so that it is
 * divided by the mean number of CPUs on which the tree ran or was held back. Never more than the
 * interval. Pure. */
int64_t trk__waits_held_back(int64_t throttled_us, int64_t cpu_us, int64_t interval_us);

/* Pure. An interval of no length, or a CPU time that is unknown, makes all unknown. */
void trk__waits_divide(const struct trk_wait_facts *facts, struct trk_waits *ret);

#endif
