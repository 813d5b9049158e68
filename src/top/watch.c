#include "top/watch.h"
#include "base/maths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading the recording ---- */

static int take_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_watch *w = data;
	struct trk_block block = trk__block_of(mean, max, w->follow.record.run.pid == 0);

	(void) rows;
	(void) min;
	if (!(block.end_s >= w->row_s) || !(block.end_s < 1e9)) /* damaged, or not in order */
		return 0;
	w->row_s = block.end_s;
	if (block.seconds < 1e9)
		trk__outline_add(&w->outline, TRK_WATCH_BLOCKS_MAX, &block);
	return 0;
}

/* Of two tables, or two moments of the GPUs, the later one is kept. */
static void keep_later_top(void *into, const void *next)
{
	memcpy(into, next, sizeof(struct trk_watch_top));
}

static void keep_later_gpus(void *into, const void *next)
{
	memcpy(into, next, sizeof(struct trk_watch_gpu_point));
}

static void take_top(struct trk_watch *w)
{
	const struct trk_outcome *o = &w->follow.record.outcome;
	struct trk_watch_top t = {.at_s = w->row_s, .count = o->top_count};

	for (size_t i = 0; i < o->top_count && i < TRK_TOP_MAX; i++) {
		const struct trk_process_info *p = &o->top[i];

		t.process[i].pid = (int32_t) p->pid;
		t.process[i].alive = p->alive;
		t.process[i].cpu_s = (float) p->cpu_ns / 1e9f;
		t.process[i].peak_mib = (float) p->peak_bytes / 1048576.0f;
		t.process[i].read_bytes = (double) p->read_bytes;
		(void) snprintf(t.process[i].name, sizeof(t.process[i].name), "%s",
				p->command[0] ? p->command : p->name);
	}
	trk__course_add(&w->tops, &w->top, sizeof(t), TRK_WATCH_TOPS_MAX, &t, keep_later_top);
}

/* The recording has the GPUs of a moment before its row. */
static void take_gpus(struct trk_watch *w)
{
	const struct trk_gpu_log *log = &w->follow.record.gpus;
	struct trk_watch_gpu_point p = {.at_s = (double) log->elapsed_us / 1e6};

	for (size_t i = 0; i < TRK_WATCH_GPUS_MAX; i++) {
		const struct trk_gpu_value *m = i < log->count ? log->total[i].device.metric : NULL;

		p.device[i].use = m ? (float) m[TRK_GPU_UTILIZATION_METRIC].value : NAN;
		p.device[i].memory = m ? (float) (m[TRK_GPU_MEMORY_USED_METRIC].value /
						  m[TRK_GPU_MEMORY_TOTAL_METRIC].value)
				       : NAN;
		p.device[i].power = m ? (float) m[TRK_GPU_POWER_METRIC].value : NAN;
		p.device[i].temperature = m ? (float) m[TRK_GPU_TEMPERATURE_METRIC].value : NAN;
	}
	trk__course_add(&w->gpus, &w->gpu, sizeof(p), TRK_WATCH_GPU_POINTS_MAX, &p,
			keep_later_gpus);
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

	trk__outline_release(&w->outline);
	w->tops.count = w->gpus.count = 0;
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
	trk__outline_release(&w->outline);
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
	return trk__course_until(&w->outline.course, w->outline.block, sizeof(*w->outline.block),
				 t_s + 1e-3);
}

const struct trk_watch_top *trk__watch_top_at(const struct trk_watch *w, double t_s,
					      const struct trk_watch_top **ret_before)
{
	size_t n = trk__course_until(&w->tops, w->top, sizeof(*w->top), t_s + 1e-3);

	*ret_before = n > 1 ? &w->top[n - 2] : NULL;
	return n ? &w->top[n - 1] : NULL;
}

const struct trk_watch_gpu_point *trk__watch_gpu_at(const struct trk_watch *w, double t_s)
{
	size_t n = trk__course_until(&w->gpus, w->gpu, sizeof(*w->gpu), t_s + 1e-3);

	return n ? &w->gpu[n - 1] : NULL;
}

double trk__watch_bins(const struct trk_watch *w, enum trk_block_figure figure, double from_s,
		       double to_s, double t_s, double *bin, int bins)
{
	bool peaks = figure == TRK_FIGURE_MEMORY_MIB;
	double width = (to_s - from_s) / bins;
	size_t n = trk__watch_count(w, t_s < to_s ? t_s : to_s);
	double known_s = n ? w->outline.block[n - 1].end_s : 0;

	for (int b = 0; b < bins; b++) {
		double start_s = from_s + b * width, end_s = start_s + width;

		end_s = end_s < known_s ? end_s : known_s;
		bin[b] = trk__outline_figure(&w->outline, figure, start_s, end_s, peaks);
	}
	return trk__outline_figure(&w->outline, figure, from_s, known_s, true);
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

/* Least squares over the last blocks: the slope, and how much of the variance it explains. */
static double slope_of(const struct trk_block *b, size_t n, double *ret_fit)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, syy = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(b[i].memory_peak_mib)) {
			mx += b[i].end_s;
			my += b[i].memory_peak_mib;
			known++;
		}
	if (known < 8)
		return NAN;
	mx /= (double) known;
	my /= (double) known;
	for (size_t i = 0; i < n; i++) {
		double x = b[i].end_s - mx, y = b[i].memory_peak_mib - my;

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
	const struct trk_block *now = n ? &w->outline.block[n - 1] : NULL;

	if (!now || t_s < 30 || isnan(limit))
		return NAN;
	slope = slope_of(w->outline.block + from, n - from, &fit);
	left = limit - now->memory_peak_mib;
	eta = left / slope;
	/* A step is not a trend: it fits a line badly. Less than 1 % of the limit per window is
	 * noise. */
	if (!(slope * window_s > limit / 100) || fit < 0.9 || !(eta < 86400))
		return NAN;
	return eta > 0 ? eta : 0;
}
