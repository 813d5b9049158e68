/* Select the earlier runs of a job that did the same work as the next one: those with the same
 * tags, else those with the same arguments. One name may be used for several programs, or for very
 * different work of one program. Advice on memory uses the similar runs, or all runs if there are
 * none. */
#ifndef TRK_FLEET_ALIKE_H
#define TRK_FLEET_ALIKE_H

#include <sys/types.h>

#include "advise/memory.h"
#include "history/history.h"

enum trk_alike_by {
	TRK_ALIKE_ALL,       /* nothing distinguishes the runs: all count */
	TRK_ALIKE_TAGS,      /* the runs with the same tags */
	TRK_ALIKE_ARGUMENTS, /* the runs with the same arguments */
	TRK_ALIKE_NONE,      /* no run has the requested tags: all count */
};

struct trk_alike {
	enum trk_alike_by by;
	size_t count;                     /* runs that count */
	char tags[TRK_HISTORY_TAGS_SIZE]; /* for TRK_ALIKE_TAGS: the tags, separated by ", " */
};

/* Mark in ret_kept[0..count) the runs (oldest first, borrowed) that count for the next one.
 *
 * `tags` (as trk__history_tags makes them) are those of the next run, and may be new. NULL: the
 * next one is assumed to be like the newest run. A tag, or the arguments, then count only if they
 * recur in at least half of the successes that can repeat an earlier one: values that are new in
 * every run (a date, a file, a commit) do not distinguish kinds of work. Tags for the place of a
 * run (node, host, machine, server, instance) do not count either. */
void trk__alike_find(const struct trk_past_run *runs, size_t count, const char *tags,
		     bool *ret_kept, struct trk_alike *ret);

/* Copy the runs that count for the next one. Returns their number, or -ENOMEM; the caller frees
 * *ret_runs. */
ssize_t trk__alike_take(const struct trk_past_run *past, size_t count, const char *tags,
			struct trk_alike *ret, struct trk_past_run **ret_runs);

/* Select the similar runs of `past` (oldest first, borrowed) and make the advice on memory from
 * them. Used by `recommend`, the report and the views over all jobs. 0, or as trk__memory_advise,
 * or -ENOMEM. */
int trk__advice_memory(const struct trk_past_run *past, size_t count, const char *tags,
		       const struct trk_memory_options *options, struct trk_alike *ret_alike,
		       struct trk_memory_advice *ret);

/* "tags", "arguments", or NULL where all runs count. */
const char *trk__alike_name(enum trk_alike_by by);

#endif
