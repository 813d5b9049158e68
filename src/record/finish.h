/* How a run ended and what it used in all: limits at the start, totals, verdict. */
#ifndef TRK_RECORD_FINISH_H
#define TRK_RECORD_FINISH_H

#include "base/env.h"
#include "record/enforce.h"
#include "record/run.h"
#include "sample/sampler.h"

struct trk_finish {
	struct trk_env env;
	/* Out-of-memory kills before the job was started. */
	bool knows_machine_kills, knows_group_kills, knows_parent_kills;
	uint64_t machine_kills, group_kills, parent_kills;
	struct trk_cgroup group; /* the tracker's own at the start, which the job inherits */
	bool group_is_own;
	uint64_t group_cpu_ns, group_peak_bytes;
	uint64_t asleep_ns;          /* of the machine since its boot, at the start */
	uint64_t rss_at_start_bytes; /* ours: what a forked child's maxrss starts from */
	/* Filled in by the loop. */
	enum trk_verdict limit; /* that we ended the job for; TRK_VERDICT_RUNNING: none */
	char limit_text[TRK_ENFORCE_TEXT_SIZE];
	bool root_ended; /* attach */
	bool lost;       /* run: the job has ended, and somebody else took its result */
	bool abandoned;  /* attach: whoever started us has gone without telling us to stop */
	bool stated;     /* attach: it has told us the job's exit code */
	int stated_code;
	uint64_t switches, reaped, root_maxrss_bytes;
};

void trk__finish_begin(struct trk_finish *f, const struct trk_env *env);
void trk__finish_limits(struct trk_finish *f, struct trk_sampler *sampler, struct trk_run *run);
/* Totals so far, with their quality. */
void trk__finish_totals(struct trk_finish *f, struct trk_sampler *sampler,
			struct trk_record *record);
/* Totals and verdict. sampler may be NULL. */
void trk__finish(struct trk_finish *f, struct trk_sampler *sampler, struct trk_record *record,
		 bool reaped, int wait_status);
void trk__finish_release(struct trk_finish *f);

#endif
