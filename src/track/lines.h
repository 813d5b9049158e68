/* Line profile of a tracked job: when stacks are sampled and when the sums are written to the
 * recording.
 *
 * A worker (probe/linux/worker.h) samples the stacks, because reading the memory of a process can
 * block without a limit. The tracker sends the pids of the job and asks for the sums; it reads the
 * answers when they arrive. While the worker reads a process, shared memory names that process: if
 * the worker blocks there, it is killed and started again, and the process is left out for a
 * while. */
#ifndef TRK_TRACK_LINES_H
#define TRK_TRACK_LINES_H

#include "base/buf.h"
#include "probe/linux/worker.h"
#include "probe/tree/tree.h"
#include "recording/writer.h"
#include "sample/stacks.h"
#include "track/track.h"

enum { TRK_LINES_LEFT_OUT = 16 };

/* A process in whose memory the worker blocked. */
struct trk_lines_left_out {
	pid_t pid;
	uint64_t until_ns;
};

struct trk_track_lines {
	struct trk_worker worker;         /* its fd becomes ready when an answer arrives */
	struct trk_lines *lines;          /* borrowed: of the record; NULL: no stacks are sampled */
	struct trk_stacks_reading *state; /* owned: shared with the worker */
	const struct trk_env *env;        /* borrowed */
	struct trk_stacks_options stacks;
	bool as_thread;
	unsigned int asked; /* answers that are awaited */
	unsigned int starts;
	struct trk_buf input; /* the part of an answer that has arrived */
	uint64_t start_ns;
	/* When the window began, and when it is to be written; UINT64_MAX: it was asked for. */
	uint64_t window_ns, flush_ns;
	struct trk_lines_written written;
	struct trk_lines_left_out left_out[TRK_LINES_LEFT_OUT];
};

#define TRK_TRACK_LINES_NONE ((struct trk_track_lines){.worker = {.process = {-1, -1}, .fd = -1}})

/* Begin to sample; does nothing where stacks cannot be read. *ret_lines: the result, owned by the
 * record. */
void trk__track_lines_begin(struct trk_track_lines *t, const struct trk_env *env,
			    const struct trk_track_options *options, uint64_t start_ns,
			    struct trk_lines **ret_lines);
/* Call after each walk of the tree. */
void trk__track_lines_follow(struct trk_track_lines *t, struct trk_tree *tree, uint64_t now_ns);
/* Call when the worker's descriptor is ready: take the sums that arrived, and write them. */
void trk__track_lines_take(struct trk_track_lines *t, struct trk_writer *w);
/* Ask for the sums if they are due and there is room. */
void trk__track_lines_ask(struct trk_track_lines *t, const struct trk_writer *w, uint64_t now_ns);
/* Ask for the last sums, wait for them for a bounded time, and end the worker. */
void trk__track_lines_end(struct trk_track_lines *t, struct trk_writer *w);

#endif
