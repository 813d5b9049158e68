/* The control groups that the job has been in, to find the one that ran out of memory.
 *
 * A scheduler may put a job into its group after the start, and a job may move some of its
 * processes. The log holds the groups of the root, of the newest processes, and of children at
 * their end: a zombie still shows its group (v2). */
#ifndef TRK_TRACK_GROUP_LOG_H
#define TRK_TRACK_GROUP_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"
#include "model/run.h"

enum { TRK_GROUP_LOG_MAX = 8 };

struct trk_job_group {
	uint64_t membership;           /* hash of /proc/PID/cgroup */
	struct trk_cgroup_place place; /* of memory */
	bool knows_kills, knows_kills_above;
	uint64_t kills, kills_above; /* out-of-memory kills when it was noted */
	bool is_late;                /* noted after its process ended: may miss earlier kills */
};

/* Zeroed memory is an empty log. */
struct trk_group_log {
	struct trk_job_group group[TRK_GROUP_LOG_MAX];
	size_t count;
	uint64_t own; /* hash of the group that the job started in, which is not noted */
};

/* Begin with the group of `pid` as that in which the job starts; the caller reads its counters. */
void trk__group_log_begin(struct trk_group_log *log, const struct trk_env *env, pid_t pid);

/* Add the group of `pid` if it is new; otherwise this costs one read of /proc/PID/cgroup. */
void trk__group_log_note(struct trk_group_log *log, const struct trk_env *env, pid_t pid,
			 bool has_ended);

/* Out-of-memory kills in these groups, or above them, since they were noted. In a group that was
 * noted late all kills count if the machine had one during the run. Returns 0 where there are none,
 * else the number with a sentence in `where`, and the memory limit (MiB) that holds in the group,
 * if any. */
uint64_t trk__group_log_kills(const struct trk_group_log *log, const struct trk_env *env,
			      bool machine_has_killed, struct trk_quantity *ret_limit, char *where,
			      size_t size);

#endif
