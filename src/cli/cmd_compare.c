/* resource-tracker compare: what changed, compared with the usual variation of the job. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "base/utf8.h"
#include "cli/named_runs.h"
#include "report/write/terminal.h"
#include "service/compare.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	const char *dir, *fail_on;
	bool json, markdown;
};

static const struct cli_option options[] = {
	{"fail-on", 0, "RULES", "exit with 3 if one of these holds: duration>+5%,peak_mem>+10%",
	 cli_set_text, AT(fail_on)},
	{"markdown", 0, NULL, "print a Markdown table, for the summary of a CI job", cli_set_flag,
	 AT(markdown)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- output ---- */

static void add_value(struct trk_buf *b, enum trk_change_figure figure, double value)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_puts(b, trk__change_names[figure].words(text, value));
}

static void add_change(struct trk_buf *b, const struct trk_comparison *c, size_t i)
{
	double change = c->change.figure[i].share, noise = c->change.figure[i].noise_share;

	if (isnan(change))
		trk__buf_puts(b, "-");
	else
		trk__buf_printf(b, "%+.1f %%", change * 100);
	if (!isnan(noise) && c->change.figure[i].verdict != TRK_ANOMALY_TOO_FEW)
		trk__buf_printf(b, " (usual +-%.1f %%)", noise * 100);
}

/* Escape untrusted text, so that it is not markup. */
static void markdown_text(struct trk_buf *b, const char *text)
{
	for (size_t size, len = strlen(text); len; text += size, len -= size) {
		size = trk__utf8_length(text, len);
		if (strchr("\\`*_[]<>&|#~!", *text))
			trk__buf_putc(b, '\\');
		if (trk__utf8_is_hidden(text, size))
			trk__buf_putc(b, '?');
		else
			trk__buf_add(b, text, size);
		size = size ? size : 1;
	}
}

/* "run time changed in load: 12 m 0 s -> 19 m 0 s" */
static void add_phase(struct trk_buf *b, enum trk_change_figure figure,
		      const struct trk_change_phase *p, bool markdown)
{
	if (!p->runs)
		return;
	trk__buf_printf(b, markdown ? "\n%s changed in **" : "  %s changed in ",
			trk__change_names[figure].title);
	if (markdown && p->name[0])
		markdown_text(b, p->name);
	else
		trk__change_phase_name(b, p, TRK_MARK_NAME_SIZE, cli_is_utf8());
	trk__buf_puts(b, markdown ? "**: " : ": ");
	add_value(b, figure, p->before);
	trk__buf_puts(b, " -> ");
	add_value(b, figure, p->now);
	trk__buf_printf(b, p->number ? "\n" : ", gone\n");
}

static void add_phases(struct trk_buf *b, const struct trk_comparison *c, bool markdown)
{
	add_phase(b, TRK_CHANGE_DURATION, &c->change.time_phase, markdown);
	add_phase(b, TRK_CHANGE_PEAK_MEMORY, &c->change.memory_phase, markdown);
}

/* "CPU time at train.py:88 backward(): 12 m 0 s -> 19 m 0 s" */
static void add_line(struct trk_buf *b, enum trk_change_figure figure, const char *title,
		     const struct trk_lines_change_row *row, bool markdown)
{
	char place[TRK_LINES_CHANGE_PLACE];

	trk__lines_change_place(row, place);
	trk__buf_printf(b, markdown ? "\n%s at **" : "  %s at ", title);
	if (markdown)
		markdown_text(b, place);
	else
		trk__utf8_safe(b, place, sizeof(place), cli_is_utf8());
	trk__buf_puts(b, markdown ? "**: " : ": ");
	add_value(b, figure, row->before);
	trk__buf_puts(b, " -> ");
	add_value(b, figure, row->now);
	trk__buf_putc(b, '\n');
}

static void add_lines(struct trk_buf *b, const struct trk_comparison *c, bool markdown)
{
	bool is_one_of_many = strncmp(c->with, c->lines_with, strlen(c->lines_with)) != 0;

	if (is_one_of_many && c->lines.cpus + c->lines.memories)
		trk__buf_printf(b, markdown ? "\nLines, beside %s:\n" : "  Lines, beside %s:\n",
				c->lines_with);
	for (size_t i = 0; i < c->lines.cpus; i++)
		add_line(b, TRK_CHANGE_CPU, "CPU time", &c->lines.cpu[i], markdown);
	for (size_t i = 0; i < c->lines.memories; i++)
		add_line(b, TRK_CHANGE_PEAK_MEMORY, "growth of memory", &c->lines.memory[i],
			 markdown);
}

enum { FIGURE, BEFORE, NOW, CHANGE, NOISE, WORDS, COLUMNS };

static const struct trk_doc_column columns[COLUMNS] = {
	[FIGURE] = {"figure", "", TRK_CELL_TEXT, NULL},
	[BEFORE] = {"before", "before", TRK_CELL_NUMBER, NULL},
	[NOW] = {"now", "now", TRK_CELL_NUMBER, NULL},
	[CHANGE] = {"change", "change", TRK_CELL_NUMBER, NULL},
	[NOISE] = {"noise", "usual", TRK_CELL_NUMBER, NULL},
	[WORDS] = {"words", "", TRK_CELL_TEXT, NULL},
};

static void fill_row(struct trk_doc *d, const struct trk_comparison *c, size_t i,
		     struct trk_doc_cell *row)
{
	const struct trk_change_name *name = &trk__change_names[i];
	double change = c->change.figure[i].share, noise = c->change.figure[i].noise_share;

	row[FIGURE].text = name->title;
	row[BEFORE] = trk__doc_figure(d, name->words, c->change.figure[i].before);
	row[NOW] = trk__doc_figure(d, name->words, c->change.figure[i].now);
	if (!isnan(change))
		row[CHANGE].text = trk__doc_print(d, "%+.1f %%", change * 100);
	if (!isnan(noise) && c->change.figure[i].verdict != TRK_ANOMALY_TOO_FEW)
		row[NOISE].text = trk__doc_print(d, "+-%.1f %%", noise * 100);
	row[WORDS].text = trk__comparison_words(c, i);
}

static void print_table(struct trk_buf *b, const struct trk_comparison *c,
			const struct trk_terminal_style *style)
{
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {
		.key = "figures", .column = columns, .columns = COLUMNS, .essential = NOISE};

	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++)
		fill_row(&d, c, i, trk__doc_row(&d, &t));
	trk__write_terminal_table(b, &d, &t, style);
}

/* Append the lines of a text, each wrapped, and clear it. */
static void add_wrapped(struct trk_buf *b, struct trk_buf *text,
			const struct trk_terminal_style *style)
{
	if (text->error)
		b->error = text->error;
	else if (text->len)
		trk__write_terminal_lines(b, text->data, style);
	trk__buf_clear(text);
}

static void print_text(struct trk_buf *b, const struct trk_comparison *c)
{
	const struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_USUAL);
	TRK_BUF_LOCAL(text, TEXT_MAX);

	trk__buf_printf(&text, "%s of ", c->run.id);
	trk__utf8_safe(&text, c->run.job, TRK_RUN_TEXT_SIZE, style.utf8);
	trk__buf_puts(&text, ", beside ");
	trk__utf8_safe(&text, c->with, sizeof(c->with), style.utf8);
	add_wrapped(b, &text, &style);
	print_table(b, c, &style);
	add_phases(&text, c, false);
	add_lines(&text, c, false);
	add_wrapped(b, &text, &style);
}

static void print_markdown(struct trk_buf *b, const struct trk_comparison *c)
{
	trk__buf_printf(b, "**%s** beside ", c->run.id);
	markdown_text(b, c->with);
	trk__buf_puts(b, "\n\n| | before | now | change | |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++) {
		trk__buf_printf(b, "| %s | ", trk__change_names[i].title);
		add_value(b, (enum trk_change_figure) i, c->change.figure[i].before);
		trk__buf_puts(b, " | ");
		add_value(b, (enum trk_change_figure) i, c->change.figure[i].now);
		trk__buf_puts(b, " | ");
		add_change(b, c, i);
		trk__buf_printf(b, " | %s |\n", trk__comparison_words(c, i));
	}
	add_phases(b, c, true);
	add_lines(b, c, true);
}

static int read_run(struct trk_history *h, const char *dir, const char *reference,
		    struct trk_record *record)
{
	char id[TRK_RUN_ID_SIZE];

	return cli_load(dir, cli_newest_of(h, reference, "compare", id), record, NULL, NULL);
}

/* Compare one run with its history, or two runs: A -> B, the older one first. */
static int compare(const struct settings *s, char **reference, int count, struct trk_comparison *c)
{
	static struct trk_record record, other; /* static: empty records may be released */
	struct trk_service service = cli_service(s->dir);
	struct trk_error error = {.code = 0};
	struct trk_history *h;
	int r;

	h = cli_history_open(&service, &r);
	if (!h)
		return r;
	r = read_run(h, s->dir, count ? reference[count - 1] : "@", &record);
	if (r == 0 && count == 2)
		r = read_run(h, s->dir, reference[0], &other);
	if (r == 0) {
		r = count == 2 ? trk__compare_run(&record, &other, c)
			       : trk__compare_job(&service, h, &record, c, &error);
		r = r < 0 ? cli_fail("compare", r, &error) : 0;
	}
	trk__record_release(&record);
	trk__record_release(&other);
	trk__history_free(h);
	return r;
}

/* A CI job passes before there is an earlier run: no rule holds. */
static bool is_first_run(const struct settings *s, const struct trk_comparison *c)
{
	return s->fail_on && c->run.id[0] && c->change.runs == 0;
}

static int run(int argc, char **argv)
{
	static struct trk_comparison c;
	struct settings s = {.dir = NULL};
	struct trk_error error = {.code = 0};
	int at = cli_options(&cli_compare, argc, argv, &s), r, failed;
	TRK_BUF_LOCAL(b, TEXT_MAX);

	r = compare(&s, argv + at, argc - at, &c);
	if (r != 0 && !(r == EXIT_NODATA && is_first_run(&s, &c)))
		return r;
	failed = trk__comparison_judge(&c, s.fail_on, &error);
	if (failed < 0)
		return cli_fail("compare", failed, &error);
	if (r != 0 && !s.json)
		return 0;
	(s.json ? trk__comparison_json : s.markdown ? print_markdown : print_text)(&b, &c);
	r = cli_print(&b);
	return r ? r : failed ? 3 : 0;
}

const struct cli_command cli_compare = {
	.name = "compare",
	.usage = "compare [OPTIONS] [A] [B]",
	.summary = "Compare run A with run B, or with the earlier runs of its job.",
	.details = "Without B, run A (the last run by default) is compared with the median of the "
		   "earlier runs of its\njob that ended well. If there are 5 or more of them, each "
		   "change is compared with the usual\nvariation of the job (median absolute "
		   "deviation). With B, the output also lists the lines of Python\nwhose CPU time "
		   "or memory changed most.\nExit code 3: a rule of --fail-on holds. 4: there is "
		   "nothing to compare with (0 with --fail-on).",
	.options = options,
	.operands = 2,
	.run = run,
};
