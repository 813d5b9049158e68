/* The part of a summary about each GPU. */
#ifndef TRK_REPORT_GPUS_H
#define TRK_REPORT_GPUS_H

#include "base/json.h"
#include "model/gpu_log.h"

/* Total memory of the GPUs with their own memory; NaN if unknown for one of them. */
double trk__gpus_memory_mib(const struct trk_gpu_log *log);

/* Names of the driver's throttle bits: "power, heat"; empty: none. */
void trk__gpus_slowed_by(uint64_t reasons, char *text, size_t size);

/* The key "gpus" and its list: identity, and for each figure mean and maximum, or the reason why it
 * is unknown. */
void trk__gpus_json(struct trk_json *j, const struct trk_gpu_log *log);
/* A sentence about columns whose sum leaves out a GPU: "system_gpu_usage, system_gpu_utilized: a
 * lower bound, of GPU 0 without GPU 1 (not permitted)". `index` selects the sentence, from 0;
 * false: there are no more. */
bool trk__gpu_sum_text(const struct trk_gpu_log *log, size_t index, char *text, size_t size);
/* The key "gpu_sums": for each column that is a sum over GPUs, the GPUs that it includes. */
void trk__gpu_sums_json(struct trk_json *j, const struct trk_gpu_log *log);

#endif
