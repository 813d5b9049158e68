/* GPUs in a recording.
 *
 * TRK_RECORD_GPUS has the names of the devices and the reason for each unknown value; it is written
 * when any of these changes. TRK_RECORD_GPU_ROW has the values of one sample and comes before the
 * row of that sample. A reader adds up the rows as the tracker did. */
#ifndef TRK_RECORDING_GPU_RECORD_H
#define TRK_RECORDING_GPU_RECORD_H

#include "base/buf.h"
#include "model/gpu.h"

void trk__format_gpus(struct trk_buf *b, const struct trk_gpu_device *device, size_t count);
void trk__format_gpu_row(struct trk_buf *b, const struct trk_gpu_device *device, size_t count,
			 int64_t elapsed_us, int64_t interval_us);
/* Decode into device[0..TRK_GPUS_MAX). 0, or -EBADMSG with everything untouched. */
int trk__parse_gpus(const void *data, size_t len, struct trk_gpu_device *device, size_t *ret_count);
/* Set the values of `device`, which trk__parse_gpus has filled. */
int trk__parse_gpu_row(const void *data, size_t len, struct trk_gpu_device *device, size_t count,
		       int64_t *ret_elapsed_us, int64_t *ret_interval_us);

#endif
