#include "top/watch.h"
#include "base/maths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading the recording ---- */

static bool grow(void **array, size_t *cap, size_t count, size_t max, size_t size)
{
	size_t more = *cap ? *cap * 2 : 256;
	void *bigger;

	if (count < *cap)
		return true;
	if (more > max)
		more = max;
	if (more <= *cap)
		return false;
	bigger = realloc(*array, more * size);
	if (!bigger)
		return false;
	*array = bigger;
	*cap = more;
	return true;
}

static float larger(float a, float b)
{
	return a > b ? a : b;
}

static float add(float a, float b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

/* Merge two points: time-weighted means, peaks of memory, sums of time spent. */
static struct trk_watch_point merged(const struct trk_watch_point *a,
				     const struct trk_watch_point *b)
{
	struct trk_watch_point m = {.end_s = b->end_s, .seconds = a->seconds + b->seconds};
	float share = m.seconds > 0 ? a->seconds / m.seconds : 0.5f;

	for (int i = 0; i < TRK_WATCH_FIGURES; i++) {
		float x = a->figure[i], y = b->figure[i];

		m.figure[i] = isnan(x)                    ? y
			      : isnan(y)                  ? x
			      : i == TRK_WATCH_MEMORY_MIB ? larger(x, y)
							  : x * share + y * (1 - share);
	}
	for (int i = 0; i < TRK_SPENTS; i++)
		m.spent_s[i] = add(a->spent_s[i], b->spent_s[i]);
	return m;
}

static struct trk_watch_point *next_point(struct trk_watch *w)
{
	if (!grow((void **) &w->point, &w->points_cap, w->points, TRK_WATCH_POINTS_MAX,
		  sizeof(*w->point))) {
		if (w->points < 2)
			return NULL;
		for (size_t i = 0; i < w->points / 2; i++)
			w->point[i] = merged(&w->point[2 * i], &w->point[2 * i + 1]);
		w->points /= 2;
	}
	return &w->point[w->points++];
}

double trk__watch_figure_of(const struct trk_record *r, enum trk_watch_figure figure,
			    const struct trk_sample *row, double seconds)
{
	static const int columns[TRK_WATCH_FIGURES][2] = {
		[TRK_WATCH_CORES] = {TRK_SYSTEM_CPU_USAGE, TRK_PROCESS_CPU_USAGE},
		[TRK_WATCH_MEMORY_MIB] = {TRK_SYSTEM_MEMORY_USED, TRK_PROCESS_MEMORY},
		[TRK_WATCH_READ] = {TRK_SYSTEM_DISK_READ, TRK_PROCESS_DISK_READ},
		[TRK_WATCH_WRITE] = {TRK_SYSTEM_DISK_WRITE, TRK_PROCESS_DISK_WRITE},
	};
	double value = trk__sample_get(row, columns[figure][r->run.pid != 0]);

	if (figure < TRK_WATCH_READ)
		return value;
	return seconds > 0 ? value / seconds : (double) NAN;
}

static int take_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_watch *w = data;
	double end_s = trk__sample_get(mean, TRK_ELAPSED);
	double seconds = trk__sample_get(mean, TRK_INTERVAL);
	struct trk_watch_point *p;

	if (!(end_s >= w->row_s) || !(end_s < 1e9)) /* damaged, or not in order */
		return 0;
	p = next_point(w);
	if (!p)
		return 0;
	w->row_s = end_s;
	p->end_s = (float) end_s;
	p->seconds = seconds > 0 && seconds < 1e9 ? (float) seconds : 0;
	for (int i = 0; i < TRK_WATCH_FIGURES; i++)
		p->figure[i] = (float) trk__watch_figure_of(
			&w->follow.record, (enum trk_watch_figure) i,
			i == TRK_WATCH_MEMORY_MIB ? max : mean, seconds);
	for (int i = 0; i < TRK_SPENTS; i++)
		p->spent_s[i] = (float) trk__sample_get(mean, trk__spent_columns[i]);
	return 0;
}

/* The next element of an array; where there are too many, every second one is dropped. */
static void *next_of(void **array, size_t *cap, size_t *count, size_t max, size_t size)
{
	char *at;

	if (!grow(array, cap, *count, max, size)) {
		if (*count < 2)
			return NULL;
		at = *array;
		for (size_t i = 0; i < *count / 2; i++)
			memcpy(at + i * size, at + (2 * i + 1) * size, size);
		*count /= 2;
	}
	at = *array;
	return at + (*count)++ * size;
}

static void take_top(struct trk_watch *w)
{
	const struct trk_outcome *o = &w->follow.record.outcome;
	struct trk_watch_top *t =
		next_of((void **) &w->top, &w->tops_cap, &w->tops, TRK_WATCH_TOPS_MAX, sizeof(*t));

	if (!t)
		return;
	*t = (struct trk_watch_top){.at_s = (float) w->row_s, .count = o->top_count};
	for (size_t i = 0; i < o->top_count && i < TRK_TOP_MAX; i++) {
		const struct trk_process_info *p = &o->top[i];

		t->process[i].pid = (int32_t) p->pid;
		t->process[i].alive = p->alive;
		t->process[i].cpu_s = (float) p->cpu_ns / 1e9f;
		t->process[i].peak_mib = (float) p->peak_bytes / 1048576.0f;
		t->process[i].read_bytes = (double) p->read_bytes;
		(void) snprintf(t->process[i].name, sizeof(t->process[i].name), "%s",
				p->command[0] ? p->command : p->name);
	}
}

/* The recording has the GPUs of a moment before its row. */
static void take_gpus(struct trk_watch *w)
{
	const struct trk_gpu_log *log = &w->follow.record.gpus;
	struct trk_watch_gpu_point *p = next_of((void **) &w->gpu, &w->gpus_cap, &w->gpus,
						TRK_WATCH_GPU_POINTS_MAX, sizeof(*p));

	if (!p)
		return;
	p->at_s = (float) ((double) log->elapsed_us / 1e6);
	for (size_t i = 0; i < TRK_WATCH_GPUS_MAX; i++) {
		const struct trk_gpu_value *m = i < log->count ? log->total[i].device.metric : NULL;

		p->device[i].use = m ? (float) m[TRK_GPU_UTILIZATION_METRIC].value : NAN;
		p->device[i].memory = m ? (float) (m[TRK_GPU_MEMORY_USED_METRIC].value /
						   m[TRK_GPU_MEMORY_TOTAL_METRIC].value)
					: NAN;
		p->device[i].power = m ? (float) m[TRK_GPU_POWER_METRIC].value : NAN;
		p->device[i].temperature = m ? (float) m[TRK_GPU_TEMPERATURE_METRIC].value : NAN;
	}
}

static void take_record(void *data, int type)
{
	struct trk_watch *w = data;

	if (type == TRK_RECORD_STATE || type == TRK_RECORD_END)
		take_top(w);
	else if (type == TRK_RECORD_GPU_ROW)
		take_gpus(w);
}

static void take_reset(void *data)
{
	struct trk_watch *w = data;

	w->points = w->tops = w->gpus = 0;
	w->row_s = 0;
	free(w->times);
	w->times = NULL;
}

/* ---- life ---- */

int trk__watch_open(struct trk_watch *w, int dirfd, const char *path, int64_t recent,
		    struct trk_error *reterr)
{
	struct trk_follow_calls calls = {take_reset, take_row, take_record, w};
	int r;

	memset(w, 0, sizeof(*w));
	r = trk__follow_open(&w->follow, dirfd, path, recent, &calls, reterr);
	w->open = r == 0;
	return r;
}

void trk__watch_close(struct trk_watch *w)
{
	if (w->open)
		trk__follow_close(&w->follow);
	free(w->point);
	free(w->top);
	free(w->gpu);
	free(w->times);
	memset(w, 0, sizeof(*w));
}

long trk__watch_update(struct trk_watch *w)
{
	return trk__follow_update(&w->follow);
}

/* ---- queries ---- */

double trk__watch_end_s(const struct trk_watch *w)
{
	double end_s = (double) w->follow.record.outcome.duration_ns / 1e9;

	return w->follow.record.ended && end_s > w->row_s ? end_s : w->row_s;
}

size_t trk__watch_count(const struct trk_watch *w, double t_s)
{
	size_t low = 0, high = w->points;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((double) w->point[middle].end_s <= t_s + 1e-3)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct trk_watch_top *trk__watch_top_at(const struct trk_watch *w, double t_s,
					      const struct trk_watch_top **ret_before)
{
	size_t n = w->tops;

	while (n > 0 && (double) w->top[n - 1].at_s > t_s + 1e-3)
		n--;
	*ret_before = n > 1 ? &w->top[n - 2] : NULL;
	return n ? &w->top[n - 1] : NULL;
}

const struct trk_watch_gpu_point *trk__watch_gpu_at(const struct trk_watch *w, double t_s)
{
	size_t n = w->gpus;

	while (n > 0 && (double) w->gpu[n - 1].at_s > t_s + 1e-3)
		n--;
	return n ? &w->gpu[n - 1] : NULL;
}

double trk__watch_bins(const struct trk_watch *w, enum trk_watch_figure figure, double from_s,
		       double to_s, double t_s, float *bin, int bins)
{
	size_t n = trk__watch_count(w, t_s < to_s ? t_s : to_s);
	size_t i = from_s > 0 ? trk__watch_count(w, from_s) : 0;
	double width = (to_s - from_s) / bins, largest = NAN;
	float weight[TRK_WATCH_BINS_MAX];

	for (int b = 0; b < bins; b++) {
		bin[b] = NAN;
		weight[b] = 0;
	}
	for (; i < n; i++) {
		const struct trk_watch_point *p = &w->point[i];
		double begin = ((double) p->end_s - (double) p->seconds - from_s) / width;
		double end = ((double) p->end_s - from_s) / width;
		int b = (int) trk__whole(begin, 0, bins);
		float value = p->figure[figure];

		if (isnan(value))
			continue;
		if (!(largest >= (double) value))
			largest = (double) value;
		for (; b < bins && (double) b < end; b++) {
			double part = (end < b + 1 ? end : b + 1) - (begin > b ? begin : b);
			float share = (float) (part > 0 ? part : 1e-6);

			if (figure == TRK_WATCH_MEMORY_MIB || isnan(bin[b]))
				bin[b] = isnan(bin[b]) ? value : larger(bin[b], value);
			else
				bin[b] += (value - bin[b]) * share / (weight[b] + share);
			weight[b] += share;
		}
	}
	return largest;
}

const struct trk_time_breakdown *trk__watch_times(struct trk_watch *w)
{
	double end_s = trk__watch_end_s(w);

	size_t marks = w->follow.record.marks;

	if (w->times && end_s < w->times_s * 1.05 + 5 && marks == w->times_marks)
		return w->times;
	if (!w->times)
		w->times = malloc(sizeof(*w->times));
	if (w->times && trk__time_breakdown_of(&w->follow.record, w->times) < 0) {
		free(w->times);
		w->times = NULL;
	}
	w->times_s = end_s;
	w->times_marks = marks;
	return w->times;
}

void trk__watch_spent(const struct trk_watch *w, double t_s, double ret_share[TRK_SPENTS])
{
	size_t n = trk__watch_count(w, t_s);
	double seconds = 0;

	for (int i = 0; i < TRK_SPENTS; i++)
		ret_share[i] = NAN;
	for (size_t k = 0; k < n; k++) {
		seconds += (double) w->point[k].seconds;
		for (int i = 0; i < TRK_SPENTS; i++) {
			double spent = (double) w->point[k].spent_s[i];

			if (!isnan(spent))
				ret_share[i] = isnan(ret_share[i]) ? spent : ret_share[i] + spent;
		}
	}
	for (int i = 0; i < TRK_SPENTS; i++)
		ret_share[i] = seconds > 0 ? ret_share[i] / seconds : NAN;
}

/* Least squares over the last points: the slope, and how much of the variance it explains. */
static double slope_of(const struct trk_watch_point *p, size_t n, double *ret_fit)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i].figure[TRK_WATCH_MEMORY_MIB])) {
			mx += (double) p[i].end_s;
			my += (double) p[i].figure[TRK_WATCH_MEMORY_MIB];
			known++;
		}
	if (known < 8)
		return NAN;
	mx /= (double) known;
	my /= (double) known;
	for (size_t i = 0; i < n; i++) {
		double x = (double) p[i].end_s - mx;
		double y = (double) p[i].figure[TRK_WATCH_MEMORY_MIB] - my;

		if (isnan(y))
			continue;
		sxx += x * x;
		sxy += x * y;
		syy += y * y;
	}
	*ret_fit = sxx > 0 && syy > 0 ? sxy * sxy / (sxx * syy) : 0;
	return sxx > 0 ? sxy / sxx : NAN;
}

double trk__watch_memory_eta(const struct trk_watch *w, double t_s)
{
	/* The last fifth of the run, at least a minute, so that earlier growth does not count. */
	double window_s = t_s / 5 > 60 ? t_s / 5 : 60, fit = 0, slope, left, eta;
	double limit = trk__capacity(&w->follow.record, TRK_RESOURCE_MEMORY_MIB).value;
	size_t n = trk__watch_count(w, t_s), from = trk__watch_count(w, t_s - window_s);
	const struct trk_watch_point *now = n ? &w->point[n - 1] : NULL;

	if (!now || t_s < 30 || isnan(limit))
		return NAN;
	slope = slope_of(w->point + from, n - from, &fit);
	left = limit - (double) now->figure[TRK_WATCH_MEMORY_MIB];
	eta = left / slope;
	/* A step is not a trend: it fits a line badly. Less than 1 % of the limit per window is
	 * noise. */
	if (!(slope * window_s > limit / 100) || fit < 0.9 || !(eta < 86400))
		return NAN;
	return eta > 0 ? eta : 0;
}
