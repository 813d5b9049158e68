/* The lines of a run for a summary: the one with the most CPU time, those where memory grew, and
 * what each thread did at its last sample. Pure functions over struct trk_lines. */
#ifndef TRK_LINES_HIGHLIGHTS_H
#define TRK_LINES_HIGHLIGHTS_H

#include "base/json.h"
#include "model/lines.h"

enum { TRK_HIGHLIGHTS_GROWTH = 3, TRK_HIGHLIGHTS_LAST = 8 };

/* Where memory grew: a line of the user's own code. */
struct trk_lines_growth {
	uint32_t node;
	uint64_t sure_bytes, between_bytes;
};

/* Threads that were last seen on the same line. */
struct trk_lines_standing {
	uint32_t node;  /* the line of the user's own code */
	uint32_t below; /* the deepest line; the same as node: none below */
	unsigned int threads, running;
};

struct trk_lines_highlights {
	uint32_t hottest;                /* node; 0: no CPU time was sampled */
	uint64_t hottest_cpu_us, cpu_us; /* of that line, and of all */
	struct trk_lines_growth growth[TRK_HIGHLIGHTS_GROWTH]; /* largest first; from 8 MiB on */
	size_t growths;
	struct trk_lines_standing last[TRK_HIGHLIGHTS_LAST]; /* running ones first */
	size_t lasts;
	unsigned int more_threads; /* that `last` has no room for */
	int64_t last_us;           /* of the newest of them, since the start of the run */
};

/* pid: the process whose last second is shown; 0, or one that was not read: any process. l NULL:
 * empty result. 0 or -ENOMEM. */
int trk__lines_highlights_of(const struct trk_lines *l, pid_t pid,
			     struct trk_lines_highlights *ret);

/* Whether growth is large enough to be reported for a run with this peak memory (bytes). */
bool trk__lines_growth_counts(const struct trk_lines_growth *g, double peak_bytes);

/* The member "lines" of the summary's JSON; null without lines. */
void trk__lines_highlights_json(struct trk_json *j, const struct trk_lines *l, pid_t pid);

#endif
