/* The timeline: small charts on one axis of time, phases on top, and their figures as a table. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/maths.h"
#include "report/chart_rows.h"
#include "report/section/lanes.h"
#include "report/usual_course.h"

enum { SLICES = 24, TICKS_DRAWN = 7, PHASES_SHOWN = 60 };

#define LEAST_PEAK   1e-9 /* in any unit; an axis has levels between these */
#define LEAST_CORES  0.1  /* minimum end of an axis */
#define LARGEST_PEAK 1e18
#define MOVED_RATE   10e6 /* bytes a second: below this, text replaces the chart */
#define MOVED_BYTES  30e6
#define SPACE_GREW   1.05 /* peak to mean */
#define SPACE_FULL   0.9  /* share of the capacity */

/* ---- units and axes ---- */

/* The smallest step of 1, 2 or 5 times a power of ten (for memory also 4) that gives at most three
 * levels. */
static double level_step(double top, bool is_memory)
{
	double power = 1;

	while (power * 10 <= top)
		power *= 10;
	while (power > top)
		power /= 10;
	power /= 10;
	while (1) {
		static const double steps[] = {1, 2, 4, 5};

		for (size_t i = 0; i < 4; i++)
			if ((i != 2 || is_memory) &&
			    top / (steps[i] * power) < TRK_DOC_LEVELS + 1 - 1e-9)
				return steps[i] * power;
		power *= 10;
	}
}

static const char *unit_of(const char *unit, double at)
{
	static const char *const names[][2] = {{"cores", "core"}, {"GPUs", "GPU"}};

	for (size_t i = 0; at == 1 && i < 2; i++)
		if (!strcmp(unit, names[i][0]))
			return names[i][1];
	return unit;
}

static void make_levels(struct trk_doc *d, struct trk_doc_chart *c, bool is_memory)
{
	double step = level_step(c->top, is_memory);

	for (int i = 1; i <= TRK_DOC_LEVELS && i * step <= c->top * (1 + 1e-9); i++) {
		double at = i * step;
		bool is_last = (i + 1) * step > c->top * (1 + 1e-9);

		c->level[c->levels].at = at;
		c->level[c->levels++].text =
			trk__doc_print(d, at >= 1e6 ? "%.3g%s%s" : "%.6g%s%s", at,
				       is_last ? " " : "", is_last ? unit_of(c->unit, at) : "");
	}
}

/* ---- one chart ---- */

/* A fine bucket of the rows; a gap where too little is known. top: in the column's unit. */
static struct trk_doc_steps steps_of(const struct trk_report_rows *rows,
				     const struct trk_chart_fill *f, size_t i, double top)
{
	bool known = f->seconds[i] > 0.05 * rows->width_s;
	double mean = known ? f->sum[i] / f->seconds[i] : (double) NAN;
	uint16_t avg = trk__doc_steps(mean / top);

	return (struct trk_doc_steps){
		.avg = avg,
		.min = f->min[i] <= mean ? trk__doc_steps(f->min[i] / top) : avg,
		.max = f->max[i] >= mean ? trk__doc_steps(f->max[i] / top) : avg,
	};
}

/* Mean, 95th percentile and peak: from the statistics, as in the other sections; for amounts, as
 * rates from the rows. */
static void measure(const struct trk_report_work *w, const struct trk_chart_fill *f, int column,
		    struct trk_doc_series *s)
{
	struct trk_column_stats stats;

	s->mean = f->all_sum / f->all_seconds;
	s->p95 = trk__stats_get(w->in->rows->rates, column).p95;
	s->peak = f->peak;
	if (trk__columns[column].kind == TRK_KIND_DELTA)
		return;
	stats = trk__stats_get(w->in->record->stats, column);
	s->mean = stats.mean;
	s->p95 = stats.p95;
	s->peak = stats.max;
	/* The kernel reports peaks between two samples. */
	if (column == TRK_PROCESS_MEMORY && w->memory_peak >= s->peak)
		s->peak = w->memory_peak;
}

/* "mean 4.2, p95 7.1, peak 8.0 GiB": in the unit of the series if the axis has a larger one. */
static const char *figures(struct trk_doc *d, enum trk_human_kind unit,
			   const struct trk_doc_series *s)
{
	struct trk_human_unit scale = trk__human_unit(unit, s->peak);
	const char *p95 = "";

	if (s->is_job || unit == TRK_HUMAN_SPACE)
		p95 = trk__doc_print(d, "p95 " TRK_DOC_STRONG "%s" TRK_DOC_PLAIN ", ",
				     trk__doc_value(d, trk__human_number, s->p95 / scale.factor));
	return trk__doc_print(d,
			      "mean " TRK_DOC_STRONG "%s" TRK_DOC_PLAIN ", %speak " TRK_DOC_STRONG
			      "%s" TRK_DOC_PLAIN " %s",
			      trk__doc_value(d, trk__human_number, s->mean / scale.factor), p95,
			      trk__doc_value(d, trk__human_number, s->peak / scale.factor),
			      scale.name);
}

static void fill_series(struct trk_doc *d, const struct trk_report_rows *rows,
			const struct trk_chart_fill *f, const struct trk_human_unit *scale,
			double top, struct trk_doc_series *s)
{
	size_t n = rows->buckets * rows->finer;

	s->mean /= scale->factor;
	s->p95 /= scale->factor;
	s->peak /= scale->factor;
	s->factor = scale->factor;
	s->sum = f->all_sum;
	s->fine = trk__doc_alloc(d, n * sizeof(*s->fine));
	for (size_t i = 0; s->fine && i < n; i++)
		s->fine[i] = steps_of(rows, f, i, top * scale->factor);
	for (size_t i = 0; s->fine && i < rows->buckets; i++) {
		struct trk_doc_steps steps = trk__doc_merge(s->fine + i * rows->finer, rows->finer);

		s->avg[i] = steps.avg;
		s->min[i] = steps.min;
		s->max[i] = steps.max;
		s->has_band |= steps.max != steps.min;
	}
}

/* The requested or allowed amount, in the unit of the columns. */
static struct trk_capacity limit_of(const struct trk_report_work *w,
				    const struct trk_chart_spec *spec)
{
	const struct trk_record *record = w->in->record;
	struct trk_capacity none = {.value = NAN};

	if (spec->unit == TRK_HUMAN_CORES)
		return w->cpu_had;
	if (spec->job == TRK_PROCESS_MEMORY)
		return w->memory_had;
	if (spec->unit == TRK_HUMAN_GPUS)
		return trk__capacity(record, TRK_RESOURCE_GPU);
	if (spec->unit == TRK_HUMAN_SPACE)
		none.value = trk__stats_get(record->stats, TRK_SYSTEM_SPACE_TOTAL).max;
	return none;
}

static void name_limit(struct trk_doc *d, const struct trk_chart_spec *spec,
		       const struct trk_human_unit *scale, const struct trk_capacity *had,
		       struct trk_doc_chart *c)
{
	double limit = had->value;
	const char *amount;

	if (isnan(limit))
		return;
	if (spec->unit == TRK_HUMAN_MEMORY)
		amount = trk__doc_value(d, trk__human_memory, limit);
	else
		amount = trk__doc_print(d, "%s %s",
					trk__doc_value(d, trk__human_amount, limit / scale->factor),
					scale->name);
	c->limit = limit / scale->factor;
	c->is_far = limit > c->top * scale->factor * (1 + 1e-9);
	c->limit_text = trk__doc_print(
		d, "%s %s", amount,
		spec->unit == TRK_HUMAN_SPACE ? "in all" : trk__capacity_words(had->kind));
}

static void summarise(struct trk_doc *d, const struct trk_chart_fill *f, struct trk_doc_chart *c)
{
	const struct trk_doc_series *s = &c->series[0];

	c->summary = trk__doc_print(
		d, "%s over time: mean %s, 95th percentile %s, peak %s %s at %s%s%s.", c->title,
		trk__doc_value(d, trk__human_number, s->mean),
		trk__doc_value(d, trk__human_number, s->p95),
		trk__doc_value(d, trk__human_number, s->peak), c->unit,
		trk__doc_value(d, trk__human_seconds, f->peak_at_s), c->limit_text ? "; " : "",
		c->limit_text ? c->limit_text : "");
}

/* CPU and memory are drawn with the usual course; TRK_FIGURES_DRAWN: another figure. */
static enum trk_block_figure figure_of(const struct trk_chart_spec *spec)
{
	return spec->unit == TRK_HUMAN_CORES     ? TRK_FIGURE_CORES
	       : spec->job == TRK_PROCESS_MEMORY ? TRK_FIGURE_MEMORY_MIB
						 : TRK_FIGURES_DRAWN;
}

/* The axis ends a little above the peak of the job, or of the machine without a job. It does not
 * depend on the limit. */
static struct trk_human_unit make_axis(struct trk_doc *d, const struct trk_report_work *w,
				       const struct trk_chart_spec *spec,
				       const struct trk_chart_fill fill[2], struct trk_doc_chart *c)
{
	const struct trk_chart_fill *main = fill[0].all_seconds > 0 ? &fill[0] : &fill[1];
	double most = main->all_seconds > 0 && main->peak > 0 ? main->peak : 0;
	enum trk_block_figure figure = figure_of(spec);
	struct trk_human_unit scale;

	if (spec->job == TRK_PROCESS_MEMORY && main == &fill[0] && w->memory_peak > most)
		most = w->memory_peak;
	if (figure != TRK_FIGURES_DRAWN && main == &fill[0] &&
	    trk__course_most(w->in->usual, figure) > most)
		most = trk__course_most(w->in->usual, figure);
	if (!(most > LEAST_PEAK && most < LARGEST_PEAK)) /* no use, or a damaged figure */
		most = 0;
	scale = trk__human_unit(spec->unit, most);
	c->unit = scale.name;
	c->top = most > 0 ? most / scale.factor * TRK_DOC_ABOVE_PEAK : 1;
	if (spec->unit == TRK_HUMAN_CORES && c->top < LEAST_CORES)
		c->top = LEAST_CORES;
	c->top_text = c->top < 1e9 && c->top >= 100 ? trk__doc_print(d, "%.0f", c->top)
						    : trk__doc_print(d, "%.3g", c->top);
	make_levels(d, c, spec->unit == TRK_HUMAN_MEMORY);
	return scale;
}

/* Clip the machine's line to the axis of the job. */
static void cut_above(struct trk_doc_series *s, const struct trk_report_rows *rows)
{
	for (size_t i = 0; s->fine && i < rows->buckets * rows->finer; i++)
		if (s->fine[i].avg == TRK_DOC_STEPS)
			s->avg[i / rows->finer] = TRK_DOC_GAP;
}

/* True for charts that are replaced by text: disks and network without traffic, unchanged disk
 * space. */
static bool is_quiet(const struct trk_chart_spec *spec, const struct trk_chart_fill fill[2],
		     double limit)
{
	const struct trk_chart_fill *f = fill[0].all_seconds > 0 ? &fill[0] : &fill[1];

	if (spec->unit == TRK_HUMAN_RATE)
		return !(f->peak >= MOVED_RATE && f->all_sum >= MOVED_BYTES);
	if (spec->unit == TRK_HUMAN_SPACE) {
		double mean = f->all_sum / f->all_seconds;

		return !(f->peak > mean * SPACE_GREW || f->peak > limit * SPACE_FULL);
	}
	return false;
}

/* False: the figure was not measured. */
static bool make_chart(struct trk_doc *d, const struct trk_report_work *w, size_t at,
		       struct trk_doc_chart *c)
{
	const struct trk_chart_spec *spec = &trk__chart_specs[at];
	const struct trk_chart_fill *fill = w->in->rows->fill[at], *main = NULL;
	const struct trk_capacity had = limit_of(w, spec);
	struct trk_human_unit scale = make_axis(d, w, spec, fill, c);

	c->key = spec->key;
	c->title = spec->title;
	c->limit = NAN;
	c->series = trk__doc_alloc(d, 2 * sizeof(*c->series));
	for (int s = 0; c->series && s < 2; s++) {
		struct trk_doc_series *series = &c->series[c->count];

		if (!(fill[s].all_seconds > 0))
			continue;
		series->is_job = s == 0;
		series->name = s == 0 ? "job" : "whole machine";
		series->column = s == 0 ? spec->job : spec->machine;
		measure(w, &fill[s], series->column, series);
		series->text = figures(d, spec->unit, series);
		fill_series(d, w->in->rows, &fill[s], &scale, c->top, series);
		if (main)
			cut_above(series, w->in->rows);
		main = main ? main : &fill[s];
		c->count++;
	}
	if (!main)
		return false;
	name_limit(d, spec, &scale, &had, c);
	c->is_large = figure_of(spec) != TRK_FIGURES_DRAWN;
	if (c->is_large && c->series[0].is_job)
		trk__course_of_chart(d, w->in->usual, figure_of(spec), c->series[0].factor, c);
	c->is_quiet = is_quiet(spec, fill, had.value);
	if (c->is_large)
		trk__areas_of_chart(d, w->in->record, spec->unit == TRK_HUMAN_CORES, c);
	summarise(d, main, c);
	return true;
}

/* ---- time ---- */

/* Runs up to a day (with a margin for clock steps) show times of day without dates. */
#define DATES_FROM_S (86400 * 1.01)

const double trk__doc_time_steps[TRK_DOC_TIME_STEPS] = {
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,  0.5,  1,     2,     5,     10,   15,
	30,    60,    120,   300,  600,  900,  1800, 3600, 7200, 10800, 21600, 43200, 86400};

/* The smallest round step that fits at most TICKS_DRAWN times. */
static double time_step(double seconds)
{
	for (size_t i = 0; i < TRK_DOC_TIME_STEPS; i++)
		if (seconds / trk__doc_time_steps[i] <= TICKS_DRAWN)
			return trk__doc_time_steps[i];
	return 86400 * trk__ceil(seconds / (86400.0 * TICKS_DRAWN));
}

/* Seconds up to two minutes, then minutes and seconds, then hours. */
static const char *moment(struct trk_doc *d, double at, double step)
{
	unsigned long s = (unsigned long) trk__whole(at + 0.5, 0, INT32_MAX);
	char text[32];

	if (d->clock) {
		trk__clock_iso8601((uint64_t) trk__whole((d->start_s + at) * 1e9, 0, INT64_MAX),
				   text);
		return trk__doc_print(d, "%.5s%s%.5s", d->dates ? text + 5 : "",
				      d->dates ? " " : "", text + 11);
	}
	if (step < 0.1)
		return trk__doc_print(d, "%.0f ms", at * 1000);
	if (d->duration_s <= 120)
		return trk__doc_print(d, step < 1 ? "%.1f s" : "%.0f s", at);
	return trk__doc_print(d, "%lu:%02lu", s / 60, s % 60);
}

static void name_ticks(struct trk_doc *d)
{
	double step = time_step(d->duration_s), first = 0;

	/* Wall-clock labels are the start plus elapsed time. */
	d->clock = d->duration_s >= 600 && d->start_s > 0 && d->start_s + d->duration_s < 1.8e10;
	d->dates = d->clock && d->duration_s > DATES_FROM_S;
	if (d->clock) { /* round times of day */
		double into = d->start_s / step;

		into -= trk__floor(into);
		first = into > 0 ? (1 - into) * step : 0;
	}
	while (d->ticks < TRK_DOC_TICKS) {
		double at = first + (double) d->ticks * step;

		if (!(at <= d->duration_s * (1 + 1e-9)))
			break;
		d->tick[d->ticks++] =
			(struct trk_doc_tick){at / d->duration_s, moment(d, at, step)};
	}
	d->first_text = trk__doc_print(d, "%s%s", d->clock ? moment(d, 0, 1) : "0 s",
				       d->clock ? " UTC" : "");
	d->last_text = d->clock ? moment(d, d->duration_s, 1)
				: trk__doc_value(d, trk__human_seconds, d->duration_s);
}

static void add_phase(struct trk_doc *d, const char *name, double from_s, double to_s)
{
	double end_s = d->duration_s;

	if (from_s < end_s && to_s > from_s)
		d->phase[d->phases++] = (struct trk_doc_phase){
			.name = name,
			.text = trk__doc_value(d, trk__human_seconds, to_s - from_s),
			.from = from_s / end_s,
			.to = to_s / end_s < 1 ? to_s / end_s : 1,
		};
}

/* Phases found by the figures, named by their function, else by their bottleneck. */
static void make_found_phases(struct trk_doc *d, const struct trk_time_breakdown *c)
{
	d->phase = trk__doc_alloc(d, c->phase_count * sizeof(*d->phase));
	for (size_t i = 0; d->phase && i < c->phase_count; i++) {
		const struct trk_run_phase *p = &c->phase[i];
		const char *word = trk__bottleneck_word(p->bound);

		if (p->function[0])
			word = trk__doc_print(d, "%s()", trk__doc_safe(d, p->function, 24));
		add_phase(d,
			  *word ? trk__doc_print(d, "%zu: %s", i + 1, word)
				: trk__doc_print(d, "phase %zu", i + 1),
			  p->start_s, p->end_s);
	}
}

static void make_phases(struct trk_doc *d, const struct trk_record *record)
{
	size_t n = record->marks;

	d->phase = n ? trk__doc_alloc(d, n * sizeof(*d->phase)) : NULL;
	for (size_t i = 0; d->phase && i < n; i++)
		add_phase(d, trk__doc_safe(d, record->mark[i].name, 60),
			  (double) record->mark[i].elapsed_ns / 1e9,
			  i + 1 < n ? (double) record->mark[i + 1].elapsed_ns / 1e9
				    : d->duration_s);
}

/* Keep the longest phases that the strip has room for. */
static void keep_longest(struct trk_doc *d)
{
	double least = 0.001;
	size_t kept;

	while (d->phase && d->phases > PHASES_SHOWN) {
		kept = 0;
		for (size_t i = 0; i < d->phases; i++)
			if (d->phase[i].to - d->phase[i].from >= least)
				d->phase[kept++] = d->phase[i];
		d->phases = kept;
		least *= 1.5;
	}
}

/* ---- the table behind the charts ---- */

/* Mean and maximum of the job's series (or the only one) over buckets first to end. */
static struct trk_doc_cell slice_cell(struct trk_doc *d, const struct trk_doc_chart *c,
				      size_t first, size_t end)
{
	const struct trk_doc_series *s = &c->series[0];
	double sum = 0, n = 0, most = 0;

	for (size_t i = first; i < end; i++) {
		if (s->avg[i] == TRK_DOC_GAP)
			continue;
		sum += s->avg[i];
		most = s->max[i] > most ? s->max[i] : most;
		n++;
	}
	if (n == 0)
		return trk__doc_cell("gap", NAN);
	sum *= c->top / TRK_DOC_STEPS / n;
	most *= c->top / TRK_DOC_STEPS;
	return trk__doc_cell(trk__doc_print(d, "%s (%s)", trk__doc_value(d, trk__human_number, sum),
					    trk__doc_value(d, trk__human_number, most)),
			     sum);
}

static void make_slices(struct trk_doc *d, struct trk_doc_section *s)
{
	struct trk_doc_column *columns = trk__doc_alloc(d, (d->charts + 1) * sizeof(*columns));
	size_t slices = d->buckets < SLICES ? d->buckets : SLICES;
	struct trk_doc_table *t;

	if (!columns)
		return;
	columns[0] = (struct trk_doc_column){"from", "From", TRK_CELL_NUMBER};
	for (size_t i = 0; i < d->charts; i++)
		columns[i + 1] = (struct trk_doc_column){
			d->chart[i].key,
			trk__doc_print(d, "%s, %s", d->chart[i].title, d->chart[i].unit),
			TRK_CELL_NUMBER};
	t = trk__doc_table(d, s, "slices", "The charts as a table: mean (peak) in each slice",
			   columns, d->charts + 1);
	for (size_t i = 0; i < slices; i++) {
		struct trk_doc_cell *row = trk__doc_row(d, t);
		size_t first = d->buckets * i / slices, end = d->buckets * (i + 1) / slices;
		double at = d->duration_s * (double) first / (double) d->buckets;

		row[0] = trk__doc_cell(first ? trk__doc_value(d, trk__human_seconds, at) : "0 s",
				       at);
		for (size_t c = 0; c < d->charts; c++)
			row[c + 1] = slice_cell(d, &d->chart[c], first, end);
	}
}

/* Sentence about quiet charts. */
static void say_quiet(struct trk_doc *d, struct trk_doc_section *s, bool has_no_gpu)
{
	const char *list = "";

	for (size_t i = 0; i < d->charts; i++) {
		const struct trk_doc_chart *c = &d->chart[i];
		const struct trk_doc_series *job = &c->series[0]; /* or the machine's */
		bool is_space = !strcmp(c->key, "disk_space");

		if (!c->is_quiet)
			continue;
		list = trk__doc_print(
			d, "%s%s%s%s: %s", list, *list ? " \u00b7 " : "", c->title,
			job->is_job || is_space ? "" : " (whole machine)",
			is_space ? trk__doc_print(d, "unchanged, %s",
						  trk__doc_value(d, trk__human_space,
								 job->mean * job->factor))
			: job->sum > 0
				? trk__doc_print(d, "%s in all",
						 trk__doc_value(d, trk__human_bytes, job->sum))
				: "none");
	}
	if (has_no_gpu)
		list = trk__doc_print(d, "%s%sGPU: none in this machine", list,
				      *list ? " \u00b7 " : "");
	if (*list)
		trk__doc_text(d, s, "%s.", list);
}

static bool is_of_gpus(const struct trk_chart_spec *spec)
{
	return spec->unit == TRK_HUMAN_GPUS || spec->job == TRK_PROCESS_GPU_VRAM;
}

static void say_missing(struct trk_doc *d, struct trk_doc_section *s, bool has_no_gpu)
{
	const char *list = "";

	for (size_t i = 0; i < TRK_CHART_SPECS; i++) {
		bool found = false;

		for (size_t c = 0; c < d->charts; c++)
			found |= d->chart[c].key == trk__chart_specs[i].key;
		found |= has_no_gpu && is_of_gpus(&trk__chart_specs[i]);
		if (!found)
			list = trk__doc_print(d, "%s%s%s", list, *list ? ", " : "",
					      trk__chart_specs[i].title);
	}
	if (*list)
		trk__doc_note(d, s, "Not measured in this run: %s.", list);
}

static void explain(struct trk_doc *d, struct trk_doc_section *s,
		    const struct trk_report_rows *rows)
{
	const char *dashed = NULL;
	bool machine = false;

	for (size_t i = 0; i < d->charts; i++) {
		const struct trk_doc_chart *c = &d->chart[i];

		if (c->is_quiet)
			continue;
		if (c->limit_text && !c->is_far)
			dashed = trk__doc_print(d, "%s%s%s of %s", dashed ? dashed : "",
						dashed ? ", " : "", c->limit_text, c->title);
		machine |= c->count > 1;
	}
	trk__doc_note(d, s, "A point is the mean of %s, the band lowest to highest.%s%s%s%s",
		      trk__doc_value(d, trk__human_seconds, rows->width_s * (double) rows->finer),
		      machine ? " Dotted grey: the whole machine." : "", dashed ? " Dashed: " : "",
		      dashed ? dashed : "", dashed ? "." : "");
	if (rows->gaps.gaps)
		trk__doc_note(d, s,
			      "%zu gap%s, %s in all, in which no sample was taken, left "
			      "open in the charts.",
			      rows->gaps.gaps, rows->gaps.gaps == 1 ? "" : "s",
			      trk__doc_value(d, trk__human_seconds, rows->gaps.gap_s));
	if (rows->gaps.clock_back)
		trk__doc_note(d, s,
			      "The wall clock was set back %zu time%s; the axis is the "
			      "clock at the start plus elapsed time.",
			      rows->gaps.clock_back, rows->gaps.clock_back == 1 ? "" : "s");
}

void trk__section_timeline(struct trk_doc *d, struct trk_doc_section *s,
			   const struct trk_report_work *w)
{
	const struct trk_report_rows *rows = w->in->rows;
	const struct trk_place *place = &w->in->record->place;
	bool has_no_gpu = place->has_server && place->server.gpu_count == 0;

	d->start_s = (double) w->in->record->run.start_ns / 1e9;
	if (!rows || !rows->buckets || !(rows->width_s > 0)) {
		trk__doc_empty(d, s, "No sample was taken, so there is nothing to draw.");
		return;
	}
	d->buckets = rows->buckets;
	d->finer = rows->finer;
	d->interval_s = rows->interval_s;
	d->duration_s = rows->end_s;
	d->chart = trk__doc_alloc(d, TRK_CHART_SPECS * sizeof(*d->chart));
	for (size_t i = 0; d->chart && i < TRK_CHART_SPECS; i++) {
		struct trk_doc_chart *c = &d->chart[d->charts];

		memset(c, 0, sizeof(*c));
		if (make_chart(d, w, i, c))
			d->charts++;
	}
	if (!d->charts) {
		trk__doc_empty(d, s, "No sample holds a figure that could be drawn.");
		return;
	}
	name_ticks(d);
	if (w->has_course && !w->course.marked && w->course.phase_count > 1)
		make_found_phases(d, &w->course);
	else
		make_phases(d, w->in->record);
	keep_longest(d);
	trk__doc_drawing(d, s, TRK_BLOCK_CHARTS);
	trk__course_say(d, s, w);
	say_quiet(d, s, has_no_gpu);
	make_slices(d, s);
	explain(d, s, rows);
	say_missing(d, s, has_no_gpu);
}
