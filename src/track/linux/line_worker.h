/* The worker that samples stacks, and its messages.
 *
 * The tracker sends orders: a header with the time, then the pids of the job if it is LINES_FOLLOW. The
 * worker
 * answers LINES_ASK and LINES_LAST with parts: a header and a payload each, as in a recording
 * (recording/line_record.h); LINES_COUNTS is the last part of an answer. */
#ifndef TRK_TRACK_LINUX_LINE_WORKER_H
#define TRK_TRACK_LINUX_LINE_WORKER_H

#include "sample/stacks.h"

enum { TRK_LINES_PIDS = 1024 };

enum trk_lines_order { LINES_FOLLOW, LINES_ASK, LINES_LAST };
enum trk_lines_part { LINES_NAMES, LINES_STATE, LINES_COUNTS };

struct trk_lines_header {
	uint32_t what;  /* an order or a part */
	uint32_t size;  /* pids, or bytes of the payload */
	uint64_t at_ns; /* of an order: the sums are wanted up to this time */
};

enum { TRK_LINES_ANSWER_MAX = 32 * 1024 * 1024 };

struct trk_line_worker {
	struct trk_env env;
	struct trk_stacks_options stacks;
	struct trk_lines *lines; /* a thread owns it; a process has its own copy of the memory */
	uint64_t start_ns, window_ns;
};

/* A trk_worker_fn; data is a struct trk_line_worker. */
void trk__line_worker(int fd, void *data);

#endif
