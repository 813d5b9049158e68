#include "cli/alert_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alert/end_rules.h"
#include "base/clock.h"
#include "base/mask.h"
#include "base/parse.h"
#include "cli/config.h"
#include "cli/environment.h"

enum { SINK_SIZE = 1000 };

/* ---- options ---- */

const char *cli_alert_rule_names(void)
{
	static char names[512];

	if (names[0])
		return names;
	(void) snprintf(names, sizeof(names), "all");
	for (int i = 0; i < (int) TRK_ALERT_RULES + (int) TRK_ALERT_END_RULES; i++) {
		size_t used = strlen(names);

		(void) snprintf(names + used, sizeof(names) - used, ", %s",
				trk__alert_hook_rule(i));
	}
	return names;
}

/* Options that files and variables may set: not --job, which means another option there. */
static const struct cli_option settable[] = {
	CLI_ALERT_OPTIONS,
	{NULL, 0, NULL, NULL, NULL, 0},
};

const struct cli_option cli_alert_internal[] = {
	{"no-config", 0, NULL, "read no configuration", cli_set_nothing, 0},
	{"now", 0, "SECONDS", "since 1970", cli_set_text, offsetof(struct cli_alert_settings, now)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int apply_passed(struct cli_alert_settings *settings)
{
	const struct cli_option *o = settable;
	const char *value = getenv("TRACKER_ALERT");
	int r = 0;

	while (strcmp(o->name, "alert") != 0)
		o++;
	cli_set_origin("TRACKER_ALERT");
	if (value && *value)
		r = o->set(settings, o, value);
	cli_set_origin(NULL);
	return r;
}

int cli_alert_configure(const char *verb, int argc, char **argv,
			struct cli_alert_settings *settings)
{
	const struct cli_command configured = {.name = verb, .options = settable};
	char **words;
	int r;

	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--no-config"))
			return apply_passed(settings);
	/* A copy, as the search for --config reorders arguments. */
	words = calloc((size_t) argc + 1, sizeof(*words));
	if (!words)
		return EXIT_ERROR;
	memcpy(words, argv, (size_t) argc * sizeof(*words));
	r = cli_config(&configured, argc, words, settings, NULL);
	free(words);
	return r;
}

/* The sink may have the prefix RULE=. */
static bool is_secret_shown(const char *sink)
{
	const char *equals = strchr(sink, '=');

	return cli_alert_shows_secret(equals && equals < sink + strcspn(sink, ":") ? equals + 1
										   : sink);
}

int cli_set_sink(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_alert_hooks *h = (void *) ((char *) settings + o->offset);

	if (!strcmp(value, "none")) /* as `run` has it */
		return 0;
	for (const char *at = value + strspn(value, " \n"); *at; at += strspn(at, " \n")) {
		size_t len = strcspn(at, " \n");
		const char *sink = len < SINK_SIZE ? cli_keep(at, len) : NULL;
		int r = sink ? trk__alert_hooks_add_sink(h, sink) : -ENOSPC;

		if (r == -ENOSPC)
			cli_complain("--%s: more than %d, or too long", o->name,
				     TRK_ALERT_HOOKS_MAX);
		else if (r < 0)
			cli_complain("--%s %.*s: not of the form [RULE=]KIND:ADDRESS. Kinds: mail, "
				     "slack, teams, discord, json, alertmanager. Rules: %s",
				     o->name, (int) strcspn(sink, ":"), sink,
				     cli_alert_rule_names());
		if (r < 0 || (cli_is_of_flag() && is_secret_shown(sink)))
			return EXIT_USAGE;
		at += len;
	}
	return 0;
}

int cli_set_hook(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_alert_hooks *h = (void *) ((char *) settings + o->offset);
	int r = trk__alert_hooks_add(h, value);
	struct trk_mask mask = {.strict = false};
	char shown[256];

	(void) trk__mask_argument(&mask, value, shown, sizeof(shown));
	if (r == -ENOSPC)
		cli_complain("--%s %s: more than %d", o->name, shown, TRK_ALERT_HOOKS_MAX);
	else if (r < 0)
		cli_complain("--%s %s: not of the form RULE=COMMAND. Rules: %s", o->name, shown,
			     cli_alert_rule_names());
	return r < 0 ? EXIT_USAGE : 0;
}

int cli_set_budget(void *settings, const struct cli_option *o, const char *value)
{
	double usd;

	if (trk__parse_decimal(value, &usd) < 0 || !(usd > 0 && usd < 1e12))
		return cli_wrong(o, value, "not a positive number of dollars, such as 5000");
	*(double *) (void *) ((char *) settings + o->offset) = usd;
	return 0;
}

/* Seconds since 1970: of --now, else of the clock. */
static double now_of(const struct cli_alert_settings *s)
{
	double now = 0;

	if (s->now && trk__parse_decimal(s->now, &now) == 0 && now > 0 && now < 1e10)
		return now;
	return (double) trk__clock_wall_ns() / 1e9;
}

/* ---- sending ---- */

struct trk_alert_sender cli_alert_sender(const struct cli_alert_settings *s)
{
	double now_s = now_of(s);

	return (struct trk_alert_sender){
		.service = cli_service(s->dir),
		.budget_usd = s->budget_usd,
		.variable = getenv,
		.now_s = now_s,
		.utc_offset_s = cli_utc_offset(now_s),
	};
}

bool cli_alert_shows_secret(const char *text)
{
	const struct trk_alert_sender sender = {.service.note = cli_note};
	const char *address;
	const struct trk_alert_sink *sink = trk__alert_sink_parse(&sender, text, &address);

	if (!sink || !sink->secret || *address == '@' || *address == '$')
		return sink == NULL;
	cli_complain(
		"alerts: %s: the address is a secret, and all users can see a command line. Try: "
		"%s:@FILE, or '%s:$NAME'",
		sink->kind, sink->kind, sink->kind);
	return true;
}

int cli_alert_status(int error)
{
	return error == 0 ? EXIT_OK : error == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
}

/* ---- GitHub ---- */

bool cli_is_github(void)
{
	const char *github = getenv("GITHUB_ACTIONS");

	return github && !strcmp(github, "true");
}

/* Per cent signs and line ends are escaped in workflow commands. */
void cli_alert_github(struct trk_buf *b, const char *rule, const char *text)
{
	trk__buf_printf(b, "::warning title=resource-tracker %s::", rule);
	for (; *text; text++) {
		if (*text == '%' || *text == '\r' || *text == '\n')
			trk__buf_printf(b, "%%%02X", (unsigned char) *text);
		else
			trk__buf_putc(b, *text);
	}
	trk__buf_putc(b, '\n');
}
