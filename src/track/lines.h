/* Line profile of a tracked job: when stacks are sampled and when the sums are written to the
 * recording. */
#ifndef TRK_TRACK_LINES_H
#define TRK_TRACK_LINES_H

#include "probe/tree/tree.h"
#include "recording/writer.h"
#include "sample/stacks.h"
#include "track/track.h"

struct trk_track_lines {
	struct trk_stacks *stacks; /* owned; NULL: no stacks are sampled */
	struct trk_lines *lines;   /* borrowed: of the record */
	int timer_fd;              /* -1 without stacks */
	uint64_t start_ns, armed_ns;
	uint64_t window_ns, flush_ns; /* when the window began, and when it is to be written */
	struct trk_lines_written written;
};

#define TRK_TRACK_LINES_NONE ((struct trk_track_lines){.timer_fd = -1})

/* Begin to sample; does nothing where stacks cannot be read. *ret_lines: the result, owned by the
 * record. */
void trk__track_lines_begin(struct trk_track_lines *t, const struct trk_env *env,
			    const struct trk_track_options *options, uint64_t start_ns,
			    struct trk_lines **ret_lines);
/* Call after each walk of the tree. */
void trk__track_lines_follow(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns);
/* Call when the timer is ready. */
void trk__track_lines_tick(struct trk_track_lines *t, uint64_t now_ns);
/* Write the sums if they are due and there is room; `now`: in any case. */
void trk__track_lines_write(struct trk_track_lines *t, struct trk_writer *w, uint64_t now_ns,
			    bool now);
void trk__track_lines_end(struct trk_track_lines *t);

#endif
