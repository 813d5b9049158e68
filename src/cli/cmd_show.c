/* resource-tracker show: print the summary of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/named_runs.h"
#include "cli/server_options.h"
#include "recording/follow.h"
#include "report/summary.h"
#include "report/write/terminal.h"
#include "service/conclusion.h"
#include "top/view.h"

enum { TEXT_MAX = 4 * 1024 * 1024 };

struct settings {
	const char *dir, *color;
	struct trk_cloud instance; /* vendor "": not stated */
	bool json, plain, watch;
};

static const struct cli_option options[] = {
	CLI_INSTANCE_OPTION(AT(instance)),
	{"watch", 0, NULL, "print it every second until the run has ended (see also: top)",
	 cli_set_flag, AT(watch)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"plain", 0, NULL, "print ASCII, without colour", cli_set_flag, AT(plain)},
	{"color", 0, "auto|always|never", "colour the text (auto)", cli_set_text, AT(color)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* The cost on the server stated with --instance; else the recorded cost, with the best server
 * searched again. */
static void cost(struct trk_record *record, const struct settings *s,
		 const struct trk_service *service, const struct trk_advice *advice,
		 const struct trk_busy *busy)
{
	if (s->instance.vendor[0])
		trk__prices_cost_at(&service->layers, record, &s->instance, advice,
				    advice ? busy : NULL);
	if (s->instance.vendor[0] && isnan(record->place.cost.usd))
		cli_complain("show: the cost is not known: %s", record->place.cost.reason);
	if (!s->instance.vendor[0] && advice)
		trk__prices_best(&service->layers, record, advice, busy);
}

static void print_show(struct trk_buf *b, struct trk_record *record, const struct settings *s)
{
	struct trk_summary_style style = {
		.width = cli_width(STDOUT_FILENO, TRK_TERMINAL_USUAL),
		.color = !s->plain && cli_use_color(s->color, STDOUT_FILENO),
		.utf8 = !s->plain && cli_is_utf8(),
	};
	const struct trk_service service = cli_service(s->dir);
	struct trk_conclusion *c = calloc(1, sizeof(*c));

	if (c && record->run.pid && record->run.job[0] && trk__conclude(&service, record, c) == 0) {
		style.change = &c->change;
		style.advice = c->has_advice ? &c->advice : NULL;
	}
	cost(record, s, &service, style.advice, c ? &c->busy : NULL);
	if (s->json)
		trk__summary_json(b, record, style.change, style.advice);
	else
		trk__summary_text(b, record, &style);
	free(c);
}

/* ---- a running job ---- */

/* Append the sequence that erases the shown text from a terminal. */
static void erase(struct trk_buf *b, const struct trk_buf *shown)
{
	size_t lines = 0;

	for (size_t i = 0; i < shown->len; i++)
		lines += shown->data[i] == '\n';
	if (lines)
		trk__buf_printf(b, "\033[%zuA\r\033[J", lines);
}

static void print_line(struct trk_buf *b, const struct trk_record *record, const struct settings *s,
		       const struct trk_sample *row)
{
	struct trk_facts *facts = malloc(sizeof(*facts));

	if (facts) {
		trk__facts_of_row(record, row, facts);
		trk__view_line(b, facts, !s->plain && cli_is_utf8());
		trk__buf_putc(b, '\n');
	}
	free(facts);
}

static int keep_row(void *data, uint64_t rows, const struct trk_sample *mean,
		    const struct trk_sample *min, const struct trk_sample *max)
{
	struct trk_sample *row = data;

	*row = *mean;
	return 0;
}

/* Follow a run to its end: update the summary in place on a terminal, else print a line each
 * second; then the summary. */
static int follow(struct trk_follow *f, const struct settings *s, const struct trk_sample *row)
{
	const struct timespec second = {.tv_sec = 1};
	const char *term = getenv("TERM");
	bool in_place = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !s->json;
	bool writing = true;
	TRK_BUF_LOCAL(shown, TEXT_MAX);
	TRK_BUF_LOCAL(now, TEXT_MAX);
	long r = trk__follow_update(f);
	int status = 0;

	while (r >= 0 && writing && status == 0) {
		struct trk_buf swap = shown;

		writing = f->record.writing;
		trk__buf_clear(&now);
		if (in_place)
			erase(&now, &shown);
		if (in_place || s->json || !writing)
			print_show(&now, &f->record, s);
		else
			print_line(&now, &f->record, s, row);
		status = cli_write(STDOUT_FILENO, &now, "stdout");
		shown = now;
		now = swap;
		if (writing)
			(void) nanosleep(&second, NULL);
		r = trk__follow_update(f);
	}
	if (r < 0)
		cli_complain("show: %s", trk__strerror((int) r));
	return r < 0 ? EXIT_ERROR : status;
}

static int watch(const struct settings *s, const char *reference)
{
	struct trk_sample row = {.known = 0};
	const struct trk_follow_calls calls = {.on_row = keep_row, .data = &row};
	struct trk_follow *f = calloc(1, sizeof(*f));
	struct trk_error error = {.code = 0};
	struct cli_run_file file;
	int r = f ? cli_run_find(s->dir, reference, &file) : EXIT_ERROR;

	if (r == 0) {
		if (trk__follow_open(f, file.dirfd, file.path, 0, &calls, &error) == 0) {
			r = follow(f, s, &row);
			trk__follow_close(f);
		} else {
			r = cli_reject(EXIT_ERROR, "%s", error.message);
		}
		cli_run_close(&file);
	}
	free(f);
	return r;
}

/* ---- the verb ---- */

static int run(int argc, char **argv)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct settings settings = {.color = "auto"};
	int at = cli_options(&cli_show, argc, argv, &settings), r;
	TRK_BUF_LOCAL(b, TEXT_MAX);

	if (settings.watch)
		return watch(&settings, at < argc ? argv[at] : "@");
	r = cli_load(settings.dir, at < argc ? argv[at] : "@", &record, NULL, NULL);
	if (r == 0) {
		print_show(&b, &record, &settings);
		r = cli_write(STDOUT_FILENO, &b, "stdout");
	}
	trk__record_release(&record);
	return r;
}

const struct cli_command cli_show = {
	.name = "show",
	.usage = "show [OPTIONS] [RUN]",
	.summary = "Print the summary of a run again.",
	.details = CLI_RUN_HELP,
	.options = options,
	.operands = 1,
	.run = run,
};
