/* Processes in the job's control group that are neither the job's nor the tracker's. */
#ifndef TRK_TRACK_NEIGHBOURS_H
#define TRK_TRACK_NEIGHBOURS_H

#include <stdint.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"
#include "probe/tree/tree.h"

/* True if the group of memory has another process now. Returns 1, 0, or a negative errno if
 * unknown. Cheap while there is none: the number of tasks of the group, where the pids controller
 * counts them, is compared first. tracker_tasks: threads of the tracker in the group; 0 where it
 * may be elsewhere. A process that the tree has not seen yet is recognised by its ancestors. */
int trk__neighbours_look(const struct trk_env *env, const struct trk_cgroup *cg,
			 const struct trk_tree *tree, uint64_t tracker_tasks);

#endif
