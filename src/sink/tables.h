/* The tables of `export --what` other than samples: the GPUs of each sample, the use by program of
 * each sample, the processes of a run, and the use of each line in each stretch of time. A function
 * `head` writes the line of names. */
#ifndef TRK_SINK_TABLES_H
#define TRK_SINK_TABLES_H

#include "model/gpu_log.h"
#include "model/lines.h"
#include "model/programs.h"
#include "model/sample.h"
#include "sink/line_format.h"

void trk__gpu_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* The newest row of the log; its time is that of `row`. */
void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, const struct trk_line_format *f);

void trk__program_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* A line for each program of the row. */
void trk__program_table_rows(struct trk_buf *b, const struct trk_program_log *log,
			     const struct trk_sample *row, bool is_new,
			     const struct trk_line_format *f);

void trk__process_table_head(struct trk_buf *b, const struct trk_line_format *f);
void trk__process_table_row(struct trk_buf *b, const struct trk_program_log *log, size_t index,
			    const struct trk_line_format *f);

void trk__line_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* A line for one entry of trk_lines.kept, counted in this window: a line of code in a thread. */
void trk__line_table_row(struct trk_buf *b, const struct trk_lines *l,
			 const struct trk_lines_window *window, const struct trk_lines_count *c,
			 const struct trk_line_format *f);

#endif
