/* resource-tracker show: print the summary of a run. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/named_runs.h"
#include "cli/server_options.h"
#include "cli/show.h"
#include "report/summary.h"
#include "report/write/terminal.h"
#include "service/conclusion.h"

enum { TEXT_MAX = 4 * 1024 * 1024 };

#define SHOW(field) offsetof(struct cli_show_settings, field)

static const struct cli_option options[] = {
	CLI_INSTANCE_OPTION(SHOW(instance)),
	{"stats", 0, NULL, "print statistics of every column instead", cli_set_flag, SHOW(stats)},
	{"since", 0, "DUR", "with --stats: only from this time after the start", cli_set_duration,
	 SHOW(since_ns)},
	{"until", 0, "DUR", "with --stats: only up to this time after the start", cli_set_duration,
	 SHOW(until_ns)},
	{"json", 0, NULL, "print JSON", cli_set_flag, SHOW(json)},
	{"color", 0, CLI_COLORS, "colour the text; plain: ASCII without colour (auto)",
	 cli_set_word, SHOW(color)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, SHOW(dir)},
	CLI_MORE_OPTIONS,
	{"plain", 0, NULL, "same as --color plain", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* The cost on the server stated with --instance; else the recorded cost, with the best server
 * searched again. */
static void cost(struct trk_record *record, const struct cli_show_settings *s,
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

static void print_show(struct trk_buf *b, struct trk_record *record,
		       const struct cli_show_settings *s)
{
	struct trk_summary_style style = {
		.width = cli_width(STDOUT_FILENO, TRK_TERMINAL_USUAL),
		.color = cli_use_color(s->color, STDOUT_FILENO),
		.utf8 = cli_use_utf8(s->color),
	};
	const struct trk_service service = cli_service(s->dir);
	struct trk_conclusion *c = calloc(1, sizeof(*c));

	if (c && record->run.pid && record->run.job[0] &&
	    trk__conclude(&service, record, 0, c, NULL, NULL) == 0) {
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

/* ---- the verb ---- */

static int run(int argc, char **argv)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct cli_show_settings settings = {.color = "auto"};
	int at = cli_options(&cli_show, argc, argv, &settings), r;
	TRK_BUF_LOCAL(b, TEXT_MAX);

	if (settings.stats)
		return cli_show_stats(&settings, at < argc ? argv[at] : "@");
	if (settings.since_ns || settings.until_ns)
		return cli_reject(EXIT_USAGE, "show: --since and --until need --stats");
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
	.summary = "Print the summary of a run again, or statistics of its columns.",
	.details = "--since and --until are as in the address of a page: #t=12.0,34.5 is --since "
		   "12 --until 34.5.",
	.example = "resource-tracker show --stats @",
	.options = options,
	.operands = 1,
	.run = run,
};
