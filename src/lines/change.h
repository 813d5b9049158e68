/* Which lines used more, or less, in a run than in an earlier one.
 *
 * Lines are matched by file, function and position in the function, so code added above a function
 * changes no match. A change of CPU time is reported from 5 % of the CPU time on all lines and
 * three standard errors of sampling, growth of memory from 32 MiB. */
#ifndef TRK_LINES_CHANGE_H
#define TRK_LINES_CHANGE_H

#include "base/json.h"
#include "model/lines.h"

enum { TRK_LINES_CHANGES = 3, TRK_LINES_CHANGE_TEXT = 256 };
enum { TRK_LINES_CHANGE_PLACE = 2 * TRK_LINES_CHANGE_TEXT + 16 };

struct trk_lines_change_row {
	char file[TRK_LINES_CHANGE_TEXT], function[TRK_LINES_CHANGE_TEXT]; /* their ends */
	int line;           /* in `now`, else in `before`; 0: unknown */
	double before, now; /* CPU time in s, or growth in MiB */
};

struct trk_lines_change {
	bool known;                                         /* both runs have stacks */
	struct trk_lines_change_row cpu[TRK_LINES_CHANGES]; /* the largest difference first */
	struct trk_lines_change_row memory[TRK_LINES_CHANGES];
	size_t cpus, memories;
};

/* NULL: a run without stacks. 0 or -ENOMEM. */
int trk__lines_change_of(const struct trk_lines *before, const struct trk_lines *now,
			 struct trk_lines_change *ret);
/* "train.py:88 backward()" */
void trk__lines_change_place(const struct trk_lines_change_row *row,
			     char ret[TRK_LINES_CHANGE_PLACE]);
/* The member "lines" of an open object: null, or cpu and memory. */
void trk__lines_change_json(struct trk_json *j, const struct trk_lines_change *c);

#endif
