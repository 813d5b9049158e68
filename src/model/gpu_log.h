/* The GPUs of a run: the devices, and totals over their rows. */
#ifndef TRK_MODEL_GPU_LOG_H
#define TRK_MODEL_GPU_LOG_H

#include "model/gpu.h"

/* One device over the run. */
struct trk_gpu_total {
	struct trk_gpu_device device;                          /* as seen last */
	double seconds[TRK_GPU_METRICS], sum[TRK_GPU_METRICS]; /* the mean is sum / seconds */
	double max[TRK_GPU_METRICS];
	double first[TRK_GPU_METRICS]; /* of a counter ("count"): the increase is max - first */
	double energy_j;               /* since the first look; NaN: not known */
	double counter_j;              /* the device's own counter at its last known value */
	uint64_t throttled;            /* all throttle reasons reported in the run */
	bool used_by_tree;             /* the tracked processes computed or held memory on it */
};

struct trk_gpu_log {
	struct trk_gpu_total *total; /* owned */
	size_t count;
	int64_t elapsed_us; /* of the newest row */
	uint64_t rows;
};

void trk__gpu_log_release(struct trk_gpu_log *log);
/* Add one row that covers `seconds`. 0 or -ENOMEM. */
int trk__gpu_log_add(struct trk_gpu_log *log, const struct trk_gpu_device *device, size_t count,
		     int64_t elapsed_us, double seconds);
/* The same for a row of a recording: a device costs only as much as it has values. */
int trk__gpu_log_add_read(struct trk_gpu_log *log, const struct trk_gpu_device *device,
			  size_t count, int64_t elapsed_us, double seconds);
/* The recording describes its devices anew. */
void trk__gpu_log_renew(struct trk_gpu_log *log);
/* NaN where nothing is known. */
double trk__gpu_total_mean(const struct trk_gpu_total *total, enum trk_gpu_metric metric);
double trk__gpu_total_max(const struct trk_gpu_total *total, enum trk_gpu_metric metric);
/* By how much a counter grew over the run; NaN where nothing is known, or for other metrics. */
double trk__gpu_total_increase(const struct trk_gpu_total *total, enum trk_gpu_metric metric);
/* Joules of the GPUs that the tracked processes used; of all GPUs where no used one is known
 * (*ret_all). GPUs without a counter are left out. */
double trk__gpu_log_energy(const struct trk_gpu_log *log, bool *ret_all);
/* True where each GPU told what the job used of it, and that was nothing. */
bool trk__gpu_log_is_unused(const struct trk_gpu_log *log);
/* True if one of the GPUs in trk__gpu_log_energy() reports no energy, or stopped reporting it. */
bool trk__gpu_log_energy_is_cut(const struct trk_gpu_log *log);
/* True if a GPU with its own memory lacks this figure at the end while another GPU has it. The sums
 * are then lower bounds, and no request for GPUs can be derived from them. */
bool trk__gpu_log_is_partial(const struct trk_gpu_log *log, enum trk_gpu_metric metric);

#endif
