/* The worker that reads the drivers, and the newest reading.
 *
 * The drivers' libraries are loaded and called in a process of its own, because they may hang,
 * crash or end the process (probe/linux/worker.h). If it ends, the GPUs are unknown and it is
 * started once more. In a host program it is a thread.
 *
 * A reading is started after each update of the process tree and fetched at the end of the same
 * tick: if it is ready by then, or within the short wait that the caller allows, it belongs to the
 * tick; otherwise the previous one is used, unless it is too old. A driver that hangs costs one
 * such wait in total, not one per tick. */
#ifndef TRK_PROBE_GPU_POLLER_H
#define TRK_PROBE_GPU_POLLER_H

#include "probe/gpu/gpu.h"

struct trk_gpu_poller; /* opaque */

struct trk_gpu_reading {
	uint64_t at_ns; /* monotonic time of the request; 0: none yet */
	struct trk_gpu_sums sums;
	size_t devices;
	struct trk_gpu_device device[TRK_GPUS_MAX];
};

enum trk_gpu_mode {
	TRK_GPU_AUTO,   /* sources of which there is a sign */
	TRK_GPU_ALWAYS, /* try every source, sign or not */
	TRK_GPU_NEVER,
};

/* NULL where no source is likely, or no worker can be started. env is borrowed: its descriptors
 * must stay open until the process ends if the driver may hang. hints is borrowed; NULL: in a host
 * program, where no process is started. `sources` is a NULL-terminated list; NULL: all. */
struct trk_gpu_poller *trk__gpu_poller_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources);
/* Waits for a thread, but briefly: if it hangs, it is left running and its memory is not freed. */
void trk__gpu_poller_free(struct trk_gpu_poller *p);

/* Request a reading, including these tracked processes (NULL: none). */
void trk__gpu_poller_ask(struct trk_gpu_poller *p, const pid_t *pid, size_t pids);
/* The next readings read everything, whatever it costs: they are the last ones of a run. */
void trk__gpu_poller_force_full(struct trk_gpu_poller *p);
/* The newest reading that is not older than max_age_ns, after a wait of up to wait_ns for the one
 * requested last. Valid until the next call; NULL: none. */
const struct trk_gpu_reading *trk__gpu_poller_take(struct trk_gpu_poller *p, uint64_t wait_ns,
						   uint64_t max_age_ns);
/* Names the working sources, or the reason why there is none. Valid until the next call. */
const char *trk__gpu_poller_text(struct trk_gpu_poller *p);
enum trk_gpu_poller_state {
	TRK_GPU_OPENING,
	TRK_GPU_OPENED,
	TRK_GPU_USELESS, /* every source was found missing, or the worker ended twice */
};
enum trk_gpu_poller_state trk__gpu_poller_state(struct trk_gpu_poller *p);

/* The sources of sources.def, NULL-terminated. */
extern const struct trk_gpu_ops *const trk__gpu_sources[];

#endif
