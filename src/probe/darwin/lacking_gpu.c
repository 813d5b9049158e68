/* Stubs: GPUs are not read on macOS. */
#include "probe/gpu/poller.h"

struct trk_gpu_poller *trk__gpu_poller_new(const struct trk_env *env, enum trk_gpu_mode mode,
					   const struct trk_gpu_hints *hints,
					   const struct trk_gpu_ops *const *sources)
{
	return NULL;
}

void trk__gpu_poller_free(struct trk_gpu_poller *p)
{
}

void trk__gpu_poller_ask(struct trk_gpu_poller *p, const pid_t *pid, size_t pids)
{
}

void trk__gpu_poller_force_full(struct trk_gpu_poller *p)
{
}

const struct trk_gpu_reading *trk__gpu_poller_take(struct trk_gpu_poller *p, uint64_t wait_ns,
						   uint64_t max_age_ns)
{
	return NULL;
}

const char *trk__gpu_poller_text(struct trk_gpu_poller *p)
{
	return "GPUs are not read on this system";
}

enum trk_gpu_poller_state trk__gpu_poller_state(struct trk_gpu_poller *p)
{
	return TRK_GPU_USELESS;
}
