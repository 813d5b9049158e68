/* The machine on Windows: the registry and GetLogicalProcessorInformationEx. Only NVIDIA GPUs are
 * read. */
#include "probe/machine.h"

#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/os.h"
#include "probe/gpu/poller.h"
#include "probe/windows/host.h"

#define PROCESSOR "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"
#define FIRMWARE  "HARDWARE\\DESCRIPTION\\System\\BIOS"

const struct trk_gpu_ops *const trk__gpu_sources[] = {&trk__gpu_nvml, NULL};

static double known(uint64_t value)
{
	return value ? (double) value : (double) NAN;
}

static void read_processor(struct trk_server *s)
{
	trk__nt_text(PROCESSOR, "ProcessorNameString", s->cpu_model, sizeof(s->cpu_model));
	trk__nt_text(PROCESSOR, "VendorIdentifier", s->cpu_vendor, sizeof(s->cpu_vendor));
	s->vcpus = known(trk__nt_processors());
	s->cores = known(trk__nt_cores());
	s->sockets = NAN;
	s->threads_per_core = s->vcpus / s->cores;
}

void trk__machine_read(const struct trk_env *env, struct trk_server *ret)
{
	struct utsname name;

	*ret = (struct trk_server){
		.numa_nodes = NAN,
		.disks = NAN,
		.disk_gb = NAN,
		.cpu_limit = NAN,
		.memory_limit_mib = NAN,
		.gpu_count = NAN,
		.gpu_memory_mib = NAN,
	};
	if (uname(&name) == 0) {
		(void) snprintf(ret->os, sizeof(ret->os), "%s", name.sysname);
		(void) snprintf(ret->kernel, sizeof(ret->kernel), "%s", name.release);
		(void) snprintf(ret->arch, sizeof(ret->arch), "%s", name.machine);
	}
	read_processor(ret);
	ret->memory_mib = known(trk__os_memory_bytes()) / 1048576;
	trk__nt_text(FIRMWARE, "SystemManufacturer", ret->maker, sizeof(ret->maker));
	trk__nt_text(FIRMWARE, "SystemProductName", ret->product, sizeof(ret->product));
	(void) snprintf(ret->gpu_reason, sizeof(ret->gpu_reason), "%s",
			trk__gpu_nvml.is_likely(env)
				? "a GPU may be present; its driver was not queried"
				: "no driver of NVIDIA; other GPUs are not read on Windows");
}
