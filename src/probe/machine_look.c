/* The machine, and a query of the drivers for its GPUs, in a thread. */
#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "probe/gpu/poller.h"
#include "probe/machine.h"

enum { LOOKS = 400 };
#define LOOK_NS TRK_NS_PER_S

double trk__machine_known(uint64_t value)
{
	return value ? (double) value : (double) NAN;
}

void trk__machine_look(struct trk_place *p, const struct trk_env *env)
{
	struct trk_server *s = &p->server;
	struct utsname name;

	*s = (struct trk_server){
		.vcpus = NAN,
		.cores = NAN,
		.sockets = NAN,
		.threads_per_core = NAN,
		.numa_nodes = NAN,
		.memory_mib = NAN,
		.disks = NAN,
		.disk_gb = NAN,
		.cpu_limit = NAN,
		.memory_limit_mib = NAN,
		.gpu_count = NAN,
		.gpu_memory_mib = NAN,
	};
	if (uname(&name) == 0) {
		(void) snprintf(s->os, sizeof(s->os), "%.31s", name.sysname);
		(void) snprintf(s->kernel, sizeof(s->kernel), "%.95s", name.release);
		(void) snprintf(s->arch, sizeof(s->arch), "%.31s", name.machine);
	}
	trk__machine_fill(env, s);
	p->has_server = true;
}

bool trk__machine_look_gpus(struct trk_place *p, const struct trk_env *env, bool always,
			    const struct trk_gpu_hints *hints)
{
	struct trk_gpu_poller *poller =
		trk__gpu_poller_new(env, always ? TRK_GPU_ALWAYS : TRK_GPU_AUTO, hints, NULL);
	const struct timespec step = {0, (long) (LOOK_NS / LOOKS)};
	const struct trk_gpu_reading *reading = NULL;
	uint64_t until_ns = trk__clock_monotonic_ns() + 2 * LOOK_NS;

	if (!poller)
		return true;
	/* A source that starts a program is ready at once, but lists its devices later. */
	while (!(reading && reading->devices) && trk__clock_monotonic_ns() < until_ns) {
		(void) nanosleep(&step, NULL);
		if (trk__gpu_poller_state(poller) == TRK_GPU_OPENING)
			continue;
		if (trk__gpu_poller_state(poller) == TRK_GPU_USELESS)
			break;
		trk__gpu_poller_ask(poller, NULL, 0);
		reading = trk__gpu_poller_take(poller, LOOK_NS, 2 * LOOK_NS);
	}
	if (reading && reading->devices)
		trk__place_take_gpus(p, reading->device, sizeof(reading->device[0]),
				     reading->devices);
	else {
		p->server.gpu_count = p->server.gpu_memory_mib = NAN;
		(void) snprintf(p->server.gpu_reason, sizeof(p->server.gpu_reason), "%s",
				trk__gpu_poller_text(poller));
	}
	trk__gpu_poller_free(poller);
	return trk__gpu_threads() == 0;
}
