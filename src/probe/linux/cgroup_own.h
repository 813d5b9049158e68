/* A control group of the job's own, so that the kernel counts the memory of the job only.
 *
 * v1: a group below the one that the tracker is in, in the hierarchy of the memory controller
 * alone. v2 lets no group with processes have children with controllers, so that a group can be
 * made below the machine's root group, or as a sibling of the tracker's own group where that one
 * limits nothing. Where systemd runs, v2's groups are its own but for those that it has delegated.
 * A limit of memory that holds for the tracker's group is written to the new group as well, so that
 * programs which look for it find it. */
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
	/* cgroup.procs of the group. A process between fork and exec enters by writing "0": that
	 * may take 10 to 20 ms, as the kernel waits until no other process forks. */
	int procs_fd;
	char name[TRK_CGROUP_NAME_SIZE];
	char dir[TRK_CGROUP_PATH_SIZE]; /* of the group, below the env's cgroup_fd */
};

#define TRK_CGROUP_OWN_NONE                                                                        \
	{                                                                                          \
		.parent_fd = -1, .home_fd = -1, .procs_fd = -1                                     \
	}

/* Make an empty group, `id` in its name, and remove those of trackers that were killed. Returns 0,
 * or a negative errno with the reason in `why`; *own is then untouched. The caller calls
 * _remove. */
int trk__cgroup_own_make(struct trk_cgroup_own *own, const struct trk_env *env, const char *id,
			 char why[TRK_CGROUP_TEXT_SIZE]);

/* Could a group be made here? The same answer without making one. */
int trk__cgroup_own_check(const struct trk_env *env, char why[TRK_CGROUP_TEXT_SIZE]);

/* From now on *cg, which was opened for the tracker, reads the files of the group. */
void trk__cgroup_own_open(const struct trk_cgroup_own *own, struct trk_cgroup *cg);

/* Remove the group, and move processes that still live in it to the tracker's own group first. What
 * cannot be removed, the next _make in that place removes. Frees all that *own holds. */
void trk__cgroup_own_remove(struct trk_cgroup_own *own);

#endif
