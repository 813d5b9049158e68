/* Use by program, and the processes of a run, a line each. */
#ifndef TRK_SINK_PROGRAM_TABLE_H
#define TRK_SINK_PROGRAM_TABLE_H

#include "base/buf.h"
#include "model/program_rows.h"
#include "model/sample.h"
#include "sink/line_format.h"

void trk__program_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* A line for each of them. */
void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new,
			     const struct trk_line_format *f);

void trk__process_table_head(struct trk_buf *b, const struct trk_line_format *f);
void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    const struct trk_line_format *f);

#endif
