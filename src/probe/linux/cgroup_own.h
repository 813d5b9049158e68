/* A control group for the job alone, so that the kernel counts the memory of the job only.
 *
 * On v1 the group is made below the tracker's, in the hierarchy of the memory controller alone. On
 * v2 a group with processes cannot have children with controllers, so the group is made below the
 * machine's root group, or as a sibling of the tracker's group where that one limits nothing. Where
 * systemd runs, it manages the v2 groups, except those that it delegates. A memory limit of the
 * tracker's group is also written to the new group, where programs look for it. */
#ifndef TRK_PROBE_LINUX_CGROUP_OWN_H
#define TRK_PROBE_LINUX_CGROUP_OWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"

enum { TRK_CGROUP_NAME_SIZE = 64 };

struct trk_cgroup_own {
	int parent_fd; /* directory in which the group lies; -1: no group was made */
	int home_fd;   /* directory of the group that the tracker is in */
	/* A process between fork and exec enters by writing "0": to `tasks` on v1; to
	 * cgroup.procs on v2, which may take 10 to 20 ms, as the kernel waits until no other
	 * process forks. */
	int procs_fd;
	char name[TRK_CGROUP_NAME_SIZE];
	char dir[TRK_CGROUP_PATH_SIZE]; /* of the group, below the env's cgroup_fd */
};

#define TRK_CGROUP_OWN_NONE                                                                        \
	{                                                                                          \
		.parent_fd = -1, .home_fd = -1, .procs_fd = -1                                     \
	}

/* Make an empty group with `id` in its name, and remove those of trackers that were killed; cg: the
 * tracker's group. Returns 0 (then call _remove), or a negative errno with the reason in `why` and
 * leaves *own as it is. own NULL: make none, but tell whether one could be made. below: only as a
 * child of the tracker's group, and without a limit. */
int trk__cgroup_own_make(struct trk_cgroup_own *own, const struct trk_env *env,
			 const struct trk_cgroup *cg, const char *id, bool below,
			 char why[TRK_CGROUP_TEXT_SIZE]);

/* Is this place the group, or below it? */
bool trk__cgroup_own_holds(const struct trk_cgroup_own *own, const struct trk_cgroup_place *place);

/* Make *cg, which was opened for the tracker, read the files of the group from now on. */
void trk__cgroup_own_open(const struct trk_cgroup_own *own, struct trk_cgroup *cg);

/* Kill all processes of the group at once, where the kernel can (v2, Linux 5.14). */
void trk__cgroup_own_kill(const struct trk_cgroup_own *own);

/* Move processes that are still in the group to the tracker's group, remove the group and release
 * *own. If the removal fails, the next _make in that place removes the group. */
void trk__cgroup_own_remove(struct trk_cgroup_own *own);

#endif
