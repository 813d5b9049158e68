/* Current counters of a process tree or of the machine, read without a tracker.
 *
 * Totals count from the start of the process, or from boot. A set is made once and read often:
 * sources that have not changed since the last reading are not read again. The caller limits the
 * number of descriptors that are kept open on processes. */
#ifndef TRK_SAMPLE_COUNTER_SET_H
#define TRK_SAMPLE_COUNTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "probe/linux/diskstats.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/netdev.h"
#include "probe/linux/process_count.h"
#include "probe/linux/space.h"
#include "probe/tree/tree.h"
#include "sample/cpu_split.h"

/* Totals never decrease: the use of a process stays counted after its end. */
struct trk_tree_reading {
	uint64_t user_ns, system_ns;      /* exited children included */
	uint64_t read_bytes, write_bytes; /* at the storage layer */
	bool has_io;                      /* false: no PID/io is readable */
	uint64_t memory_bytes;            /* PSS, of foreign processes RSS */
	size_t processes;                 /* live; 0: all have ended */
	bool root_gone;
};

struct trk_machine_reading {
	uint64_t user_ns, system_ns; /* user includes nice, system includes interrupts */
	uint64_t processes;
	struct trk_meminfo memory;
	uint64_t recv_bytes, sent_bytes; /* since boot, of the outer interfaces */
	bool has_cpu, has_processes, has_memory, has_net;
};

struct trk_counter_set {
	struct trk_env env; /* owned */
	struct trk_tree *tree;
	struct trk_cpu_split cpu; /* ns, as returned last */
	/* The machine. */
	int stat_fd, meminfo_fd;
	bool has_disks, has_nets, has_space;
	struct trk_disk_meter disks;
	struct trk_net_meter nets;
	struct trk_space_meter space;
	bool knows_space; /* the last reading of space succeeded */
	struct trk_process_count process_count;
	char *text; /* owned scratch */
};

/* Counters of the tree below `pid`, or of that process alone. Keeps a descriptor open on at most
 * `kept_fds` processes whose counters change. Takes env, also on failure: the caller must call
 * _release in either case. Returns 0; -ESRCH when there is no such process. */
int trk__counters_init_tree(struct trk_counter_set *c, const struct trk_env *env, pid_t pid,
			    bool one_process, int kept_fds);
/* Counters of the machine. */
int trk__counters_init_machine(struct trk_counter_set *c, const struct trk_env *env);
void trk__counters_release(struct trk_counter_set *c);

void trk__counters_read_tree(struct trk_counter_set *c, struct trk_tree_reading *ret);
/* Also updates disks.meter, with each disk that counts, and space, with each file system. */
void trk__counters_read_machine(struct trk_counter_set *c, struct trk_machine_reading *ret);

#endif
