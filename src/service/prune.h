/* Deleting old recordings, and on request their figures in the history. */
#ifndef TRK_SERVICE_PRUNE_H
#define TRK_SERVICE_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history/history.h"
#include "service/service.h"

/* If both older_ns and keep are set, both must apply. A run that has not ended is never removed. */
struct trk_prune_rules {
	const char *job;   /* reference for trk__named_job_find; NULL: all jobs */
	uint64_t older_ns; /* since its start; 0: any */
	uint64_t keep;     /* the newest runs (of the job); UINT64_MAX: no such rule */
	bool forget;       /* delete the figures in the history, too */
	bool dry_run;      /* only name what would be deleted */
};

/* Called for each run that was removed. */
typedef void trk_pruned_fn(void *data, const struct trk_past_run *run);

/* Without `forget`, recordings whose figures are not in the history are kept. All are kept where the
 * database of a team cannot be reached. *ret_kept: how many would have been removed else. 0;
 * -EINVAL: several jobs have the name; or the error of the first run that cannot be removed. */
int trk__prune(const struct trk_service *s, struct trk_history *h,
	       const struct trk_prune_rules *rules, trk_pruned_fn *pruned, void *data,
	       size_t *ret_kept, struct trk_error *reterr);

#endif
