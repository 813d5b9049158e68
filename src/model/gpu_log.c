#include "model/gpu_log.h"
#include "base/maths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- totals over rows ---- */

void trk__gpu_log_release(struct trk_gpu_log *log)
{
	free(log->total);
	*log = (struct trk_gpu_log){.count = 0};
}

static int make_room(struct trk_gpu_log *log, size_t count)
{
	struct trk_gpu_total *bigger;

	if (count <= log->count)
		return 0;
	bigger = realloc(log->total, count * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	log->total = bigger;
	for (size_t i = log->count; i < count; i++) {
		memset(&bigger[i], 0, sizeof(bigger[i]));
		bigger[i].energy_j = bigger[i].counter_j = NAN;
		bigger[i].device.known = UINT64_MAX;
		for (int k = 0; k < TRK_GPU_METRICS; k++) {
			bigger[i].device.metric[k] = trk__gpu_unknown(TRK_GPU_NOT_ASKED);
			bigger[i].max[k] = bigger[i].first[k] = NAN;
		}
	}
	log->count = count;
	return 0;
}

static uint64_t find_known(const struct trk_gpu_device *d)
{
	uint64_t known = 0;

	for (int i = 0; i < TRK_GPU_METRICS; i++)
		if (d->metric[i].why == TRK_GPU_KNOWN)
			known |= 1ull << i;
	return known;
}

static void count_device(struct trk_gpu_total *t, const struct trk_gpu_device *d, uint64_t known,
			 double seconds)
{
	double joules = d->metric[TRK_GPU_ENERGY_METRIC].value;

	for (uint64_t left = known; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		double value = d->metric[i].value;

		t->sum[i] += value * seconds;
		t->seconds[i] += seconds;
		if (!(t->max[i] >= value))
			t->max[i] = value;
		if (isnan(t->first[i]))
			t->first[i] = value;
	}
	/* A counter that went back was reset. */
	if (joules >= t->counter_j)
		t->energy_j = (isnan(t->energy_j) ? 0 : t->energy_j) + joules - t->counter_j;
	if (!isnan(joules))
		t->counter_j = joules;
	if (d->metric[TRK_GPU_THROTTLE_METRIC].why == TRK_GPU_KNOWN)
		t->throttled |= (uint64_t) trk__whole(d->metric[TRK_GPU_THROTTLE_METRIC].value, 0,
						      INT64_MAX);
	if (d->metric[TRK_GPU_TREE_SHARE_METRIC].value > 0 ||
	    d->metric[TRK_GPU_TREE_MEMORY_METRIC].value > 0)
		t->used_by_tree = true;
	t->device = *d;
	t->device.known = known;
}

void trk__gpu_log_renew(struct trk_gpu_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		log->total[i].device.known = UINT64_MAX;
}

/* A device that had no value, and has none, changes nothing. */
static int add_row(struct trk_gpu_log *log, const struct trk_gpu_device *device, size_t count,
		   bool is_read, int64_t elapsed_us, double seconds)
{
	int r = make_room(log, count);

	if (r < 0)
		return r;
	if (!(seconds > 0))
		seconds = 1e-6;
	for (size_t i = 0; i < count; i++) {
		uint64_t known = is_read ? device[i].known : find_known(&device[i]);

		if (!is_read || known || log->total[i].device.known)
			count_device(&log->total[i], &device[i], known, seconds);
	}
	log->elapsed_us = elapsed_us;
	log->rows++;
	return 0;
}

int trk__gpu_log_add(struct trk_gpu_log *log, const struct trk_gpu_device *device, size_t count,
		     int64_t elapsed_us, double seconds)
{
	return add_row(log, device, count, false, elapsed_us, seconds);
}

int trk__gpu_log_add_read(struct trk_gpu_log *log, const struct trk_gpu_device *device,
			  size_t count, int64_t elapsed_us, double seconds)
{
	return add_row(log, device, count, true, elapsed_us, seconds);
}

double trk__gpu_total_mean(const struct trk_gpu_total *total, enum trk_gpu_metric metric)
{
	return total->seconds[metric] > 0 ? total->sum[metric] / total->seconds[metric] : NAN;
}

double trk__gpu_total_max(const struct trk_gpu_total *total, enum trk_gpu_metric metric)
{
	return total->max[metric];
}

double trk__gpu_total_increase(const struct trk_gpu_total *total, enum trk_gpu_metric metric)
{
	bool is_counter = trk__gpu_metric_units[metric][0] == 'c';

	return is_counter ? total->max[metric] - total->first[metric] : (double) NAN;
}

double trk__gpu_log_energy(const struct trk_gpu_log *log, bool *ret_all)
{
	double used = NAN, all = NAN;
	bool any = false;

	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_total *t = &log->total[i];

		if (t->device.parent >= 0)
			continue;
		any |= t->used_by_tree;
		if (isnan(t->energy_j))
			continue;
		all = (isnan(all) ? 0 : all) + t->energy_j;
		if (t->used_by_tree)
			used = (isnan(used) ? 0 : used) + t->energy_j;
	}
	*ret_all = !any;
	return any ? used : all;
}

bool trk__gpu_log_is_unused(const struct trk_gpu_log *log)
{
	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_total *t = &log->total[i];

		/* Memory must be known, now and before (NaN is not 0); a share may be unknown for
		 * every process of a device. */
		if (t->device.parent < 0 &&
		    (t->max[TRK_GPU_TREE_SHARE_METRIC] > 0 ||
		     t->max[TRK_GPU_TREE_MEMORY_METRIC] != 0 ||
		     t->device.metric[TRK_GPU_TREE_MEMORY_METRIC].why != TRK_GPU_KNOWN))
			return false;
	}
	return log->count > 0;
}

bool trk__gpu_log_energy_is_cut(const struct trk_gpu_log *log)
{
	bool all, cut = false;

	(void) trk__gpu_log_energy(log, &all);
	for (size_t i = 0; i < log->count; i++)
		if (log->total[i].device.parent < 0 && (all || log->total[i].used_by_tree))
			cut |= trk__gpu_is_missing(&log->total[i].device, TRK_GPU_ENERGY_METRIC) ||
			       isnan(log->total[i].energy_j);
	return cut;
}

bool trk__gpu_log_is_partial(const struct trk_gpu_log *log, enum trk_gpu_metric metric)
{
	bool is_missing = false, is_known = false;

	for (size_t i = 0; i < log->count; i++) {
		const struct trk_gpu_device *d = &log->total[i].device;

		if (!trk__gpu_is_missing(d, metric))
			is_known |= d->parent < 0 && log->total[i].seconds[metric] > 0;
		else if (d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].why != TRK_GPU_SHARED_MEMORY)
			is_missing = true;
	}
	return is_missing && is_known;
}
