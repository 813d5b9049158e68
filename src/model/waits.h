/* Where the time of one interval went, for a process tree: each microsecond is assigned to one
 * item.
 *
 * On a CPU: the tree's CPU time, at most the interval. The rest is assigned, in this order, to a
 * busy GPU, the disk, memory and the queue for a CPU, each up to its upper bound. The kernel does
 * not show unprivileged readers how long one process waited for the disk and for memory;
 * pressure-stall information shows it for a control group or the machine, and is used for the tree
 * if the tree shows a sign of such a wait in the same interval. So all but the first are estimates,
 * except block I/O where the kernel accounts delays. The remainder of the interval (sleep, network,
 * locks, user input) is not an item. */
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
	int64_t high_stall_us; /* full memory pressure of a group with memory.high; UNKNOWN: none */
	int64_t queue_us;      /* its threads were runnable, and waited for a CPU */
	int64_t throttled_us;  /* held back by quotas, all CPUs */
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

/* How much of an interval a quota took. `throttled_us` is a sum over all CPUs (and groups), so it
 * is divided by the mean number of CPUs on which the tree ran or was throttled. At most the
 * interval. Pure. */
int64_t trk__waits_held_back(int64_t throttled_us, int64_t cpu_us, int64_t interval_us);

/* Pure. If the interval is 0 or the CPU time unknown, all results are unknown. */
void trk__waits_divide(const struct trk_wait_facts *facts, struct trk_waits *ret);

#endif
