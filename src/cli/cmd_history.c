/* resource-tracker history and prune: earlier runs, and fewer of them. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/parse.h"
#include "cli/past_runs.h"
#include "record/store.h"
#include "report/summary.h"
#include "report/text.h"

enum { TEXT_MAX = 64 * 1024 * 1024, SHOWN_DEFAULT = 20, NAMESAKES_RUNS_MAX = 500 };

struct settings {
	const char *dir;
	const char *job;
	uint64_t max, keep, older_ns;
	bool json, has_keep, dry_run, forget;
};

static int take_count(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	uint64_t n;

	if (trk__parse_u64(value, &n) < 0) {
		cli_complain("--%s %s: not a number", o->name, value);
		return EXIT_USAGE;
	}
	if (!strcmp(o->name, "keep")) {
		s->keep = n;
		s->has_keep = true;
	} else {
		s->max = n;
	}
	return 0;
}

#define AT(field) offsetof(struct settings, field)

static const struct cli_option history_options[] = {
	{"number", 'n', "N", "show the newest N runs; 0 shows all (20)", take_count, 0},
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct cli_option prune_options[] = {
	{"older-than", 0, "DUR", "remove recordings of runs that started longer ago, such as 30d",
	 cli_set_duration, AT(older_ns)},
	{"keep", 0, "N", "keep the newest N runs, of the job if one is named", take_count, 0},
	{"job", 0, "NAME", "of this job only", cli_set_text, AT(job)},
	{"forget", 0, NULL, "remove their figures from the history, too", cli_set_flag, AT(forget)},
	{"dry-run", 0, NULL, "only say what would be removed", cli_set_flag, AT(dry_run)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* ---- history ---- */

static void end_of(const struct trk_past *run, char *text, size_t size)
{
	if (!strcmp(run->verdict, "exited") && run->code >= 0)
		(void) snprintf(text, size, "exit %d", run->code);
	else if (!strcmp(run->verdict, "signalled"))
		(void) snprintf(text, size, "signal %d", run->signal);
	else
		(void) snprintf(text, size, "%s", run->verdict);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = ' ';
}

static void add_figure(struct trk_buf *b, int width, int digits, double value)
{
	if (isnan(value))
		trk__buf_printf(b, " %*s", width, "-");
	else
		trk__buf_printf(b, " %*.*f", width, digits, value);
}

/* Printable, one column a byte is good enough for a table. */
static void add_safe(struct trk_buf *b, const char *text, int width)
{
	int n = 0;

	for (; *text && n < width; text++, n++)
		trk__buf_putc(b, (unsigned char) *text < 0x20 || *text == 0x7f ? '?' : *text);
	for (; n < width; n++)
		trk__buf_putc(b, ' ');
}

static void run_text(struct trk_buf *b, const struct trk_past *run, bool with_scope)
{
	time_t start = (time_t) run->start_s;
	char when[32] = "", end[32], took[48];
	struct tm tm;

	if (localtime_r(&start, &tm))
		(void) strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	end_of(run, end, sizeof(end));
	trk__duration_text(took, sizeof(took), run->duration_s);
	trk__buf_printf(b, "%-10s  %-16s  ", run->id, when);
	add_safe(b, run->job, 20);
	trk__buf_printf(b, "  %-14s %12s", end, took);
	add_figure(b, 8, 2, run->cpu_mean);
	add_figure(b, 10, 1, run->peak_memory_mib);
	if (!isnan(run->cost_usd))
		trk__buf_printf(b, "  $%.4f", run->cost_usd);
	if (with_scope && run->scope[0]) {
		trk__buf_puts(b, "  in ");
		add_safe(b, run->scope, (int) strlen(run->scope));
	}
	trk__buf_putc(b, '\n');
}

/* Whether the name alone does not tell it from all others of the list. */
static bool has_namesake(const struct cli_past *past, size_t at)
{
	const struct trk_past *run = &past->run[at];

	if (past->count > NAMESAKES_RUNS_MAX)
		return true;
	for (size_t i = 0; i < past->count; i++)
		if (past->run[i].has_scope && !strcmp(past->run[i].job, run->job) &&
		    strcmp(past->run[i].scope, run->scope) != 0)
			return true;
	return false;
}

static void run_json(struct trk_json *j, const struct trk_past *run)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "id", run->id);
	trk__json_key_text(j, "job", run->job);
	trk__json_key_text(j, "scope", run->scope[0] ? run->scope : NULL);
	trk__json_key_text(j, "kind", run->kind);
	trk__json_key_text(j, "command", run->command);
	trk__json_key_text(j, "verdict", run->verdict);
	trk__json_key(j, "code");
	if (run->code >= 0)
		trk__json_i64(j, run->code);
	else
		trk__json_null(j);
	trk__json_key(j, "signal");
	if (run->signal)
		trk__json_i64(j, run->signal);
	else
		trk__json_null(j);
	trk__json_key_double(j, "start_time", run->start_s);
	trk__json_key_double(j, "duration_s", run->duration_s);
	trk__json_key_double(j, "cpu_s", run->cpu_s);
	trk__json_key_double(j, "process_cpu_usage_mean", run->cpu_mean);
	trk__json_key_double(j, "process_cpu_usage_max", run->cpu_max);
	trk__json_key_double(j, "peak_memory_mib", run->peak_memory_mib);
	trk__json_key_double(j, "disk_read_bytes", run->disk_read_bytes);
	trk__json_key_double(j, "disk_write_bytes", run->disk_write_bytes);
	trk__json_key_double(j, "limit_cpu", run->limit_cpu);
	trk__json_key_double(j, "limit_memory_mib", run->limit_memory_mib);
	trk__json_key_double(j, "cost_usd", run->cost_usd);
	trk__json_key(j, "samples");
	trk__json_u64(j, run->samples);
	trk__json_close(j, '}');
}

static void print_all(struct trk_buf *b, const struct cli_past *past, bool json)
{
	struct trk_json j;

	if (!json) {
		trk__buf_puts(b,
			      "run         started           job                   end             "
			      "        took    cores  peak MiB\n");
		for (size_t i = 0; i < past->count; i++)
			run_text(b, &past->run[i], has_namesake(past, i));
		return;
	}
	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.history/1");
	trk__json_key(&j, "runs");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < past->count; i++)
		run_json(&j, &past->run[i]);
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

/* The runs of a job, or of all that have its name. */
static int load_named(struct trk_history *h, const struct settings *s, const char *reference,
		      struct cli_past *ret)
{
	struct trk_job_key key = {reference, NULL};
	struct cli_job job;

	if (reference && cli_job_find(h, reference, &job)) {
		key = (struct trk_job_key){job.job,
					   job.namesakes > 1 ? NULL : cli_job_key(&job).scope};
		cli_job_tell(h, &job, NULL);
	}
	return cli_past_load(h, reference ? &key : NULL, (size_t) s->max, false, ret);
}

static int run_history(int argc, char **argv)
{
	struct settings s = {.max = SHOWN_DEFAULT};
	int at = cli_options(&cli_history, argc, argv, &s), r = 0;
	struct trk_history *h;
	struct cli_past past = {.count = 0};
	struct trk_buf b;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 < argc) {
		cli_complain("history: one job at a time. Try: resource-tracker history --help");
		return EXIT_USAGE;
	}
	h = cli_history_open(s.dir, &r);
	if (!h)
		return r;
	r = load_named(h, &s, at < argc ? argv[at] : NULL, &past);
	if (r == 0 && past.count == 0 && at < argc) {
		cli_complain("%s: no run of this job", argv[at]);
		r = EXIT_NODATA;
	} else if (r == 0) {
		trk__buf_init(&b, TEXT_MAX);
		print_all(&b, &past, s.json);
		r = cli_write(STDOUT_FILENO, &b, "stdout");
		trk__buf_release(&b);
	}
	cli_past_release(&past);
	trk__history_free(h);
	return r;
}

/* ---- prune ---- */

static void say_removed(const char *words, const struct trk_past *run)
{
	struct trk_buf b;

	trk__buf_init(&b, TEXT_MAX);
	trk__text_safe(&b, run->job, TRK_RUN_TEXT_SIZE, cli_is_utf8());
	trk__buf_putc(&b, '\0');
	(void) printf("%s %s  %s\n", words, run->id, b.error ? "" : b.data);
	trk__buf_release(&b);
}

static int remove_run(const struct settings *s, struct trk_history *h, int runs_fd,
		      const struct trk_past *run)
{
	struct trk_error error = {.code = 0};
	bool there = faccessat(runs_fd, run->file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;

	if (!there && !s->forget)
		return 0;
	if (s->dry_run) {
		say_removed("would remove", run);
		return 0;
	}
	if (there && unlinkat(runs_fd, run->file, 0) < 0) {
		cli_complain("%s: cannot remove: %m", run->file);
		return EXIT_ERROR;
	}
	if (s->forget && trk__history_forget(h, run->id, &error) < 0) {
		cli_complain("%s", error.message);
		return EXIT_ERROR;
	}
	say_removed("removed", run);
	return 0;
}

static int prune(const struct settings *s, struct trk_history *h, int runs_fd)
{
	double now = (double) time(NULL);
	struct trk_job_key key = {s->job, NULL};
	struct cli_past past = {.count = 0};
	struct cli_job job;
	int r;

	if (s->job && cli_job_find(h, s->job, &job)) {
		if (job.namesakes > 1) {
			cli_complain("prune: %zu jobs are called %s. Try: --job '%s in %s'",
				     job.namesakes, job.job, job.job, job.scope);
			return EXIT_USAGE;
		}
		key = cli_job_key(&job);
	}
	r = cli_past_load(h, s->job ? &key : NULL, 0, true, &past);

	for (size_t i = 0; r == 0 && i < past.count; i++) {
		const struct trk_past *run = &past.run[i];
		bool old = s->older_ns && run->start_s < now - (double) s->older_ns / 1e9;
		bool many = s->has_keep && i >= s->keep;

		/* Of two conditions both must hold; a run that goes on is never touched. */
		if (run->ended && (old || !s->older_ns) && (many || !s->has_keep))
			r = remove_run(s, h, runs_fd, run);
	}
	cli_past_release(&past);
	return r;
}

static int run_prune(int argc, char **argv)
{
	struct settings s = {.max = 0};
	int at = cli_options(&cli_prune, argc, argv, &s), r = 0, runs_fd;
	struct trk_history *h;
	char text[4096];

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at != argc || (!s.older_ns && !s.has_keep)) {
		cli_complain("prune: needs --older-than or --keep. Try: resource-tracker prune "
			     "--older-than 30d");
		return EXIT_USAGE;
	}
	h = cli_history_open(s.dir, &r);
	if (!h)
		return r;
	runs_fd = trk__store_open(cli_state_dir(s.dir, text, sizeof(text)), false, NULL);
	r = prune(&s, h, runs_fd);
	if (runs_fd >= 0)
		(void) close(runs_fd);
	trk__history_free(h);
	return r;
}

const struct cli_command cli_history = {
	.name = "history",
	.usage = "history [OPTIONS] [JOB]",
	.summary = "List earlier runs, of one job or of all, newest first.",
	.options = history_options,
	.run = run_history,
};

const struct cli_command cli_ls = {
	.name = "ls",
	.usage = "ls [OPTIONS] [JOB]",
	.summary = "The same as history.",
	.options = history_options,
	.run = run_history,
};

const struct cli_command cli_prune = {
	.name = "prune",
	.usage = "prune [--older-than DUR] [--keep N] [OPTIONS]",
	.summary = "Remove recordings; their figures stay in the history.",
	.details =
		"With both --older-than and --keep, what is removed is old and beyond the newest "
		"N.\nRuns that still go on are never removed.",
	.options = prune_options,
	.run = run_prune,
};
