/* The machine on Windows: the registry and GetLogicalProcessorInformationEx. Only NVIDIA GPUs are
 * read. */
#include "probe/machine.h"

#include <stdio.h>

#include "base/os.h"
#include "probe/gpu/poller.h"
#include "probe/windows/host.h"

#define PROCESSOR "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"
#define FIRMWARE  "HARDWARE\\DESCRIPTION\\System\\BIOS"

const struct trk_gpu_ops *const trk__gpu_sources[] = {&trk__gpu_nvml, NULL};

static void read_processor(struct trk_server *s)
{
	trk__nt_text(PROCESSOR, "ProcessorNameString", s->cpu_model, sizeof(s->cpu_model));
	trk__nt_text(PROCESSOR, "VendorIdentifier", s->cpu_vendor, sizeof(s->cpu_vendor));
	s->vcpus = trk__machine_known(trk__nt_processors());
	s->cores = trk__machine_known(trk__nt_cores());
	s->threads_per_core = s->vcpus / s->cores;
}

void trk__machine_fill(const struct trk_env *env, struct trk_server *ret)
{
	read_processor(ret);
	ret->memory_mib = trk__machine_known(trk__os_memory_bytes()) / 1048576;
	trk__nt_text(FIRMWARE, "SystemManufacturer", ret->maker, sizeof(ret->maker));
	trk__nt_text(FIRMWARE, "SystemProductName", ret->product, sizeof(ret->product));
	(void) snprintf(ret->gpu_reason, sizeof(ret->gpu_reason), "%s",
			trk__gpu_nvml.is_likely(env)
				? "a GPU may be present; its driver was not queried"
				: "no driver of NVIDIA; other GPUs are not read on Windows");
}
