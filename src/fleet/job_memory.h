/* The memory that a job needs, from its rows of the history: which of its runs count, how each of
 * them ended, and the request that src/advise makes of them. `recommend`, the report and the views
 * over all jobs take their figure from here. */
#ifndef TRK_FLEET_JOB_MEMORY_H
#define TRK_FLEET_JOB_MEMORY_H

#include "advise/memory.h"
#include "fleet/alike.h"
#include "history/history.h"

/* An earlier run as the advice on memory takes it. */
struct trk_earlier_run trk__advice_past_run(const struct trk_history_run *run);

/* The part of the advice on memory: the runs alike are found, and of those the request. `past` is
 * oldest first, borrowed. 0, or as trk__memory_advise, or -ENOMEM. */
int trk__advice_memory(const struct trk_history_run *past, size_t count, const char *tags,
		       const struct trk_memory_options *options, struct trk_alike *ret_alike,
		       struct trk_memory_advice *ret);

#endif
