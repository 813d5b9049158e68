/* Out-of-memory kills by the kernel while a job ran, and whether the victims were processes of the
 * job.
 *
 * Sources: memory.events (v2, Linux 4.19+) or memory.oom_control (v1, 4.13+) of the control group
 * that the job is charged to, those of its ancestors, and oom_kill of /proc/vmstat. A kill counts
 * in the victim's own group, and on v2 in all groups above it: if only the count of a group above
 * rose, the victim was not in the job's group. */
#ifndef TRK_TRACK_KILLS_H
#define TRK_TRACK_KILLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"

struct trk_kills {
	/* Counts at the start. */
	bool knows_group, knows_above, knows_machine;
	bool is_shared; /* the group's count is that of a group above, shared with other groups */
	uint64_t group_start, above_start, machine_start;
	uint64_t begin_ns;
	/* At the last look. */
	uint64_t group_last, ended_last;
	uint64_t rose_ns;      /* when a rise of the group's count was last seen */
	uint64_t ended_before; /* processes of the job that had ended at the look before rose_ns */
	/* Found so far. */
	uint64_t in_group, above, on_machine; /* kills since the start */
	uint64_t first_ns;                    /* when the first one in the group was seen */
	uint64_t over_ns;  /* when the job itself was seen to have ended; 0: not */
	bool member_ended; /* a process of the job ended when the group's count rose */
	bool at_end;       /* the job itself ended then */
	char above_path[TRK_CGROUP_TEXT_SIZE];
};

/* Read the counts of the groups of *cg, in which the job is about to be started. */
void trk__kills_begin(struct trk_kills *k, const struct trk_env *env, const struct trk_cgroup *cg);

/* The job is in another group from now on; kills found so far are kept. */
void trk__kills_follow(struct trk_kills *k, const struct trk_cgroup *cg);

/* Look again, once a second or more often. ended: processes of the job that have ended so far;
 * is_over: the job itself has. */
void trk__kills_look(struct trk_kills *k, const struct trk_cgroup *cg, uint64_t now_ns,
		     uint64_t ended, bool is_over);

/* Look for the last time: at the groups above and the machine as well. */
void trk__kills_end(struct trk_kills *k, const struct trk_env *env, const struct trk_cgroup *cg);

#endif
