#include "report/gpus.h"

#include <stdio.h>
#include <string.h>

size_t trk__gpus_count(const struct trk_gpu_log *log)
{
	size_t n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += log->total[i].device.parent < 0;
	return n;
}

double trk__gpus_memory_mib(const struct trk_gpu_log *log)
{
	double bytes = 0;

	for (size_t i = 0; i < log->count; i++)
		if (log->total[i].device.parent < 0)
			bytes += trk__gpu_total_max(&log->total[i], TRK_GPU_MEMORY_TOTAL_METRIC);
	return log->count ? bytes / 1048576.0 : NAN;
}

void trk__gpus_slowed_by(uint64_t reasons, char *text, size_t size)
{
	/* Of NVIDIA; 1 (idle) and 0x100 (the clock of a display) are no brakes. */
	static const struct {
		uint64_t bits;
		const char *word;
	} words[] = {
		{0x4, "power limit"},   {0x8, "hardware"},   {0x20 | 0x40, "heat"},
		{0x80, "power supply"}, {0x2, "set clocks"}, {0x10, "another GPU in step"},
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && used < size; i++)
		if (reasons & words[i].bits)
			used += (size_t) snprintf(text + used, size - used, "%s%s",
						  used ? ", " : "", words[i].word);
}

static void key_text(struct trk_json *j, const char *key, const char *text)
{
	trk__json_key_text(j, key, text[0] ? text : NULL);
}

static void key_bool(struct trk_json *j, const char *key, bool value)
{
	trk__json_key(j, key);
	trk__json_bool(j, value);
}

/* {"unit", "mean", "max", "reason"}; a counter has neither a mean nor a largest value. */
static void add_metric(struct trk_json *j, const struct trk_gpu_total *t, int metric)
{
	enum trk_gpu_why why = t->device.metric[metric].why;
	double mean = trk__gpu_total_mean(t, (enum trk_gpu_metric) metric);

	trk__json_key(j, trk__gpu_metric_keys[metric]);
	trk__json_open(j, '{');
	key_text(j, "unit", trk__gpu_metric_units[metric]);
	trk__json_key_double(j, "mean", mean);
	trk__json_key_double(j, "max", trk__gpu_total_max(t, (enum trk_gpu_metric) metric));
	/* Of one that was known once: what has ended that. */
	key_text(j, "reason",
		 isnan(mean) || (why != TRK_GPU_KNOWN && why != TRK_GPU_NOT_ASKED)
			 ? trk__gpu_why_text(why)
			 : "");
	trk__json_close(j, '}');
}

/* In a pid namespace of our own, where the driver's pids name nobody that we know. */
static const char *const bases[TRK_GPU_BASES] = {
	[TRK_GPU_BY_OPEN] = "the whole device: the driver's pids are of another namespace, and the "
			    "job has it open alone",
	[TRK_GPU_BY_CUDA] = "the whole device: the driver's pids are of another namespace, and "
			    "CUDA_VISIBLE_DEVICES gives it to the job",
	[TRK_GPU_BY_NVIDIA] = "the whole device: the driver's pids are of another namespace, and "
			      "NVIDIA_VISIBLE_DEVICES gives it to the job",
	[TRK_GPU_BY_CGROUP] = "the whole device: the driver's pids are of another namespace, and "
			      "the device list of the control group gives it to the job",
};

static void add_device(struct trk_json *j, const struct trk_gpu_total *t, size_t index)
{
	const struct trk_gpu_device *d = &t->device;
	char slowed[160];

	trk__json_open(j, '{');
	trk__json_key_double(j, "index", (double) index);
	trk__json_key_double(j, "parent", d->parent >= 0 ? d->parent : (double) NAN);
	key_text(j, "vendor", d->vendor);
	key_text(j, "name", d->name);
	key_text(j, "uuid", d->uuid);
	key_text(j, "bus", d->bus);
	key_text(j, "driver", d->driver);
	key_bool(j, "mig", d->mig);
	key_bool(j, "used_by_job", t->used_by_tree);
	key_text(j, "attribution", d->parent >= 0 ? "" : d->by_device ? bases[d->basis] : "by pid");
	trk__json_key_double(j, "energy_j", t->energy_j);
	trk__json_key_double(j, "throttle_reasons",
			     t->seconds[TRK_GPU_THROTTLE_METRIC] > 0 ? (double) t->throttled
								     : (double) NAN);
	trk__gpus_slowed_by(t->throttled, slowed, sizeof(slowed));
	key_text(j, "slowed_by", slowed);
	for (int i = 0; i < TRK_GPU_METRICS; i++)
		if (i != TRK_GPU_ENERGY_METRIC && i != TRK_GPU_THROTTLE_METRIC)
			add_metric(j, t, i);
	trk__json_close(j, '}');
}

void trk__gpus_json(struct trk_json *j, const struct trk_gpu_log *log)
{
	trk__json_key(j, "gpus");
	trk__json_open(j, '[');
	for (size_t i = 0; i < log->count; i++)
		add_device(j, &log->total[i], i);
	trk__json_close(j, ']');
}
