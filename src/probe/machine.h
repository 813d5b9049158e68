/* The machine: processor, memory, disks, GPUs, virtualisation, container and limits.
 *
 * Sources: uname(2), /proc/cpuinfo, /proc/meminfo, /sys/devices/system, /sys/block,
 * /sys/class/dmi/id, control groups, and the drivers of GPUs. No request leaves the machine. */
#ifndef TRK_PROBE_MACHINE_H
#define TRK_PROBE_MACHINE_H

#include "base/env.h"
#include "model/place.h"
#include "probe/gpu/gpu.h"
#include "probe/linux/cpuinfo.h"
#include "probe/linux/dmi.h"

/* Read all of it; what cannot be read stays unknown. About 1 ms on a machine of 64 CPUs. */
void trk__machine_read(const struct trk_env *env, struct trk_server *ret);

/* As above, into a place; without GPUs, which need the driver. */
void trk__machine_look(struct trk_place *p, const struct trk_env *env);
/* Ask the drivers of GPUs, for at most 2 s. always: even without a sign of one; hints may be NULL.
 * False when a driver hangs: env must then stay valid until the process ends. */
bool trk__machine_look_gpus(struct trk_place *p, const struct trk_env *env, bool always,
			    const struct trk_gpu_hints *hints);

/* Which virtual machine monitor the firmware's texts stand for; NULL: none that is known.
 * Static. */
const char *trk__virtualization_of(const struct trk_dmi *dmi);

/* The kind of container that /proc/self/cgroup names, or NULL. Pure, static. */
const char *trk__container_of(const char *cgroup);

#endif
