/* Delete old recordings, and on request their figures in the history. */
#ifndef TRK_SERVICE_PRUNE_H
#define TRK_SERVICE_PRUNE_H

#include "service/runs.h"

/* If both older_ns and keep are set, both must apply. A run that has not ended is never removed. */
struct trk_prune_rules {
	const char *job;   /* reference for trk__named_job_find; NULL: all jobs */
	uint64_t older_ns; /* since its start; 0: any */
	uint64_t keep;     /* the newest runs (of the job) */
	bool has_keep;
	bool forget;  /* delete the figures in the history, too */
	bool dry_run; /* only name what would be deleted */
};

/* Called for each run that was removed. */
typedef void trk_pruned_fn(void *data, const struct trk_history_run *run);

/* 0; -EINVAL: several jobs have the name; or the error of the first run that cannot be removed. */
int trk__prune(const struct trk_service *s, struct trk_history *h,
	       const struct trk_prune_rules *rules, trk_pruned_fn *pruned, void *data,
	       struct trk_error *reterr);

#endif
