/* The timeline: small charts on one axis of time, phases on top, and their figures as a table. */
#include <stdlib.h>
#include <string.h>

#include "advise/phases.h"
#include "base/clock.h"
#include "base/maths.h"
#include "report/report_rows.h"

enum { SLICES = 24, PHASES_SHOWN = 60, PIECES_MAX = 6 };

/* ---- units and axes ---- */

struct scale {
	const char *unit;
	double factor; /* shown = value / factor */
};

static struct scale scale_of(enum trk_chart_unit unit, double largest)
{
	static const struct scale memory[] = {{"MiB", 1}, {"GiB", 1024}, {"TiB", 1048576}};
	static const struct scale rate[] = {
		{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
	static const struct scale space[] = {{"GB", 1}, {"TB", 1e3}, {"PB", 1e6}};
	size_t i = 0;

	switch (unit) {
	case TRK_CHART_MEMORY:
		while (i < 2 && largest >= memory[i + 1].factor)
			i++;
		return memory[i];
	case TRK_CHART_RATE:
		while (i < 4 && largest >= rate[i + 1].factor)
			i++;
		return rate[i];
	case TRK_CHART_SPACE:
		while (i < 2 && largest >= space[i + 1].factor)
			i++;
		return space[i];
	case TRK_CHART_GPUS:
		return (struct scale){"GPUs", 1};
	default:
		return (struct scale){"cores", 1};
	}
}

/* The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten. */
static double round_up(double value)
{
	static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
	double power = 1;

	if (!(value > 0))
		return 1;
	while (power * 10 <= value)
		power *= 10;
	while (power > value)
		power /= 10;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (value <= steps[i] * power * (1 + 1e-9))
			return steps[i] * power;
	return 10 * power;
}

/* ---- one chart ---- */

static uint16_t step_of(double value, double top)
{
	double steps = value / top * TRK_REPORT_STEPS + 0.5;

	return steps <= 0 ? 0 : steps >= TRK_REPORT_STEPS ? TRK_REPORT_STEPS : (uint16_t) steps;
}

struct trk_report_steps trk__report_steps(const struct trk_chart_fill *f, size_t first,
					  size_t count, double width_s, double top)
{
	struct trk_chart_bucket b = trk__chart_bucket(f, first, count);
	struct trk_report_steps steps = {TRK_REPORT_GAP, TRK_REPORT_GAP, TRK_REPORT_GAP};

	if (!(b.seconds > 0.05 * width_s * (double) count))
		return steps;
	steps.avg = step_of(b.mean, top);
	steps.min = b.min <= b.mean ? step_of(b.min, top) : steps.avg;
	steps.max = b.max >= b.mean ? step_of(b.max, top) : steps.avg;
	return steps;
}

/* Mean, 95th percentile and peak: those of the statistics, which the other parts show; of amounts, as
 * rates, what the rows told. */
static void measure(const struct trk_report_work *w, const struct trk_chart_fill *f, int column,
		    struct trk_report_series *s)
{
	struct trk_column_stats stats;

	s->mean = f->all_sum / f->all_seconds;
	s->p95 = trk__chart_percentile(f, 0.95);
	s->peak = f->peak;
	if (trk__columns[column].kind == TRK_KIND_DELTA)
		return;
	trk__stats_get(w->in->record->stats, column, &stats);
	s->mean = stats.mean;
	s->p95 = stats.p95;
	s->peak = stats.max;
	/* The peak between two samples is known from elsewhere. */
	if (column == TRK_PROCESS_MEMORY && w->memory_peak >= s->peak)
		s->peak = w->memory_peak;
}

/* "mean 4.2, p95 7.1, peak 8.0 GiB": in a unit of its own where the axis is that of something larger. */
static const char *figures(struct trk_report *r, enum trk_chart_unit unit,
			   const struct trk_report_series *s)
{
	struct scale scale = scale_of(unit, s->peak);

	return trk__report_print(r,
				 "mean " TRK_REPORT_STRONG "%s" TRK_REPORT_PLAIN
				 ", p95 " TRK_REPORT_STRONG "%s" TRK_REPORT_PLAIN
				 ", peak " TRK_REPORT_STRONG "%s" TRK_REPORT_PLAIN " %s",
				 trk__report_number(r, s->mean / scale.factor),
				 trk__report_number(r, s->p95 / scale.factor),
				 trk__report_number(r, s->peak / scale.factor), scale.unit);
}

static void fill_series(const struct trk_report_rows *rows, const struct trk_chart_fill *f,
			const struct scale *scale, double top, struct trk_report_series *s)
{
	s->mean /= scale->factor;
	s->p95 /= scale->factor;
	s->peak /= scale->factor;
	for (size_t i = 0; i < rows->buckets; i++) {
		struct trk_report_steps steps = trk__report_steps(
			f, i * rows->finer, rows->finer, rows->width_s, top * scale->factor);

		s->avg[i] = steps.avg;
		s->min[i] = steps.min;
		s->max[i] = steps.max;
		s->has_band |= steps.max != steps.min;
	}
	s->fill = f;
	s->factor = scale->factor;
}

/* The requested or allowed amount, in the unit of the columns. */
static double limit_of(const struct trk_report_work *w, const struct trk_chart_spec *spec)
{
	const struct trk_record *record = w->in->record;
	struct trk_column_stats space;

	if (!strcmp(spec->key, "cpu"))
		return w->cpu_limit;
	if (!strcmp(spec->key, "memory"))
		return w->memory_limit;
	if (!strcmp(spec->key, "gpu") || !strcmp(spec->key, "gpus"))
		return record->run.request[TRK_REQUEST_GPU].value;
	if (strcmp(spec->key, "disk_space") != 0)
		return NAN;
	trk__stats_get(record->stats, TRK_SYSTEM_SPACE_TOTAL, &space);
	return space.max;
}

static const char *limit_name(const struct trk_report_work *w, const struct trk_chart_spec *spec)
{
	if (!strcmp(spec->key, "cpu"))
		return w->cpu_limit_name;
	if (!strcmp(spec->key, "memory"))
		return w->memory_limit_name;
	return spec->unit == TRK_CHART_SPACE ? "in all" : "requested";
}

static void name_limit(struct trk_report *r, const struct trk_report_work *w,
		       const struct trk_chart_spec *spec, const struct scale *scale, double limit,
		       struct trk_report_chart *c)
{
	bool far = limit > c->top * scale->factor * (1 + 1e-9);
	const char *amount;

	if (isnan(limit))
		return;
	if (spec->unit == TRK_CHART_MEMORY)
		amount = trk__report_memory(r, limit);
	else
		amount = trk__report_print(r, "%s %s", trk__report_amount(r, limit / scale->factor),
					   scale->unit);
	c->limit = far ? (double) NAN : limit / scale->factor;
	c->limit_text = trk__report_print(r, "%s %s%s", amount, limit_name(w, spec),
					  far ? ", above this axis" : "");
}

static void summarise(struct trk_report *r, const struct trk_chart_fill *f,
		      struct trk_report_chart *c)
{
	const struct trk_report_series *s = &c->series[0];

	c->summary = trk__report_print(
		r, "%s over time: mean %s, 95th percentile %s, peak %s %s at %s%s%s.", c->title,
		trk__report_number(r, s->mean), trk__report_number(r, s->p95),
		trk__report_number(r, s->peak), c->unit, trk__report_seconds(r, f->peak_at_s),
		c->limit_text ? "; " : "", c->limit_text ? c->limit_text : "");
}

/* The axis reaches the limit, unless the use would be a line on the floor then. */
static struct scale make_axis(struct trk_report *r, const struct trk_chart_spec *spec,
			      const struct trk_chart_fill fill[2], double limit,
			      struct trk_report_chart *c)
{
	struct scale scale;
	double most = 0;
	bool reached;

	for (int s = 0; s < 2; s++)
		if (fill[s].all_seconds > 0 && fill[s].peak > most)
			most = fill[s].peak;
	reached = limit > 0 && limit >= most && limit <= most * 12;
	scale = scale_of(spec->unit, reached ? limit : most);
	c->unit = scale.unit;
	c->top = reached ? limit / scale.factor : round_up(most / scale.factor);
	c->top_text = c->top < 1e9 && c->top >= 100 ? trk__report_print(r, "%.0f", c->top)
						    : trk__report_print(r, "%.3g", c->top);
	return scale;
}

/* False: nothing of it was measured. */
static bool make_chart(struct trk_report *r, const struct trk_report_work *w, size_t at,
		       struct trk_report_chart *c)
{
	const struct trk_chart_spec *spec = &trk__chart_specs[at];
	const struct trk_chart_fill *fill = w->in->rows->fill[at], *main = NULL;
	double limit = limit_of(w, spec);
	struct scale scale = make_axis(r, spec, fill, limit, c);

	c->key = spec->key;
	c->title = spec->title;
	c->limit = NAN;
	for (int s = 0; s < 2; s++) {
		struct trk_report_series *series = &c->series[c->count];

		if (!(fill[s].all_seconds > 0))
			continue;
		series->is_job = s == 0;
		series->name = s == 0 ? "job" : "whole machine";
		series->column = s == 0 ? spec->job : spec->machine;
		measure(w, &fill[s], series->column, series);
		series->text = figures(r, spec->unit, series);
		fill_series(w->in->rows, &fill[s], &scale, c->top, series);
		main = main ? main : &fill[s];
		c->count++;
	}
	if (!main)
		return false;
	name_limit(r, w, spec, &scale, limit, c);
	summarise(r, main, c);
	return true;
}

/* ---- time ---- */

/* Times of day are enough for a day, the clock's own steps included. */
#define DATES_FROM_S (86400 * 1.01)

static void name_ticks(struct trk_report *r)
{
	/* The wall clock is a label: that of the start, on by elapsed time. */
	r->clock = r->duration_s >= 600 && r->start_s > 0 && r->start_s + r->duration_s < 1.8e10;
	r->dates = r->clock && r->duration_s > DATES_FROM_S;
	for (int i = 0; i < TRK_REPORT_TICKS; i++) {
		double at = r->duration_s * i / (TRK_REPORT_TICKS - 1);
		char text[32];

		if (!r->clock) {
			r->tick[i] = i ? trk__report_seconds(r, at) : "0 s";
			continue;
		}
		trk__clock_iso8601((uint64_t) ((r->start_s + at) * 1e9), text);
		r->tick[i] = trk__report_print(r, "%.5s%s%.5s%s", r->dates ? text + 5 : "",
					       r->dates ? " " : "", text + 11, i ? "" : " UTC");
	}
}

/* Those that were found in the figures, named by what they were bound by. */
static void make_found_phases(struct trk_report *r, const struct trk_course *c)
{
	double end = r->duration_s;

	r->phase = trk__report_alloc(r, c->phase_count * sizeof(*r->phase));
	for (size_t i = 0; r->phase && i < c->phase_count; i++) {
		const struct trk_course_phase *p = &c->phase[i];
		const char *word = trk__bottleneck_word(p->bound);

		if (!(p->start_s < end))
			return;
		r->phase[r->phases++] = (struct trk_report_phase){
			.name = *word ? trk__report_print(r, "%zu: %s", i + 1, word)
				      : trk__report_print(r, "phase %zu", i + 1),
			.text = trk__report_seconds(r, p->end_s - p->start_s),
			.from = p->start_s / end,
			.to = p->end_s / end < 1 ? p->end_s / end : 1,
		};
	}
}

static void make_phases(struct trk_report *r, const struct trk_record *record)
{
	double end = r->duration_s;

	if (!record->marks || !(end > 0))
		return;
	r->phase = trk__report_alloc(r, (record->marks + 1) * sizeof(*r->phase));
	for (size_t i = 0; r->phase && i < record->marks; i++) {
		double from = (double) record->mark[i].elapsed_ns / 1e9;
		double to =
			i + 1 < record->marks ? (double) record->mark[i + 1].elapsed_ns / 1e9 : end;

		if (!(from < end) || !(to > from))
			continue;
		r->phase[r->phases++] = (struct trk_report_phase){
			.name = trk__report_safe(r, record->mark[i].name, 60),
			.text = trk__report_seconds(r, to - from),
			.from = from / end,
			.to = to / end < 1 ? to / end : 1,
		};
	}
}

/* The strip has room for so many: the longest stay. */
static void keep_longest(struct trk_report *r)
{
	double least = 0.001;
	size_t kept;

	while (r->phases > PHASES_SHOWN) {
		kept = 0;
		for (size_t i = 0; i < r->phases; i++)
			if (r->phase[i].to - r->phase[i].from >= least)
				r->phase[kept++] = r->phase[i];
		r->phases = kept;
		least *= 1.5;
	}
}

/* ---- the table behind the charts ---- */

/* Mean and greatest of the job's series (or the only one) over buckets first to end. */
static struct trk_report_cell slice_cell(struct trk_report *r, const struct trk_report_chart *c,
					 size_t first, size_t end)
{
	const struct trk_report_series *s = &c->series[0];
	double sum = 0, n = 0, most = 0;

	for (size_t i = first; i < end; i++) {
		if (s->avg[i] == TRK_REPORT_GAP)
			continue;
		sum += s->avg[i];
		most = s->max[i] > most ? s->max[i] : most;
		n++;
	}
	if (n == 0)
		return trk__report_cell("gap", NAN);
	sum *= c->top / TRK_REPORT_STEPS / n;
	most *= c->top / TRK_REPORT_STEPS;
	return trk__report_cell(trk__report_print(r, "%s (%s)", trk__report_number(r, sum),
						  trk__report_number(r, most)),
				sum);
}

static void make_slices(struct trk_report *r, struct trk_report_section *s)
{
	struct trk_report_column *columns =
		trk__report_alloc(r, (r->charts + 1) * sizeof(*columns));
	size_t slices = r->buckets < SLICES ? r->buckets : SLICES;
	struct trk_report_table *t;

	if (!columns)
		return;
	columns[0] = (struct trk_report_column){"from", "From", TRK_CELL_NUMBER};
	for (size_t i = 0; i < r->charts; i++)
		columns[i + 1] = (struct trk_report_column){
			r->chart[i].key,
			trk__report_print(r, "%s, %s", r->chart[i].title, r->chart[i].unit),
			TRK_CELL_NUMBER};
	t = trk__report_table(s, "slices", "The charts as a table: mean (peak) in each slice",
			      columns, r->charts + 1);
	for (size_t i = 0; i < slices; i++) {
		struct trk_report_cell *row = trk__report_row(r, t);
		size_t first = r->buckets * i / slices, end = r->buckets * (i + 1) / slices;
		double at = r->duration_s * (double) first / (double) r->buckets;

		if (!row)
			return;
		row[0] = trk__report_cell(first ? trk__report_seconds(r, at) : "0 s", at);
		for (size_t c = 0; c < r->charts; c++)
			row[c + 1] = slice_cell(r, &r->chart[c], first, end);
	}
}

static void say_missing(struct trk_report *r, struct trk_report_section *s)
{
	const char *list = "";

	for (size_t i = 0; i < TRK_CHART_SPECS; i++) {
		bool found = false;

		for (size_t c = 0; c < r->charts; c++)
			found |= r->chart[c].key == trk__chart_specs[i].key;
		if (!found)
			list = trk__report_print(r, "%s%s%s", list, *list ? ", " : "",
						 trk__chart_specs[i].title);
	}
	if (*list)
		trk__report_note(s, trk__report_print(r, "Not measured in this run: %s.", list));
}

/* Where the job is worth cutting into steps with requests of their own; nothing where it is not. */
static void hint_split(struct trk_report *r, struct trk_report_section *s,
		       const struct trk_report_rows *rows)
{
	const struct trk_chart_fill *cpu = &rows->fill[0][0], *memory = &rows->fill[1][0];
	double *column = calloc(3 * rows->buckets, sizeof(*column));
	struct trk_split *split = calloc(1, sizeof(*split));
	double *seconds = column, *cores = column + rows->buckets,
	       *bytes = column + 2 * rows->buckets;

	for (size_t i = 0; column && i < rows->buckets; i++) {
		seconds[i] = rows->width_s * (double) rows->finer;
		cores[i] = trk__chart_bucket(cpu, i * rows->finer, rows->finer).mean;
		bytes[i] = trk__chart_bucket(memory, i * rows->finer, rows->finer).max * MIB;
	}
	if (column && split && cpu->all_seconds > 0 && memory->all_seconds > 0 &&
	    trk__split_advise(seconds, cores, bytes, rows->buckets, NULL, split) == 0 &&
	    split->pays && split->piece_count <= PIECES_MAX)
		trk__report_note(s, trk__report_print(r, "Hint: %s.", split->hint));
	free(split);
	free(column);
}

static void explain(struct trk_report *r, struct trk_report_section *s,
		    const struct trk_report_rows *rows)
{
	trk__report_note(
		s,
		trk__report_print(
			r,
			"Line: mean of each slice of %s. Band: least to greatest. Blue: the job; "
			"dotted grey: the whole machine; dashed: what was requested.",
			trk__report_seconds(r, rows->width_s * (double) rows->finer)));
	if (rows->gaps.gaps)
		trk__report_note(s,
				 trk__report_print(r,
						   "%zu gap%s, %s in all, where no sample was "
						   "taken: left open in the charts.",
						   rows->gaps.gaps, rows->gaps.gaps == 1 ? "" : "s",
						   trk__report_seconds(r, rows->gaps.gap_s)));
	if (rows->gaps.clock_back)
		trk__report_note(s, trk__report_print(
					    r,
					    "The wall clock went back %zu time%s; the axis is time "
					    "that passed, on from the clock at the start.",
					    rows->gaps.clock_back,
					    rows->gaps.clock_back == 1 ? "" : "s"));
}

void trk__report_timeline(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_TIMELINE];
	const struct trk_report_rows *rows = w->in->rows;

	r->start_s = (double) w->in->record->run.start_ns / 1e9;
	if (!rows || !rows->buckets || !(rows->width_s > 0)) {
		trk__report_empty(s, "No sample was taken, so there is nothing to draw.");
		return;
	}
	r->buckets = rows->buckets;
	r->finer = rows->finer;
	r->interval_s = rows->interval_s;
	r->duration_s = rows->end_s;
	r->chart = trk__report_alloc(r, TRK_CHART_SPECS * sizeof(*r->chart));
	for (size_t i = 0; r->chart && i < TRK_CHART_SPECS; i++) {
		struct trk_report_chart *c = &r->chart[r->charts];

		memset(c, 0, sizeof(*c));
		if (make_chart(r, w, i, c))
			r->charts++;
	}
	if (!r->charts) {
		trk__report_empty(s, "No sample holds a figure that could be drawn.");
		return;
	}
	name_ticks(r);
	if (w->has_course && !w->course.marked && w->course.phase_count > 1)
		make_found_phases(r, &w->course);
	else
		make_phases(r, w->in->record);
	keep_longest(r);
	make_slices(r, s);
	explain(r, s, rows);
	/* Where to split is for who plans the next run, and takes as long as all else of a page. */
	if (w->in->record->run.pid && !(w->in->live_s > 0))
		hint_split(r, s, rows);
	say_missing(r, s);
}
