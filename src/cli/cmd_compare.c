/* resource-tracker compare: what changed, compared with the usual variation of the job. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/named_runs.h"
#include "report/write/terminal.h"
#include "report/write/write.h"
#include "service/compare.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	const char *dir, *fail_on;
	bool json;
	int markdown; /* index in "text|md" */
};

static const struct cli_option options[] = {
	{"fail-on", 0, "RULES", "exit with 3 if one of these holds: duration>+5%,peak_mem>+10%",
	 cli_set_text, AT(fail_on)},
	{"format", 'f', "text|md", "md: a Markdown table, for the summary of a CI job (text)",
	 cli_set_choice, AT(markdown)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	{"markdown", 0, NULL, "same as --format md", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- output ---- */

#define B TRK_DOC_STRONG
#define E TRK_DOC_PLAIN

/* "12 m 0 s -> 19 m 0 s" */
static const char *step(struct trk_doc *d, enum trk_change_figure figure, double before, double now)
{
	trk_human_fn *words = trk__change_names[figure].words;

	return trk__doc_print(d, "%s -> %s", trk__doc_value(d, words, before),
			      trk__doc_value(d, words, now));
}

/* "run time changed in load: 12 m 0 s -> 19 m 0 s" */
static void add_phase(struct trk_doc *d, struct trk_doc_section *s, enum trk_change_figure figure,
		      const struct trk_change_phase *p)
{
	const char *name = p->name[0] ? trk__doc_safe(d, p->name, TRK_MARK_NAME_SIZE)
				      : trk__doc_print(d, "phase %zu", p->number);

	if (p->runs)
		trk__doc_text(d, s, "%s changed in " B "%s" E ": %s%s",
			      trk__change_names[figure].title, name,
			      step(d, figure, p->before, p->now), p->number ? "" : ", gone");
}

/* "CPU time at train.py:88 backward(): 12 m 0 s -> 19 m 0 s" */
static void add_line(struct trk_doc *d, struct trk_doc_section *s, enum trk_change_figure figure,
		     const char *title, const struct trk_lines_change_row *row)
{
	char place[TRK_LINES_CHANGE_PLACE];

	trk__lines_change_place(row, place);
	trk__doc_text(d, s, "%s at " B "%s" E ": %s", title, trk__doc_safe(d, place, sizeof(place)),
		      step(d, figure, row->before, row->now));
}

static void add_lines(struct trk_doc *d, struct trk_doc_section *s, const struct trk_comparison *c)
{
	bool is_one_of_many = strncmp(c->with, c->lines_with, strlen(c->lines_with)) != 0;

	if (is_one_of_many && c->lines.cpus + c->lines.memories)
		trk__doc_text(d, s, "Lines, beside %s:", c->lines_with);
	for (size_t i = 0; i < c->lines.cpus; i++)
		add_line(d, s, TRK_CHANGE_CPU, "CPU time", &c->lines.cpu[i]);
	for (size_t i = 0; i < c->lines.memories; i++)
		add_line(d, s, TRK_CHANGE_PEAK_MEMORY, "growth of memory", &c->lines.memory[i]);
}

enum { FIGURE, BEFORE, NOW, CHANGE, NOISE, WORDS, COLUMNS };

static const struct trk_doc_column columns[COLUMNS] = {
	[FIGURE] = {"figure", "", TRK_CELL_TEXT},
	[BEFORE] = {"before", "before", TRK_CELL_NUMBER},
	[NOW] = {"now", "now", TRK_CELL_NUMBER},
	[CHANGE] = {"change", "change", TRK_CELL_NUMBER},
	[NOISE] = {"noise", "usual", TRK_CELL_NUMBER},
	[WORDS] = {"words", "", TRK_CELL_TEXT},
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
	if (!isnan(noise) && c->change.figure[i].kind != TRK_ANOMALY_TOO_FEW)
		row[NOISE].text = trk__doc_print(d, "+-%.1f %%", noise * 100);
	row[WORDS].text = trk__comparison_words(c, i);
}

static void describe(struct trk_doc *d, struct trk_doc_section *s, const struct trk_comparison *c)
{
	struct trk_doc_table *t;

	trk__doc_text(d, s, B "%s" E " of %s, beside %s", c->run,
		      trk__doc_safe(d, c->job, TRK_RUN_TEXT_SIZE),
		      trk__doc_safe(d, c->with, sizeof(c->with)));
	t = trk__doc_table(d, s, "figures", NULL, columns, COLUMNS);
	t->essential = NOISE;
	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++)
		fill_row(d, c, i, trk__doc_row(d, t));
	add_phase(d, s, TRK_CHANGE_DURATION, &c->change.time_phase);
	add_phase(d, s, TRK_CHANGE_PEAK_MEMORY, &c->change.memory_phase);
	add_lines(d, s, c);
}

static void print(struct trk_buf *b, const struct trk_comparison *c, bool markdown)
{
	const struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_USUAL);
	struct trk_doc_section section = {.key = "compare"};
	struct trk_doc d = {.section = &section, .sections = 1};

	describe(&d, &section, c);
	if (d.error)
		b->error = d.error;
	else if (markdown)
		trk__write_markdown(b, &d);
	else
		trk__write_terminal(b, &d, &style);
	trk__doc_release(&d);
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
	return s->fail_on && c->run[0] && c->change.runs == 0;
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
	if (s.json)
		trk__comparison_json(&b, &c);
	else
		print(&b, &c, s.markdown != 0);
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
	.example = "resource-tracker compare @2 @",
	.options = options,
	.operands = 2,
	.run = run,
};
