/* Time for which CPU quotas held a control group back: its own quota and those of its ancestors.
 *
 * Source: cpu.stat of the group and of each ancestor that the mount shows (v2 throttled_usec, v1
 * throttled_time). A group's file counts what the group's own quota did; in a Kubernetes pod or a
 * Slurm job the quota is an ancestor's. Each figure adds up the CPUs on which the group was held
 * back. */
#ifndef TRK_PROBE_LINUX_CGROUP_THROTTLE_H
#define TRK_PROBE_LINUX_CGROUP_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/cgroup.h"

/* Groups are nested less deeply than this; the ones nearest to the process count. */
enum { TRK_THROTTLE_GROUPS_MAX = 16 };

struct trk_throttle_group {
	int fd;         /* of cpu.stat */
	uint64_t inode; /* of the same file: identifies the group */
	bool has_quota; /* or has had one: the kernel has counted periods */
	uint64_t throttled_ns;
};

/* Zeroed memory follows no group. */
struct trk_throttle {
	struct trk_throttle_group group[TRK_THROTTLE_GROUPS_MAX];
	int groups;
	bool known;        /* some group has given figures */
	uint64_t total_ns; /* since the first _follow, over all groups that were followed since */
};

/* Follow these groups from now on. Those that were followed before go on counting where they
 * were. */
void trk__throttle_follow(struct trk_throttle *t, const struct trk_cgroup *cg);

/* Bring total_ns up to date from the groups that have a quota; with `all` from the others as well,
 * which may have got one. Returns whether any group has, or has had, a quota. */
bool trk__throttle_read(struct trk_throttle *t, bool all);

void trk__throttle_release(struct trk_throttle *t);

#endif
