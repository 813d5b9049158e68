/* resource-tracker show and stats: a finished run again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/past_runs.h"
#include "report/summary.h"

enum { TEXT_MAX = 4 * 1024 * 1024 };

struct settings {
	const char *dir, *color;
	bool json, plain;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	{"plain", 0, NULL, "ASCII without colour", cli_set_flag, AT(plain)},
	{"color", 0, "auto|always|never", "of the text", cli_set_text, AT(color)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

typedef void print_fn(struct trk_buf *b, const struct trk_record *record, const struct settings *s);

static void print_show(struct trk_buf *b, const struct trk_record *record, const struct settings *s)
{
	struct trk_summary_style style = {
		.color = !s->plain && cli_use_color(s->color, STDOUT_FILENO),
		.utf8 = !s->plain && cli_is_utf8(),
	};

	struct trk_change change;

	if (record->run.pid && record->run.job[0] && cli_change_of(s->dir, record, 0, &change) == 0)
		style.change = &change;
	if (s->json)
		trk__summary_json(b, record, style.change);
	else
		trk__summary_text(b, record, &style);
}

static void print_stats(struct trk_buf *b, const struct trk_record *record,
			const struct settings *s)
{
	if (s->json)
		trk__stats_json(b, record);
	else
		trk__stats_text(b, record);
}

static int load_and_print(const struct cli_command *command, int argc, char **argv, print_fn *print)
{
	struct settings settings = {.color = "auto"};
	struct trk_record *record;
	struct trk_buf b;
	int at = cli_options(command, argc, argv, &settings), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 < argc) {
		cli_complain("%s: one run at a time. Try: resource-tracker %s --help",
			     command->name, command->name);
		return EXIT_USAGE;
	}
	record = calloc(1, sizeof(*record));
	if (!record)
		return EXIT_ERROR;
	r = cli_load(settings.dir, at < argc ? argv[at] : "@", record, NULL, NULL);
	if (r == 0) {
		trk__buf_init(&b, TEXT_MAX);
		print(&b, record, &settings);
		r = cli_write(STDOUT_FILENO, &b, "stdout");
		trk__buf_release(&b);
		trk__record_release(record);
	}
	free(record);
	return r;
}

static int run_show(int argc, char **argv)
{
	return load_and_print(&cli_show, argc, argv, print_show);
}

static int run_stats(int argc, char **argv)
{
	return load_and_print(&cli_stats, argc, argv, print_stats);
}

#define RUN_HELP                                                                                   \
	"RUN is an id or its start, @ (the last run, the default), @2 (the one before), JOB@-1, "  \
	"or "                                                                                      \
	"the\npath of a recording."

const struct cli_command cli_show = {
	.name = "show",
	.usage = "show [OPTIONS] [RUN]",
	.summary = "Print the summary of a run again.",
	.details = RUN_HELP,
	.options = options,
	.run = run_show,
};

const struct cli_command cli_stats = {
	.name = "stats",
	.usage = "stats [OPTIONS] [RUN]",
	.summary = "Print statistics per column.",
	.details = RUN_HELP,
	.options = options,
	.run = run_stats,
};
