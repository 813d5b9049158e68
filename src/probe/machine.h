/* The machine: processor, memory, disks, GPUs, virtualisation, container and limits.
 *
 * Sources: uname(2), /proc/cpuinfo, /proc/meminfo, /sys/devices/system, /sys/block,
 * /sys/class/dmi/id, control groups, and the drivers of GPUs. No request leaves the machine. */
#ifndef TRK_PROBE_MACHINE_H
#define TRK_PROBE_MACHINE_H

#include "base/env.h"
#include "model/place.h"
#include "probe/gpu/gpu.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cpuinfo.h"
#include "probe/linux/dmi.h"

/* Read everything, without querying GPU drivers (0 GPUs without a sign of one, else unknown).
 * Unreadable values stay unknown. About 1 ms with 64 CPUs. limits: those of this process's control
 * group, if they were read before; else NULL. */
void trk__machine_look(struct trk_place *p, const struct trk_env *env,
		       const struct trk_cgroup_limits *limits);
/* Query the GPU drivers if there is a sign of a GPU, for at most 2 s; hints may be NULL. False when a
 * driver hangs: env must then stay valid until the process ends. */
bool trk__machine_look_gpus(struct trk_place *p, const struct trk_env *env,
			    const struct trk_gpu_hints *hints);

/* Name of the virtual machine monitor that the firmware shows, static text; NULL: unknown. */
const char *trk__virtualization_of(const struct trk_dmi *dmi);

/* Kind of container that the text of /proc/self/cgroup shows, static text, or NULL. Pure. */
const char *trk__container_of(const char *cgroup);

#endif
