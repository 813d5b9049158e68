/* resource-tracker alerts: list, acknowledge, silence and send alerts.
 *
 * `run --alert SINK` starts `alerts send` for alerts during the job, and `alerts check --run ID`
 * after it, each in a separate process. Undelivered alerts are stored in the folder `outbox` next
 * to the recordings; the next of these commands, or `flush`, tries again. alert/book.h describes
 * the states of an alert and its file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alert/end_rules.h"
#include "alert/live.h"
#include "base/clock.h"
#include "base/detach.h"
#include "base/file.h"
#include "base/human.h"
#include "base/json.h"
#include "base/maths.h"
#include "base/os.h"
#include "base/parse.h"
#include "cli/alert_options.h"
#include "service/alert_check.h"
#include "service/alert_list.h"

enum { ALERT_MAX = 65536, TEXT_MAX = 16 * 1024 * 1024 };

struct settings {
	struct cli_alert_settings alert;
	const char *run, *rule, *job, *reason;
	double until_s; /* 0: not given */
	uint64_t for_ns;
	bool json;
};

/* clang-format off */
static const struct cli_option options[] = {
	{"json", 0, NULL, "list, rules: print one JSON document", cli_set_flag, AT(json)},
	{"rule", 0, "RULE", "silence: alerts of this rule (all rules)", cli_set_text, AT(rule)},
	{"job", 0, "NAME", "silence: alerts of this job (all jobs)", cli_set_text, AT(job)},
	{"duration", 0, "DUR", "silence: how long, such as 8h or 3d; at most 30d", cli_set_duration, AT(for_ns)},
	{"until", 0, "DATE", "silence: until this date or time, such as 2026-12-24", cli_set_date, AT(until_s)},
	{"reason", 0, "TEXT", "silence: reason, as a text", cli_set_text, AT(reason)},
	CLI_ALERT_OPTIONS,
	CLI_MORE_OPTIONS,
	{"run", 0, "ID", "check: only the job of this run", cli_set_text, AT(run)},
	{"for", 0, "DUR", "same as --duration", cli_set_same, 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

/* ---- sending one ---- */

/* Read the alert from the variables of an --on-alert command, or from stdin. */
static int read_alert(struct trk_alert_message *m)
{
	const char *json = getenv("RT_JSON");
	struct trk_error error = {.code = 0};
	char *text = NULL;
	ssize_t len =
		json ? (ssize_t) strlen(json) : trk__read_all_fd(STDIN_FILENO, ALERT_MAX, &text);
	int r = len < 0 ? (int) len
			: trk__alert_message_read(json ? json : text, (size_t) len, m, &error);

	free(text);
	if (r < 0)
		cli_complain("alerts: %s: %s", json ? "RT_JSON" : "stdin",
			     trk__error_text(&error, r));
	return r < 0 ? EXIT_USAGE : 0;
}

static void complete(struct trk_alert_message *m, double now_s)
{
	if (!m->wall_ns)
		m->wall_ns = (uint64_t) trk__whole(now_s * 1e3, 0, INT64_MAX / TRK_NS_PER_MS) *
			     TRK_NS_PER_MS;
	if (!m->host[0])
		trk__os_host_name(m->host, sizeof(m->host));
}

static int send_alert(const struct settings *s, const char *sink)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_alert_message *m = calloc(1, sizeof(*m));
	int r = m ? read_alert(m) : EXIT_ERROR;

	if (r == 0) {
		complete(m, sender.now_s);
		r = cli_alert_status(trk__alert_forward(&sender, sink, m));
	}
	free(m);
	return r;
}

static int flush(const struct settings *s, const char *operand)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);

	return cli_alert_status(trk__alert_flush(&sender, &s->alert.hooks));
}

static int send_test(const struct settings *s, const char *sink)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_alert_message *m = calloc(1, sizeof(*m));
	int r = EXIT_ERROR;

	if (m) {
		*m = (struct trk_alert_message){
			.rule = "test",
			.severity = "info",
			.firing = true,
			.text = "this is a test: alerts arrive here",
			.job = "resource-tracker alerts test",
			.value = 0,
			.limit = 0,
		};
		complete(m, sender.now_s);
		r = cli_alert_status(trk__alert_send(&sender, sink, m));
	}
	free(m);
	return r;
}

/* ---- lists ---- */

static void rules_text(struct trk_buf *b)
{
	struct trk_alert_listed_rule rule[TRK_ALERT_LISTED_RULES];
	size_t n = trk__alert_rule_list(rule);

	for (size_t i = 0; i < n; i++) {
		trk__buf_printf(b, "%-16s %-9s ", rule[i].name,
				trk__alert_severity_name(rule[i].severity));
		if (!isnan(rule[i].window_s))
			trk__buf_printf(b, "%4.0f s  ", rule[i].window_s);
		else
			trk__buf_printf(b, "%-9s ",
					strcmp(rule[i].evaluated, "by_check") ? "after run"
									      : "check");
		trk__buf_printf(b, "%s\n", rule[i].condition);
	}
}

static int list_rules(const struct settings *s, const char *operand)
{
	TRK_BUF_LOCAL(b, 1 << 16);
	struct trk_json j;

	trk__json_init(&j, &b, 1);
	if (s->json) {
		trk__alert_rules_json(&j);
		trk__buf_putc(&b, '\n');
	} else {
		rules_text(&b);
	}
	return cli_print(&b);
}

static void put_entry(struct trk_buf *b, const struct trk_alert_book *book,
		      const struct trk_alert_entry *e, double now_s)
{
	char age[TRK_HUMAN_SIZE];

	trk__buf_printf(b, "%s  %-8s %s: %s%s%s\n", e->id,
			trk__alert_severity_name((enum trk_alert_severity) e->severity), e->rule,
			e->job, e->job[0] ? ": " : "", e->text);
	if (e->fix[0])
		trk__buf_printf(b, "          Try: %s\n", e->fix);
	trk__buf_printf(b, "          opened %s ago",
			trk__human_rough_seconds(age, now_s - e->opened_s));
	if (!isnan(e->acked_s))
		trk__buf_puts(b, "; acknowledged");
	for (size_t i = 0; i < TRK_ALERT_TOLD_MAX && e->told[i].sink[0]; i++)
		trk__buf_printf(b, "%s%s", i ? ", " : "; sent by ", e->told[i].sink);
	if (trk__alert_book_is_silenced(book, e, now_s))
		trk__buf_puts(b, "; silenced");
	trk__buf_putc(b, '\n');
}

static void put_silence(struct trk_buf *b, const struct trk_alert_silence *q)
{
	char until[TRK_HUMAN_SIZE];

	trk__buf_printf(b, "%s  silence  %s of %s until %s%s%s\n", q->id,
			q->rule[0] ? q->rule : "all rules", q->job[0] ? q->job : "all jobs",
			trk__human_moment(until, q->until_s), q->reason[0] ? ": " : "", q->reason);
}

/* Open alerts, newest first, and silences. */
static void put_book(struct trk_buf *text, const struct trk_alert_book *b, double now_s)
{
	size_t shown = 0;

	for (size_t i = b->count; i-- > 0;) {
		if (!isnan(b->entry[i].ended_s))
			continue;
		put_entry(text, b, &b->entry[i], now_s);
		shown++;
	}
	for (size_t i = 0; i < b->silences; i++)
		if (b->silence[i].until_s > now_s)
			put_silence(text, &b->silence[i]);
	if (!shown)
		trk__buf_puts(text, "No alert is open. Try: resource-tracker alerts check\n");
}

static int list_book(const struct settings *s, const char *operand)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_error error = {.code = 0};
	struct trk_alert_book b;
	TRK_BUF_LOCAL(text, TEXT_MAX);
	const char *dir = sender.service.dir;
	int r = *dir ? trk__alert_store_peek(dir, &b, &error) : -ENOENT; /* after a complaint */

	if (error.message[0])
		cli_complain("%s", error.message);
	if (r < 0)
		return cli_alert_status(r);
	if (s->json)
		trk__alert_book_write(&b, &text);
	else
		put_book(&text, &b, sender.now_s);
	r = cli_print(&text);
	trk__alert_book_release(&b);
	return r;
}

/* ---- acknowledge and silence ---- */

static int acknowledge(const struct settings *s, const char *which)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_alert_store b;
	size_t n;
	int r = cli_alert_status(trk__alert_store_open(&sender, &b));

	if (r != 0)
		return r;
	n = trk__alert_book_ack(&b.book, which, sender.now_s);
	r = cli_alert_status(trk__alert_store_close(&sender, &b, n > 0));
	if (n == 0)
		return cli_reject(EXIT_NODATA,
				  "alerts: %s: no open alert of this id or RULE:JOB. Try: "
				  "resource-tracker alerts list",
				  which);
	return r;
}

static int fill_silence(const struct settings *s, double now_s, struct trk_alert_silence *ret)
{
	double until_s = s->until_s > 0 ? s->until_s : now_s + (double) s->for_ns / 1e9;

	*ret = (struct trk_alert_silence){.made_s = now_s};
	if ((s->for_ns != 0) == (s->until_s > 0))
		return cli_reject(EXIT_USAGE,
				  "alerts: silence needs --duration DUR or --until DATE");
	if (!s->rule && !s->job)
		return cli_reject(EXIT_USAGE,
				  "alerts: silence needs --rule RULE, --job NAME, or both");
	if (s->rule && trk__alert_rule_find(s->rule, strlen(s->rule)) < 0 &&
	    trk__alert_end_find(s->rule, strlen(s->rule)) < 0)
		return cli_reject(EXIT_USAGE, "alerts: --rule %s: no such rule. Rules: %s", s->rule,
				  cli_alert_rule_names());
	if (until_s <= now_s || until_s > now_s + 31 * 86400.0)
		return cli_reject(EXIT_USAGE, "alerts: silence: not within the next 30 days");
	ret->until_s = until_s;
	(void) snprintf(ret->rule, sizeof(ret->rule), "%s", s->rule ? s->rule : "");
	trk__alert_text(ret->job, sizeof(ret->job), s->job);
	trk__alert_text(ret->reason, sizeof(ret->reason), s->reason);
	return 0;
}

static int silence(const struct settings *s, const char *operand)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_alert_silence q;
	char id[TRK_ALERT_ID_SIZE];
	struct trk_alert_store b;
	TRK_BUF_LOCAL(text, 64);
	int r = fill_silence(s, sender.now_s, &q), error;

	if (r == 0)
		r = cli_alert_status(trk__alert_store_open(&sender, &b));
	if (r != 0)
		return r;
	error = trk__alert_book_silence(&b.book, &q, id);
	r = cli_alert_status(trk__alert_store_close(&sender, &b, error == 0));
	if (error < 0)
		return cli_reject(EXIT_ERROR, "alerts: more than %d silences",
				  TRK_ALERT_SILENCES_MAX);
	if (r != 0)
		return r;
	trk__buf_printf(&text, "%s\n", id);
	return cli_print(&text);
}

static int unsilence(const struct settings *s, const char *id)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	struct trk_alert_store b;
	bool found;
	int r = cli_alert_status(trk__alert_store_open(&sender, &b));

	if (r != 0)
		return r;
	found = trk__alert_book_unsilence(&b.book, id);
	r = cli_alert_status(trk__alert_store_close(&sender, &b, found));
	if (!found)
		cli_complain("alerts: %s: no silence of this id. Try: resource-tracker alerts list",
			     id);
	return found ? r : EXIT_NODATA;
}

enum { COMMAND_S = 60, ARGUMENTS_MAX = 2 * TRK_ALERT_HOOKS_MAX + 16 };

/* ---- check ---- */

static void print_news(struct trk_buf *b, const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(line, 4096);

	if (cli_is_github()) {
		trk__buf_printf(&line, "%s%s%s%s%s", m->job, m->job[0] ? ": " : "", m->text,
				m->fix[0] ? ". Try: " : "", m->fix);
		if (m->firing && line.data)
			cli_alert_github(b, m->rule, line.data);
	} else {
		trk__alert_message_line(m, b);
		trk__buf_printf(b, "%s%s\n", m->fix[0] && m->firing ? ". Try: " : "",
				m->firing ? m->fix : "");
	}
}

static void put_variable(const char *name, const char *value)
{
	(void) setenv(name, value, 1);
}

static void put_number(const char *name, double value)
{
	char text[32] = "";

	if (!isnan(value))
		(void) snprintf(text, sizeof(text), "%.10g", value);
	put_variable(name, text);
}

static void put_variables(const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(json, 1 << 16);

	trk__alert_message_write(m, &json);
	trk__buf_putc(&json, '\0');
	put_variable("RT_RULE", m->rule);
	put_variable("RT_SEVERITY", m->severity);
	put_variable("RT_STATE", m->firing ? "firing" : "resolved");
	put_variable("RT_TEXT", m->text);
	put_variable("RT_FIX", m->fix);
	put_number("RT_VALUE", m->value);
	put_number("RT_LIMIT", m->limit);
	put_variable("RT_PID", "");
	put_variable("RT_JOB", m->job);
	put_variable("RT_RUN", m->run);
	put_variable("RT_JSON", json.error ? "" : json.data);
	trk__buf_release(&json);
}

static int run_command(const struct trk_alert_hook *hook, const struct trk_alert_message *m)
{
	const char *rule = trk__alert_hook_rule(hook->rule);
	int status = 0, r;

	put_variables(m);
	r = trk__shell_command(hook->command, COMMAND_S, &status);
	if (r < 0)
		return cli_reject(EXIT_ERROR, "--on-alert %s: cannot start: %s", rule,
				  trk__strerror(r));
	if (status == 0)
		return 0;
	if (WIFSIGNALED(status))
		cli_complain("--on-alert %s: ended by signal %d", rule, WTERMSIG(status));
	else
		cli_complain("--on-alert %s: exit status %d", rule, WEXITSTATUS(status));
	return EXIT_ERROR;
}

static int run_commands(const struct trk_alert_hooks *h, const struct trk_alert_message *m)
{
	int rule = TRK_ALERT_RULES + trk__alert_end_find(m->rule, strlen(m->rule)), worst = 0;

	for (size_t k = 0; k < h->count; k++)
		if (h->list[k].command && (h->list[k].rule < 0 || h->list[k].rule == rule) &&
		    run_command(&h->list[k], m) != 0)
			worst = EXIT_ERROR;
	return worst;
}

/* Evaluate the rules for the job of an ended run (NULL: all jobs), print new alerts, send them to
 * the sinks, and run the commands. */
static int check(const struct settings *settings, const char *operand)
{
	const struct cli_alert_settings *s = &settings->alert;
	const struct trk_alert_sender sender = cli_alert_sender(s);
	struct trk_error error = {.code = 0};
	struct trk_alert_checked checked;
	TRK_BUF_LOCAL(out, 1 << 20);
	int r = trk__alert_check(&sender, &s->hooks, settings->run, &checked, &error);
	int worst = error.message[0] ? cli_fail("alerts", r, &error) : cli_alert_status(r);

	for (size_t i = 0; i < checked.count; i++)
		print_news(&out, checked.news[i]);
	r = out.len ? cli_print(&out) : 0;
	worst = r > worst ? r : worst;
	for (size_t i = 0; i < checked.count; i++) {
		r = run_commands(&s->hooks, checked.news[i]);
		worst = r > worst ? r : worst;
	}
	trk__alert_checked_release(&checked);
	return worst;
}

/* Sinks are passed in the environment, as an address may be a secret. */
static void pass_sinks(const struct trk_alert_hooks *h)
{
	TRK_BUF_LOCAL(b, 1 << 16);

	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].sink)
			trk__buf_printf(&b, "%s=%s\n", trk__alert_hook_rule(h->list[i].rule),
					h->list[i].sink);
	if (b.len)
		(void) setenv("TRACKER_ALERT", b.data, 1);
}

void cli_alert_check_later(const struct cli_alert_settings *s, const char *run)
{
	char *commands[TRK_ALERT_HOOKS_MAX] = {NULL};
	const char *argv[ARGUMENTS_MAX] = {"resource-tracker", "internal", "alerts", "check",
					   "--no-config",      "--run",    run};
	size_t n = 7, k = 0;

	if (!trk__alert_hooks_want_end(&s->hooks))
		return;
	if (s->dir) {
		argv[n++] = "--recording";
		argv[n++] = s->dir;
	}
	for (size_t i = 0; i < s->hooks.count; i++) {
		const struct trk_alert_hook *hook = &s->hooks.list[i];

		if (!hook->command || asprintf(&commands[k], "%s=%s",
					       trk__alert_hook_rule(hook->rule), hook->command) < 0)
			continue;
		argv[n++] = "--on-alert";
		argv[n++] = commands[k++];
	}
	argv[n] = NULL;
	pass_sinks(&s->hooks);
	(void) unsetenv("TRACKER_ON_ALERT"); /* it is among these */
	trk__detach_program(trk__os_own_file(), (char *const *) (uintptr_t) argv, true);
	while (k > 0)
		free(commands[--k]);
}

/* ---- the verb ---- */

static const struct {
	const char *word;
	bool takes_operand, to_sink;
	int (*run)(const struct settings *s, const char *operand);
} actions[] = {
	{"list", false, false, list_book},     {"rules", false, false, list_rules},
	{"check", false, false, check},        {"flush", false, false, flush},
	{"silence", false, false, silence},    {"ack", true, false, acknowledge},
	{"unsilence", true, false, unsilence}, {"test", true, true, send_test},
	{"send", true, true, send_alert},
};

static int run(int argc, char **argv)
{
	struct settings s = {.run = NULL};
	const char *what, *operand;
	int at;

	if (cli_alert_configure("alerts", argc, argv, &s.alert) != 0)
		return EXIT_USAGE;
	at = cli_options(&cli_alerts, argc, argv, &s);
	what = at < argc ? argv[at] : "list";
	operand = at + 1 < argc ? argv[at + 1] : NULL;
	if (!operand && !strcmp(what, "send") && getenv("RT_SINK"))
		return send_alert(&s, getenv("RT_SINK"));
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].word, what) != 0 ||
		    actions[i].takes_operand != (operand != NULL))
			continue;
		if (actions[i].to_sink && cli_alert_shows_secret(operand))
			return EXIT_USAGE;
		return actions[i].run(&s, operand);
	}
	return cli_reject(EXIT_USAGE,
			  "alerts: needs one of: list, rules, check, ack ID, silence, unsilence "
			  "ID, test SINK, send SINK, flush. Try: resource-tracker alerts --help");
}

const struct cli_command cli_alerts = {
	.name = "alerts",
	.usage = "alerts [list|rules|check|ack ID|silence|unsilence ID|test SINK|send SINK|flush] "
		 "[OPTIONS]",
	.summary = "List, acknowledge and silence alerts, and send them by mail, chat or webhook.",
	.details = "SINK is mail:ADDRESS[,ADDRESS...], slack:URL, teams:URL, discord:URL, json:URL "
		   "or\n"
		   "alertmanager:URL; a secret address is read from @FILE or $NAME.\n"
		   "check applies the rules to all jobs of the history, and sends new alerts to "
		   "--alert.\n"
		   "A message that cannot be delivered is kept, and flush sends it again.\n"
		   "Variables: TRACKER_ALERT, TRACKER_SMTP, TRACKER_SMTP_USER,\n"
		   "TRACKER_SMTP_PASSWORD_FILE, TRACKER_MAIL_FROM, TRACKER_ALERT_HOSTS,\n"
		   "TRACKER_ALERT_KEY_FILE.",
	.example = "resource-tracker alerts check",
	.options = options,
	.operands = 2,
	.internal = cli_alert_internal,
	.run = run,
};
