/* Rows as CSV and JSON Lines, in the column sets that users know. */
#ifndef TRK_SINK_TABLE_H
#define TRK_SINK_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "sample/sample.h"

enum trk_column_set {
	TRK_SET_FULL,
	TRK_SET_05,         /* 32 columns, MiB, 10^9 GB */
	TRK_SET_04_PROCESS, /* quoted header, kB */
	TRK_SET_04_SYSTEM,
	TRK_SET_05_PROCESS, /* the two tables of 0.5, as its snapshots hold them */
	TRK_SET_05_SYSTEM,
};

/* Does the row belong into this set? The older sets begin with the first interval. */
bool trk__table_has_row(enum trk_column_set set, const struct trk_sample *row);

/* The header line of a CSV. */
void trk__table_csv_head(struct trk_buf *b, enum trk_column_set set);
/* One line; an unknown value is an empty cell ("" in the 0.4 set, as that package writes). */
void trk__table_csv_row(struct trk_buf *b, enum trk_column_set set, const struct trk_sample *row);
/* One JSON object and a line end; an unknown value is null. */
void trk__table_json_row(struct trk_buf *b, enum trk_column_set set, const struct trk_sample *row);

/* The documentation of all columns, Markdown. */
void trk__table_markdown(struct trk_buf *b);

#endif
