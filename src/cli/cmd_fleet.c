/* resource-tracker fleet: one view over all jobs of the history, costs first. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/shell_word.h"
#include "cli/fleet_views.h"
#include "cli/environment.h"
#include "report/fleet_text.h"
#include "service/alert_list.h"

enum {
	TEXT_MAX = 256 * 1024 * 1024,
	DAYS_DEFAULT = 30,
	DAYS_MAX = 366,
	RUNS_SHOWN = 100,
};

struct settings {
	struct cli_fleet_settings views;
	const char *job, *what, *color;
	bool json;
};

static const struct cli_option options[] = {
	{"since", 0, "DUR", "length of the period that ends now, such as 7d (30d)",
	 cli_set_duration, AT(views.since_ns)},
	{"what", 0, "overview|jobs|job|runs|machines|alerts",
	 "what to show (overview; job with --job)", cli_set_word, AT(what)},
	{"job", 0, "NAME", "this job, or NAME in SCOPE", cli_set_text, AT(job)},
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	{"color", 0, CLI_COLORS, "colour the text; plain: ASCII without colour (auto)",
	 cli_set_word, AT(color)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(views.dir)},
	CLI_MORE_OPTIONS,
	{"as-of", 0, "DATE", "figures as of the end of this day (now)", cli_set_date,
	 AT(views.as_of_s)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int check(struct settings *s, double *ret_days)
{
	s->what = s->what ? s->what : s->job ? "job" : "overview";
	if (!s->json && !strcmp(s->what, "alerts"))
		return cli_reject(
			EXIT_USAGE,
			"fleet: --what alerts needs --json. Try: resource-tracker alerts list");
	if (s->job ? strcmp(s->what, "job") != 0 && strcmp(s->what, "runs") != 0
		   : !strcmp(s->what, "job"))
		return cli_reject(EXIT_USAGE,
				  s->job ? "fleet: --job needs --what job or --what runs"
					 : "fleet: --what job needs --job NAME");
	*ret_days = s->views.since_ns ? (double) s->views.since_ns / 86400e9 : DAYS_DEFAULT;
	if (*ret_days < 1 || *ret_days > DAYS_MAX)
		return cli_reject(EXIT_USAGE, "fleet: --since: not between 1d and %dd", DAYS_MAX);
	return 0;
}

/* Build the query over the rows. 0, or EXIT_NODATA after a complaint. */
static int make_question(const struct settings *s, const struct trk_fleet_rows *rows,
			 struct trk_fleet_question *ret)
{
	*ret = (struct trk_fleet_question){
		.view = (enum trk_fleet_view) trk__fleet_view_find(s->what),
		.runs = {.end = -1, .before_s = NAN, .max = RUNS_SHOWN},
		.indent = 1,
	};
	if (ret->view == TRK_FLEET_VIEW_JOB || (ret->view == TRK_FLEET_VIEW_RUNS && s->job)) {
		ret->job = trk__fleet_named_job(rows, s->job);
		if (ret->job == rows->jobs)
			return cli_reject(
				EXIT_NODATA,
				"fleet: %s: no run of this job. Try: resource-tracker fleet "
				"--what jobs",
				s->job);
		ret->runs.job = rows->job[ret->job].name;
		ret->runs.scope = rows->job[ret->job].scope;
	}
	return 0;
}

static int answer(const struct settings *s, const struct trk_fleet_rows *rows, double days)
{
	struct trk_fleet_question q;
	static struct trk_fleet_views v;
	const struct trk_service service = cli_service(s->views.dir);
	const struct trk_terminal_style style = {
		.width = cli_width(STDOUT_FILENO, TRK_TERMINAL_USUAL),
		.utf8 = cli_use_utf8(s->color),
		.color = cli_use_color(s->color, STDOUT_FILENO),
	};
	struct trk_error error = {.code = 0};
	TRK_BUF_LOCAL(alerts, TEXT_MAX);
	TRK_BUF_LOCAL(b, TEXT_MAX);
	int r = make_question(s, rows, &q);

	if (r == 0 && q.view == TRK_FLEET_VIEW_ALERTS && trk__alert_list(&service, &alerts) == 0)
		q.alerts = alerts.data;
	if (r != 0)
		return r;
	r = trk__fleet_views_make(rows, days, NULL, &v);
	if (r < 0)
		return cli_fail("fleet", r, &error);
	r = s->json ? trk__fleet_answer(rows, &v, &q, &b)
		    : trk__fleet_text_write(rows, &v, &q, &style, &b);
	r = r < 0 ? cli_fail("fleet", r, &error) : cli_write(STDOUT_FILENO, &b, "stdout");
	trk__fleet_views_release(&v);
	return r;
}

static int run(int argc, char **argv)
{
	struct settings s = {.views.as_of_s = NAN};
	int at = cli_options(&cli_fleet, argc, argv, &s), r;
	struct trk_fleet_rows rows;
	char word[TRK_SHELL_WORD_SIZE];
	double days = DAYS_DEFAULT;
	bool empty;

	if (at < argc)
		return cli_reject(EXIT_USAGE,
				  "fleet: %s: not expected. Try: resource-tracker fleet --job %s",
				  argv[at], trk__shell_value(word, sizeof(word), argv[at]));
	r = check(&s, &days);
	if (r != 0)
		return r;
	r = cli_fleet_load(&s.views, "fleet", &rows, &empty);
	if (empty)
		cli_complain("fleet: no runs in the history yet. Try: resource-tracker run -- "
			     "COMMAND, then resource-tracker fleet");
	if (r == 0)
		r = answer(&s, &rows, days);
	trk__fleet_rows_release(&rows);
	return r;
}

const struct cli_command cli_fleet = {
	.name = "fleet",
	.usage = "fleet [OPTIONS]",
	.summary = "Show all jobs at once: cost, waste, coming failures, changes.",
	.details = "Reads the history of this machine, or the one that RESOURCE_TRACKER_HISTORY "
		   "names. Tags of "
		   "runs name their\nteam, user, server, machine, image and code. docs/fleet.md "
		   "explains each figure.",
	.example = "resource-tracker fleet --since 7d",
	.options = options,
	.operands = 1,
	.run = run,
};
