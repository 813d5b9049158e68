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
#include "probe/tree/tree.h"
#include "sample/cpu_split.h"
#include "sample/machine_now.h"

/* Totals never decrease: the use of a process stays counted after its end. */
struct trk_tree_reading {
	uint64_t user_ns, system_ns;      /* exited children included */
	uint64_t read_bytes, write_bytes; /* at the storage layer */
	bool has_io;                      /* false: no PID/io is readable */
	uint64_t memory_bytes;            /* PSS, of foreign processes RSS */
	size_t processes;                 /* live; 0: all have ended */
	bool root_gone;
};

struct trk_counter_set {
	struct trk_env env; /* owned */
	struct trk_tree *tree;
	struct trk_cpu_split cpu; /* ns, as returned last */
	struct trk_machine_now machine;
};

/* Counters of the tree below `pid`, or of that process alone. Keeps a descriptor open on at most
 * `kept_fds` processes whose counters change. Takes env, also on failure: the caller must call
 * _release in either case. Returns 0; -ESRCH when there is no such process. */
int trk__counters_init_tree(struct trk_counter_set *c, const struct trk_env *env, pid_t pid,
			    bool one_process, int kept_fds);
/* Counters of the machine: read c->machine. */
int trk__counters_init_machine(struct trk_counter_set *c, const struct trk_env *env);
void trk__counters_release(struct trk_counter_set *c);

void trk__counters_read_tree(struct trk_counter_set *c, struct trk_tree_reading *ret);

#endif
