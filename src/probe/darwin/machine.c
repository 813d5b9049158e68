/* The machine on macOS: sysctl(3) and uname(2). GPUs are not read. */
#ifdef __APPLE__ /* else a checker of code reads this file with the headers of another system */

#include "probe/machine.h"

#include <stdio.h>

#include "probe/darwin/host.h"

static void read_processor(struct trk_server *s)
{
	trk__mac_text("machdep.cpu.brand_string", s->cpu_model, sizeof(s->cpu_model));
	trk__mac_text("machdep.cpu.vendor", s->cpu_vendor, sizeof(s->cpu_vendor));
	s->vcpus = trk__machine_known(trk__mac_number("hw.logicalcpu"));
	s->cores = trk__machine_known(trk__mac_number("hw.physicalcpu"));
	s->sockets = trk__machine_known(trk__mac_number("hw.packages"));
	s->threads_per_core = s->vcpus / s->cores;
}

void trk__machine_fill(const struct trk_env *env, struct trk_server *ret)
{
	bool is_guest = trk__mac_number("kern.hv_vmm_present") != 0;

	read_processor(ret);
	ret->memory_mib = trk__machine_known(trk__mac_number("hw.memsize")) / 1048576;
	(void) snprintf(ret->maker, sizeof(ret->maker), "Apple");
	trk__mac_text("hw.model", ret->product, sizeof(ret->product));
	(void) snprintf(ret->virtualization, sizeof(ret->virtualization), "%s",
			is_guest ? "vm" : "none");
	(void) snprintf(ret->virtualization_from, sizeof(ret->virtualization_from),
			"kern.hv_vmm_present");
	(void) snprintf(ret->container, sizeof(ret->container), "none");
	(void) snprintf(ret->gpu_reason, sizeof(ret->gpu_reason), "GPUs are not read on macOS");
}

#endif
