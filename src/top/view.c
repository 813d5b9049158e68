#include "top/view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/maths.h"
#include "base/utf8.h"
#include "top/chart.h"

enum {
	LABEL = 9,         /* columns of a chart's name */
	VALUE = 17,        /* columns of its figure */
	TAIL = 14,         /* columns after the chart */
	WIDE = 120,        /* minimum width for two columns of charts */
	PROCESSES_MIN = 4, /* minimum rows for the table */
	CHART_ROWS_MAX = 7,
};

#define WARN 0.9 /* figures from this share of a limit on are red */

/* ---- words ---- */

const char *trk__view_clock(char text[32], double seconds)
{
	uint64_t s = seconds > 0 && seconds < 1e12 ? (uint64_t) seconds : 0;
	unsigned int clock = (unsigned int) (s % 86400);
	char days[16] = "";

	if (s >= 86400)
		(void) snprintf(days, sizeof(days), "%llud ", (unsigned long long) (s / 86400));
	(void) snprintf(text, 32, "%s%02u:%02u:%02u", days, clock / 3600, clock / 60 % 60,
			clock % 60);
	return text;
}

static const char *state_text(const struct trk_facts *f, char text[TRK_END_WORDS_SIZE])
{
	if (f->record->writing || f->running)
		return "running";
	return trk__record_end_words(f->record, text);
}

/* "6.1 of 16". */
static void cores_text(const struct trk_facts *f, char *text, size_t size)
{
	double value = f->value[TRK_FIGURE_CORES], had = f->cores.value;
	char a[TRK_HUMAN_SIZE], b[TRK_HUMAN_SIZE];

	if (isnan(value))
		(void) snprintf(text, size, "not known");
	else
		(void) snprintf(text, size, "%s%s%s", trk__human_number(a, value),
				isnan(had) ? "" : " of ",
				isnan(had) ? "" : trk__human_amount(b, had));
}

/* "501 M", "13.9 G". */
static void mib_text(char *text, size_t size, double mib, trk_human_fn *number)
{
	char a[TRK_HUMAN_SIZE];
	bool gib = mib >= 1000;

	(void) snprintf(text, size, "%s %c", number(a, gib ? mib / 1024 : mib), gib ? 'G' : 'M');
}

static void memory_text(const struct trk_facts *f, char *text, size_t size)
{
	double value = f->value[TRK_FIGURE_MEMORY_MIB], had = f->memory_mib.value;
	char a[64], b[64];

	mib_text(a, sizeof(a), value, trk__human_number);
	mib_text(b, sizeof(b), had, trk__human_amount);
	if (isnan(value))
		(void) snprintf(text, size, "not known");
	else
		(void) snprintf(text, size, "%s%s%s", a, isnan(had) ? "" : " of ",
				isnan(had) ? "" : b);
}

static void rate_text(char *text, size_t size, double value)
{
	char a[TRK_HUMAN_SIZE];

	if (isnan(value))
		(void) snprintf(text, size, "not known");
	else
		(void) snprintf(text, size, "%s/s", trk__human_bytes(a, value));
}

/* The most urgent warning about this moment, with its style. */
static unsigned int alarm_text(const struct trk_facts *f, bool utf8, char *text, size_t size)
{
	double share = f->value[TRK_FIGURE_MEMORY_MIB] / f->memory_mib.value;
	char a[TRK_HUMAN_SIZE];

	text[0] = '\0';
	if (!f->running)
		return TRK_STYLE_PLAIN;
	if (f->memory_eta_s >= 0) {
		(void) snprintf(text, size, "%s memory: at limit in ~%s", utf8 ? "\u25c6" : "!",
				trk__human_rough_seconds(a, f->memory_eta_s));
		return TRK_STYLE_RED | TRK_STYLE_BOLD;
	}
	if (f->time_left_s < f->time_s.value * (1 - WARN)) {
		(void) snprintf(
			text, size, "! %s to the time limit",
			trk__human_rough_seconds(a, f->time_left_s > 0 ? f->time_left_s : 0));
		return TRK_STYLE_RED | TRK_STYLE_BOLD;
	}
	if (share >= WARN) {
		(void) snprintf(text, size, "! memory: %.0f %% used", share * 100);
		return TRK_STYLE_RED | TRK_STYLE_BOLD;
	}
	if (!isnan(f->time_left_s))
		(void) snprintf(text, size, "%s to the time limit",
				trk__human_rough_seconds(a, f->time_left_s));
	return TRK_STYLE_PLAIN;
}

static const char *sign(const struct trk_frame *f, const char *utf8, const char *ascii)
{
	return f->utf8 ? utf8 : ascii;
}

/* ---- the head ---- */

/* If the head is too long, the id is left out, then the end of the job's name. */
static void draw_head(struct trk_frame *f, const struct trk_facts *facts)
{
	const struct trk_record *r = facts->record;
	char text[64], state[128], clock[32], alarm[80];
	unsigned int style = alarm_text(facts, f->utf8, alarm, sizeof(alarm));
	int room = f->columns - (int) trk__utf8_columns(alarm) - 3, x, left;
	const char *job = r->run.job[0] ? r->run.job : r->run.kind;

	(void) snprintf(state, sizeof(state), "%s %s", state_text(facts, text),
			trk__view_clock(clock, facts->end_s));
	left = room - (int) strlen(state) - 1;
	x = trk__frame_put(f, 1, 0, left - 2, TRK_STYLE_BOLD, job);
	if (x + (int) strlen(r->run.id) + 2 < left)
		x = trk__frame_put(f, x + 2, 0, left, TRK_STYLE_DIM, r->run.id);
	(void) trk__frame_put(f, x + 2, 0, room - x, r->writing ? TRK_STYLE_GREEN : TRK_STYLE_PLAIN,
			      state);
	trk__frame_right(f, f->columns - 1, 0, style, alarm);
}

/* "00:12:00 > x60 ━━●──── 00:31:07": position of a replay. */
static void draw_timeline(struct trk_frame *f, const struct trk_facts *facts,
			  const struct trk_view_options *o, int y)
{
	char clock[32], end[32], speed[48];
	double share = facts->end_s > 0 ? facts->t_s / facts->end_s : 1;
	int x, right, at;

	(void) snprintf(speed, sizeof(speed), "%s%s%g",
			o->playing ? sign(f, "\u25b6", ">") : sign(f, "\u23f8", "||"),
			sign(f, " \u00d7", " x"), o->speed);
	x = trk__frame_printf(f, 1, y, TRK_STYLE_BOLD, "%s %s ", trk__view_clock(clock, facts->t_s),
			      speed);
	(void) trk__view_clock(end, facts->end_s);
	right = f->columns - (int) strlen(end) - 2;
	at = x + (int) trk__whole(share * (right - x - 1), 0, f->columns);
	for (int i = x; i < right; i++)
		(void) trk__frame_text(f, i, y, i <= at ? TRK_STYLE_BLUE : TRK_STYLE_DIM,
				       i == at  ? sign(f, "\u25cf", "o")
				       : i < at ? sign(f, "\u2501", "=")
						: sign(f, "\u2500", "-"));
	(void) trk__frame_text(f, right + 1, y, TRK_STYLE_PLAIN, end);
	for (size_t i = 0; i < facts->record->marks; i++) {
		double mark = (double) facts->record->mark[i].elapsed_ns / 1e9;
		double column = mark / facts->end_s * (right - x - 1);
		int m = x + (int) trk__whole(column, 0, f->columns);

		if (facts->end_s > 0 && mark <= facts->end_s && m != at)
			(void) trk__frame_text(f, m, y, TRK_STYLE_YELLOW, sign(f, "\u2506", "|"));
	}
}

/* ---- charts ---- */

struct box {
	int x, y, columns, rows;
};

struct span {
	double from_s, to_s;
};

static struct span span_of(const struct trk_facts *facts, const struct trk_view_options *o)
{
	double usual_s = o->overlay && facts->usual ? trk__usual_course_seconds(facts->usual) : 0;
	double all_s = facts->running && usual_s > facts->end_s ? usual_s : facts->end_s;
	double window = o->window_s > 0 ? o->window_s : trk__chart_span(all_s), page;

	/* The window moves page by page, so that a chart does not scroll while it fills. */
	if (o->window_s <= 0 || facts->t_s <= window)
		return (struct span){0, window};
	page = trk__floor(facts->t_s / (window / 2));
	return (struct span){(page - 1) * window / 2, (page + 1) * window / 2};
}

enum { FIGURE_TEXT = 64 };

/* The value of a figure at this moment, as text. */
static void value_text(const struct trk_facts *facts, enum trk_block_figure figure,
		       char text[FIGURE_TEXT])
{
	if (figure == TRK_FIGURE_MEMORY_MIB)
		memory_text(facts, text, FIGURE_TEXT);
	else if (figure == TRK_FIGURE_CORES)
		cores_text(facts, text, FIGURE_TEXT);
	else
		rate_text(text, FIGURE_TEXT, facts->value[figure]);
}

/* Right of the chart: the share of what the job had, or the largest rate. */
static void tail_text(enum trk_block_figure figure, double share, bool warns, double largest,
		      char text[FIGURE_TEXT])
{
	char a[TRK_HUMAN_SIZE];

	text[0] = '\0';
	if (!isnan(share))
		(void) snprintf(text, FIGURE_TEXT, "%s%s", trk__human_percent(a, share),
				warns ? " !" : "");
	else if (largest > 0 && figure >= TRK_FIGURE_READ)
		(void) snprintf(text, FIGURE_TEXT, "max %s/s", trk__human_bytes(a, largest));
}

static void draw_figure(struct trk_frame *f, struct box box, const struct trk_facts *facts,
			const struct trk_watch *w, const struct trk_view_options *o,
			enum trk_block_figure figure)
{
	static const char *const names[] = {"CPU", "memory", "read", "write"};
	struct span span = span_of(facts, o);
	struct trk_chart chart = {
		box.x + LABEL + VALUE, box.y, box.columns - LABEL - VALUE - TAIL, box.rows, NAN,
		TRK_STYLE_BLUE,        NAN};
	double had = figure == TRK_FIGURE_CORES        ? facts->cores.value
		     : figure == TRK_FIGURE_MEMORY_MIB ? facts->memory_mib.value
						       : NAN;
	double value = facts->value[figure], largest, share = value / had;
	bool warns = share >= WARN && figure == TRK_FIGURE_MEMORY_MIB;
	bool overlaid = o->overlay && facts->usual;
	double bin[TRK_CHART_BINS_MAX], usual[TRK_CHART_BINS_MAX];
	char text[FIGURE_TEXT], tail[FIGURE_TEXT];
	int bins;

	if (chart.columns < 1)
		chart.columns = 1;
	bins = trk__chart_bins(f, chart.columns);
	largest = trk__watch_bins(w, figure, span.from_s, span.to_s, facts->t_s, bin, bins);
	for (int b = 0; overlaid && b < bins; b++) {
		double at_s = span.from_s + (span.to_s - span.from_s) * (b + 0.5) / bins;

		usual[b] = trk__usual_course_at(facts->usual, figure, at_s).middle;
	}
	value_text(facts, figure, text);
	tail_text(figure, share, warns, largest, tail);
	chart.top = isnan(had) ? largest : had > largest || isnan(largest) ? had : largest;
	chart.warn = figure == TRK_FIGURE_MEMORY_MIB ? had * WARN : NAN;
	(void) trk__frame_put(f, box.x, box.y, LABEL - 1, TRK_STYLE_PLAIN, names[figure]);
	(void) trk__frame_put(f, box.x + LABEL, box.y, VALUE - 1,
			      isnan(value) ? TRK_STYLE_DIM : TRK_STYLE_BOLD, text);
	trk__chart_draw(f, &chart, bin, overlaid ? usual : NULL);
	(void) trk__frame_put(f, chart.x + chart.columns + 1, box.y, TAIL - 1,
			      warns ? TRK_STYLE_RED | TRK_STYLE_BOLD : TRK_STYLE_PLAIN, tail);
}

/* "gpu0     81 %  ██████░░░░  mem 39 %  310 W 61 C". */
static void draw_gpu(struct trk_frame *f, struct box box, const struct trk_facts *facts, size_t i)
{
	float use = facts->gpu ? facts->gpu->device[i].use : NAN;
	float memory = facts->gpu ? facts->gpu->device[i].memory : NAN;
	float power = facts->gpu ? facts->gpu->device[i].power : NAN;
	float degrees = facts->gpu ? facts->gpu->device[i].temperature : NAN;
	int n = box.columns - LABEL - VALUE - TAIL, x = box.x + LABEL;
	char text[64] = "not known", tail[64] = "";

	(void) trk__frame_printf(f, box.x, box.y, TRK_STYLE_PLAIN, "gpu%zu", i);
	if (!isnan(use))
		(void) snprintf(text, sizeof(text), "%.0f %%", (double) use * 100);
	if (!isnan(power) && !isnan(degrees))
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text), " %.0fW",
				(double) power);
	(void) trk__frame_put(f, x, box.y, VALUE - 1, isnan(use) ? TRK_STYLE_DIM : TRK_STYLE_BOLD,
			      text);
	trk__meter_draw(f, x + VALUE, box.y, n, (double) use, TRK_STYLE_CYAN);
	if (!isnan(memory))
		(void) snprintf(tail, sizeof(tail), "mem %.0f %%%s", (double) memory * 100,
				(double) memory >= WARN ? " !" : "");
	(void) trk__frame_put(f, x + VALUE + n + 1, box.y, TAIL - 1,
			      (double) memory >= WARN ? TRK_STYLE_RED : TRK_STYLE_PLAIN, tail);
}

/* ---- where time goes, and phases ---- */

static void draw_spent(struct trk_frame *f, const struct trk_facts *facts, int y)
{
	static const unsigned int styles[TRK_SPENTS] = {
		TRK_STYLE_BLUE, TRK_STYLE_CYAN, TRK_STYLE_YELLOW, TRK_STYLE_RED, TRK_STYLE_MAGENTA};
	int x = 1 + LABEL, n = f->columns / 5, at = 0;
	double on_cpu = facts->usual ? trk__usual_course_share(facts->usual, TRK_SPENT_ON_CPU)
				     : (double) NAN;
	char usual[64] = "";

	(void) trk__frame_text(f, 1, y, TRK_STYLE_PLAIN, "went to");
	if (isnan(facts->other)) {
		(void) trk__frame_text(f, x, y, TRK_STYLE_DIM, "not known");
		return;
	}
	for (int i = 0; i < TRK_SPENTS; i++) {
		double share = isnan(facts->share[i]) ? 0 : facts->share[i];
		int cells = (int) trk__whole(share * n + 0.5, 0, n);

		for (; cells > 0 && at < n; cells--, at++)
			(void) trk__frame_text(f, x + at, y, styles[i], sign(f, "\u2588", "#"));
	}
	for (; at < n; at++)
		(void) trk__frame_text(f, x + at, y, TRK_STYLE_DIM, sign(f, "\u2591", "."));
	x += n + 1;
	if (!isnan(on_cpu))
		(void) snprintf(usual, sizeof(usual), "usual: %.0f %% on CPU", on_cpu * 100);
	for (int i = 0; i < TRK_SPENTS; i++)
		if (i == 0 || facts->share[i] >= 0.005)
			x = trk__frame_printf(f, x, y, styles[i], "%s %.0f%s  ",
					      trk__facts_spent_names[i],
					      isnan(facts->share[i]) ? 0 : facts->share[i] * 100,
					      i == 0 ? " %" : "");
	x = trk__frame_printf(f, x, y, TRK_STYLE_DIM, "other %.0f", facts->other * 100);
	if (x + 2 + (int) strlen(usual) < f->columns)
		trk__frame_right(f, f->columns - 1, y, TRK_STYLE_DIM, usual);
}

/* The sign of a phase: it is the one of this moment, it is over, or it is to come. */
static const char *phase_sign(const struct trk_frame *f, const struct trk_facts *facts, size_t i)
{
	if (i == facts->phase)
		return sign(f, "\u25b6", ">");
	if (facts->phase != SIZE_MAX && i < facts->phase)
		return sign(f, "\u2713", "+");
	return sign(f, "\u00b7", ".");
}

/* "train ▶ 19 m (usual 1 h 03 m, 44 m to go)". */
static int draw_one_phase(struct trk_frame *f, const struct trk_facts *facts, size_t i, int x,
			  int y)
{
	const struct trk_run_phase *p = &facts->times->phase[i];
	bool now = i == facts->phase;
	/* The breakdown of a running job may be older than this moment. */
	bool open = now && (facts->t_s < p->end_s || facts->running);
	double seconds = (open ? facts->t_s : p->end_s) - p->start_s;
	double usual = now && facts->usual
			       ? trk__usual_course_phase_s(facts->usual, facts->times, i)
			       : NAN;
	char name[TRK_RUN_PHASE_NAME], a[TRK_HUMAN_SIZE], b[TRK_HUMAN_SIZE];

	x = trk__frame_put(f, x, y, 24, now ? TRK_STYLE_BOLD : TRK_STYLE_PLAIN,
			   trk__phase_title(facts->times, i, name));
	x = trk__frame_printf(f, x, y, now ? TRK_STYLE_GREEN : TRK_STYLE_DIM, " %s %s",
			      phase_sign(f, facts, i), trk__human_rough_seconds(a, seconds));
	if (isnan(usual))
		return x;
	x = trk__frame_printf(f, x, y, TRK_STYLE_DIM, " (usual %s",
			      trk__human_rough_seconds(a, usual));
	if (usual > seconds && facts->running)
		x = trk__frame_printf(f, x, y, TRK_STYLE_DIM, ", %s to go",
				      trk__human_rough_seconds(b, usual - seconds));
	return trk__frame_printf(f, x, y, TRK_STYLE_DIM, ")");
}

/* "12 m (usual 1 h 03 m, 51 m to go, from 5 runs)", for a run without phases. */
static void draw_time(struct trk_frame *f, const struct trk_facts *facts, int y)
{
	double usual_s = facts->usual ? trk__usual_course_seconds(facts->usual) : (double) NAN;
	char a[TRK_HUMAN_SIZE], b[TRK_HUMAN_SIZE];
	int x = 1 + LABEL;

	(void) trk__frame_text(f, 1, y, TRK_STYLE_PLAIN, "time");
	x = trk__frame_text(f, x, y, TRK_STYLE_PLAIN, trk__human_rough_seconds(a, facts->t_s));
	if (!facts->usual || isnan(usual_s))
		return;
	x = trk__frame_printf(f, x, y, TRK_STYLE_DIM, " (usual %s",
			      trk__human_rough_seconds(a, usual_s));
	if (facts->running && usual_s > facts->t_s)
		x = trk__frame_printf(f, x, y, TRK_STYLE_DIM, ", %s to go",
				      trk__human_rough_seconds(b, usual_s - facts->t_s));
	(void) trk__frame_printf(f, x, y, TRK_STYLE_DIM, ", from %zu runs)", facts->usual->runs);
}

static void draw_phases(struct trk_frame *f, const struct trk_facts *facts, int y)
{
	size_t count = facts->times ? facts->times->phase_count : 0, i = 0;
	int x = 1 + LABEL;

	if (count <= 1) {
		draw_time(f, facts, y);
		return;
	}
	(void) trk__frame_text(f, 1, y, TRK_STYLE_PLAIN, "phase");
	/* The phase of this moment must be visible: of many, show it and those before it. */
	if (facts->phase != SIZE_MAX && facts->phase > 2 && count > 4)
		i = facts->phase - 2;
	if (i > 0)
		x = trk__frame_text(f, x, y, TRK_STYLE_DIM, sign(f, "\u2026 ", "~ "));
	for (; i < count && x < f->columns - 12; i++) {
		x = draw_one_phase(f, facts, i, x, y);
		if (i + 1 < count)
			x = trk__frame_text(f, x, y, TRK_STYLE_DIM, sign(f, " \u2502 ", " | "));
	}
}

/* ---- processes ---- */

/* Without the directories of the program. */
static const char *short_name(const char *name)
{
	const char *end = name + strcspn(name, " "), *at = end;

	while (name[0] == '/' && at[-1] != '/')
		at--;
	return name[0] == '/' ? at : name;
}

static void draw_process(struct trk_frame *f, const struct trk_process_row *p, int y, bool tree)
{
	int name = f->columns - 1 - 44, x = 9;
	char text[TRK_HUMAN_SIZE], rate[64];

	(void) snprintf(text, sizeof(text), "%d", (int) p->pid);
	trk__frame_right(f, 8, y, TRK_STYLE_DIM, text);
	if (tree && p->depth > 0) {
		x += 2 * (p->depth < 8 ? p->depth : 8) - 2;
		x = trk__frame_text(f, x, y, TRK_STYLE_DIM, sign(f, "\u2514 ", "` "));
	}
	(void) trk__frame_put(f, x, y, 8 + name - x, TRK_STYLE_PLAIN, short_name(p->name));
	x = 9 + name;
	if (!isnan(p->cores))
		(void) snprintf(text, sizeof(text), "%.2f", p->cores);
	trk__frame_right(f, x + 7, y, isnan(p->cores) ? TRK_STYLE_DIM : TRK_STYLE_PLAIN,
			 isnan(p->cores) ? "-" : text);
	trk__frame_right(f, x + 17, y, TRK_STYLE_PLAIN, trk__human_memory(text, p->rss_mib));
	rate_text(rate, sizeof(rate), p->read_bps);
	trk__frame_right(f, x + 28, y, TRK_STYLE_PLAIN, isnan(p->read_bps) ? "-" : rate);
	(void) trk__frame_put(f, x + 29, y, 7, TRK_STYLE_YELLOW, trk__facts_waits(p));
}

static void draw_table_head(struct trk_frame *f, const struct trk_facts *facts,
			    const struct trk_view_options *o, int y)
{
	int name = f->columns - 1 - 44, x = 9 + name;
	char clock[32], title[96];
	bool recorded = facts->source == TRK_PROCESSES_RECORDED;

	(void) snprintf(title, sizeof(title), "PROCESS%s%s%s", *o->filter || o->typing ? " /" : "",
			o->filter, o->typing ? "_" : "");
	for (int i = 0; i < f->columns; i++)
		(void) trk__frame_text(f, i, y, TRK_STYLE_REVERSE, " ");
	trk__frame_right(f, 8, y, TRK_STYLE_REVERSE, "PID");
	(void) trk__frame_put(f, 9, y, name - 1, TRK_STYLE_REVERSE, title);
	trk__frame_right(f, x + 7, y,
			 TRK_STYLE_REVERSE | (o->sort == TRK_SORT_CPU ? TRK_STYLE_BOLD : 0), "CPU");
	trk__frame_right(f, x + 17, y,
			 TRK_STYLE_REVERSE | (o->sort == TRK_SORT_MEMORY ? TRK_STYLE_BOLD : 0),
			 recorded ? "PEAK MEM" : "MEMORY");
	trk__frame_right(f, x + 28, y,
			 TRK_STYLE_REVERSE | (o->sort == TRK_SORT_READ ? TRK_STYLE_BOLD : 0),
			 "READ");
	(void) trk__frame_put(f, x + 29, y, 7, TRK_STYLE_REVERSE, "WAITS");
	if (recorded && name > 34)
		(void) trk__frame_printf(f, 9 + (int) strlen(title) + 1, y, TRK_STYLE_REVERSE,
					 "(as recorded at %s)",
					 trk__view_clock(clock, facts->source_s));
}

static void draw_processes(struct trk_frame *f, const struct trk_facts *facts,
			   const struct trk_view_options *o, int y, int end)
{
	size_t last = facts->processes > (size_t) (end - y - 1)
			      ? facts->processes - (size_t) (end - y - 1)
			      : 0;
	size_t first = o->scroll < last ? o->scroll : last;

	if (end - y < 2)
		return;
	draw_table_head(f, facts, o, y++);
	if (facts->processes == 0)
		(void) trk__frame_text(f, 9, y, TRK_STYLE_DIM,
				       *o->filter ? "no process has that in its name"
				       : facts->source == TRK_PROCESSES_NONE
					       ? "no table of processes was recorded by then"
					       : "none");
	for (size_t i = first; i < facts->processes && y < end; i++, y++)
		draw_process(f, &facts->process[i], y,
			     o->sort == TRK_SORT_TREE && facts->source == TRK_PROCESSES_LIVE);
}

/* ---- keys ---- */

static void draw_help(struct trk_frame *f, int y, int end)
{
	static const char *const lines[] = {
		"space   pause, continue             s       sort by CPU, memory, read, tree",
		"\u2190 \u2192     back and forth by 1 s       p m d   sort by CPU, memory, read",
		("\u21e7 \u2190 \u2192   back and forth by 1 min     /       show only processes "
		 "with this name"),
		"[ ]     phase before and after      g       GPU rows on and off",
		"t T     mark after and before       c       usual course on and off",
		"Home    start of the run            + -     show less or more time in charts",
		"End     now                         < >     replay slower and faster",
		"Esc     all running runs            q       quit",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && y < end; i++, y++) {
		char text[160];
		size_t n = 0;

		/* Arrows in ASCII. */
		for (const char *c = lines[i]; *c && n + 1 < sizeof(text);) {
			size_t size = trk__utf8_length(c, strlen(c));

			if (size > 1 && !f->utf8) {
				uint32_t code = trk__utf8_code(c, size);

				text[n++] = code == 0x2190 ? '<' : code == 0x2192 ? '>' : '^';
			} else {
				memcpy(text + n, c, size);
				n += size;
			}
			c += size;
		}
		text[n] = '\0';
		(void) trk__frame_text(f, 2, y, TRK_STYLE_PLAIN, text);
	}
}

static void draw_keys(struct trk_frame *f, const struct trk_view_options *o)
{
	int y = f->rows - 1;

	if (o->message && *o->message)
		(void) trk__frame_text(f, 1, y, TRK_STYLE_YELLOW, o->message);
	else if (f->columns >= 80)
		(void) trk__frame_text(f, 1, y, TRK_STYLE_DIM,
				       f->utf8 ? "space pause  \u2190\u2192 1 s  "
						 "\u21e7\u2190\u2192 1 m  [ ] phase  "
						 "t mark  s sort  / filter  c usual  ? q"
					       : "space pause  <> 1 s  ^<> 1 m  [ ] phase  t mark  "
						 "s sort  / filter  c usual  ? q");
	else
		(void) trk__frame_text(f, 1, y, TRK_STYLE_DIM,
				       "space pause  [ ] phase  s sort  / filter  ? help  q quit");
}

/* ---- the whole ---- */

/* Draw charts in one or two columns, using the available height. Returns the row below them. */
static int draw_charts(struct trk_frame *f, const struct trk_facts *facts,
		       const struct trk_watch *w, const struct trk_view_options *o, int y)
{
	int columns = f->columns >= WIDE ? 2 : 1;
	int figures = columns == 2 || f->rows >= 20 ? TRK_FIGURES_DRAWN : TRK_FIGURES_DRAWN - 1;
	int gpus = o->hide_gpus ? 0 : (int) facts->gpus, lines = (figures + columns - 1) / columns;
	int gpu_lines = (gpus + columns - 1) / columns;
	int room = f->rows - y - gpu_lines - 4 - PROCESSES_MIN - f->rows / 4;
	int high = room / lines < 1                ? 1
		   : room / lines > CHART_ROWS_MAX ? CHART_ROWS_MAX
						   : room / lines;
	int width = (f->columns - 1) / columns;

	for (int i = 0; i < figures; i++) {
		struct box box = {1 + i % columns * width, y + i / columns * high, width, high};

		draw_figure(f, box, facts, w, o, (enum trk_block_figure) i);
	}
	y += lines * high;
	for (int i = 0; i < gpus && y + i / columns < f->rows - 4; i++) {
		struct box box = {1 + i % columns * width, y + i / columns, width, 1};

		draw_gpu(f, box, facts, (size_t) i);
	}
	return y + gpu_lines;
}

void trk__view_run(struct trk_frame *f, const struct trk_facts *facts,
		   const struct trk_watch *watch, const struct trk_view_options *o)
{
	int y = 1, end = o->once ? f->rows : f->rows - 1;

	trk__frame_clear(f);
	draw_head(f, facts);
	if (!o->live)
		draw_timeline(f, facts, o, y++);
	y = draw_charts(f, facts, watch, o, y);
	draw_spent(f, facts, y++);
	draw_phases(f, facts, y++);
	if (o->help)
		draw_help(f, y, end);
	else
		draw_processes(f, facts, o, y, end);
	if (!o->once) {
		trk__frame_blank(f, 0, f->rows - 1, f->columns);
		draw_keys(f, o);
	}
}

void trk__view_line(struct trk_buf *b, const struct trk_facts *facts, bool utf8)
{
	const char *dot = utf8 ? " \u00b7 " : " | ";
	char text[64], state[64], clock[32], alarm[80], a[TRK_HUMAN_SIZE];

	trk__utf8_safe(b, facts->record->run.job, 40, utf8);
	trk__buf_printf(b, "%s%s %s %s", facts->record->run.job[0] ? " " : "",
			facts->record->run.id, state_text(facts, state),
			trk__view_clock(clock, facts->t_s));
	cores_text(facts, text, sizeof(text));
	trk__buf_printf(b, "%sCPU %s", dot, text);
	memory_text(facts, text, sizeof(text));
	trk__buf_printf(b, "%smemory %s", dot, text);
	if (!isnan(facts->value[TRK_FIGURE_READ]))
		trk__buf_printf(b, "%sread %s/s", dot,
				trk__human_bytes(a, facts->value[TRK_FIGURE_READ]));
	if (facts->record->marks) {
		trk__buf_printf(b, "%sin ", dot);
		trk__utf8_safe(b, facts->record->mark[facts->record->marks - 1].name, 24, utf8);
	}
	(void) alarm_text(facts, utf8, alarm, sizeof(alarm));
	if (alarm[0])
		trk__buf_printf(b, "%s%s", dot, alarm);
}
