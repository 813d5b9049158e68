/* Samples as the Rust program of the same name writes them: JSON Lines and CSV.
 *
 * docs/compatibility.md lists every field, and where a figure differs on purpose. */
#ifndef TRK_SINK_SIBLING_H
#define TRK_SINK_SIBLING_H

#include "base/buf.h"
#include "record/run.h"
#include "sample/detail.h"
#include "sample/sample.h"

/* One JSON object and a line end: keys in alphabetical order, unknown is null. `first`: the first
 * sample of a run, which has no interval. */
void trk__sibling_json_row(struct trk_buf *b, const struct trk_run *run,
			   const struct trk_sample *row, const struct trk_detail *detail,
			   bool first);

/* The 32 columns; trk__table_csv_head(…, TRK_SET_05) is their header and trk__table_has_row tells
 * which rows are written. A fixed number of decimals, whole MiB; unknown is an empty cell. */
void trk__sibling_csv_row(struct trk_buf *b, const struct trk_sample *row);

#endif
