/* Time for which CPU quotas throttled a control group: its own quota and those of its ancestors.
 *
 * Source: cpu.stat of the group and of each ancestor that the mount shows (v2 throttled_usec, v1
 * throttled_time). A group's file counts only throttling by the group's own quota; in a Kubernetes
 * pod or a Slurm job the quota is an ancestor's. Each figure is a sum over CPUs. */
#ifndef TRK_PROBE_LINUX_CGROUP_THROTTLE_H
#define TRK_PROBE_LINUX_CGROUP_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/cgroup.h"

/* Of more nested groups, those nearest to the process are read. */
enum { TRK_THROTTLE_GROUPS_MAX = 16 };

struct trk_throttle_group {
	int fd;         /* of cpu.stat */
	bool has_quota; /* now or earlier: the kernel has counted periods */
	uint64_t throttled_ns;
};

/* Zero-initialised: no groups. */
struct trk_throttle {
	struct trk_throttle_group group[TRK_THROTTLE_GROUPS_MAX];
	int groups;
	bool known;        /* some group could be read */
	uint64_t total_ns; /* since the first _follow, over all groups that were followed since */
};

/* Read these groups from now on. */
void trk__throttle_follow(struct trk_throttle *t, const struct trk_cgroup *cg);

/* Update total_ns. True if any group has, or has had, a quota. */
bool trk__throttle_read(struct trk_throttle *t);

void trk__throttle_release(struct trk_throttle *t);

#endif
