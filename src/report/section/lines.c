/* Where in the code: the lines of the job's programs that used the most CPU time or took the
 * most memory, their source, their course over the run, and all stacks for the chart. */
#include <stdlib.h>

#include "base/maths.h"
#include "lines/profile.h"
#include "lines/source.h"
#include "lines/tree.h"
#include "lines/write.h"
#include "report/section/section.h"
#include "report/shared_terms.h"

enum {
	ROWS = 12,
	GROWTH_ROWS = 3, /* further rows, for lines that took memory and little CPU time */
	BINS = 24,       /* of a course */
	SOURCE_CHARS = 80,
	NAME_CHARS = 70,
	TREE_BYTES = 22 * 1024,
	WINDOWS_MIN = 3, /* minimum for showing a course */
};

/* Lines below these shares of CPU time and memory, and of waiting time, are left out. */
static const double LEAST_SHARE = 0.005, LEAST_WAIT = 0.05;
/* The same of native code that has an address in place of a name, which says little. */
static const double LEAST_SHARE_UNNAMED = 0.05;
static const uint64_t LEAST_GROWTH = 8 << 20;

static const struct trk_doc_column line_columns[] = {
	{"line", "Line", TRK_CELL_CODE},
	{"source", "Source", TRK_CELL_CODE},
	{"cpu_s", "CPU", TRK_CELL_NUMBER},
	{"cpu_share", "Share", TRK_CELL_BAR},
	{"course", "Over the run", TRK_CELL_CODE},
	{"waited_s", "Waited", TRK_CELL_NUMBER},
	{"growth_mib", "Memory grew", TRK_CELL_NUMBER},
};
enum { LINE, SOURCE, CPU, SHARE, COURSE, WAITED, GREW, COLUMNS };

struct work {
	const struct trk_lines *l;
	const struct trk_profile *p;
	struct trk_lines_source source;
	size_t row[ROWS + GROWTH_ROWS]; /* numbers of the shown rows of the profile */
	size_t rows;
	uint8_t *shown; /* of each node: number in `row` + 1 */
	uint64_t course_us[ROWS + GROWTH_ROWS][BINS];
	bool has_course;
	double seconds;
};

/* ---- which rows ---- */

static uint64_t grew(const struct trk_lines_amounts *a)
{
	return a->sure_bytes + a->between_bytes;
}

static double waited_s(const struct trk_lines_amounts *a)
{
	return a->wall_us > a->cpu_us ? (double) (a->wall_us - a->cpu_us) / 1e6 : 0;
}

static bool is_shown(const struct work *w, size_t at)
{
	for (size_t i = 0; i < w->rows; i++)
		if (w->row[i] == at)
			return true;
	return false;
}

static double least_share(const struct work *w, const struct trk_profile_row *row)
{
	const char *name = w->l->function[w->l->node[row->node].function].name;

	return name[0] == '[' ? LEAST_SHARE_UNNAMED : LEAST_SHARE;
}

static void choose(struct work *w)
{
	for (size_t i = 0; i < w->p->rows && w->rows < ROWS; i++) {
		const struct trk_lines_amounts *a = &w->p->row[i].self;
		double cpu = (double) a->cpu_us;

		if (cpu > least_share(w, &w->p->row[i]) * (double) w->p->all.cpu_us ||
		    grew(a) >= LEAST_GROWTH || waited_s(a) > LEAST_WAIT * w->seconds)
			w->row[w->rows++] = i;
	}
	for (int n = 0; n < GROWTH_ROWS; n++) {
		size_t best = w->p->rows;

		for (size_t i = 0; i < w->p->rows; i++)
			if (grew(&w->p->row[i].self) >= LEAST_GROWTH && !is_shown(w, i) &&
			    (best == w->p->rows ||
			     grew(&w->p->row[i].self) > grew(&w->p->row[best].self)))
				best = i;
		if (best == w->p->rows)
			return;
		w->row[w->rows++] = best;
	}
}

/* ---- their course ---- */

static void map_nodes(struct work *w)
{
	for (uint32_t i = 1; i < w->l->nodes; i++) {
		const struct trk_lines_node *own = &w->l->node[trk__lines_user(w->l, i)];

		for (size_t k = 0; k < w->rows; k++) {
			const struct trk_lines_node *n = &w->l->node[w->p->row[w->row[k]].node];

			if (n->function == own->function && n->line == own->line)
				w->shown[i] = (uint8_t) (k + 1);
		}
	}
}

/* A window shorter than a bin is added to the bin of its middle; a longer one is divided among
 * bins. */
static void add_window(struct work *w, const struct trk_lines_window *window, double bin_us)
{
	double from = (double) window->from_us / bin_us, to = (double) window->to_us / bin_us;
	bool is_short = to - from < 1;
	size_t first = (size_t) trk__whole(is_short ? (from + to) / 2 : from, 0, BINS - 1);
	size_t last = is_short ? first : (size_t) trk__whole(to, 0, BINS - 1);

	for (size_t k = 0; k < window->count; k++) {
		const struct trk_lines_count *c = &w->l->kept[window->first + k];
		uint8_t row = w->shown[c->node];

		for (size_t i = first; row && i <= last; i++)
			w->course_us[row - 1][i] += c->amounts.cpu_us / (last - first + 1);
	}
}

static void find_course(struct work *w)
{
	double end_us = w->seconds * 1e6;

	if (w->l->windows < WINDOWS_MIN || !(end_us > 0 && end_us < 1e16))
		return;
	w->shown = calloc(w->l->nodes, sizeof(*w->shown));
	if (!w->shown)
		return;
	map_nodes(w);
	for (size_t i = 0; i < w->l->windows; i++)
		add_window(w, &w->l->window[i], end_us / BINS);
	w->has_course = true;
	free(w->shown);
	w->shown = NULL;
}

/* Bars of the line's share of its highest bin; all lines have one scale. */
static const char *course_words(struct trk_doc *d, const struct work *w, size_t row)
{
	static const char *const eighths[] = {"\u2800", "\u2581", "\u2582", "\u2583", "\u2584",
					      "\u2585", "\u2586", "\u2587", "\u2588"};
	uint64_t top = 0;
	TRK_BUF_LOCAL(b, 4 * BINS);

	for (size_t r = 0; r < w->rows; r++)
		for (size_t i = 0; i < BINS; i++)
			top = w->course_us[r][i] > top ? w->course_us[r][i] : top;
	if (!w->has_course || top == 0)
		return NULL;
	for (size_t i = 0; i < BINS; i++) {
		uint64_t us = w->course_us[row][i];

		trk__buf_puts(&b, eighths[us ? 1 + us * 7 / top : 0]);
	}
	return trk__doc_take(d, &b);
}

/* ---- the table ---- */

static void add_row(struct trk_doc *d, struct trk_doc_table *t, struct work *w, size_t k)
{
	const struct trk_profile_row *r = &w->p->row[w->row[k]];
	const struct trk_lines_node *n = &w->l->node[r->node];
	struct trk_doc_cell *cell = trk__doc_row(d, t);
	double cpu_s = (double) r->self.cpu_us / 1e6;
	double share = (double) r->self.cpu_us / (double) w->p->all.cpu_us;
	const char *why = NULL;
	char name[300], text[200];

	cell[LINE].text =
		trk__doc_safe(d, trk__lines_name(w->l, r->node, name, sizeof(name)), NAME_CHARS);
	if (n->line > 0 && trk__lines_source(&w->source, &w->l->function[n->function], n->line,
					     text, sizeof(text), &why))
		cell[SOURCE].text = trk__doc_safe(d, text, SOURCE_CHARS);
	else if (why)
		cell[SOURCE].text = trk__doc_print(d, "(%s)", why);
	cell[CPU] = trk__doc_figure(d, trk__human_seconds, cpu_s);
	cell[SHARE] =
		trk__doc_figure(d, trk__human_percent, w->p->all.cpu_us ? share : (double) NAN);
	cell[SHARE].second = cell[SHARE].value;
	cell[COURSE].text = course_words(d, w, k);
	cell[WAITED] = trk__doc_figure(d, trk__human_seconds, waited_s(&r->self));
	cell[GREW] =
		trk__doc_cell(grew(&r->self) < 1 << 20 ? "0"
						       : trk__growth_words(d, r->self.sure_bytes,
									   r->self.between_bytes),
			      (double) grew(&r->self) / TRK_MIB);
}

/* ---- the section ---- */

static const char *stacks_words(struct trk_doc *d, const struct trk_lines *l)
{
	const char *python = trk__doc_print(d, "%llu stacks of Python at up to %g a second",
					    (unsigned long long) l->samples, l->rate_hz);
	const char *native = trk__doc_print(d, "%llu stacks of native code",
					    (unsigned long long) l->native.samples);

	if (!l->native.samples)
		return python;
	return l->samples ? trk__doc_print(d, "%s and %s", python, native) : native;
}

static const char *basis_words(struct trk_doc *d, const struct work *w,
			       const struct trk_report_work *in)
{
	double all = in->in->record->outcome.total[TRK_TOTAL_CPU_S].value;
	double on_lines = (double) w->p->all.cpu_us / 1e6;

	return trk__doc_print(
		d,
		"%s, sampled from outside; CPU time of Python is scaled to what each "
		"process used%s%s%s. Memory: + grew between two samples of this line, ~ this line "
		"is "
		"the "
		"likely cause. resource-tracker lines %s shows more.",
		stacks_words(d, w->l), all > on_lines ? ", and " : "",
		all > on_lines ? trk__doc_value(d, trk__human_percent, 1 - on_lines / all) : "",
		all > on_lines ? " of the run's CPU time is on no line" : "",
		in->in->record->run.id);
}

static void add_stacks(struct trk_doc *d, struct trk_doc_section *s, const struct work *w)
{
	TRK_BUF_LOCAL(b, TREE_BYTES);

	if (trk__lines_tree_json(&b, w->l, TREE_BYTES))
		trk__doc_stacks(d, s, trk__doc_take(d, &b));
}

/* No block, and so no section, for runs whose stacks were not sampled or that ran no Python. */
void trk__section_lines(struct trk_doc *d, struct trk_doc_section *s,
			const struct trk_report_work *w)
{
	const struct trk_profile_options options = {.to_us = INT64_MAX};
	const struct trk_record *record = w->in->record;
	struct trk_profile profile;
	struct trk_doc_table *t;
	struct work *work;

	if (!record->lines || record->lines->totals == 0 ||
	    trk__profile_make(record->lines, &options, &profile) < 0)
		return;
	work = calloc(1, sizeof(*work));
	if (work) {
		*work = (struct work){.l = record->lines,
				      .p = &profile,
				      .source = {.user = record->lines->user,
						 .start_s = (double) record->run.start_ns / 1e9},
				      .seconds = (double) record->outcome.duration_ns / 1e9};
		choose(work);
		find_course(work);
	}
	if (work && work->rows) {
		t = trk__doc_table(d, s, "lines", NULL, line_columns, COLUMNS);
		for (size_t i = 0; i < work->rows; i++)
			add_row(d, t, work, i);
		add_stacks(d, s, work);
		trk__doc_note(d, s, "%s", basis_words(d, work, w));
		trk__lines_source_release(&work->source);
	}
	free(work);
	trk__profile_release(&profile);
}
