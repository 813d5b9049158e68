/* Alerts on their way, for the verbs `alerts` and `digest`: sinks and accounts from options, files
 * and variables, the book and the outbox in the state directory. */
#ifndef TRK_CLI_ALERT_SEND_H
#define TRK_CLI_ALERT_SEND_H

#include "alert/book.h"
#include "alert/hook.h"
#include "alert/message.h"
#include "alert/outbox.h"
#include "cli/cli.h"

struct cli_alert_settings {
	const char *dir, *quiet_hours, *now;
	struct trk_alert_hooks hooks;
};

/* Lines for a verb's table of options; `field`: the struct above in the verb's settings. */
/* clang-format off */
#define CLI_ALERT_OPTIONS(settings, field) \
	{"alert", 0, "SINK", "send alerts to this sink; RULE=SINK: of one rule (repeat)", cli_take_sink, offsetof(settings, field.hooks)}, \
	{"on-alert", 0, "RULE=COMMAND", "run a command (repeat)", cli_take_hook, offsetof(settings, field.hooks)}, \
	{"quiet-hours", 0, "HH:MM-HH:MM", "hold alerts that are not critical in these hours", cli_take_quiet_hours, offsetof(settings, field.quiet_hours)}, \
	{"recording", 0, "DIR", "directory of the recordings, with alerts.json and the outbox", cli_set_text, offsetof(settings, field.dir)}, \
	{"config", 'c', "FILE", "read this configuration instead of the usual files", cli_set_nothing, 0}
/* With `internal`: the clock of tests; all was said in the arguments and variables. */
#define CLI_ALERT_INTERNAL(settings, field) \
	{"no-config", 0, NULL, "read no configuration", cli_set_nothing, 0}, \
	{"now", 0, "SECONDS", "since 1970", cli_set_text, offsetof(settings, field.now)}
/* clang-format on */

/* Files and variables, for a command with CLI_ALERT_OPTIONS alone; with --no-config the variables
 * that the tracker passes. As cli_config. */
int cli_alert_configure(const struct cli_command *configured, int argc, char **argv,
			void *settings);

/* Setters: SINK or RULE=SINK, several with blanks or newlines between them; RULE=COMMAND;
 * HH:MM-HH:MM. */
int cli_take_sink(void *settings, const struct cli_option *o, const char *value);
int cli_take_hook(void *settings, const struct cli_option *o, const char *value);
int cli_take_quiet_hours(void *settings, const struct cli_option *o, const char *value);

/* Seconds since 1970: of --now, else of the clock. */
double cli_alert_now(const struct cli_alert_settings *s);
double cli_utc_offset(double now_s);

/* The route of a sink; KIND:ADDRESS is checked. 0, or EXIT_USAGE after having complained. */
int cli_alert_route(const struct cli_alert_settings *s, const char *sink, double now_s,
		    struct trk_alert_route *ret);
/* True, after having complained, where a sink of the command line shows what is a secret. */
bool cli_alert_shows_secret(const char *sink);

/* Send now. 0; EXIT_NODATA where it may work later, else another exit status; after having
 * complained. */
int cli_alert_deliver(const char *sink, const struct trk_alert_message *m);

/* The book in the state directory, locked. */
struct cli_alert_book {
	struct trk_alert_book book;
	int dirfd, lock;
};
/* 0, or an exit status after having complained. */
int cli_alert_book_open(const struct cli_alert_settings *s, struct cli_alert_book *ret);
/* Write it if `changed`, and release it. 0, or EXIT_ERROR after having complained. */
int cli_alert_book_close(struct cli_alert_book *b, bool changed);

/* Messages that wait on disk. */
/* Send all of it. 0, or EXIT_ERROR after having complained of what is left. */
int cli_alert_outbox_flush(const struct cli_alert_settings *s);

/* Messages that were made while the book was locked: each is on disk before the book says that it
 * was told, and sent when the lock is given up. */
enum { CLI_ALERT_QUEUE_MAX = 64 };
struct cli_alert_queue {
	const struct cli_alert_settings *settings;
	struct cli_alert_queued {
		struct trk_alert_message *message; /* owned */
		const char *sink;                  /* borrowed */
		int fd;                            /* of its file; -1: it could not be kept */
		char name[TRK_ALERT_OUTBOX_NAME_SIZE];
	} at[CLI_ALERT_QUEUE_MAX];
	size_t count;
	int outbox; /* a descriptor, once there is a message */
};
void cli_alert_queue(struct cli_alert_queue *q, const char *sink,
		     const struct trk_alert_message *m);
/* Queue what of the book may be told to the sink now. */
void cli_alert_collect(struct cli_alert_queue *q, struct trk_alert_book *b, const char *sink,
		       const struct trk_alert_route *route, double now_s);
/* Send all of it, and release it. 0, or an exit status after having complained. */
int cli_alert_queue_send(struct cli_alert_queue *q);

/* "2026-12-24" (its end) or "2026-12-24 08:00", in local time. 0, or EXIT_USAGE after having
 * complained. */
int cli_take_until(const char *text, double *ret_s);

/* "::warning title=resource-tracker RULE::TEXT", for a workflow of GitHub. */
void cli_alert_github(struct trk_buf *b, const char *rule, const char *text);
bool cli_is_github(void);

/* The names of all rules with ", " between them. */
const char *cli_alert_rule_names(void);

#endif
