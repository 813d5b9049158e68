/* Which earlier runs of a job did the same work as the next one: those with the same tags, else
 * those with the same arguments. One name may stand for several programs, or for one program on
 * very different work; advice on memory then rests on the runs alike, and on all of them only while
 * there is none. */
#ifndef TRK_FLEET_ALIKE_H
#define TRK_FLEET_ALIKE_H

#include "history/history.h"

enum trk_alike_by {
	TRK_ALIKE_ALL,       /* nothing tells the runs apart: all count */
	TRK_ALIKE_TAGS,      /* the runs with the same tags */
	TRK_ALIKE_ARGUMENTS, /* the runs with the same arguments */
	TRK_ALIKE_NONE,      /* tags were asked for that no run has: all count */
};

struct trk_alike {
	enum trk_alike_by by;
	size_t count;                     /* runs that count */
	char tags[TRK_HISTORY_TAGS_SIZE]; /* by tags: these, with ", " between them */
};

/* Mark in ret_kept[0..count) the runs (oldest first, borrowed) that count for the next one.
 *
 * `tags` (as trk__history_tags makes them) are those of the next run, and may be new. NULL: the
 * next one is taken to be like the newest run; then a tag, or the arguments, count only where they
 * recur, which is in at least half of the successes that may repeat an earlier one: what is new in
 * every run (a date, a file, a commit) tells no kinds of work apart, and neither do tags that say
 * where it ran (node, host, machine, server, instance). */
void trk__alike_find(const struct trk_history_run *runs, size_t count, const char *tags,
		     bool *ret_kept, struct trk_alike *ret);

/* "tags", "arguments", or NULL where all runs count. */
const char *trk__alike_name(enum trk_alike_by by);

#endif
