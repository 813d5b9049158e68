/* The series of each GPU: a line a device and sample. */
#ifndef TRK_SINK_GPU_TABLE_H
#define TRK_SINK_GPU_TABLE_H

#include "model/gpu_log.h"
#include "model/sample.h"
#include "sink/line_format.h"

/* The line of names. */
void trk__gpu_table_head(struct trk_buf *b, const struct trk_line_format *f);
/* The newest row of the log; its moment is that of `row`. */
void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, const struct trk_line_format *f);

#endif
