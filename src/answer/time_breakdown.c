#include "answer/time_breakdown.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/maths.h"
#include "lines/cut.h"
#include "lines/dominant.h"
#include "lines/write.h"
#include "answer/cpu_use.h"

enum { BINS_MAX = 256, FIGURES = 4 };

/* A column that varies by less than this share of its maximum has no phases. */
#define STEADY_SHARE 0.05

/* The parts have the order of the first items. */
_Static_assert((int) TRK_SPENT_ON_CPU == (int) TRK_WALL_ON_CPU &&
		       (int) TRK_SPENT_GPU == (int) TRK_WALL_GPU &&
		       (int) TRK_SPENT_DISK == (int) TRK_WALL_DISK &&
		       (int) TRK_SPENT_MEMORY == (int) TRK_WALL_MEMORY_STALL &&
		       (int) TRK_SPENT_FOR_CPU == (int) TRK_WALL_CPU_WAIT &&
		       (int) TRK_SPENTS == (int) TRK_WALL_OTHER,
	       "each part is an item");

static bool divide(const double spent_s[TRK_SPENTS], double seconds, struct trk_wall_split *ret)
{
	struct trk_wall_facts facts = {.wall_s = seconds};

	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		ret->share[i] = NAN;
	memcpy(facts.item_s, spent_s, TRK_SPENTS * sizeof(*spent_s));
	if (isnan(spent_s[TRK_SPENT_ON_CPU]) || trk__wall_divide(&facts, ret) < 0)
		return false;
	/* Without a GPU, unknown GPU time is 0. */
	ret->other_holds_unknown = ret->unknown_count > (isnan(spent_s[TRK_SPENT_GPU]) ? 1u : 0u);
	return true;
}

/* ---- the whole run ---- */

static void wall_of_run(const struct trk_record *r, struct trk_time_breakdown *c)
{
	struct trk_bottleneck_facts facts;
	double cores = trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE).mean;
	double spent_s[TRK_SPENTS];
	struct trk_block all = trk__outline_sum(&r->outline, 0, INFINITY);

	c->seconds = trk__stats_get(r->stats, TRK_INTERVAL).sum;
	for (int i = 0; i < TRK_SPENTS; i++)
		spent_s[i] = trk__stats_get(r->stats, trk__spent_columns[i]).sum;
	c->has_wall = divide(spent_s, c->seconds, &c->wall);
	facts = (struct trk_bottleneck_facts){
		.split = c->wall,
		/* No sample of a run of less than 0.1 s has a rate. */
		.cores_mean =
			isnan(cores) ? r->outcome.total[TRK_TOTAL_CPU_S].value / c->seconds : cores,
		.cores_limit = r->run.limit[TRK_LIMIT_CPU].value,
		.gpu_busy = all.gpu_busy_s / all.seconds,
		.queue = trk__cpu_queue_of(r),
	};
	c->bound = trk__bottleneck(&facts, c->bottleneck);
}

/* ---- one phase ---- */

static void fill_phase(const struct trk_record *r, struct trk_run_phase *p)
{
	struct trk_block b = trk__outline_sum(&r->outline, p->start_s, p->end_s);
	struct trk_bottleneck_facts facts = {.cores_limit = r->run.limit[TRK_LIMIT_CPU].value};
	char sentence[TRK_BOTTLENECK_SIZE];

	p->memory_peak_mib = b.memory_peak_mib;
	p->cores_mean = b.core_s / b.seconds;
	(void) divide(b.spent_s, b.seconds, &p->split);
	facts.split = p->split;
	facts.cores_mean = p->cores_mean;
	facts.gpu_busy = b.gpu_busy_s / b.seconds;
	p->bound = trk__bottleneck(&facts, sentence);
}

static struct trk_run_phase *add_phase(struct trk_time_breakdown *c, double start_s, double end_s)
{
	struct trk_run_phase *p;

	if (!(end_s > start_s))
		return NULL;
	if (c->phase_count == TRK_PHASES_MAX) { /* the last one holds the rest */
		c->phase[TRK_PHASES_MAX - 1].end_s = end_s;
		c->phase[TRK_PHASES_MAX - 1].later++;
		return NULL;
	}
	p = &c->phase[c->phase_count++];
	*p = (struct trk_run_phase){.start_s = start_s, .end_s = end_s};
	return p;
}

/* ---- from marks ---- */

static void phases_of_marks(const struct trk_record *r, double end_s, struct trk_time_breakdown *c)
{
	double first_s = (double) r->mark[0].elapsed_ns / 1e9;

	c->marked = true;
	if (first_s > end_s / 100) /* the part before the first mark, if it is long enough */
		(void) add_phase(c, 0, first_s);
	for (size_t i = 0; i < r->marks; i++) {
		double start_s = (double) r->mark[i].elapsed_ns / 1e9;
		double next_s = i + 1 < r->marks ? (double) r->mark[i + 1].elapsed_ns / 1e9 : end_s;
		struct trk_run_phase *p = add_phase(c, start_s, next_s);

		if (p)
			memcpy(p->name, r->mark[i].name, sizeof(p->name));
	}
}

/* ---- from the figures ---- */

static void fill_bins(const struct trk_outline *o, double end_s, size_t bins,
		      double figure[FIGURES][BINS_MAX])
{
	static const enum trk_block_figure figures[FIGURES] = {
		TRK_FIGURE_CPU_TIME, TRK_FIGURE_MEMORY_MIB, TRK_FIGURE_DISK_WAIT,
		TRK_FIGURE_GPU_BUSY};
	double width = end_s / (double) bins;

	for (size_t f = 0; f < FIGURES; f++)
		for (size_t i = 0; i < bins; i++) {
			double from = width * (double) i;
			double value = trk__outline_figure(o, figures[f], from, from + width,
							   figures[f] == TRK_FIGURE_MEMORY_MIB);

			figure[f][i] = isnan(value) ? 0 : value;
		}
}

static bool is_steady(const double *value, size_t n)
{
	double sum = 0, squares = 0, most = 0;
	double mean, variance;

	for (size_t i = 0; i < n; i++) {
		sum += value[i];
		squares += value[i] * value[i];
		most = value[i] > most ? value[i] : most;
	}
	mean = sum / (double) n;
	variance = squares / (double) n - mean * mean;
	return !(variance > STEADY_SHARE * most * STEADY_SHARE * most);
}

static int phases_of_figures(const struct trk_record *r, double end_s, struct trk_time_breakdown *c)
{
	size_t bins = r->outline.course.count < BINS_MAX ? r->outline.course.count : BINS_MAX;
	double(*figure)[BINS_MAX] = calloc(FIGURES, sizeof(*figure));
	const double *moving[FIGURES];
	size_t ends[TRK_BREAKDOWN_CUTS_MAX + 1], count = 0;
	double start_s = 0;
	int n;

	if (!figure)
		return -ENOMEM;
	fill_bins(&r->outline, end_s, bins, figure);
	for (int i = 0; i < FIGURES; i++)
		if (!is_steady(figure[i], bins)) {
			trk__phases_normalise(figure[i], bins);
			moving[count++] = figure[i];
		}
	n = count ? trk__phases_cut(moving, count, bins,
				    (size_t) ((double) bins * TRK_BREAKDOWN_PHASE_SHARE) + 1,
				    10 * trk__ln((double) bins), TRK_BREAKDOWN_CUTS_MAX, ends)
		  : 1;
	for (int i = 0; i < n && n > 1; i++) {
		double next_s = end_s * (double) ends[i] / (double) bins;

		(void) add_phase(c, start_s, next_s);
		start_s = next_s;
	}
	free(figure);
	return n < 0 ? n : 0;
}

/* ---- where to split ---- */

/* The line to cut at, and the memory held there, from the blocks on both sides. */
static void find_cut(const struct trk_record *record, struct trk_time_breakdown *c)
{
	const struct trk_outline *o = &record->outline;
	double seconds = 0;
	uint32_t node;
	size_t i = 0;

	while (i < o->course.count && seconds < c->split.cut_s)
		seconds += o->block[i++].seconds;
	if (i > 0 && i < o->course.count)
		c->cut_mib = o->block[i].memory_peak_mib < o->block[i - 1].memory_peak_mib
				     ? o->block[i].memory_peak_mib
				     : o->block[i - 1].memory_peak_mib;
	node = record->lines ? trk__lines_cut(record->lines, c->split.cut_s) : TRK_LINES_ROOT;
	if (node != TRK_LINES_ROOT)
		(void) trk__lines_name(record->lines, node, c->cut, sizeof(c->cut));
}

static int split_of(const struct trk_record *record, struct trk_time_breakdown *c)
{
	const struct trk_outline *o = &record->outline;
	double *of = calloc(o->course.count * 3, sizeof(*of));
	double *seconds, *cores, *bytes;
	int r;

	if (!of)
		return -ENOMEM;
	seconds = of;
	cores = of + o->course.count;
	bytes = cores + o->course.count;
	for (size_t i = 0; i < o->course.count; i++) {
		seconds[i] = o->block[i].seconds;
		cores[i] = o->block[i].core_s / o->block[i].seconds;
		bytes[i] = o->block[i].memory_peak_mib * TRK_MIB;
	}
	r = trk__split_advise(seconds, cores, bytes, o->course.count, NULL, &c->split);
	free(of);
	c->has_split = r == 0;
	if (r == 0 && c->split.pays)
		find_cut(record, c);
	return r == -ENOMEM ? r : 0;
}

static int name_phase(const struct trk_record *r, struct trk_run_phase *p)
{
	if (!r->lines)
		return 0;
	return trk__lines_dominant(r->lines, p->start_s, p->end_s, p->function,
				   sizeof(p->function));
}

void trk__run_phase_name(const struct trk_run_phase *p, char ret[TRK_RUN_PHASE_NAME])
{
	int n = snprintf(ret, TRK_RUN_PHASE_NAME, "%s%s", p->name[0] ? p->name : p->function,
			 p->name[0] || !p->function[0] ? "" : "()");

	if (p->later && n >= 0 && n < TRK_RUN_PHASE_NAME)
		(void) snprintf(ret + n, TRK_RUN_PHASE_NAME - (size_t) n, " and %zu later",
				p->later);
}

const char *trk__phase_title(const struct trk_time_breakdown *c, size_t i,
			     char ret[TRK_RUN_PHASE_NAME])
{
	struct trk_run_phase p = c->phase[i];

	p.function[0] = '\0';
	trk__run_phase_name(&p, ret);
	if (!p.name[0] && c->marked)
		(void) snprintf(ret, TRK_RUN_PHASE_NAME, "start");
	else if (!p.name[0])
		(void) snprintf(ret, TRK_RUN_PHASE_NAME, "phase %zu", i + 1);
	return ret;
}

int trk__time_breakdown_of(const struct trk_record *record, struct trk_time_breakdown *ret)
{
	struct trk_time_breakdown *c = ret;
	const struct trk_outline *o = &record->outline;
	double end_s;
	int r = 0;

	memset(c, 0, sizeof(*c));
	c->cut_mib = NAN;
	wall_of_run(record, c);
	if (o->course.count == 0)
		return 0;
	end_s = o->block[o->course.count - 1].end_s;
	if (record->marks)
		phases_of_marks(record, end_s, c);
	else if (end_s >= TRK_BREAKDOWN_RUN_MIN_S && o->course.count >= TRK_BREAKDOWN_BLOCKS_MIN)
		r = phases_of_figures(record, end_s, c);
	for (size_t i = 0; i < c->phase_count; i++) {
		fill_phase(record, &c->phase[i]);
		if (r == 0)
			r = name_phase(record, &c->phase[i]);
	}
	/* After waits for a CPU, neither the lengths of the pieces nor their cores are those of the
	 * job. */
	if (r == 0 && end_s >= TRK_BREAKDOWN_SPLIT_MIN_S &&
	    trk__cpu_queue_of(record).cause == TRK_QUEUE_NONE)
		r = split_of(record, c);
	return r;
}

/* ---- JSON ---- */

static void shares_json(struct trk_json *j, const struct trk_wall_split *split)
{
	static const char *const keys[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "on_cpu",    [TRK_WALL_GPU] = "on_gpu",
		[TRK_WALL_DISK] = "disk",        [TRK_WALL_MEMORY_STALL] = "memory",
		[TRK_WALL_CPU_WAIT] = "for_cpu", [TRK_WALL_OTHER] = "other",
	};

	trk__json_key_open(j, "share", '{');
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		trk__json_key_double(j, keys[i], split->share[i]);
	trk__json_close(j, '}');
}

static void wall_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	if (!trk__json_key_object(j, "wall", c->has_wall))
		return;
	trk__json_key_double(j, "seconds", c->seconds);
	trk__json_key_text(j, "quality", "estimated");
	shares_json(j, &c->wall);
	trk__json_key_bool(j, "other_holds_unknown", c->wall.other_holds_unknown);
	trk__json_key_or_null(j, "bound", trk__bottleneck_word(c->bound));
	trk__json_key_text(j, "bottleneck", c->bottleneck);
	trk__json_close(j, '}');
}

static void phases_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	trk__json_key_open(j, "phases", '[');
	for (size_t i = 0; i < c->phase_count; i++) {
		const struct trk_run_phase *p = &c->phase[i];

		trk__json_open(j, '{');
		trk__json_key_or_null(j, "name", p->name);
		trk__json_key_or_null(j, "function", p->function);
		trk__json_key_text(j, "from", c->marked ? "mark" : "figures");
		trk__json_key_double(j, "start_s", p->start_s);
		trk__json_key_double(j, "end_s", p->end_s);
		trk__json_key_u64(j, "later_phases", p->later);
		trk__json_key_double(j, "cpu_mean", p->cores_mean);
		trk__json_key_double(j, "peak_memory_mib", p->memory_peak_mib);
		shares_json(j, &p->split);
		trk__json_key_or_null(j, "bound", trk__bottleneck_word(p->bound));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void split_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	const struct trk_split *s = &c->split;

	if (!trk__json_key_object(j, "split", c->has_split))
		return;
	trk__json_key_bool(j, "pays", s->pays);
	trk__json_key_double(j, "saving", s->saving);
	trk__json_key_or_null(j, "hint", s->hint);
	trk__json_key_or_null(j, "cut", c->cut);
	trk__json_key_double(j, "cut_memory_mib", c->cut_mib);
	trk__json_key_open(j, "pieces", '[');
	for (size_t i = 0; i < s->piece_count; i++) {
		trk__json_open(j, '{');
		trk__json_key_double(j, "seconds", s->piece[i].seconds);
		trk__json_key_double(j, "cpu", s->piece[i].cores);
		trk__json_key_double(j, "memory_mib", s->piece[i].request_bytes / TRK_MIB);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

void trk__time_breakdown_json(struct trk_json *j, const struct trk_time_breakdown *c)
{
	wall_json(j, c);
	phases_json(j, c);
	split_json(j, c);
}
