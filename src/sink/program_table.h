/* Use by program, and the processes of a run, as CSV or JSON Lines. */
#ifndef TRK_SINK_PROGRAM_TABLE_H
#define TRK_SINK_PROGRAM_TABLE_H

#include "base/buf.h"
#include "model/program_rows.h"
#include "model/sample.h"

void trk__program_table_head(struct trk_buf *b);
/* A line for each of them. */
void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new, bool json);

void trk__process_table_head(struct trk_buf *b);
void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    bool json);

#endif
