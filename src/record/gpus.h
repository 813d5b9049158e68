/* GPUs in a recording: who they are, their series, and what the series add up to.
 *
 * Two kinds of record: TRK_RECORD_GPUS names the devices, and for each value that is not known its
 * reason; it is written when any of that changes. TRK_RECORD_GPU_ROW has the values of one sample and
 * stands before the row of that sample. A reader counts the rows as the tracker did. */
#ifndef TRK_RECORD_GPUS_H
#define TRK_RECORD_GPUS_H

#include "base/buf.h"
#include "probe/gpu/gpu.h"

/* One device over the run. */
struct trk_gpu_total {
	struct trk_gpu_device device;                          /* as seen last */
	double seconds[TRK_GPU_METRICS], sum[TRK_GPU_METRICS]; /* the mean is sum / seconds */
	double max[TRK_GPU_METRICS];
	double energy_j;    /* since the first look; NaN: not known */
	double counter_j;   /* the device's own counter when it was known last */
	uint64_t throttled; /* every reason that was ever given */
	bool used_by_tree;  /* the tracked processes did or held something there */
};

struct trk_gpu_log {
	struct trk_gpu_total *total; /* owned */
	size_t count;
	int64_t elapsed_us; /* of the newest row */
	uint64_t rows;
};

void trk__gpu_log_release(struct trk_gpu_log *log);
/* Count one row in that covers so many seconds. 0 or -ENOMEM. */
int trk__gpu_log_add(struct trk_gpu_log *log, const struct trk_gpu_device *device, size_t count,
		     int64_t elapsed_us, double seconds);
/* NaN where nothing is known. */
double trk__gpu_total_mean(const struct trk_gpu_total *total, enum trk_gpu_metric metric);
double trk__gpu_total_max(const struct trk_gpu_total *total, enum trk_gpu_metric metric);
/* Joules of the GPUs that the tracked processes used; of all where they used none that is known, and
 * *ret_all says so. */
double trk__gpu_log_energy(const struct trk_gpu_log *log, bool *ret_all);
/* Does one of the GPUs that it is of give no energy any more, as one that has gone? */
bool trk__gpu_log_energy_is_cut(const struct trk_gpu_log *log);

/* Payloads. */
void trk__format_gpus(struct trk_buf *b, const struct trk_gpu_device *device, size_t count);
void trk__format_gpu_row(struct trk_buf *b, const struct trk_gpu_device *device, size_t count,
			 int64_t elapsed_us, int64_t interval_us);
/* The other way: into device[0..TRK_GPUS_MAX). 0 or -EBADMSG, which leaves everything untouched. */
int trk__parse_gpus(const void *data, size_t len, struct trk_gpu_device *device, size_t *ret_count);
/* `device` has what trk__parse_gpus gave; its values are set. */
int trk__parse_gpu_row(const void *data, size_t len, struct trk_gpu_device *device, size_t count,
		       int64_t *ret_elapsed_us, int64_t *ret_interval_us);

#endif
