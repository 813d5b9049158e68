/* The series of each GPU as CSV or JSON Lines: a line a device and sample. */
#ifndef TRK_SINK_GPU_TABLE_H
#define TRK_SINK_GPU_TABLE_H

#include "base/buf.h"
#include "model/gpu_log.h"
#include "model/sample.h"

/* The header of the CSV. */
void trk__gpu_table_head(struct trk_buf *b);
/* The newest row of the log; its moment is that of `row`. */
void trk__gpu_table_rows(struct trk_buf *b, const struct trk_gpu_log *log,
			 const struct trk_sample *row, bool json);

#endif
