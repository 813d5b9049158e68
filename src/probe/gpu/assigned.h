/* The devices that a job is assigned by its environment and its control group. These only show what
 * was assigned; what the job uses is taken from the driver where it reports that. */
#ifndef TRK_PROBE_GPU_ASSIGNED_H
#define TRK_PROBE_GPU_ASSIGNED_H

#include "probe/gpu/gpu.h"

enum trk_gpu_given {
	TRK_GPU_NO_SAY, /* nothing follows for this device */
	TRK_GPU_GIVEN,
	TRK_GPU_NOT_GIVEN,
};

/* CUDA_VISIBLE_DEVICES: numbers, UUIDs of GPUs and of instances or the first characters of them;
 * the list ends at the first invalid entry, such as -1. Numbers follow CUDA's own order, which is
 * the driver's if all GPUs are of one model or `order` (CUDA_DEVICE_ORDER) is PCI_BUS_ID. text
 * NULL: not set. Fills in given[0..count). */
void trk__gpu_given_by_cuda(const char *text, const char *order,
			    const struct trk_gpu_device *device, size_t count,
			    enum trk_gpu_given *given);
/* NVIDIA_VISIBLE_DEVICES of a container: "all", "none" or UUIDs; "void" and an empty text mean
 * nothing. Numbers are the host's: they are used only if there are as many as GPUs here. */
void trk__gpu_given_by_nvidia(const char *text, const struct trk_gpu_device *device, size_t count,
			      enum trk_gpu_given *given);
/* Look up /dev/nvidiaN (`node`) in the text of devices.list of a v1 control group. */
enum trk_gpu_given trk__gpu_given_by_cgroup(const char *text, int node);

#endif
