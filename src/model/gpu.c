#include "model/gpu.h"

const char *const trk__gpu_metric_keys[TRK_GPU_METRICS] = {
#define X(id, key, unit) [TRK_GPU_##id##_METRIC] = key,
	TRK_GPU_METRIC_LIST(X)
#undef X
};

const char *const trk__gpu_metric_units[TRK_GPU_METRICS] = {
#define X(id, key, unit) [TRK_GPU_##id##_METRIC] = unit,
	TRK_GPU_METRIC_LIST(X)
#undef X
};

const char *trk__gpu_why_text(enum trk_gpu_why why)
{
	static const char *const texts[] = {
#define X(id, text) [TRK_GPU_##id] = text,
		TRK_GPU_WHY_LIST(X)
#undef X
	};

	return (size_t) why < sizeof(texts) / sizeof(texts[0]) ? texts[why] : "unknown";
}

/* ---- sums ---- */

/* Add known values; without any, keep the first reason. */
static void add_value(struct trk_gpu_value *sum, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_KNOWN)
		*sum = trk__gpu_known((sum->why == TRK_GPU_KNOWN ? sum->value : 0) + v.value);
	else if (sum->why == TRK_GPU_NOT_ASKED || sum->why == TRK_GPU_SHARED_MEMORY)
		*sum = v;
}

static struct trk_gpu_value is_busy(struct trk_gpu_value share)
{
	return share.why == TRK_GPU_KNOWN ? trk__gpu_known(share.value > 0) : share;
}

bool trk__gpu_is_missing(const struct trk_gpu_device *d, enum trk_gpu_metric metric)
{
	enum trk_gpu_why why = d->metric[metric].why;

	return d->parent < 0 && why != TRK_GPU_KNOWN && why != TRK_GPU_NOT_ASKED &&
	       why != TRK_GPU_SHARED_MEMORY;
}

void trk__gpu_sum(const struct trk_gpu_device *device, size_t count, struct trk_gpu_sums *ret)
{
	const struct trk_gpu_value none = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	struct trk_gpu_sums s = {none, none, none, none, none, none, none, none, none, none, 0};

	s.temperature = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_value *m = device[i].metric;
		struct trk_gpu_value heat = m[TRK_GPU_TEMPERATURE_METRIC];

		if (device[i].parent >= 0)
			continue;
		s.gpus++;
		add_value(&s.usage, m[TRK_GPU_UTILIZATION_METRIC]);
		add_value(&s.utilized, is_busy(m[TRK_GPU_UTILIZATION_METRIC]));
		add_value(&s.vram, m[TRK_GPU_MEMORY_USED_METRIC]);
		add_value(&s.tree_usage, m[TRK_GPU_TREE_SHARE_METRIC]);
		add_value(&s.tree_utilized, is_busy(m[TRK_GPU_TREE_SHARE_METRIC]));
		add_value(&s.tree_vram, m[TRK_GPU_TREE_MEMORY_METRIC]);
		add_value(&s.power, m[TRK_GPU_POWER_METRIC]);
		add_value(&s.energy, m[TRK_GPU_ENERGY_METRIC]);
		add_value(&s.sm_activity, m[TRK_GPU_SM_ACTIVITY_METRIC]);
		/* The maximum; a sleeping sensor reads 0. */
		if (heat.why == TRK_GPU_KNOWN && heat.value > 0 &&
		    !(s.temperature.value >= heat.value))
			s.temperature = heat;
	}
	*ret = s;
}
