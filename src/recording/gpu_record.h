/* GPUs in a recording.
 *
 * Two kinds of record: TRK_RECORD_GPUS names the devices, and for each value that is not known its
 * reason; it is written when any of that changes. TRK_RECORD_GPU_ROW has the values of one sample
 * and stands before the row of that sample. A reader adds the rows up as the tracker did. */
#ifndef TRK_RECORDING_GPU_RECORD_H
#define TRK_RECORDING_GPU_RECORD_H

#include "base/buf.h"
#include "model/gpu.h"

void trk__format_gpus(struct trk_buf *b, const struct trk_gpu_device *device, size_t count);
void trk__format_gpu_row(struct trk_buf *b, const struct trk_gpu_device *device, size_t count,
			 int64_t elapsed_us, int64_t interval_us);
/* The other way: into device[0..TRK_GPUS_MAX). 0 or -EBADMSG, which leaves everything untouched. */
int trk__parse_gpus(const void *data, size_t len, struct trk_gpu_device *device, size_t *ret_count);
/* `device` has what trk__parse_gpus gave; its values are set. */
int trk__parse_gpu_row(const void *data, size_t len, struct trk_gpu_device *device, size_t count,
		       int64_t *ret_elapsed_us, int64_t *ret_interval_us);

#endif
