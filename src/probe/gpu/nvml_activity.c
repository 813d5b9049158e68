/* Activity of the multiprocessors, the memory and the bus, by the GPU performance monitor (Hopper and
 * later): what lies between two samples. */
#include <string.h>

#include "probe/gpu/nvml_private.h"

void trk__nvml_free_samples(struct nvml *n, struct watch *w)
{
	for (int k = 0; k < 2; k++)
		if (w->sample[k])
			(void) CALL(n, gpm_free, w->sample[k]);
}

/* Both or none. */
void trk__nvml_make_samples(struct nvml *n, struct watch *w)
{
	if (!n->f.gpm_metrics || !n->f.gpm_free)
		return;
	for (int i = 0; i < 2; i++)
		if (CALL(n, gpm_alloc, &w->sample[i]) != NVML_SUCCESS)
			w->sample[i] = NULL;
	if (w->sample[0] && w->sample[1])
		return;
	trk__nvml_free_samples(n, w);
	w->sample[0] = w->sample[1] = NULL;
}

static const struct {
	unsigned int id;
	enum trk_gpu_metric metric;
	double scale;
} wanted[] = {
	{NVML_GPM_METRIC_SM_UTIL, TRK_GPU_SM_ACTIVITY_METRIC, 0.01},
	{NVML_GPM_METRIC_DRAM_BW_UTIL, TRK_GPU_MEMORY_ACTIVITY_METRIC, 0.01},
	{NVML_GPM_METRIC_PCIE_RX_PER_SEC, TRK_GPU_PCIE_RX_METRIC, 1048576},
	{NVML_GPM_METRIC_PCIE_TX_PER_SEC, TRK_GPU_PCIE_TX_METRIC, 1048576},
};

/* Activity between two samples: the one that has just been taken into w->sample[1], and the one before. */
static void compare_samples(struct nvml *n, struct watch *w, struct trk_gpu_value *m)
{
	enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };
	struct nvml_gpm_metrics get = {.version = NVML_GPM_VERSION, .count = WANTED};
	nvml_gpm_sample newest = w->sample[1];

	w->sample[1] = w->sample[0];
	w->sample[0] = newest;
	if (w->has_sample) {
		get.sample1 = w->sample[1];
		get.sample2 = newest;
		for (int i = 0; i < WANTED; i++)
			get.metric[i].id = wanted[i].id;
		if (n->f.gpm_metrics(&get) == NVML_SUCCESS)
			for (int i = 0; i < WANTED; i++)
				if (get.metric[i].result == NVML_SUCCESS &&
				    get.metric[i].value >= 0)
					m[wanted[i].metric] = trk__gpu_known(get.metric[i].value *
									     wanted[i].scale);
	}
	w->has_sample = true;
}

/* By the GPU performance monitor (Hopper and later). */
void trk__nvml_activity(struct nvml *n, struct kept *k, bool mig, struct trk_gpu_value *m)
{
	struct watch *w = &k->watch;

	m[TRK_GPU_PCIE_RX_METRIC] = k->pcie_rx;
	m[TRK_GPU_PCIE_TX_METRIC] = k->pcie_tx;
	m[TRK_GPU_SM_ACTIVITY_METRIC] = trk__gpu_unknown(
		mig             ? TRK_GPU_MIG
		: !w->sample[0] ? (n->f.gpm_support ? TRK_GPU_UNSUPPORTED : TRK_GPU_OLD_LIBRARY)
				: TRK_GPU_FIRST_LOOK);
	if (mig || !w->sample[0] || n->f.gpm_get(k->handle, w->sample[1]) != NVML_SUCCESS)
		return;
	k->monitor_lacks_bus = false;
	if (w->has_sample)
		m[TRK_GPU_PCIE_RX_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	compare_samples(n, w, m);
	if (m[TRK_GPU_PCIE_RX_METRIC].why != TRK_GPU_UNSUPPORTED)
		return;
	k->monitor_lacks_bus = true;
	m[TRK_GPU_PCIE_RX_METRIC] = k->pcie_rx;
}

/* The same of an instance, of which the driver gives no other activity. What it refuses it is not asked
 * for again. */
void trk__nvml_instance_activity(struct nvml *n, nvml_device gpu, nvml_device instance,
				 struct watch *w, struct trk_gpu_device *d)
{
	unsigned int id = 0;
	int r;

	if (strcmp(w->uuid, d->uuid) != 0) { /* another one than before */
		memcpy(w->uuid, d->uuid, sizeof(w->uuid));
		w->has_sample = false;
		w->refused = TRK_GPU_KNOWN;
	}
	if (!w->sample[0] && w->refused == TRK_GPU_KNOWN)
		trk__nvml_make_samples(n, w);
	if (!w->sample[0] || !n->f.gpm_get_instance || !n->f.instance_id)
		w->refused = TRK_GPU_OLD_LIBRARY;
	d->metric[TRK_GPU_SM_ACTIVITY_METRIC] =
		trk__gpu_unknown(w->refused ? w->refused : TRK_GPU_FIRST_LOOK);
	if (w->refused)
		return;
	r = n->f.instance_id(instance, &id);
	r = r ? r : n->f.gpm_get_instance(gpu, id, w->sample[1]);
	if (r == NVML_SUCCESS) {
		compare_samples(n, w, d->metric);
		return;
	}
	d->metric[TRK_GPU_SM_ACTIVITY_METRIC] = trk__gpu_unknown(trk__nvml_why(r));
	if (r == NVML_ERROR_NOT_SUPPORTED)
		w->refused = TRK_GPU_UNSUPPORTED;
}
