/* What the files of the NVML source share. */
#ifndef TRK_PROBE_GPU_NVML_PRIVATE_H
#define TRK_PROBE_GPU_NVML_PRIVATE_H

#include "probe/gpu/gpu.h"
#include "probe/gpu/nvml.h"

struct functions {
#define X(name, parameters, best, other) int(*name) parameters;
	NVML_FUNCTION_LIST(X)
#undef X
};

enum { MIG_INSTANCES_MAX = 16 };

/* Samples of the GPU performance monitor. */
struct watch {
	nvml_gpm_sample sample[2]; /* now and before; NULL: no GPM */
	bool has_sample;
	enum trk_gpu_why refused; /* an instance: for good */
	char uuid[96];            /* of the instance */
};

/* What is kept of a device between two polls. */
struct kept {
	nvml_device handle; /* NULL: it could not be had */
	char name[96], uuid[96], bus[32];
	int node;
	struct watch watch, instance[MIG_INSTANCES_MAX];
	bool monitor_lacks_bus; /* GPM is there, but has no PCIe */
	struct trk_gpu_value pcie_rx, pcie_tx;
	bool links_known;
	uint64_t link_ns;
	double link_rx_kib, link_tx_kib;
};

struct nvml {
	void *library;
	struct functions f;
	char driver[48];
	unsigned int count;
	struct kept kept[TRK_GPUS_MAX];
	struct nvml_process *list;           /* owned */
	struct nvml_process_sample *samples; /* owned */
	unsigned int list_cap, samples_cap;
	unsigned int next_pcie;
};

/* CALL(n, power, handle, &mw): the result of a function that may be missing. */
#define CALL(n, function, ...)                                                                     \
	((n)->f.function ? (n)->f.function(__VA_ARGS__) : NVML_ERROR_FUNCTION_NOT_FOUND)

enum trk_gpu_why trk__nvml_why(int result);

/* 0 or -ENOMEM; freed with the source. */
int trk__nvml_make_lists(struct nvml *n);
/* Append the processes of a device, and count them there. */
void trk__nvml_processes(struct nvml *n, struct trk_gpu_scan *scan, size_t device,
			 nvml_device handle);

/* Both samples of a watch, or none. */
void trk__nvml_make_samples(struct nvml *n, struct watch *w);
void trk__nvml_free_samples(struct nvml *n, struct watch *w);
/* Fill in the activity of a GPU; the bus as it was seen last where the monitor does not tell. */
void trk__nvml_activity(struct nvml *n, struct kept *k, bool mig, struct trk_gpu_value *m);
/* The same of an instance. */
void trk__nvml_instance_activity(struct nvml *n, nvml_device gpu, nvml_device instance,
				 struct watch *w, struct trk_gpu_device *d);

#endif
