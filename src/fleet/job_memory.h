/* The memory that a job needs, from its rows of the history: selects the runs that count and calls
 * src/advise. Used by `recommend`, the report and the views
 * over all jobs. */
#ifndef TRK_FLEET_JOB_MEMORY_H
#define TRK_FLEET_JOB_MEMORY_H

#include "advise/memory.h"
#include "fleet/alike.h"
#include "history/history.h"

/* Select the similar runs of `past` (oldest first, borrowed) and make the advice on memory from
 * them. 0, or as trk__memory_advise, or -ENOMEM. */
int trk__advice_memory(const struct trk_history_run *past, size_t count, const char *tags,
		       const struct trk_memory_options *options, struct trk_alike *ret_alike,
		       struct trk_memory_advice *ret);

#endif
