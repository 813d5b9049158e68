#include "report/chart_rows.h"
#include "base/maths.h"

#include <stdlib.h>
#include <string.h>

const struct trk_chart_spec trk__chart_specs[TRK_CHART_SPECS] = {
	{"cpu", "CPU", TRK_HUMAN_CORES, TRK_PROCESS_CPU_USAGE, TRK_SYSTEM_CPU_USAGE},
	{"memory", "Memory", TRK_HUMAN_MEMORY, TRK_PROCESS_MEMORY, TRK_SYSTEM_MEMORY_USED},
	{"disk_read", "Disk read", TRK_HUMAN_RATE, TRK_PROCESS_DISK_READ, TRK_SYSTEM_DISK_READ},
	{"disk_write", "Disk write", TRK_HUMAN_RATE, TRK_PROCESS_DISK_WRITE, TRK_SYSTEM_DISK_WRITE},
	{"disk_space", "Disk space", TRK_HUMAN_SPACE, -1, TRK_SYSTEM_SPACE_USED},
	{"net_recv", "Network in", TRK_HUMAN_RATE, -1, TRK_SYSTEM_NET_RECV},
	{"net_sent", "Network out", TRK_HUMAN_RATE, -1, TRK_SYSTEM_NET_SENT},
	{"gpu", "GPU use", TRK_HUMAN_GPUS, TRK_PROCESS_GPU_USAGE, TRK_SYSTEM_GPU_USAGE},
	{"vram", "Video memory", TRK_HUMAN_MEMORY, TRK_PROCESS_GPU_VRAM, TRK_SYSTEM_GPU_VRAM},
	{"gpus", "GPUs in use", TRK_HUMAN_GPUS, TRK_PROCESS_GPU_UTILIZED, TRK_SYSTEM_GPU_UTILIZED},
};

enum { SERIES = 4 }; /* of one struct trk_chart_fill */

/* A fine bucket holds at least one sample. The numbers have many divisors, so that a smaller page
 * can merge buckets. */
static size_t finer_of(uint64_t samples)
{
	static const size_t choice[] = {TRK_CHART_FINER_MAX, 6, 4, 3, 2};

	for (size_t i = 0; i < sizeof(choice) / sizeof(choice[0]); i++)
		if (samples >= choice[i] * TRK_DOC_BUCKETS_MAX)
			return choice[i];
	return 1;
}

struct trk_report_rows *trk__report_rows_new(const struct trk_record *record)
{
	struct trk_report_rows *rows = calloc(1, sizeof(*rows));
	double last_s = (double) record->last_elapsed_us / 1e6;
	double *at;
	size_t n;

	if (!rows)
		return NULL;
	rows->buckets = record->samples < TRK_DOC_BUCKETS_MAX ? (size_t) record->samples
							      : TRK_DOC_BUCKETS_MAX;
	rows->end_s = (double) record->outcome.duration_ns / 1e9;
	if (!(rows->end_s >= last_s))
		rows->end_s = last_s;
	rows->interval_s = (double) record->run.interval_ns / 1e9;
	rows->finer = finer_of(record->samples);
	rows->width_s = rows->buckets ? rows->end_s / (double) (rows->buckets * rows->finer) : 0;
	rows->last_s = NAN;
	n = rows->buckets * rows->finer;
	at = rows->series = calloc(n * SERIES * TRK_CHART_SPECS * 2 + 1, sizeof(*at));
	rows->rates = trk__stats_new();
	if (!at || !rows->rates) {
		trk__report_rows_free(rows);
		return NULL;
	}
	for (size_t c = 0; c < TRK_CHART_SPECS; c++)
		for (size_t s = 0; s < 2; s++, at += n * SERIES) {
			struct trk_chart_fill *f = &rows->fill[c][s];

			f->sum = at;
			f->seconds = at + n;
			f->min = at + 2 * n;
			f->max = at + 3 * n;
			f->peak = f->peak_at_s = NAN;
			for (size_t i = 0; i < n; i++)
				f->min[i] = f->max[i] = NAN;
		}
	return rows;
}

void trk__report_rows_free(struct trk_report_rows *rows)
{
	if (rows) {
		free(rows->series);
		trk__stats_free(rows->rates);
	}
	free(rows);
}

/* ---- rows ---- */

/* A place in time of one row. */
struct span {
	double from_s, to_s;
};

static void widen(struct trk_chart_fill *f, size_t b, double low, double high)
{
	f->min[b] = low >= f->min[b] ? f->min[b] : low;
	f->max[b] = high <= f->max[b] ? f->max[b] : high;
}

static void take_bucket(const struct trk_report_rows *rows, struct trk_chart_fill *f, size_t b,
			const struct span *at, const double value[3])
{
	double from = (double) b * rows->width_s, to = from + rows->width_s;
	double overlap = (at->to_s < to ? at->to_s : to) - (at->from_s > from ? at->from_s : from);
	double middle = (at->from_s + at->to_s) / 2;

	if (!(overlap > 0))
		return;
	f->sum[b] += value[1] * overlap;
	f->seconds[b] += overlap;
	/* A row that covers little of a bucket does not set its extremes. */
	if ((middle >= from && middle < to) || overlap >= 0.25 * rows->width_s)
		widen(f, b, value[0], value[2]);
}

static void take_value(const struct trk_report_rows *rows, struct trk_chart_fill *f,
		       const struct span *at, const double value[3])
{
	double seconds = at->to_s - at->from_s;
	size_t first, last;

	if (isnan(value[1]))
		return;
	f->all_sum += value[1] * seconds;
	f->all_seconds += seconds;
	if (!(value[2] <= f->peak)) {
		f->peak = value[2];
		f->peak_at_s = at->to_s;
	}
	first = (size_t) trk__whole(at->from_s / rows->width_s, 0, INT64_MAX);
	last = (size_t) trk__whole(at->to_s / rows->width_s, 0, INT64_MAX);
	for (size_t b = first; b <= last && b < rows->buckets * rows->finer; b++)
		take_bucket(rows, f, b, at, value);
}

/* Minimum, mean and maximum; amounts as rates. */
static void read_column(int column, uint64_t count, double seconds, const struct trk_sample *mean,
			const struct trk_sample *min, const struct trk_sample *max, double ret[3])
{
	double one = seconds / (double) count; /* assumes that merged rows were about equal */

	ret[0] = trk__sample_get(min, column);
	ret[1] = trk__sample_get(mean, column);
	ret[2] = trk__sample_get(max, column);
	if (trk__columns[column].kind == TRK_KIND_DELTA) {
		ret[0] /= one;
		ret[1] /= seconds;
		ret[2] /= one;
	}
	if (!(ret[0] <= ret[1]))
		ret[0] = ret[1];
	if (!(ret[2] >= ret[1]))
		ret[2] = ret[1];
}

static void look_for_gaps(struct trk_report_rows *rows, const struct span *at, uint64_t count,
			  const struct trk_sample *mean)
{
	double lost = at->from_s - rows->last_s;

	if (lost > 0.5 * rows->interval_s && lost > 0.05) {
		rows->gaps.gaps++;
		rows->gaps.gap_s += lost;
	}
	rows->last_s = at->to_s;
	if (count == 1 && trk__sample_knows(mean, TRK_TIMESTAMP)) {
		if (mean->value[TRK_TIMESTAMP] < rows->last_timestamp_ms)
			rows->gaps.clock_back++;
		rows->last_timestamp_ms = mean->value[TRK_TIMESTAMP];
	}
}

static void set_value(struct trk_sample *row, int column, double value)
{
	if (!isnan(value))
		trk__sample_set(row, column,
				trk__whole(value * (double) trk__columns[column].divisor + 0.5,
					   INT64_MIN, INT64_MAX));
}

int trk__report_rows_take(void *data, uint64_t count, const struct trk_sample *mean,
			  const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_report_rows *rows = data;
	double seconds = trk__sample_get(mean, TRK_INTERVAL);
	struct span at = {.to_s = trk__sample_get(mean, TRK_ELAPSED)};
	struct trk_sample rates = {.known = 0};

	if (!(seconds > 0))
		seconds = rows->interval_s;
	/* Skip rows added after the first pass, and damaged ones. */
	if (!(at.to_s >= 0) || at.to_s > rows->end_s + 1e-3 || !(seconds > 0) || count == 0 ||
	    !(rows->width_s > 0))
		return 0;
	/* Each second counts once, so that the work is that of the rows and the buckets together. */
	at.from_s = at.to_s > seconds ? at.to_s - seconds : 0;
	if (at.from_s < rows->last_s)
		at.from_s = rows->last_s;
	if (!(at.to_s > at.from_s))
		return 0;
	look_for_gaps(rows, &at, count, mean);
	set_value(&rates, TRK_INTERVAL, seconds);
	for (size_t c = 0; c < TRK_CHART_SPECS; c++) {
		const int column[2] = {trk__chart_specs[c].job, trk__chart_specs[c].machine};

		for (size_t s = 0; s < 2; s++) {
			double value[3];

			if (column[s] < 0)
				continue;
			read_column(column[s], count, seconds, mean, min, max, value);
			take_value(rows, &rows->fill[c][s], &at, value);
			set_value(&rates, column[s], value[1]);
		}
	}
	trk__stats_add(rows->rates, 1, &rates, &rates, &rates);
	return 0;
}
