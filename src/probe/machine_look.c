/* Queries the drivers for the machine's GPUs, in a thread. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "probe/gpu/poller.h"
#include "probe/machine.h"

enum { LOOKS = 400 };
#define LOOK_NS TRK_NS_PER_S

void trk__machine_look(struct trk_place *p, const struct trk_env *env)
{
	trk__machine_read(env, &p->server);
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
