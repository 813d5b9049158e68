/* Shared by the files of the cgroup probe: cgroup.c finds the groups, cgroup_limits.c walks from a
 * group to its ancestors, cgroup_usage.c reads the group itself. */
#ifndef TRK_PROBE_LINUX_CGROUP_PRIVATE_H
#define TRK_PROBE_LINUX_CGROUP_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/linux/cgroup.h"

/* Path ("/a/b") of the group in `dir`, a prefix of place->dir. A longer path loses its start. */
void trk__cgroup_dir_path(const struct trk_cgroup_place *place, const char *dir, char *text,
			  size_t size);

/* Shorten `dir`, which lies in `place`, to its parent. Returns false at the mount point. */
bool trk__cgroup_dir_up(const struct trk_cgroup_place *place, char *dir);

/* Open the files of enum trk_cgroup_file into cg->fd. */
void trk__cgroup_usage_open(struct trk_cgroup *cg);

/* For a v2 group in which the memory controller is off: kills counted in the nearest ancestor where
 * it is on, to which the processes are charged. Returns 1, or -EOPNOTSUPP. */
int trk__cgroup_charged_oom_kills(const struct trk_cgroup *cg, uint64_t *ret);

#endif
