/* Options about alerts, for `run`, `alerts` and `alerts digest`: sinks and commands, from options,
 * files and variables. service/alert_send.h sends. */
#ifndef TRK_CLI_ALERT_OPTIONS_H
#define TRK_CLI_ALERT_OPTIONS_H

#include "alert/hook.h"
#include "cli/cli.h"
#include "service/alert_send.h"

struct cli_alert_settings {
	const char *dir, *now;
	double budget_usd; /* 0: none */
	struct trk_alert_hooks hooks;
};

/* Lines for a verb's table of options: the struct above is the first member of its settings. */
/* clang-format off */
#define CLI_ALERT_OPTIONS \
	{"alert", 0, "SINK", "send alerts to this sink; RULE=SINK: of one rule (repeat)", cli_set_sink, offsetof(struct cli_alert_settings, hooks)}, \
	{"on-alert", 0, "RULE=COMMAND", "run a command at an alert (repeat)", cli_set_hook, offsetof(struct cli_alert_settings, hooks)}, \
	{"budget", 0, "USD", "alert when this month is expected to cost more", cli_set_budget, offsetof(struct cli_alert_settings, budget_usd)}, \
	{"recording", 0, "DIR", "directory of the recordings, with alerts.json and the outbox", cli_set_text, offsetof(struct cli_alert_settings, dir)}, \
	{"config", 'c', "FILE", "read this configuration instead of the usual files", cli_set_nothing, 0}
/* clang-format on */
/* With `internal`: the clock of tests, and --no-config, as the caller passes all settings. */
extern const struct cli_option cli_alert_internal[];

/* Apply files and variables as cli_config() does, to CLI_ALERT_OPTIONS only; with --no-config only the
 * variables that the tracker passes. */
int cli_alert_configure(const char *verb, int argc, char **argv,
			struct cli_alert_settings *settings);

/* Setters: SINK or RULE=SINK, several with blanks or newlines between them; RULE=COMMAND;
 * dollars. */
int cli_set_sink(void *settings, const struct cli_option *o, const char *value);
int cli_set_hook(void *settings, const struct cli_option *o, const char *value);
int cli_set_budget(void *settings, const struct cli_option *o, const char *value);

/* The sender for alerts with these settings; borrows them. */
struct trk_alert_sender cli_alert_sender(const struct cli_alert_settings *s);
/* True, after a complaint, if a sink on the command line contains a secret. */
bool cli_alert_shows_secret(const char *sink);
/* The exit status of an error of service/alert_send.h. */
int cli_alert_status(int error);

/* "::warning title=resource-tracker RULE::TEXT", an annotation in a GitHub workflow. */
void cli_alert_github(struct trk_buf *b, const char *rule, const char *text);
bool cli_is_github(void);

/* Start `alerts check --run` for the run as a detached process, if a sink or command is set. It
 * keeps no descriptor open; the cost for the run is one fork. */
void cli_alert_check_later(const struct cli_alert_settings *s, const char *run);

/* The names of all rules with ", " between them. */
const char *cli_alert_rule_names(void);

#endif
