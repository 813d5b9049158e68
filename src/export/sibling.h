/* Samples as the Rust program of the same name writes them: JSON Lines and CSV.
 *
 * docs/compatibility.md lists every field and every intended difference. */
#ifndef TRK_EXPORT_SIBLING_H
#define TRK_EXPORT_SIBLING_H

#include "base/buf.h"
#include "model/run.h"
#include "model/sample.h"
#include "probe/gpu/poller.h"
#include "sample/machine_now.h"
#include "export/table.h"

/* Options for a line of JSON. */
struct trk_sibling_line {
	const char *job; /* name given by the user; NULL: none or derived, not written */
	bool is_first;   /* first row of its run: its interval is left out */
	bool steal_of_cores;
};

/* One JSON object and a line end: keys in alphabetical order, unknown is null. gpus NULL: none. */
void trk__sibling_json_row(struct trk_buf *b, const struct trk_run *run,
			   const struct trk_sample *row, const struct trk_machine_now *now,
			   const struct trk_gpu_reading *gpus, const struct trk_sibling_line *line);

/* The 33 columns; trk__table_head(…, TRK_SET_05, …) is their header and trk__table_has_row returns
 * which rows are written. A fixed number of decimals, whole MiB; unknown is an empty cell. */
void trk__sibling_csv_row(struct trk_buf *b, const struct trk_sample *row);

#endif
