/* From sampled stacks to a table: which line, function, file, thread, process or phase used what.
 *
 * Each row has the use of the line itself, and the use including its callees. Lines of the standard
 * library and of installed packages are charged to the nearest calling line of the user's own code,
 * unless all_frames is set. Pure functions over struct trk_lines. */
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
	bool all_frames;                     /* show library code as its own rows */
	int64_t from_us, to_us;              /* since the start of the run; whole windows count */
	const struct trk_lines_phase *phase; /* borrowed: the rows of TRK_LINES_BY_PHASE */
	size_t phases;
};

struct trk_profile_row {
	/* One of the nodes of the row, which gives file, name and line. Of a phase: the line that
	 * used the most; TRK_LINES_ROOT: none. */
	uint32_t node;
	uint32_t lane; /* for rows by thread and process */
	struct trk_lines_amounts self, with_callees;
	uint32_t below; /* node of the library call that used the most CPU time; 0: none */
	uint64_t below_us;
	const struct trk_lines_phase *phase; /* borrowed; NULL unless rows are phases */
};

struct trk_profile {
	struct trk_profile_row *row; /* owned; in the requested order */
	size_t rows;
	struct trk_lines_amounts all;
	int64_t from_us, to_us; /* of the windows that were counted */
};

/* 0 or -ENOMEM. For a part of the run it needs the windows (struct trk_lines.keeps_windows). The
 * caller releases. */
int trk__profile_make(const struct trk_lines *l, const struct trk_profile_options *options,
		      struct trk_profile *ret);
void trk__profile_release(struct trk_profile *p);

/* Call fn for each count in the part of the run that the options select. */
typedef void trk_lines_count_fn(void *data, const struct trk_lines_count *c);
void trk__lines_each_count(const struct trk_lines *l, const struct trk_profile_options *o,
			   trk_lines_count_fn *fn, void *data);

/* The figure of an amount for this order: µs, or bytes of certain growth. */
uint64_t trk__profile_value(const struct trk_lines_amounts *a, enum trk_lines_order order);

/* Growth as displayed: the certain part, with "+", if little more is probable; else both parts,
 * with "~". */
uint64_t trk__profile_growth(uint64_t sure_bytes, uint64_t between_bytes, const char **ret_sign);

#endif
