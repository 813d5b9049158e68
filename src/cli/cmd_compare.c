/* resource-tracker compare: what changed, beside the job's own noise. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/named_runs.h"
#include "report/change.h"
#include "report/write/terminal.h"
#include "report/time_breakdown.h"
#include "base/human.h"
#include "base/utf8.h"

enum { TEXT_MAX = 1 << 20 };

struct settings {
	const char *dir, *fail_on;
	bool json, markdown;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"fail-on", 0, "RULES", "exit with 3 if one of these holds: duration>+5%,peak_mem>+10%",
	 cli_set_text, AT(fail_on)},
	{"markdown", 0, NULL, "as a Markdown table, for the summary of a CI job", cli_set_flag,
	 AT(markdown)},
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

struct rule {
	size_t figure;
	bool above;
	double share;
};

struct comparison {
	const struct trk_history_run *run;
	char with[TRK_RUN_TEXT_SIZE + 64]; /* what it is compared with */
	struct trk_change change;
	bool failed[TRK_CHANGE_FIGURES];
};

/* ---- rules ---- */

static int wrong_rule(const char *text)
{
	cli_complain(
		"compare: --fail-on %s: not of the form NAME>+PERCENT%% or NAME<-PERCENT%%, with "
		"duration, cpu, cpu_mean, peak_mem, disk_read or disk_write",
		text);
	return EXIT_USAGE;
}

/* "duration>+5%" */
static int take_rule(const char *text, size_t len, struct rule *ret)
{
	char one[64], *end;
	size_t name, i = 0;

	(void) snprintf(one, sizeof(one), "%.*s", (int) (len < 63 ? len : 63), text);
	name = strcspn(one, "<>");
	while (i < TRK_CHANGE_FIGURES && (strlen(trk__change_names[i].key) != name ||
					  strncmp(trk__change_names[i].key, one, name) != 0))
		i++;
	if (i == TRK_CHANGE_FIGURES || !one[name])
		return -EINVAL;
	*ret = (struct rule){.figure = i, .above = one[name] == '>'};
	ret->share = strtod(one + name + 1, &end) / 100;
	if (end == one + name + 1 || strcmp(end, "%") != 0 || isnan(ret->share) ||
	    isinf(ret->share))
		return -EINVAL;
	return 0;
}

/* Returns the exit status. */
static int apply_rules(const char *text, struct comparison *c)
{
	int status = 0;

	while (text && *text) {
		size_t len = strcspn(text, ",");
		struct rule rule;
		double change;

		if (take_rule(text, len, &rule) < 0)
			return wrong_rule(text);
		change = c->change.figure[rule.figure].share;
		if (!isnan(change) && (rule.above ? change > rule.share : change < rule.share)) {
			c->failed[rule.figure] = true;
			status = 3;
		}
		text += len;
		text += *text == ',';
	}
	return status;
}

/* ---- output ---- */

static void add_value(struct trk_buf *b, enum trk_change_figure figure, double value)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_puts(b, trk__change_names[figure].words(text, value));
}

static const char *words_of(const struct comparison *c, size_t i)
{
	if (c->failed[i])
		return "over the bound";
	return trk__change_words(&c->change, (enum trk_change_figure) i);
}

static void add_change(struct trk_buf *b, const struct comparison *c, size_t i)
{
	double change = c->change.figure[i].share, noise = c->change.figure[i].noise_share;

	if (isnan(change))
		trk__buf_puts(b, "-");
	else
		trk__buf_printf(b, "%+.1f %%", change * 100);
	if (!isnan(noise) && c->change.figure[i].verdict != TRK_ANOMALY_TOO_FEW)
		trk__buf_printf(b, " (usual +-%.1f %%)", noise * 100);
}

/* What came from outside is text there, not markup. */
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

static void add_phases(struct trk_buf *b, const struct comparison *c, bool markdown)
{
	add_phase(b, TRK_CHANGE_DURATION, &c->change.time_phase, markdown);
	add_phase(b, TRK_CHANGE_PEAK_MEMORY, &c->change.memory_phase, markdown);
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

static void fill_row(struct trk_doc *d, const struct comparison *c, size_t i,
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
	row[WORDS].text = words_of(c, i);
}

static void print_table(struct trk_buf *b, const struct comparison *c)
{
	const struct trk_terminal_style style = {
		.width = cli_width(STDOUT_FILENO, TRK_TERMINAL_USUAL), .utf8 = cli_is_utf8()};
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {
		.key = "figures", .column = columns, .columns = COLUMNS, .essential = NOISE};

	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++) {
		struct trk_doc_cell *row = trk__doc_row(&d, &t);

		if (row)
			fill_row(&d, c, i, row);
	}
	if (d.error)
		b->error = d.error;
	else
		trk__write_terminal_table(b, &t, &style);
	trk__doc_release(&d);
}

static void print_text(struct trk_buf *b, const struct comparison *c)
{
	trk__buf_printf(b, "%s of ", c->run->id);
	trk__utf8_safe(b, c->run->job, TRK_RUN_TEXT_SIZE, cli_is_utf8());
	trk__buf_puts(b, ", beside ");
	trk__utf8_safe(b, c->with, sizeof(c->with), cli_is_utf8());
	trk__buf_putc(b, '\n');
	print_table(b, c);
	add_phases(b, c, false);
}

static void print_markdown(struct trk_buf *b, const struct comparison *c)
{
	trk__buf_printf(b, "**%s** beside ", c->run->id);
	markdown_text(b, c->with);
	trk__buf_puts(b, "\n\n| | before | now | change | |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++) {
		trk__buf_printf(b, "| %s | ", trk__change_names[i].title);
		add_value(b, (enum trk_change_figure) i, c->change.figure[i].before);
		trk__buf_puts(b, " | ");
		add_value(b, (enum trk_change_figure) i, c->change.figure[i].now);
		trk__buf_puts(b, " | ");
		add_change(b, c, i);
		trk__buf_printf(b, " | %s |\n", words_of(c, i));
	}
	add_phases(b, c, true);
}

static void print_json(struct trk_buf *b, const struct comparison *c)
{
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.compare/1");
	trk__json_key_text(&j, "run", c->run->id);
	trk__json_key_text(&j, "with", c->with);
	trk__json_key(&j, "figures");
	trk__json_open(&j, '{');
	for (size_t i = 0; i < TRK_CHANGE_FIGURES; i++) {
		trk__json_key(&j, trk__change_names[i].key);
		trk__json_open(&j, '{');
		trk__json_key_double(&j, "before", c->change.figure[i].before);
		trk__json_key_double(&j, "now", c->change.figure[i].now);
		trk__json_key_double(&j, "change", c->change.figure[i].share);
		trk__json_key_double(&j, "noise", c->change.figure[i].noise_share);
		trk__json_key_text(&j, "words", *words_of(c, i) ? words_of(c, i) : NULL);
		trk__json_key(&j, "failed");
		trk__json_bool(&j, c->failed[i]);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, '}');
	trk__change_phases_json(&j, &c->change);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

/* ---- the comparison ---- */

static int with_run(struct comparison *c, const struct trk_history_run *before,
		    const struct trk_record *now, const struct trk_record *then)
{
	struct trk_time_breakdown *courses = calloc(2, sizeof(*courses));
	int r = courses ? trk__time_breakdown_of(now, &courses[0]) : -ENOMEM;

	(void) snprintf(c->with, sizeof(c->with), "%s of %s", before->id, before->job);
	trk__change_from_run(c->run, before, &c->change);
	if (r == 0)
		r = trk__time_breakdown_of(then, &courses[1]);
	if (r == 0)
		trk__change_find_phases(&c->change, &courses[0], &courses[1], 1);
	free(courses);
	return r < 0 ? EXIT_ERROR : 0;
}

static int find_run(struct trk_history *h, const char *dir, const char *reference,
		    struct trk_record *record, struct trk_history_run *ret)
{
	char id[TRK_RUN_ID_SIZE];
	int r = cli_load(dir, cli_newest_of(h, reference, "compare", id), record, NULL, NULL);

	if (r == 0)
		trk__history_run_from(record, "", ret);
	return r;
}

/* Beside the earlier runs of its job that ended well. */
static int beside_history(const struct trk_service *service, struct trk_history *h,
			  const struct trk_record *record, struct comparison *c)
{
	struct trk_job_runs runs;
	int r = trk__job_runs_read(service, h, NULL, record, &runs);
	size_t n;

	if (r == 0)
		r = runs.history_error;
	if (r < 0) {
		cli_complain("%s: the earlier runs cannot be read: %s", c->run->id,
			     trk__strerror(r));
		return EXIT_ERROR;
	}
	trk__job_runs_change(&runs, &c->change);
	n = c->change.runs;
	(void) snprintf(c->with, sizeof(c->with), "the median of %zu earlier run%s of its job", n,
			n == 1 ? "" : "s");
	if (n > 0)
		trk__job_runs_phases(&runs, service, record, &c->change);
	else
		cli_complain("%s: the first run of %s: nothing to compare it with", c->run->id,
			     c->run->job);
	trk__job_runs_release(&runs);
	return n > 0 ? 0 : EXIT_NODATA;
}

static int run(int argc, char **argv)
{
	static struct trk_history_run now, before;
	static struct trk_record record, other; /* empty ones can be released */
	static struct comparison c = {.run = &now};
	struct settings s = {.dir = NULL};
	struct trk_service service;
	struct trk_history *h;
	int at = cli_options(&cli_compare, argc, argv, &s), r, status;
	struct trk_buf b;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 2 < argc) {
		cli_complain("compare: two runs at most. Try: resource-tracker compare --help");
		return EXIT_USAGE;
	}
	service = cli_service(s.dir);
	h = cli_history_open(&service, &r);
	if (!h)
		return r;
	/* With two runs the first is the older one: A -> B. */
	r = find_run(h, s.dir, at < argc ? argv[at + 1 < argc ? at + 1 : at] : "@", &record, &now);
	if (r == 0 && at + 1 < argc) {
		r = find_run(h, s.dir, argv[at], &other, &before);
		if (r == 0)
			r = with_run(&c, &before, &record, &other);
	} else if (r == 0) {
		r = beside_history(&service, h, &record, &c);
	}
	trk__record_release(&record);
	trk__record_release(&other);
	trk__history_free(h);
	if (r != 0)
		return r;
	status = apply_rules(s.fail_on, &c);
	if (status == EXIT_USAGE)
		return status;
	trk__buf_init(&b, TEXT_MAX);
	(s.json ? print_json : s.markdown ? print_markdown : print_text)(&b, &c);
	r = cli_write(STDOUT_FILENO, &b, "stdout");
	trk__buf_release(&b);
	return r ? r : status;
}

const struct cli_command cli_compare = {
	.name = "compare",
	.usage = "compare [OPTIONS] [A] [B]",
	.summary = "Compare run A with run B, or with the earlier runs of its job.",
	.details =
		"Without B, A (the last run by default) is compared with the median of its job's "
		"earlier runs that\nended well, and from 5 of them on each change with the "
		"job's own noise (median absolute\ndeviation). Exit code 3: a rule of --fail-on "
		"holds.",
	.options = options,
	.run = run,
};
