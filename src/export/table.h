/* Samples, a line each, in the column sets of this and of earlier programs. */
#ifndef TRK_EXPORT_TABLE_H
#define TRK_EXPORT_TABLE_H

#include <stdbool.h>

#include "model/gpu_log.h"
#include "model/lines.h"
#include "model/programs.h"
#include "model/sample.h"
#include "export/line_format.h"

enum trk_column_set {
	TRK_SET_FULL,
	TRK_SET_05,         /* 33 columns, MiB, 10^9 GB */
	TRK_SET_04_PROCESS, /* quoted header, kB */
	TRK_SET_04_SYSTEM,
	TRK_SET_05_PROCESS, /* the two tables of 0.5, as its snapshots hold them */
	TRK_SET_05_SYSTEM,
};

/* Whether the set contains the row. The older sets begin with the first interval. */
bool trk__table_has_row(enum trk_column_set set, const struct trk_sample *row);

/* The rows that an older set leaves out at the start of a run. Zero-initialised: none yet. */
struct trk_table_lead {
	struct trk_sample held;
	bool has_held, has_begun;
};

/* Take the next row of a run. While the set has not begun, holds the row and returns false: the
 * caller does not write it. Else adds the amounts of the held rows to `row` and returns true: the
 * caller writes it if trk__table_has_row(). */
bool trk__table_begin(struct trk_table_lead *lead, enum trk_column_set set, struct trk_sample *row);
/* Hold a row even if the set could begin with it. */
void trk__table_hold(struct trk_table_lead *lead, const struct trk_sample *row);
/* At the end of a run too short for an interval: its only row. NULL if the set has begun. A view
 * into `lead`. */
const struct trk_sample *trk__table_only_row(const struct trk_table_lead *lead);

/* A value by the set's definition. Unknown values are not set in the row. */
int64_t trk__table_value(enum trk_column_set set, const struct trk_sample *row, int column);

/* value / divisor, rounded half away from zero, as an integer of 10^-decimals. */
int64_t trk__table_rounded(int64_t value, int64_t divisor, unsigned int decimals);

/* The line of names, in formats with one. */
void trk__table_head(struct trk_buf *b, enum trk_column_set set, const struct trk_line_format *f);
/* One line; an unknown value is an empty cell ("" in the 0.4 set as CSV, as that package writes) or
 * null. */
void trk__table_row(struct trk_buf *b, enum trk_column_set set, const struct trk_sample *row,
		    const struct trk_line_format *f);

/* The documentation of all columns, Markdown. */
void trk__table_markdown(struct trk_buf *b);

/* ---- the tables of `export --what` ---- */

/* Samples, the GPUs of each sample, the use by program of each sample, the processes of a run, and the
 * use of each line in each stretch of time. */
enum trk_table {
	TRK_TABLE_SAMPLES,
	TRK_TABLE_GPUS,
	TRK_TABLE_PROGRAMS,
	TRK_TABLE_PROCESSES,
	TRK_TABLE_LINES,
	TRK_TABLES
};

/* The line of names of a table other than that of samples, whose names are those of its set. */
void trk__other_table_head(struct trk_buf *b, enum trk_table table,
			   const struct trk_line_format *f);
/* The newest row of the log; its time is that of `row`. */
void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, const struct trk_line_format *f);

/* A line for each program of the row. */
void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new,
			     const struct trk_line_format *f);

void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    const struct trk_line_format *f);

/* A line for one entry of trk_lines.kept, counted in this window: a line of code in a thread. */
void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 const struct trk_line_format *f);

#endif
