/* The JSON snapshot of the Python package, which its from_snapshot() and loads() read. */
#ifndef TRK_EXPORT_SNAPSHOT_H
#define TRK_EXPORT_SNAPSHOT_H

#include "base/buf.h"
#include "model/run.h"
#include "model/sample.h"

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
