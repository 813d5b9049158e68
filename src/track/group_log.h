/* The control groups that the job has been in, for the question which of them ran out of memory.
 *
 * A scheduler may put a job into its group after the start, and a job may move a part of itself.
 * Noted are the groups of the root, of processes that came last, and of children at their end: a
 * zombie still shows its group (v2). */
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
	bool is_late; /* noted when its process had ended: kills may be older than that */
};

/* Zeroed memory is an empty log. */
struct trk_group_log {
	struct trk_job_group group[TRK_GROUP_LOG_MAX];
	size_t count;
	uint64_t own; /* hash of the group that the job started in, which is not noted */
};

/* What `pid` is in is where the job starts: looked at by the caller itself. */
void trk__group_log_begin(struct trk_group_log *log, const struct trk_env *env, pid_t pid);

/* Note the group of `pid` if it is a new one. Costs one read of /proc/PID/cgroup where it is
 * not. */
void trk__group_log_note(struct trk_group_log *log, const struct trk_env *env, pid_t pid,
			 bool has_ended);

/* Out-of-memory kills in these groups, or above them, since they were noted. Of a group that was
 * noted late all kills count if the machine has seen one during the run. Returns 0 where there are
 * none, else the number with a sentence in `where`, and the memory limit (MiB) that holds in the
 * group, if any. */
uint64_t trk__group_log_kills(const struct trk_group_log *log, const struct trk_env *env,
			      bool machine_has_killed, struct trk_quantity *ret_limit, char *where,
			      size_t size);

#endif
