/* Processes in the job's control group that are neither the job's nor the tracker's. */
#ifndef TRK_TRACK_NEIGHBOURS_H
#define TRK_TRACK_NEIGHBOURS_H

#include <stdint.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"
#include "probe/tree/tree.h"

/* Returns 1 if the memory group has another process now, else 0; a negative errno if unknown. Cheap
 * in the usual case: compares first the group's number of tasks, where the pids controller counts
 * them. tracker_tasks: threads of the tracker in the group; 0 where it may be elsewhere. A process
 * that the tree has not seen yet is recognised by its ancestors. */
int trk__neighbours_look(const struct trk_env *env, const struct trk_cgroup *cg,
			 const struct trk_tree *tree, uint64_t tracker_tasks);

#endif
