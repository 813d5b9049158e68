/* From sampled stacks to a table: which line, function, file, thread, process or phase used what.
 *
 * A line is charged with what ran on it, and with what it called. Lines of the standard library and
 * of installed packages are charged to the nearest line of the user's own code above them, unless
 * all frames are asked for. Pure functions over struct trk_lines. */
#ifndef TRK_LINES_PROFILE_H
#define TRK_LINES_PROFILE_H

#include "model/lines.h"

enum trk_lines_by {
	TRK_LINES_BY_LINE,
	TRK_LINES_BY_FUNCTION,
	TRK_LINES_BY_FILE,
	TRK_LINES_BY_THREAD,
	TRK_LINES_BY_PROCESS,
	TRK_LINES_BY_PHASE,
	TRK_LINES_BYS
};
extern const char *const trk__lines_by_names[TRK_LINES_BYS]; /* "line" … */

enum trk_lines_order { TRK_LINES_CPU, TRK_LINES_WALL, TRK_LINES_MEMORY };

/* A named part of the run. */
struct trk_lines_phase {
	const char *name; /* borrowed; "": it has none */
	int64_t from_us, to_us;
};

struct trk_profile_options {
	enum trk_lines_by by;
	enum trk_lines_order order;
	bool all_frames;                     /* charge library code to itself */
	int64_t from_us, to_us;              /* since the start of the run; whole windows count */
	const struct trk_lines_phase *phase; /* borrowed: the rows of TRK_LINES_BY_PHASE */
	size_t phases;
};

struct trk_profile_row {
	/* One of those that the row stands for: file, name and line are its. Of a phase: the line
	 * that used the most; TRK_LINES_ROOT: none. */
	uint32_t node;
	uint32_t lane; /* of threads and processes */
	struct trk_lines_amounts self, with_callees;
	uint32_t below; /* node of the library call that used the most CPU time; 0: none */
	uint64_t below_us;
	const struct trk_lines_phase *phase; /* NULL: the rows are no phases; borrowed */
};

struct trk_profile {
	struct trk_profile_row *row; /* owned; in the order that was asked for */
	size_t rows;
	struct trk_lines_amounts all;
	int64_t from_us, to_us; /* of the windows that were counted */
};

/* 0 or -ENOMEM. Needs the windows (struct trk_lines.keeps_windows) where a part of the run is asked
 * for. The caller releases. */
int trk__profile_make(const struct trk_lines *l, const struct trk_profile_options *options,
		      struct trk_profile *ret);
void trk__profile_release(struct trk_profile *p);

/* What is shown of a row's own use in this order: µs, or bytes of sure growth. */
uint64_t trk__profile_value(const struct trk_lines_amounts *a, enum trk_lines_order order);

/* Growth as it is shown: what is sure, with "+", where hardly more is likely; else all of it, with
 * "~". */
uint64_t trk__profile_growth(uint64_t sure_bytes, uint64_t between_bytes, const char **ret_sign);

#endif
