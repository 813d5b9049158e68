#include "probe/gpu/gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

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

static atomic_int threads;

int trk__gpu_threads(void)
{
	return atomic_load(&threads);
}

void trk__gpu_count_thread(int by)
{
	(void) atomic_fetch_add(&threads, by);
}

const char *trk__gpu_why_text(enum trk_gpu_why why)
{
	static const char *const texts[] = {
#define X(id, text) [TRK_GPU_##id] = text,
		TRK_GPU_WHY_LIST(X)
#undef X
	};

	return (size_t) why < sizeof(texts) / sizeof(texts[0]) ? texts[why] : "unknown";
}

struct trk_gpu_device *trk__gpu_add_device(struct trk_gpu_scan *scan, const char *vendor)
{
	struct trk_gpu_device *d;

	if (scan->devices == TRK_GPUS_MAX)
		return NULL;
	d = &scan->device[scan->devices++];
	memset(d, 0, sizeof(*d));
	(void) snprintf(d->vendor, sizeof(d->vendor), "%s", vendor);
	d->parent = d->node = -1;
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		d->metric[i] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	return d;
}

/* Backwards: those of one device come one after the other. */
struct trk_gpu_process *trk__gpu_add_process(struct trk_gpu_scan *scan, size_t device, pid_t pid,
					     unsigned int part)
{
	struct trk_gpu_process *p;

	for (size_t i = scan->processes; i-- > 0 && scan->process[i].device == device;)
		if (scan->process[i].pid == pid && scan->process[i].part == part)
			return &scan->process[i];
	if (scan->processes == TRK_GPU_PROCESSES_MAX)
		return NULL;
	p = &scan->process[scan->processes++];
	*p = (struct trk_gpu_process){
		.device = device, .pid = pid, .part = part, .bytes = NAN, .share = NAN};
	return p;
}

/* ---- sums ---- */

static void add(struct trk_gpu_value *sum, struct trk_gpu_value v)
{
	if (v.why == TRK_GPU_NOT_ASKED)
		return;
	if (sum->why == TRK_GPU_KNOWN && v.why == TRK_GPU_KNOWN)
		sum->value += v.value;
	else if (sum->why == TRK_GPU_KNOWN)
		*sum = v;
}

static struct trk_gpu_value is_busy(struct trk_gpu_value share)
{
	return share.why == TRK_GPU_KNOWN ? trk__gpu_known(share.value > 0) : share;
}

/* What no device was asked for is no zero. */
static void forget_unasked(const struct trk_gpu_device *device, size_t count,
			   struct trk_gpu_sums *s)
{
	const struct {
		enum trk_gpu_metric metric;
		struct trk_gpu_value *sum;
	} sums[] = {
		{TRK_GPU_UTILIZATION_METRIC, &s->usage},
		{TRK_GPU_UTILIZATION_METRIC, &s->utilized},
		{TRK_GPU_MEMORY_USED_METRIC, &s->vram},
		{TRK_GPU_TREE_SHARE_METRIC, &s->tree_usage},
		{TRK_GPU_TREE_SHARE_METRIC, &s->tree_utilized},
		{TRK_GPU_TREE_MEMORY_METRIC, &s->tree_vram},
		{TRK_GPU_POWER_METRIC, &s->power},
		{TRK_GPU_ENERGY_METRIC, &s->energy},
		{TRK_GPU_SM_ACTIVITY_METRIC, &s->sm_activity},
	};

	for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++) {
		bool asked = false;

		for (size_t i = 0; i < count; i++)
			asked |= device[i].parent < 0 &&
				 device[i].metric[sums[k].metric].why != TRK_GPU_NOT_ASKED;
		if (!asked)
			*sums[k].sum = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
	}
}

void trk__gpu_sum(const struct trk_gpu_device *device, size_t count, struct trk_gpu_sums *ret)
{
	const struct trk_gpu_value none = trk__gpu_known(0);
	struct trk_gpu_sums s = {none, none, none, none, none, none, none, none, none, none, 0};

	for (size_t i = 0; i < count; i++) {
		const struct trk_gpu_value *m = device[i].metric;
		struct trk_gpu_value heat = m[TRK_GPU_TEMPERATURE_METRIC];

		if (device[i].parent >= 0)
			continue;
		s.gpus++;
		add(&s.usage, m[TRK_GPU_UTILIZATION_METRIC]);
		add(&s.utilized, is_busy(m[TRK_GPU_UTILIZATION_METRIC]));
		add(&s.vram, m[TRK_GPU_MEMORY_USED_METRIC]);
		add(&s.tree_usage, m[TRK_GPU_TREE_SHARE_METRIC]);
		add(&s.tree_utilized, is_busy(m[TRK_GPU_TREE_SHARE_METRIC]));
		add(&s.tree_vram, m[TRK_GPU_TREE_MEMORY_METRIC]);
		add(&s.power, m[TRK_GPU_POWER_METRIC]);
		add(&s.energy, m[TRK_GPU_ENERGY_METRIC]);
		add(&s.sm_activity, m[TRK_GPU_SM_ACTIVITY_METRIC]);
		if (heat.why == TRK_GPU_KNOWN && heat.value < s.temperature.value)
			heat = s.temperature; /* the hottest */
		s.temperature = heat.why == TRK_GPU_KNOWN ? heat : s.temperature;
	}
	forget_unasked(device, count, &s);
	if (s.temperature.value <= 0)
		s.temperature = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	*ret = s;
}
