/* What a summary says of each GPU. */
#ifndef TRK_REPORT_GPUS_H
#define TRK_REPORT_GPUS_H

#include "base/json.h"
#include "record/gpus.h"

/* GPUs, the instances of a GPU in MIG mode not counted beside it. */
size_t trk__gpus_count(const struct trk_gpu_log *log);
/* The memory of all of them; NaN: not known of every one. */
double trk__gpus_memory_mib(const struct trk_gpu_log *log);

/* What slowed it down, of the driver's bits: "power, heat"; empty: nothing. */
void trk__gpus_slowed_by(uint64_t reasons, char *text, size_t size);

/* The key "gpus" and its list: identity, and of each figure mean and largest value, or the reason why
 * it is not known. */
void trk__gpus_json(struct trk_json *j, const struct trk_gpu_log *log);

#endif
