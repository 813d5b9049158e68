/* The counters of this moment, without a tracker: of a process with its tree, or of the machine.
 *
 * Totals are since the process's start, or since boot. Made once and read often: what has not moved
 * since the last reading is not read again. Descriptors are the caller's: on processes as many are
 * kept as it allows. */
#ifndef TRK_SAMPLE_COUNTER_SET_H
#define TRK_SAMPLE_COUNTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "probe/linux/diskstats.h"
#include "probe/linux/netdev.h"
#include "probe/linux/process_count.h"
#include "probe/linux/space.h"
#include "probe/tree/tree.h"
#include "sample/cpu_split.h"

/* Never steps back: what a process had used stays counted after its end. */
struct trk_tree_reading {
	uint64_t user_ns, system_ns;      /* exited children included */
	uint64_t read_bytes, write_bytes; /* at the storage layer */
	bool has_io;                      /* false: no PID/io is readable */
	uint64_t memory_bytes;            /* PSS, of foreign processes RSS */
	size_t processes;                 /* living; 0: all have gone */
	bool root_gone;
};

struct trk_machine_reading {
	uint64_t user_ns, system_ns; /* nice in the first, interrupts in the second */
	uint64_t processes;
	uint64_t free_bytes, used_bytes, buffers_bytes, cached_bytes, active_bytes, inactive_bytes;
	uint64_t recv_bytes, sent_bytes; /* since boot, of the outer interfaces */
	bool has_cpu, has_processes, has_memory, has_net;
};

struct trk_mount_reading {
	const char *point;                                 /* view, until the next reading */
	uint64_t total_bytes, used_bytes, available_bytes; /* as df counts */
};

struct trk_counter_set {
	struct trk_env env; /* owned */
	struct trk_tree *tree;
	struct trk_cpu_split cpu; /* ns, as they were given last */
	/* The machine. */
	int stat_fd, meminfo_fd;
	bool has_disks, has_nets, has_space;
	struct trk_disk_meter disks;
	struct trk_net_meter nets;
	struct trk_space_meter space;
	struct trk_mount_reading *mount; /* owned */
	size_t mounts, mounts_cap;
	struct trk_process_count process_count;
	char *text; /* owned scratch */
};

/* Of the tree below `pid`, or of that process alone, with a descriptor on each of at most
 * `kept_fds` processes that are seen to move. Takes env, also on failure: _release gives it back,
 * and is due either way. Returns 0; -ESRCH when there is no such process. */
int trk__counters_init_tree(struct trk_counter_set *c, const struct trk_env *env, pid_t pid,
			    bool one_process, int kept_fds);
/* Of the machine. */
int trk__counters_init_machine(struct trk_counter_set *c, const struct trk_env *env);
void trk__counters_release(struct trk_counter_set *c);

void trk__counters_read_tree(struct trk_counter_set *c, struct trk_tree_reading *ret);
/* Then disks.meter has each disk that counts, and mount[] each file system. */
void trk__counters_read_machine(struct trk_counter_set *c, struct trk_machine_reading *ret);

#endif
