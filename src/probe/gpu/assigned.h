/* The devices that a job is assigned by its environment and its control group. Both are lists of a
 * past decision; what the job uses is taken from the driver where it reports that. */
#ifndef TRK_PROBE_GPU_ASSIGNED_H
#define TRK_PROBE_GPU_ASSIGNED_H

#include "probe/gpu/gpu.h"

enum trk_gpu_given {
	TRK_GPU_NO_SAY, /* nothing follows for this device */
	TRK_GPU_GIVEN,
	TRK_GPU_NOT_GIVEN,
};

/* CUDA_VISIBLE_DEVICES: numbers, UUIDs of GPUs and of instances or the first characters of them;
 * the list ends at the first entry that is none, such as -1. Numbers count in CUDA's own order,
 * which is that of the driver for GPUs of one model, or where `order` (CUDA_DEVICE_ORDER) is
 * PCI_BUS_ID. text NULL: not set. given[0..count) is filled in. */
void trk__gpu_given_by_cuda(const char *text, const char *order,
			    const struct trk_gpu_device *device, size_t count,
			    enum trk_gpu_given *given);
/* NVIDIA_VISIBLE_DEVICES of a container: "all", "none" or UUIDs; "void" and an empty text mean
 * nothing. Numbers are those of the machine outside: they count only if there are as many as GPUs
 * here. */
void trk__gpu_given_by_nvidia(const char *text, const struct trk_gpu_device *device, size_t count,
			      enum trk_gpu_given *given);
/* The text of devices.list of a v1 control group, checked for /dev/nvidiaN. */
enum trk_gpu_given trk__gpu_given_by_cgroup(const char *text, int node);

#endif
