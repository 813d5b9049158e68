/* The thread that reads the drivers, and the newest reading.
 *
 * A reading is started after each look at the process tree and fetched at the end of the same tick:
 * if it is ready by then, or within the short wait that the caller allows, it belongs to the tick;
 * else the previous one is used, unless it is too old. A driver that hangs costs one such wait, not
 * one a tick. */
#ifndef TRK_PROBE_GPU_POLLER_H
#define TRK_PROBE_GPU_POLLER_H

#include "probe/gpu/gpu.h"

struct trk_gpu_poller; /* opaque */

struct trk_gpu_reading {
	uint64_t at_ns; /* monotonic time of the request; 0: none yet */
	size_t devices;
	struct trk_gpu_device device[TRK_GPUS_MAX];
	struct trk_gpu_sums sums;
};

enum trk_gpu_mode {
	TRK_GPU_AUTO, /* where there is a sign of one */
	TRK_GPU_NEVER,
	TRK_GPU_ALWAYS, /* try every source, sign or not */
};

/* NULL where no source is likely, or no thread can be had. env is borrowed: its descriptors must
 * stay open for as long as the process lives if the driver may hang. hints may be NULL. `sources`
 * is a NULL-terminated list; NULL: all there are. */
struct trk_gpu_poller *trk__gpu_poller_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources);
/* Waits for the thread for a moment; one that hangs is left behind with what it uses. */
void trk__gpu_poller_free(struct trk_gpu_poller *p);

/* Ask for a reading, of these tracked processes too (NULL: of none). */
void trk__gpu_poller_ask(struct trk_gpu_poller *p, const pid_t *pid, size_t pids);
/* The newest reading that is not older than max_age_ns, after a wait of up to wait_ns for the one
 * requested last. A view until the next call; NULL: none. */
const struct trk_gpu_reading *trk__gpu_poller_take(struct trk_gpu_poller *p, uint64_t wait_ns,
						   uint64_t max_age_ns);
/* Which sources answer, or why none does. A view until the next call. */
const char *trk__gpu_poller_text(struct trk_gpu_poller *p);
/* Has every source been opened or found missing? */
bool trk__gpu_poller_is_ready(struct trk_gpu_poller *p);
/* Was every source found missing? */
bool trk__gpu_poller_is_useless(struct trk_gpu_poller *p);

/* Of this system: machine.c has the table. NULL-terminated. */
extern const struct trk_gpu_ops *const trk__gpu_sources[];

#endif
