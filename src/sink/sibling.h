/* Samples as the Rust program of the same name writes them: JSON Lines and CSV.
 *
 * docs/compatibility.md lists every field and every intended difference. */
#ifndef TRK_SINK_SIBLING_H
#define TRK_SINK_SIBLING_H

#include "base/buf.h"
#include "model/run.h"
#include "model/sample.h"
#include "probe/gpu/poller.h"
#include "sample/machine_now.h"
#include "sink/table.h"

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

/* ---- the JSON snapshot of the Python package, which its from_snapshot() and loads() read ---- */

struct trk_snapshot {
	bool is_04; /* columns and units of version 0.4, else of 0.5 */
	bool any;   /* a row was written in this table */
};

/* `processes`: write into the process table, else into the system table. An unmeasured GPU is
 * written as 0, as by the package without a GPU, because it cannot read null. For the same reason a
 * row of the process table is left out if the memory is unknown, as after the last process has
 * ended. */
void trk__snapshot_head(struct trk_buf *b, struct trk_snapshot *s, const struct trk_record *record);
void trk__snapshot_row(struct trk_buf *b, struct trk_snapshot *s, bool processes,
		       const struct trk_sample *row);
void trk__snapshot_middle(struct trk_buf *b, struct trk_snapshot *s);
void trk__snapshot_end(struct trk_buf *b);

#endif
