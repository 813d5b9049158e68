#include "report/gpu_summary.h"

#include <stdio.h>

double trk__gpus_memory_mib(const struct trk_gpu_log *log)
{
	double bytes = NAN;

	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *d = &log->total[i].device;
		double total = trk__gpu_total_max(&log->total[i], TRK_GPU_MEMORY_TOTAL_METRIC);

		if (isnan(total) && trk__gpu_is_missing(d, TRK_GPU_MEMORY_TOTAL_METRIC))
			return NAN;
		if (d->parent < 0 && !isnan(total))
			bytes = (isnan(bytes) ? 0 : bytes) + total;
	}
	return bytes / 1048576.0;
}

void trk__gpus_slowed_by(uint64_t reasons, char *text, size_t size)
{
	/* Bits of NVIDIA; 1 (idle) and 0x100 (display clock) do not indicate a slowdown. */
	static const struct {
		uint64_t bits;
		const char *word;
	} words[] = {
		{0x4, "power limit"},  {0x8, "hardware"},
		{0x20 | 0x40, "heat"}, {0x80, "power supply"},
		{0x2, "set clocks"},   {0x10, "synchronised with another GPU"},
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && used < size; i++)
		if (reasons & words[i].bits)
			used += (size_t) snprintf(text + used, size - used, "%s%s",
						  used ? ", " : "", words[i].word);
}

/* {"unit", "mean", "max", "reason"}; a count has the increase over the run instead of the mean. */
static void add_metric(struct trk_json *j, const struct trk_gpu_total *t, int metric)
{
	enum trk_gpu_why why = t->device.metric[metric].why;
	double mean = trk__gpu_total_mean(t, (enum trk_gpu_metric) metric);

	trk__json_key_open(j, trk__gpu_metric_keys[metric], '{');
	trk__json_key_or_null(j, "unit", trk__gpu_metric_units[metric]);
	if (trk__gpu_metric_units[metric][0] == 'c')
		trk__json_key_double(j, "increase",
				     trk__gpu_total_increase(t, (enum trk_gpu_metric) metric));
	else
		trk__json_key_double(j, "mean", mean);
	trk__json_key_double(j, "max", trk__gpu_total_max(t, (enum trk_gpu_metric) metric));
	/* If a figure was known earlier: why it no longer is. */
	trk__json_key_or_null(j, "reason",
			      isnan(mean) || (why != TRK_GPU_KNOWN && why != TRK_GPU_NOT_ASKED)
				      ? trk__gpu_why_text(why)
				      : "");
	trk__json_close(j, '}');
}

/* Used when the tracker is in another pid namespace than the driver. */
static const char *const bases[TRK_GPU_BASES] = {
	[TRK_GPU_BY_OPEN] = "the whole device: the driver reports pids of another namespace, and "
			    "only the job has the device open",
	[TRK_GPU_BY_CUDA] = "the whole device: the driver reports pids of another namespace, and "
			    "CUDA_VISIBLE_DEVICES gives it to the job",
	[TRK_GPU_BY_NVIDIA] = "the whole device: the driver reports pids of another namespace, and "
			      "NVIDIA_VISIBLE_DEVICES gives it to the job",
	[TRK_GPU_BY_CGROUP] = "the whole device: the driver reports pids of another namespace, and "
			      "the device list of the control group gives it to the job",
};

static void add_device(struct trk_json *j, const struct trk_gpu_total *t, size_t index)
{
	const struct trk_gpu_device *d = &t->device;
	char slowed[160];

	trk__json_open(j, '{');
	trk__json_key_double(j, "index", (double) index);
	trk__json_key_double(j, "parent", d->parent >= 0 ? d->parent : (double) NAN);
	trk__json_key_or_null(j, "vendor", d->vendor);
	trk__json_key_or_null(j, "name", d->name);
	trk__json_key_or_null(j, "uuid", d->uuid);
	trk__json_key_or_null(j, "bus", d->bus);
	trk__json_key_or_null(j, "driver", d->driver);
	trk__json_key_bool(j, "mig", d->mig);
	trk__json_key_bool(j, "used_by_job", t->used_by_tree);
	trk__json_key_or_null(j, "attribution",
			      d->parent >= 0 ? ""
			      : d->by_device ? bases[d->basis]
					     : "by pid");
	trk__json_key_double(j, "energy_j", t->energy_j);
	trk__json_key_double(j, "throttle_reasons",
			     t->seconds[TRK_GPU_THROTTLE_METRIC] > 0 ? (double) t->throttled
								     : (double) NAN);
	trk__gpus_slowed_by(t->throttled, slowed, sizeof(slowed));
	trk__json_key_or_null(j, "slowed_by", slowed);
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		if (i != TRK_GPU_ENERGY_METRIC && i != TRK_GPU_THROTTLE_METRIC)
			add_metric(j, t, i);
	trk__json_close(j, '}');
}

void trk__gpus_json(struct trk_json *j, const struct trk_gpu_log *log)
{
	trk__json_key_open(j, "gpus", '[');
	for (size_t i = 0; i < log->count; i++)
		add_device(j, &log->total[i], i);
	trk__json_close(j, ']');
}

/* Columns of one metric are adjacent. */
static const struct {
	const char *column;
	enum trk_gpu_metric metric;
} sums[] = {
	{"system_gpu_usage", TRK_GPU_UTILIZATION_METRIC},
	{"system_gpu_utilized", TRK_GPU_UTILIZATION_METRIC},
	{"system_gpu_vram_mib", TRK_GPU_MEMORY_USED_METRIC},
	{"system_gpu_sm_activity", TRK_GPU_SM_ACTIVITY_METRIC},
	{"system_gpu_power_w", TRK_GPU_POWER_METRIC},
	{"system_gpu_energy_j", TRK_GPU_ENERGY_METRIC},
	{"process_gpu_usage", TRK_GPU_TREE_SHARE_METRIC},
	{"process_gpu_utilized", TRK_GPU_TREE_SHARE_METRIC},
	{"process_gpu_vram_mib", TRK_GPU_TREE_MEMORY_METRIC},
};

enum { SUMS = sizeof(sums) / sizeof(sums[0]) };

/* ---- in words ---- */

static bool is_part_of(const struct trk_gpu_log *log, size_t gpu, enum trk_gpu_metric metric)
{
	return log->total[gpu].device.parent < 0 && log->total[gpu].seconds[metric] > 0;
}

/* Whether a sum is known for some GPUs, but not for all. */
static bool is_partial(const struct trk_gpu_log *log, enum trk_gpu_metric metric)
{
	bool any = false, is_missing = false;

	for (size_t i = 0; i < log->count; i++) {
		any |= is_part_of(log, i, metric);
		is_missing |= trk__gpu_is_missing(&log->total[i].device, metric);
	}
	return any && is_missing;
}

static void describe(const struct trk_gpu_log *log, size_t sum, struct trk_buf *b)
{
	enum trk_gpu_metric metric = sums[sum].metric;
	const char *between = " of GPU ";

	trk__buf_puts(b, sums[sum].column);
	for (size_t i = sum + 1; i < SUMS && sums[i].metric == metric; i++)
		trk__buf_printf(b, ", %s", sums[i].column);
	trk__buf_puts(b, ": a lower bound,");
	for (size_t i = 0; i < log->count; i++)
		if (is_part_of(log, i, metric)) {
			trk__buf_printf(b, "%s%zu", between, i);
			between = ", ";
		}
	between = " without GPU ";
	for (size_t i = 0; i < log->count; i++)
		if (trk__gpu_is_missing(&log->total[i].device, metric)) {
			trk__buf_printf(b, "%s%zu (%s)", between, i,
					trk__gpu_why_text(log->total[i].device.metric[metric].why));
			between = ", ";
		}
}

bool trk__gpu_sum_text(const struct trk_gpu_log *log, size_t index, char *text, size_t size)
{
	TRK_BUF_LOCAL(b, size);

	for (size_t i = 0; i < SUMS; i++) {
		if ((i > 0 && sums[i].metric == sums[i - 1].metric) ||
		    !is_partial(log, sums[i].metric) || index-- > 0)
			continue;
		describe(log, i, &b);
		(void) snprintf(text, size, "%.*s", (int) b.len, b.data ? b.data : "");
		return true;
	}
	return false;
}

/* ---- as JSON ---- */

/* {"of": [0], "missing": [{"index": 1, "reason": "…"}], "bound": "lower"}; a GPU that was lost is
 * in both lists. */
static void add_sum(struct trk_json *j, const struct trk_gpu_log *log, enum trk_gpu_metric metric)
{
	bool is_part = false, any = false;

	trk__json_open(j, '{');
	trk__json_key_open(j, "of", '[');
	for (size_t i = 0; i < log->count; i++)
		if (is_part_of(log, i, metric)) {
			trk__json_double(j, (double) i);
			any = true;
		}
	trk__json_close(j, ']');
	trk__json_key_open(j, "missing", '[');
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *d = &log->total[i].device;

		if (!trk__gpu_is_missing(d, metric))
			continue;
		is_part = true;
		trk__json_open(j, '{');
		trk__json_key_double(j, "index", (double) i);
		trk__json_key_text(j, "reason", trk__gpu_why_text(d->metric[metric].why));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_text(j, "bound", any && is_part ? "lower" : NULL);
	trk__json_close(j, '}');
}

void trk__gpu_sums_json(struct trk_json *j, const struct trk_gpu_log *log)
{
	trk__json_key_open(j, "gpu_sums", '{');
	for (size_t i = 0; log->count && i < SUMS; i++) {
		trk__json_key(j, sums[i].column);
		add_sum(j, log, sums[i].metric);
	}
	trk__json_close(j, '}');
}
