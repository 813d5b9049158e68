/* Money first, one statement a line, sentences wrapped, tables cut to the columns that fit. */
#include "fleet/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "fleet/words.h"

struct page {
	struct trk_buf *b;
	const struct trk_fleet_rows *rows;
	size_t width;
	bool utf8, color;
};

#define WORD(name) char name[TRK_FLEET_WORD_SIZE]

enum { TEXT_SIZE = 640, CELL_SIZE = 80, CELLS_MAX = 10, JOB_WIDTH_MAX = 40, RUNS_SHOWN = 10 };

/* ---- lines ---- */

static void put(const struct page *p, const char *text)
{
	size_t len = strlen(text), size;

	for (; len; text += size, len -= size) {
		size = trk__utf8_length(text, len);
		if (trk__utf8_is_hidden(text, size) || (size > 1 && !p->utf8))
			trk__buf_putc(p->b, '?');
		else
			trk__buf_add(p->b, text, size);
		size = size ? size : 1;
	}
}

/* Columns of a character as printed: one if it is replaced by "?". */
static size_t char_columns(const struct page *p, const char *text, size_t size)
{
	return size > 1 && p->utf8 && !trk__utf8_is_hidden(text, size)
		       ? trk__utf8_char_columns(text, size)
		       : 1;
}

static size_t columns(const struct page *p, const char *text)
{
	size_t n = 0, len = strlen(text), size;

	for (; len; text += size, len -= size) {
		size = trk__utf8_length(text, len);
		n += char_columns(p, text, size);
		size = size ? size : 1;
	}
	return n;
}

static void blanks(const struct page *p, size_t n)
{
	while (n-- > 0)
		trk__buf_putc(p->b, ' ');
}

static void paint(const struct page *p, const char *code)
{
	if (p->color)
		trk__buf_printf(p->b, "\033[%sm", code);
}

/* A text in columns `at` .. width, wrapped between words; the cursor stands at `at`. A word that is
 * longer than a line is broken. */
static void wrap(const struct page *p, size_t at, const char *text)
{
	size_t room = p->width > at + 8 ? p->width - at : 8, used = 0;

	while (*text) {
		char word[TEXT_SIZE];
		size_t len = strcspn(text, " "), wide;

		len = len < sizeof(word) - 1 ? len : sizeof(word) - 1;
		memcpy(word, text, len);
		word[len] = '\0';
		wide = columns(p, word);
		if (used && used + 1 + wide > room) {
			trk__buf_putc(p->b, '\n');
			blanks(p, at);
			used = 0;
		} else if (used) {
			trk__buf_putc(p->b, ' ');
			used++;
		}
		if (wide > room) { /* ASCII or not, it is cut at bytes that begin a character */
			size_t cut = room;

			while (cut > 1 && ((unsigned char) text[cut] & 0xc0) == 0x80)
				cut--;
			word[cut] = '\0';
			len = cut;
			wide = columns(p, word);
		}
		put(p, word);
		used += wide;
		text += len;
		text += *text == ' ' && (len == 0 || used < room || text[1]);
	}
	trk__buf_putc(p->b, '\n');
}

__attribute__((format(printf, 3, 4))) static void say(const struct page *p, size_t at,
						      const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	wrap(p, at, text);
}

static void heading(const struct page *p, const char *text, const char *more)
{
	trk__buf_putc(p->b, '\n');
	paint(p, "1");
	put(p, text);
	paint(p, "0");
	if (*more && columns(p, text) + columns(p, more) + 2 <= p->width) {
		trk__buf_puts(p->b, "  ");
		put(p, more);
		more = "";
	}
	trk__buf_putc(p->b, '\n');
	if (*more)
		wrap(p, 0, more);
}

static const char *sign(const struct page *p, const char *symbol, const char *plain)
{
	return p->utf8 ? symbol : plain;
}

/* ---- tables ---- */

struct column {
	const char *title;
	bool right;
	int rank; /* columns with the highest rank are dropped first; 0: never */
};

struct table {
	const struct page *p;
	const struct column *column;
	size_t columns;
	size_t width[CELLS_MAX];
};

/* A cell, cut to its width. */
static void cell(const struct table *t, size_t at, const char *text)
{
	size_t wide = columns(t->p, text), len = strlen(text), n = 0;
	char cut[TEXT_SIZE];

	if (wide > t->width[at]) {
		const char *from = text;

		for (;;) {
			size_t size = trk__utf8_length(from, len);

			n += char_columns(t->p, from, size);
			if (n >= t->width[at])
				break;
			size = size ? size : 1;
			from += size;
			len -= size;
		}
		(void) snprintf(cut, sizeof(cut), "%.*s%s", (int) (from - text), text,
				sign(t->p, "…", "."));
		put(t->p, cut);
		return;
	}
	if (t->column[at].right)
		blanks(t->p, t->width[at] - wide);
	put(t->p, text);
	if (!t->column[at].right && at + 1 < t->columns)
		blanks(t->p, t->width[at] - wide);
}

static void row(const struct table *t, char (*text)[CELL_SIZE])
{
	bool first = true;

	for (size_t i = 0; i < t->columns; i++) {
		if (!t->width[i])
			continue;
		if (!first)
			trk__buf_puts(t->p->b, "  ");
		cell(t, i, text[i]);
		first = false;
	}
	trk__buf_putc(t->p->b, '\n');
}

typedef void fill_fn(const struct page *p, const void *data, size_t at, char (*cells)[CELL_SIZE]);

/* Drop columns, the highest rank first, until the rest fits; the first shrinks to 8 at least. */
static void fit(struct table *t)
{
	if (t->width[0] > JOB_WIDTH_MAX)
		t->width[0] = JOB_WIDTH_MAX;
	for (;;) {
		size_t sum = 0, worst = 0;

		for (size_t c = 0; c < t->columns; c++) {
			sum += t->width[c] ? t->width[c] + 2 : 0;
			if (t->width[c] && t->column[c].rank > t->column[worst].rank)
				worst = c;
		}
		if (sum - 2 <= t->p->width)
			return;
		if (sum - 2 - t->p->width + 12 <= t->width[0]) {
			t->width[0] -= sum - 2 - t->p->width;
			return;
		}
		if (t->column[worst].rank == 0) {
			t->width[0] = 8;
			return;
		}
		t->width[worst] = 0;
	}
}

static void print_rows(const struct page *p, const struct column *column, size_t n, fill_fn *fill,
		       const void *data, size_t rows)
{
	struct table t = {.p = p, .column = column, .columns = n};
	char cells[CELLS_MAX][CELL_SIZE];

	for (size_t c = 0; c < n; c++)
		t.width[c] = columns(p, column[c].title);
	for (size_t i = 0; i < rows; i++) {
		fill(p, data, i, cells);
		for (size_t c = 0; c < n; c++)
			t.width[c] = columns(p, cells[c]) > t.width[c] ? columns(p, cells[c])
								       : t.width[c];
	}
	fit(&t);
	for (size_t c = 0; c < n; c++)
		(void) snprintf(cells[c], sizeof(cells[c]), "%s", column[c].title);
	paint(p, "2");
	row(&t, cells);
	paint(p, "0");
	for (size_t i = 0; i < rows; i++) {
		fill(p, data, i, cells);
		row(&t, cells);
	}
}

/* snprintf is a macro in some C libraries, for which CELL() would be one argument. */
#undef snprintf
#define CELL(at) cells[at], sizeof(cells[at])

/* ---- overview ---- */

static void lead_text(const struct page *p, const struct trk_fleet_overview *o)
{
	char text[3 * TRK_FLEET_TEXT_SIZE];

	if (o->headline[0]) {
		paint(p, "1;33");
		put(p, sign(p, "▲ ", "! "));
		put(p, o->headline);
		paint(p, "0");
		trk__buf_putc(p->b, '\n');
	}
	(void) snprintf(text, sizeof(text), "%s", o->lead);
	wrap(p, 0, text);
	if (o->warning[0]) {
		paint(p, "1;31");
		put(p, sign(p, "◆ ", "!! "));
		wrap(p, p->utf8 ? 2 : 3, o->warning);
		paint(p, "0");
	}
	paint(p, "2");
	wrap(p, 0, o->basis);
	paint(p, "0");
	trk__buf_putc(p->b, '\n');
}

static void beside(const struct trk_fleet_overview *o, double now, double before, char *text,
		   size_t size)
{
	WORD(a);

	if (o->has_before && before > 0)
		(void) snprintf(text, size, "%s on the %d day%s before",
				trk__fleet_change(a, now / before - 1), o->days,
				trk__fleet_plural((size_t) o->days));
	else
		(void) snprintf(text, size, "no earlier period");
}

static void share_line(const struct page *p, const char *title, double share, double before,
		       double median)
{
	WORD(a);
	WORD(b);
	WORD(c);

	trk__buf_printf(p->b, "%-11s %12s  ", title, trk__fleet_percent(a, share));
	if (isnan(before))
		say(p, 26, "of what the jobs had; median job %s", trk__fleet_percent(c, median));
	else
		say(p, 26, "of what the jobs had; was %s, median job %s",
		    trk__fleet_percent(b, before), trk__fleet_percent(c, median));
}

static void tiles_text(const struct page *p, const struct trk_fleet_overview *o)
{
	double waste = trk__fleet_waste_usd(&o->sum), was = trk__fleet_waste_usd(&o->before);
	bool money = o->sum.priced + o->sum.estimated > 0;
	char text[TEXT_SIZE / 4];
	WORD(a);
	WORD(b);

	beside(o, o->sum.usd, o->before.usd, text, sizeof(text));
	trk__buf_printf(p->b, "%-11s %12s  ", "spend", trk__fleet_usd(a, money ? o->sum.usd : NAN));
	wrap(p, 26, text);
	beside(o, waste, was, text, sizeof(text));
	trk__buf_printf(p->b, "%-11s %12s  ", "wasted", trk__fleet_usd(a, money ? waste : NAN));
	if (money)
		say(p, 26, "%s of it; %s", trk__fleet_percent(b, waste / o->sum.usd), text);
	else
		wrap(p, 26, "no run has a known cost");
	share_line(p, "cores used", trk__fleet_cores_share(&o->sum),
		   o->has_before ? trk__fleet_cores_share(&o->before) : NAN, o->median_cores_share);
	share_line(p, "memory used", trk__fleet_memory_share(&o->sum),
		   o->has_before ? trk__fleet_memory_share(&o->before) : NAN,
		   o->median_memory_share);
	trk__buf_printf(p->b, "%-11s %12s  ", "failed runs", trk__fleet_count(a, o->sum.failed));
	say(p, 26, "of %s; %zu out of memory", trk__fleet_count(b, o->sum.runs),
	    o->sum.out_of_memory);
	if (o->running)
		trk__buf_printf(p->b, "%-11s %12s  job%s\n", "running now",
				trk__fleet_count(a, o->running), trk__fleet_plural(o->running));
}

static void change_cells(const struct page *p, const void *data, size_t at,
			 char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_job *job = ((const struct trk_fleet_job *const *) data)[at];
	WORD(a);
	WORD(b);

	(void) snprintf(CELL(0), "%s", trk__fleet_text(p->rows, job->name->name));
	(void) snprintf(CELL(1), "%s", trk__fleet_usd(a, job->saves_usd_month));
	(void) snprintf(CELL(2), "%s",
			trk__fleet_percent(a, job->saves_usd_month / job->month.usd));
	(void) snprintf(CELL(3), "%s", trk__fleet_cores(a, job->asked_cores));
	(void) snprintf(CELL(4), "%s", trk__fleet_cores(a, job->ask_cores));
	(void) snprintf(CELL(5), "%s", trk__fleet_memory(b, job->asked_mib));
	(void) snprintf(CELL(6), "%s", trk__fleet_memory(b, job->ask_mib));
}

static void changes_text(const struct page *p, const struct trk_fleet_overview *o)
{
	static const struct column columns_of[] = {
		{"job", false, 0},    {"saves a month", true, 0}, {"of it", true, 4},
		{"cores", true, 2},   {"ask for", true, 0},       {"memory", true, 3},
		{"ask for", true, 0},
	};
	char more[96];
	WORD(a);

	if (!o->changes) {
		heading(p, "Change these first", "nothing to save: no job requests too much");
		return;
	}
	(void) snprintf(more, sizeof(more), "%zu of %zu job%s, %s a month in all", o->changes,
			o->changes_all, trk__fleet_plural(o->changes_all),
			trk__fleet_usd(a, o->saves_all_usd_month));
	heading(p, "Change these first", more);
	print_rows(p, columns_of, sizeof(columns_of) / sizeof(columns_of[0]), change_cells,
		   o->change, o->changes);
	wrap(p, 0,
	     "Why, and lines to paste: resource-tracker fleet --job NAME, "
	     "resource-tracker recommend NAME --for slurm");
}

static void findings_text(const struct page *p, const struct trk_fleet_overview *o)
{
	static const struct {
		const char *symbol, *plain, *color;
	} marks[TRK_FLEET_FINDING_KINDS] = {
		[TRK_FLEET_WILL_FAIL] = {"◆ ", "! ", "1;31"},
		[TRK_FLEET_FAILING] = {"✖ ", "x ", "1;31"},
		[TRK_FLEET_SLOWER] = {"▲ ", "^ ", "1;33"},
		[TRK_FLEET_FASTER] = {"▼ ", "v ", "32"},
		[TRK_FLEET_SLOW_MACHINE] = {"▲ ", "^ ", "1;33"},
		[TRK_FLEET_GPU_UNUSED] = {"▲ ", "^ ", "1;33"},
		[TRK_FLEET_GPU_TOO_BIG] = {"▲ ", "^ ", "1;33"},
	};

	if (!o->findings) {
		heading(p, "Before it fails", "nothing grows to its limit, nothing has changed");
		return;
	}
	heading(p, "Before it fails", "and what has changed");
	for (size_t i = 0; i < o->findings; i++) {
		const struct trk_fleet_finding *f = &o->finding[i];

		paint(p, marks[f->kind].color);
		put(p, sign(p, marks[f->kind].symbol, marks[f->kind].plain));
		paint(p, "0");
		say(p, 2, "%s %s", f->head, f->text);
	}
}

/* Columns of eighths; the last one is today. */
static void spend_bars(const struct page *p, const struct trk_fleet_days *d)
{
	static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = " ..::||##";
	size_t room = p->width > 40 ? p->width - 20 : 20; /* "  most under $0.001" */
	size_t n = d->count < room ? d->count : room;
	double most = 0;
	WORD(a);

	for (size_t i = d->count - n; i < d->count; i++)
		most = d->day[i].sum.usd > most ? d->day[i].sum.usd : most;
	if (!(most > 0))
		return;
	for (size_t i = d->count - n; i < d->count; i++) {
		size_t k = (size_t) (d->day[i].sum.usd / most * 8 + 0.5);

		if (p->utf8)
			trk__buf_puts(p->b, eighths[k]);
		else
			trk__buf_putc(p->b, plain[k]);
	}
	trk__buf_printf(p->b, "  most %s\n", trk__fleet_usd(a, most));
	put(p, trk__fleet_date(a, d->day[d->count - n].day));
	trk__buf_puts(p->b, " to today, which is incomplete\n");
}

static void spend_text(const struct page *p, const struct trk_fleet_overview *o)
{
	const struct trk_fleet_days *d = &o->spend;
	const struct trk_fleet_forecast *f = &d->forecast;
	char text[TRK_FLEET_TEXT_SIZE];
	WORD(a);
	WORD(b);
	WORD(c);

	if (!(o->sum.usd > 0))
		return;
	heading(p, "Spend a day", "");
	spend_bars(p, d);
	for (size_t i = 0; i < d->odd_count; i++) {
		trk__fleet_odd_day_text(p->rows, &d->odd[i], text);
		wrap(p, 0, text);
	}
	if (f->known)
		say(p, 0,
		    "Expected in the next 30 days if nothing changes: %s +- %s, 9 of 10 "
		    "times; %s with the advice. From %zu days.",
		    trk__fleet_usd(a, f->month_usd), trk__fleet_usd(b, f->month_band_usd),
		    trk__fleet_usd(c, f->month_usd_advised), f->days);
	else
		wrap(p, 0, "A forecast needs 4 weeks of spend.");
}

static void group_cells(const struct page *p, const void *data, size_t at, char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_group *g = &((const struct trk_fleet_group *) data)[at];
	bool money = g->sum.priced + g->sum.estimated > 0;
	WORD(a);

	(void) snprintf(CELL(0), "%s", g->name ? trk__fleet_text(p->rows, g->name) : "not known");
	(void) snprintf(CELL(1), "%s", trk__fleet_usd(a, money ? g->sum.usd : NAN));
	(void) snprintf(CELL(2), "%s",
			trk__fleet_percent(a, trk__fleet_waste_usd(&g->sum) / g->sum.usd));
	(void) snprintf(CELL(3), "%s", trk__fleet_count(a, g->sum.runs));
	(void) snprintf(CELL(4), "%s", trk__fleet_count(a, g->sum.failed));
}

static void groups_text(const struct page *p, const struct trk_fleet_overview *o)
{
	for (int i = 0; i < TRK_FLEET_TRAITS; i++) {
		const struct column columns_of[] = {
			{trk__fleet_trait_names[i], false, 0},
			{"spend", true, 0},
			{"wasted", true, 1},
			{"runs", true, 0},
			{"failed", true, 0},
		};

		if (!o->groups[i])
			continue;
		heading(p, "Who spends it", trk__fleet_trait_names[i]);
		print_rows(p, columns_of, 5, group_cells, o->group[i], o->groups[i]);
	}
}

static void overview_text(const struct page *p, const struct trk_fleet_overview *o)
{
	lead_text(p, o);
	tiles_text(p, o);
	changes_text(p, o);
	findings_text(p, o);
	spend_text(p, o);
	groups_text(p, o);
}

/* ---- jobs ---- */

static void job_cells(const struct page *p, const void *data, size_t at, char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_job *job = &((const struct trk_fleet_jobs *) data)->job[at];
	WORD(a);
	WORD(b);

	(void) snprintf(CELL(0), "%s", trk__fleet_text(p->rows, job->name->name));
	(void) snprintf(CELL(1), "%s", trk__fleet_verdict_names[job->verdict]);
	(void) snprintf(CELL(2), "%s", trk__fleet_duration(a, job->duration_s));
	(void) snprintf(CELL(3), "%s",
			job->drift.known ? trk__fleet_change(a, job->drift.change) : "usual");
	(void) snprintf(CELL(4), "%s of %s", trk__fleet_memory(a, job->peak_mib),
			trk__fleet_memory(b, job->asked_mib));
	(void) snprintf(CELL(5), "%s of %s", trk__fleet_cores(a, job->cores),
			trk__fleet_cores(b, job->asked_cores));
	(void) snprintf(CELL(6), "%zu of %zu", job->period.failed, job->period.runs);
	(void) snprintf(CELL(7), "%s",
			trk__fleet_usd(a, job->period.priced + job->period.estimated
						  ? job->period.usd
						  : (double) NAN));
	(void) snprintf(CELL(8), "%s", trk__fleet_usd(a, job->saves_usd_month));
}

static void jobs_text(const struct page *p, const struct trk_fleet_jobs *jobs)
{
	static const struct column columns_of[] = {
		{"job", false, 0},   {"verdict", false, 3}, {"run time", true, 4},
		{"change", true, 5}, {"memory", true, 6},   {"cores", true, 7},
		{"failed", true, 2}, {"spend", true, 1},    {"saves a month", true, 0},
	};

	print_rows(p, columns_of, 9, job_cells, jobs, jobs->count);
}

/* ---- one job ---- */

static void when_text(double start_s, char *text, size_t size)
{
	time_t start = (time_t) start_s;
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&start, &tm))
		(void) strftime(text, size, "%Y-%m-%d %H:%M", &tm);
}

static void run_cells(const struct page *p, const void *data, size_t at, char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_job *job = data;
	const struct trk_fleet_run *run =
		&p->rows->run[job->name->first + job->name->count - 1 - at];
	struct trk_anomaly odd;
	WORD(a);

	trk__fleet_judge(p->rows, job, run, &odd);
	(void) snprintf(CELL(0), "%s", run->id);
	when_text(run->start_s, CELL(1));
	(void) snprintf(CELL(2), "%s", trk__fleet_end_names[run->end]);
	(void) snprintf(CELL(3), "%s", trk__fleet_duration(a, run->duration_s));
	(void) snprintf(CELL(4), "%s%s", trk__fleet_change(a, odd.change),
			odd.verdict > TRK_ANOMALY_NO ? " odd" : "");
	(void) snprintf(CELL(5), "%s", trk__fleet_memory(a, run->peak_mib));
	(void) snprintf(CELL(6), "%s", trk__fleet_cores(a, run->cores));
	(void) snprintf(CELL(7), "%s", trk__fleet_usd(a, run->usd));
}

static void request_text(const struct page *p, const struct trk_fleet_job *job)
{
	WORD(a);
	WORD(b);
	WORD(c);

	heading(p, "Next request", "");
	trk__buf_printf(p->b, "%-7s %9s %10s %9s\n", "", "now", "used, p95", "ask for");
	trk__buf_printf(p->b, "%-7s %9s %10s %9s\n", "cores", trk__fleet_cores(a, job->asked_cores),
			trk__fleet_cores(b, job->cores_p95), trk__fleet_cores(c, job->ask_cores));
	trk__buf_printf(p->b, "%-7s %9s %10s %9s\n", "memory", trk__fleet_memory(a, job->asked_mib),
			trk__fleet_memory(b, job->peak_p95_mib),
			trk__fleet_memory(c, job->ask_mib));
	trk__buf_printf(p->b, "%-7s %9s %10s %9s\n", "a run", trk__fleet_usd(a, job->usd), "",
			trk__fleet_usd(c, job->ask_usd));
	if (!isnan(job->ask_mib))
		say(p, 0, "Chance that the next run needs more than %s: %s.",
		    trk__fleet_memory(a, job->ask_mib),
		    trk__fleet_percent(b, trk__fleet_job_chance(p->rows, job, job->ask_mib)));
	wrap(p, 0, "Lines to paste: resource-tracker recommend JOB --for slurm");
}

static void job_text(const struct page *p, const struct trk_fleet_job *job)
{
	static const struct column columns_of[] = {
		{"run", false, 0},     {"started", false, 2}, {"end", false, 0},  {"time", true, 0},
		{"to usual", true, 1}, {"memory", true, 3},   {"cores", true, 4}, {"cost", true, 5},
	};
	size_t runs = job->name->count < RUNS_SHOWN ? job->name->count : RUNS_SHOWN;
	char text[TRK_FLEET_TEXT_SIZE];
	WORD(a);

	paint(p, "1");
	put(p, trk__fleet_text(p->rows, job->name->name));
	paint(p, "0");
	trk__buf_printf(p->b, "  %s\n", trk__fleet_verdict_names[job->verdict]);
	if (job->name->scope)
		say(p, 0, "in %s", trk__fleet_text(p->rows, job->name->scope));
	trk__fleet_job_lead(job, text);
	wrap(p, 0, text);
	trk__fleet_job_basis(job, text);
	wrap(p, 0, text);
	request_text(p, job);
	heading(p, "What has happened", "");
	if (job->growth.rising) {
		trk__fleet_growth_text(job, text);
		say(p, 0, "It %s", text);
	}
	if (job->drift.known) {
		trk__fleet_drift_text(p->rows, job, text);
		say(p, 0, "It %s", text);
	}
	say(p, 0,
	    "%zu odd run%s and %zu of %zu failed in the period; usual noise of the run time "
	    "%s.",
	    job->odd, trk__fleet_plural(job->odd), job->period.failed, job->period.runs,
	    trk__fleet_percent(a, job->noise_share));
	heading(p, "Newest runs", "");
	print_rows(p, columns_of, 8, run_cells, job, runs);
}

/* ---- runs ---- */

static void listed_cells(const struct page *p, const void *data, size_t at,
			 char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_run *run = ((const struct trk_fleet_run_page *) data)->run[at];
	WORD(a);

	(void) snprintf(CELL(0), "%s", run->id);
	(void) snprintf(CELL(1), "%s", trk__fleet_text(p->rows, p->rows->job[run->job].name));
	when_text(run->start_s, CELL(2));
	(void) snprintf(CELL(3), "%s", trk__fleet_end_names[run->end]);
	(void) snprintf(CELL(4), "%s", trk__fleet_duration(a, run->duration_s));
	(void) snprintf(CELL(5), "%s", trk__fleet_memory(a, run->peak_mib));
	(void) snprintf(CELL(6), "%s", trk__fleet_cores(a, run->cores));
	(void) snprintf(CELL(7), "%s", trk__fleet_usd(a, run->usd));
}

static int runs_text(const struct page *p, const struct trk_fleet_run_filter *filter)
{
	static const struct column columns_of[] = {
		{"run", false, 0}, {"job", false, 0},   {"started", false, 2}, {"end", false, 0},
		{"time", true, 0}, {"memory", true, 3}, {"cores", true, 4},    {"cost", true, 5},
	};
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(p->rows, filter, &page);

	if (r < 0)
		return r;
	print_rows(p, columns_of, 8, listed_cells, &page, page.count);
	if (page.more)
		say(p, 0, "The newest %zu of %zu.", page.count, page.matched);
	trk__fleet_run_page_release(&page);
	return 0;
}

/* ---- machines ---- */

static void place_cells(const struct page *p, const void *data, size_t at, char (*cells)[CELL_SIZE])
{
	const struct trk_fleet_place *place = &((const struct trk_fleet_place *) data)[at];
	WORD(a);
	WORD(b);

	if (place->name)
		(void) snprintf(CELL(0), "%s", trk__fleet_text(p->rows, place->name));
	else
		(void) snprintf(CELL(0), "%s cores, %s", trk__fleet_cores(a, place->cores),
				trk__fleet_memory(b, place->mib));
	(void) snprintf(CELL(1), "%s", trk__fleet_count(a, place->sum.runs));
	(void) snprintf(CELL(2), "%.1f", place->sum.run_s / 3600);
	(void) snprintf(CELL(3), "%s", trk__fleet_usd(a, place->usd_hour));
	(void) snprintf(CELL(4), "%s", trk__fleet_percent(a, trk__fleet_cores_share(&place->sum)));
	(void) snprintf(CELL(5), "%s",
			trk__fleet_usd(a, place->sum.usd > 0 ? place->sum.idle_cores_usd +
								       place->sum.idle_memory_usd
							     : (double) NAN));
	(void) snprintf(CELL(6), "%.0f",
			1000 * (double) place->sum.failed / (double) place->sum.runs);
	(void) snprintf(CELL(7), "%s%s", trk__fleet_change(a, place->ratio - 1),
			place->slow ? " slow" : "");
}

static void machines_text(const struct page *p, const struct trk_fleet_machines *machines)
{
	static const struct column servers[] = {
		{"server type", false, 0},   {"runs", true, 0},       {"hours", true, 4},
		{"an hour", true, 3},        {"cores busy", true, 2}, {"idle", true, 1},
		{"failed of 1000", true, 5}, {"run time", true, 0},
	};
	static const struct column nodes[] = {
		{"machine", false, 0},       {"runs", true, 0},       {"hours", true, 4},
		{"an hour", true, 3},        {"cores busy", true, 2}, {"idle", true, 1},
		{"failed of 1000", true, 5}, {"run time", true, 0},
	};

	if (!machines->servers && !machines->machines)
		wrap(p, 0,
		     "No run says where it ran. Try: resource-tracker run --tag "
		     "server=TYPE --tag node=NAME");
	if (machines->servers)
		print_rows(p, servers, 8, place_cells, machines->server, machines->servers);
	if (machines->machines) {
		trk__buf_puts(p->b, machines->servers ? "\n" : "");
		print_rows(p, nodes, 8, place_cells, machines->machine, machines->machines);
	}
	if (machines->unknown)
		say(p, 0, "The server of %zu run%s is not known.", machines->unknown,
		    trk__fleet_plural(machines->unknown));
}

int trk__fleet_terminal(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
			const struct trk_fleet_question *q, const struct trk_fleet_style *style,
			struct trk_buf *b)
{
	const struct page p = {
		.b = b,
		.rows = rows,
		.width = style->width < TRK_FLEET_WIDTH_MIN   ? TRK_FLEET_WIDTH_MIN
			 : style->width > TRK_FLEET_WIDTH_MAX ? TRK_FLEET_WIDTH_MAX
							      : style->width,
		.utf8 = style->utf8,
		.color = style->color,
	};

	if (q->view == TRK_FLEET_VIEW_JOB)
		job_text(&p, trk__fleet_job_at(&v->jobs, q->job));
	else if (q->view == TRK_FLEET_VIEW_JOBS)
		jobs_text(&p, &v->jobs);
	else if (q->view == TRK_FLEET_VIEW_MACHINES)
		machines_text(&p, &v->machines);
	else if (q->view == TRK_FLEET_VIEW_RUNS)
		return runs_text(&p, &q->runs);
	else
		overview_text(&p, &v->overview);
	return 0;
}
