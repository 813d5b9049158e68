/* resource-tracker history and history prune: list earlier runs; delete old recordings. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/named_runs.h"
#include "report/write/terminal.h"
#include "service/prune.h"

enum { TEXT_MAX = 64 * 1024 * 1024, SHOWN_DEFAULT = 20, NAMESAKES_RUNS_MAX = 500 };

struct settings {
	const char *dir;
	uint64_t max;
	bool json;
	struct trk_prune_rules rules;
};

static const struct cli_option history_options[] = {
	{"number", 'n', "N", "show the newest N runs; 0 shows all (20)", cli_set_count, AT(max)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct cli_option prune_options[] = {
	{"older-than", 0, "DUR", "delete recordings of runs that are older than this, such as 30d",
	 cli_set_duration, AT(rules.older_ns)},
	{"keep", 0, "N", "keep the newest N runs (of the job, with --job)", cli_set_count,
	 AT(rules.keep)},
	{"job", 0, "NAME", "delete recordings of this job only", cli_set_text, AT(rules.job)},
	{"forget", 0, NULL, "also delete their figures from the history", cli_set_flag,
	 AT(rules.forget)},
	{"dry-run", 0, NULL, "only print what would be deleted", cli_set_flag, AT(rules.dry_run)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- history ---- */

enum { RUN, STARTED, JOB, END, TOOK, PEAK, CPU, COST, SCOPE, COLUMNS };

static const struct trk_doc_column columns[COLUMNS] = {
	[RUN] = {"id", "run", TRK_CELL_CODE},
	[STARTED] = {"start", "started", TRK_CELL_CODE},
	[JOB] = {"job", "job", TRK_CELL_TEXT},
	[END] = {"end", "end", TRK_CELL_CODE},
	[TOOK] = {"duration_s", "took", TRK_CELL_NUMBER},
	[CPU] = {"cpu_mean", "cores", TRK_CELL_NUMBER},
	[PEAK] = {"peak_memory_mib", "peak", TRK_CELL_NUMBER},
	[COST] = {"cost_usd", "cost", TRK_CELL_NUMBER},
	[SCOPE] = {"scope", "", TRK_CELL_TEXT},
};

static void fill_row(struct trk_doc *d, const struct trk_past_run *run, bool with_scope,
		     struct trk_doc_cell *row)
{
	char end[TRK_END_WORDS_SIZE];

	row[RUN].text = trk__doc_safe(d, run->id, sizeof(run->id));
	row[STARTED].text = trk__doc_local(d, run->start_s);
	row[JOB].text = trk__doc_safe(d, run->job, TRK_RUN_TEXT_SIZE);
	row[END].text = trk__doc_safe(d, trk__past_run_end_words(run, end), sizeof(end));
	row[TOOK] = trk__doc_figure(d, trk__human_seconds, run->duration_s);
	row[CPU] = trk__doc_figure(d, trk__human_number, run->cpu_mean);
	row[PEAK] = trk__doc_figure(d, trk__human_memory, run->memory.bytes / TRK_MIB);
	if (!isnan(run->cost_usd))
		row[COST].text = trk__doc_print(d, "$%.4f", run->cost_usd);
	row[SCOPE].text = "";
	if (with_scope && run->scope[0])
		row[SCOPE].text =
			trk__doc_print(d, "in %s", trk__doc_safe(d, run->scope, TRK_RUN_TEXT_SIZE));
}

/* Whether other jobs of the list have the same name. */
static bool has_namesake(const struct trk_run_list *past, size_t at)
{
	const struct trk_past_run *run = &past->run[at];

	if (past->count > NAMESAKES_RUNS_MAX)
		return true;
	for (size_t i = 0; i < past->count; i++)
		if (past->run[i].has_scope && !strcmp(past->run[i].job, run->job) &&
		    strcmp(past->run[i].scope, run->scope) != 0)
			return true;
	return false;
}

static void print_table(struct trk_buf *b, const struct trk_run_list *past)
{
	const struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_MAX);
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {
		.key = "runs", .column = columns, .columns = COST, .essential = CPU};

	for (size_t i = 0; i < past->count; i++) {
		t.columns = has_namesake(past, i) ? COLUMNS : t.columns;
		if (!isnan(past->run[i].cost_usd) && t.columns < SCOPE)
			t.columns = SCOPE;
	}
	for (size_t i = 0; i < past->count; i++) {
		struct trk_doc_cell row[COLUMNS], *to = trk__doc_row(&d, &t);

		for (size_t c = 0; c < COLUMNS; c++)
			row[c] = trk__doc_cell(NULL, NAN);
		fill_row(&d, &past->run[i], has_namesake(past, i), row);
		memcpy(to, row, t.columns * sizeof(*to));
	}
	trk__write_terminal_table(b, &d, &t, &style);
}

static void print_all(struct trk_buf *b, const struct trk_run_list *past, bool json)
{
	struct trk_json j;

	if (!json) {
		print_table(b, past);
		return;
	}
	trk__json_begin(&j, b, 1, "resource-tracker.history/1");
	trk__json_key_open(&j, "runs", '[');
	for (size_t i = 0; i < past->count; i++)
		trk__history_run_json(&j, &past->run[i]);
	trk__json_end(&j);
}

/* The runs of a job, or of all that have its name. */
static int load_named(struct trk_history *h, const struct settings *s, const char *reference,
		      struct trk_run_list *ret)
{
	struct trk_job_key key = {reference, NULL};
	struct trk_error error = {.code = 0};
	struct trk_named_job job;

	if (reference && trk__named_job_find(h, reference, &job)) {
		key = (struct trk_job_key){
			job.job, job.namesakes > 1 ? NULL : trk__named_job_key(&job).scope};
		cli_job_note(&job, NULL);
	}
	if (trk__run_list_read(h, reference ? &key : NULL, (size_t) s->max, false, ret, &error) ==
	    0)
		return 0;
	return cli_reject(EXIT_ERROR, "%s", error.message);
}

static int run_history(int argc, char **argv)
{
	struct settings s = {.max = SHOWN_DEFAULT};
	int at = cli_options(&cli_history, argc, argv, &s), r = 0;
	struct trk_service service;
	struct trk_history *h;
	struct trk_run_list past = {.count = 0};
	TRK_BUF_LOCAL(b, TEXT_MAX);

	service = cli_service(s.dir);
	h = cli_history_open(&service, &r);
	if (!h)
		return r;
	r = load_named(h, &s, at < argc ? argv[at] : NULL, &past);
	if (r == 0 && past.count == 0 && at < argc) {
		r = cli_reject(EXIT_NODATA, "%s: no run of this job", argv[at]);
	} else if (r == 0) {
		print_all(&b, &past, s.json);
		r = cli_print(&b);
	}
	trk__run_list_release(&past);
	trk__history_free(h);
	return r;
}

/* ---- prune ---- */

static void print_removed(void *data, const struct trk_past_run *run)
{
	const struct settings *s = data;
	TRK_BUF_LOCAL(b, TEXT_MAX);

	trk__buf_printf(&b, "%s %s  ", s->rules.dry_run ? "would remove" : "removed", run->id);
	trk__utf8_safe(&b, run->job, TRK_RUN_TEXT_SIZE, cli_is_utf8());
	trk__buf_putc(&b, '\n');
	(void) cli_print(&b);
}

static int run_prune(int argc, char **argv)
{
	struct settings s = {.rules.keep = UINT64_MAX};
	struct trk_error error = {.code = 0};
	size_t kept = 0;
	int r = 0;
	struct trk_service service;
	struct trk_history *h;

	(void) cli_options(&cli_history_prune, argc, argv, &s);
	if (!s.rules.older_ns && s.rules.keep == UINT64_MAX)
		return cli_reject(
			EXIT_USAGE,
			"history prune: needs --older-than or --keep. Try: resource-tracker "
			"history prune --older-than 30d");
	service = cli_service(s.dir);
	h = cli_history_open(&service, &r);
	if (!h)
		return r;
	r = trk__prune(&service, h, &s.rules, print_removed, &s, &kept, &error);
	trk__history_free(h);
	if (r < 0)
		return cli_fail("history prune", r, &error);
	return kept ? cli_reject(EXIT_ERROR,
				 "history prune: kept %zu recordings whose figures are not in the "
				 "history. "
				 "Try: later%s",
				 kept, s.rules.forget ? "" : ", or --forget")
		    : 0;
}

const struct cli_command cli_history = {
	.name = "history",
	.usage = "history [OPTIONS] [JOB] | history prune [OPTIONS]",
	.summary = "List earlier runs of one job or of all jobs, newest first.",
	.example = "resource-tracker history -n 5",
	.options = history_options,
	.operands = 1,
	.run = run_history,
};

const struct cli_command cli_history_prune = {
	.name = "history prune",
	.usage = "history prune [--older-than DUR] [--keep N] [OPTIONS]",
	.summary = "Delete old recordings; their figures stay in the history.",
	.details =
		"With both --older-than and --keep, only old recordings beyond the newest N are "
		"removed.\nRuns in progress are never removed, nor, without --forget, recordings "
		"whose figures\nare not in the history (it is locked, on a full disk, another "
		"user's or out of reach).",
	.example = "resource-tracker history prune --older-than 30d --dry-run",
	.options = prune_options,
	.is_hidden = true,
	.run = run_prune,
};
