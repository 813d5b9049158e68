/* The end of a run: its totals and how it ended. */
#ifndef TRK_TRACK_FINISH_H
#define TRK_TRACK_FINISH_H

#include "base/env.h"
#include "probe/linux/cgroup_own.h"
#include "track/outcome.h"
#include "track/enforce.h"
#include "track/group_log.h"
#include "track/peak.h"
#include "model/run.h"
#include "sample/sampler.h"

struct trk_finish {
	struct trk_env env;
	/* run: the group of the tracker at the start, which the job inherits; attach: the group of
	 * the process. */
	struct trk_cgroup group;
	struct trk_group_log groups;      /* groups that the job entered later */
	struct trk_cgroup_forks forks;    /* of the job's group when the job entered it */
	struct trk_quantity killed_limit; /* memory limit of the group that ran out; NaN: none */
	bool group_is_own;                /* for CPU time and memory: the tracker is alone in it */
	enum trk_peak_group holders;      /* of the memory control group */
	bool attached_is_alone;    /* attach: only processes of the job were seen in its group */
	struct trk_cgroup_own own; /* made for the job */
	uint64_t group_cpu_ns, group_peak_bytes; /* at the start */
	uint64_t own_cpu_ns;                     /* of the tracker, when group_cpu_ns was read */
	uint64_t asleep_ns;                      /* of the machine since its boot, at the start */
	uint64_t rss_at_start_bytes; /* the tracker's: what a forked child's maxrss starts from */
	/* Filled in by the loop. */
	struct trk_outcome_facts facts;
	char limit_text[TRK_RUN_TEXT_SIZE];
	uint64_t switches, reaped;
};

/* pid: that of the process to attach to, or 0. */
void trk__finish_begin(struct trk_finish *f, const struct trk_env *env, pid_t pid);
/* After each walk of the tree: check for kills by the kernel and for other processes in the job's
 * group. */
void trk__finish_look(struct trk_finish *f, struct trk_sampler *sampler, bool is_over);
/* Make a control group for the job that is about to be started. Failure has no effect. below: see
 * trk__cgroup_own_make. */
void trk__finish_make_group(struct trk_finish *f, const char *id, bool below);
/* The job was started in that group unless the kernel refused it: read the counters of that group
 * from now on. */
void trk__finish_enter_group(struct trk_finish *f, bool is_refused);
/* The job has moved to another group: the counters of the first one are no longer the job's. */
void trk__finish_leave_group(struct trk_finish *f, const struct trk_cgroup *now);
/* Totals so far, with their quality. */
void trk__finish_totals(struct trk_finish *f, struct trk_sampler *sampler,
			struct trk_record *record);
/* Totals, and how it ended. sampler may be NULL. */
void trk__finish(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record,
		 bool reaped, int wait_status);
/* Totals of CPU time; in total_cpu.c. */
void trk__total_cpu(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record);
void trk__finish_release(struct trk_finish *f);

#endif
