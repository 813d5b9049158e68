/* The GPUs: their poller is asked in every tick, and answers when it can. */
#include "base/clock.h"
#include "sample/sampler_private.h"

#define GPU_AGE_NS (2 * TRK_NS_PER_S) /* an answer that is older counts as none */

/* The processes that are there, or were at the last look that saw any: what a job did with its GPUs
 * is still to be had when it has just ended. */
void trk__sampler_ask_gpus(struct trk_sampler *s)
{
	size_t n;

	if (!s->gpu)
		return;
	if (!s->tree) {
		trk__gpu_poller_ask(s->gpu, NULL, 0);
		return;
	}
	n = trk__tree_pids(s->tree, NULL, 0);
	if (n > 0)
		s->gpu_pids = trk__tree_pids(s->tree, s->gpu_pid, GPU_PIDS_MAX);
	if (s->gpu_pids > GPU_PIDS_MAX)
		s->gpu_pids = GPU_PIDS_MAX;
	trk__gpu_poller_ask(s->gpu, s->gpu_pid, s->gpu_pids);
}

static void set_gpu(struct trk_sampler *s, int column, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN && v.value >= 0)
		trk__sample_set(&s->row, column,
				(int64_t) (v.value * (double) trk__columns[column].divisor + 0.5));
}

/* v in bytes; the column counts MiB. */
static void set_gpu_bytes(struct trk_sampler *s, int column, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN && v.value >= 0)
		trk__sample_set(&s->row, column, (int64_t) v.value);
}

static void set_gpu_energy(struct trk_sampler *s, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN)
		trk__sampler_set_delta(s, TRK_SYSTEM_GPU_ENERGY, (uint64_t) (v.value * 1000));
}

void trk__sampler_read_gpus(struct trk_sampler *s)
{
	uint64_t interval_ns = (uint64_t) s->row.value[TRK_INTERVAL] * 1000;
	uint64_t age_ns = 3 * interval_ns > GPU_AGE_NS ? 3 * interval_ns : GPU_AGE_NS;
	const struct trk_gpu_sums *sums;

	if (!s->gpu)
		return;
	s->gpus = trk__gpu_poller_take(s->gpu, s->options.min_interval_ns / 4, age_ns);
	if (!s->gpus)
		return;
	sums = &s->gpus->sums;
	if (!s->options.no_system) {
		set_gpu(s, TRK_SYSTEM_GPU_USAGE, sums->usage);
		set_gpu_bytes(s, TRK_SYSTEM_GPU_VRAM, sums->vram);
		set_gpu(s, TRK_SYSTEM_GPU_UTILIZED, sums->utilized);
		set_gpu(s, TRK_SYSTEM_GPU_SM_ACTIVITY, sums->sm_activity);
		set_gpu(s, TRK_SYSTEM_GPU_POWER, sums->power);
		set_gpu(s, TRK_SYSTEM_GPU_TEMPERATURE, sums->temperature);
		set_gpu_energy(s, sums->energy);
	}
	if (!s->tree)
		return;
	set_gpu(s, TRK_PROCESS_GPU_USAGE, sums->tree_usage);
	set_gpu(s, TRK_PROCESS_GPU_UTILIZED, sums->tree_utilized);
	if (trk__tree_state(s->tree)->processes > 0)
		set_gpu_bytes(s, TRK_PROCESS_GPU_VRAM, sums->tree_vram);
}
