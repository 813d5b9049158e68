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
#include <unistd.h>

#include "alert/end.h"
#include "alert/live.h"
#include "alert/outbox.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/human.h"
#include "base/json.h"
#include "base/os.h"
#include "cli/alert_check.h"
#include "service/alert_check.h"
#include "service/alert_list.h"

enum { ALERT_MAX = 65536, TEXT_MAX = 16 * 1024 * 1024 };

struct settings {
	struct cli_alert_settings alert;
	const char *run, *rule, *job, *until, *reason;
	uint64_t for_ns;
	bool json, all;
};

/* clang-format off */
#define AT(field) offsetof(struct settings, field)
static const struct cli_option options[] = {
	{"json", 0, NULL, "list, rules: print one JSON document", cli_set_flag, AT(json)},
	{"all", 0, NULL, "list: also alerts that have ended", cli_set_flag, AT(all)},
	{"run", 0, "ID", "check: only the job of this run", cli_set_text, AT(run)},
	{"rule", 0, "RULE", "silence: alerts of this rule (all rules)", cli_set_text, AT(rule)},
	{"job", 0, "NAME", "silence: alerts of this job (all jobs)", cli_set_text, AT(job)},
	{"for", 0, "DUR", "silence: how long, such as 8h or 3d; at most 30d", cli_set_duration, AT(for_ns)},
	{"until", 0, "DATE", "silence: until this date or time, such as 2026-12-24", cli_set_text, AT(until)},
	{"reason", 0, "TEXT", "silence: reason, as a text", cli_set_text, AT(reason)},
	CLI_ALERT_OPTIONS(struct settings, alert),
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* Options that files and variables may set: not --job, which means another option there. */
static const struct cli_option settable[] = {
	CLI_ALERT_OPTIONS(struct settings, alert),
	{NULL, 0, NULL, NULL, NULL, 0},
};
static const struct cli_command configured = {.name = "alerts", .options = settable};
static const struct cli_option internal[] = {
	CLI_ALERT_INTERNAL(struct settings, alert),
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
			     error.message[0] ? error.message : trk__strerror(r));
	return r < 0 ? EXIT_USAGE : 0;
}

static void complete(struct trk_alert_message *m, double now_s)
{
	if (!m->wall_ns)
		m->wall_ns = (uint64_t) (now_s * 1e3) * TRK_NS_PER_MS;
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

static int flush(const struct settings *s)
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

static int list_rules(bool json)
{
	TRK_BUF_LOCAL(b, 1 << 16);
	struct trk_json j;

	trk__json_init(&j, &b, 1);
	if (json) {
		trk__alert_rules_json(&j);
		trk__buf_putc(&b, '\n');
	} else {
		rules_text(&b);
	}
	return cli_print(&b);
}

static void put_entry(struct trk_buf *b, const struct trk_alert_entry *e, double now_s)
{
	char age[TRK_HUMAN_SIZE];

	trk__buf_printf(b, "%s  %-8s %s: %s%s%s\n", e->id,
			isnan(e->ended_s)
				? trk__alert_severity_name((enum trk_alert_severity) e->severity)
				: "ended",
			e->rule, e->job, e->job[0] ? ": " : "", e->text);
	if (e->fix[0])
		trk__buf_printf(b, "          Try: %s\n", e->fix);
	trk__buf_printf(b, "          opened %s ago",
			trk__human_rough_seconds(age, now_s - e->opened_s));
	if (!isnan(e->acked_s))
		trk__buf_puts(b, "; acknowledged");
	for (size_t i = 0; i < TRK_ALERT_TOLD_MAX && e->told[i].sink[0]; i++)
		trk__buf_printf(b, "%s%s", i ? ", " : "; sent by ", e->told[i].sink);
	if (e->held[0])
		trk__buf_printf(b, "; held: %s", e->held);
	trk__buf_putc(b, '\n');
}

static int list_book(const struct settings *s)
{
	const struct trk_alert_sender sender = cli_alert_sender(&s->alert);
	double now_s = sender.now_s;
	struct trk_error error = {.code = 0};
	struct trk_alert_book b;
	TRK_BUF_LOCAL(text, TEXT_MAX);
	size_t shown = 0;
	const char *dir = sender.service.dir;
	int r = *dir ? trk__alert_store_peek(dir, &b, &error) : -ENOENT; /* after a complaint */

	if (r < 0) {
		if (error.message[0])
			cli_complain("%s", error.message);
		return cli_alert_status(r);
	}
	if (s->json)
		trk__alert_book_write(&b, &text);
	for (size_t i = b.count; i-- > 0 && !s->json;) {
		if (!s->all && !isnan(b.entry[i].ended_s))
			continue;
		put_entry(&text, &b.entry[i], now_s);
		shown++;
	}
	for (size_t i = 0; i < b.silences && !s->json; i++) {
		const struct trk_alert_silence *q = &b.silence[i];
		char until[TRK_HUMAN_SIZE];

		if (q->until_s > now_s)
			trk__buf_printf(&text, "%s  silence  %s of %s until %s%s%s\n", q->id,
					q->rule[0] ? q->rule : "all rules",
					q->job[0] ? q->job : "all jobs",
					trk__human_moment(until, q->until_s),
					q->reason[0] ? ": " : "", q->reason);
	}
	if (!shown && !s->json)
		trk__buf_puts(&text, "No alert is open. Try: resource-tracker alerts check\n");
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
	double until_s = now_s + (double) s->for_ns / 1e9;

	*ret = (struct trk_alert_silence){.made_s = now_s};
	if ((s->for_ns != 0) == (s->until != NULL))
		return cli_reject(EXIT_USAGE, "alerts: silence needs --for DUR or --until DATE");
	if (!s->rule && !s->job)
		return cli_reject(EXIT_USAGE,
				  "alerts: silence needs --rule RULE, --job NAME, or both");
	if (s->rule && trk__alert_rule_find(s->rule, strlen(s->rule)) < 0 &&
	    trk__alert_end_find(s->rule, strlen(s->rule)) < 0)
		return cli_reject(EXIT_USAGE, "alerts: --rule %s: no such rule. Rules: %s", s->rule,
				  cli_alert_rule_names());
	if (s->until && cli_take_until(s->until, &until_s) != 0)
		return EXIT_USAGE;
	if (until_s <= now_s || until_s > now_s + 31 * 86400.0)
		return cli_reject(EXIT_USAGE, "alerts: silence: not within the next 30 days");
	ret->until_s = until_s;
	(void) snprintf(ret->rule, sizeof(ret->rule), "%s", s->rule ? s->rule : "");
	trk__alert_text(ret->job, sizeof(ret->job), s->job);
	trk__alert_text(ret->reason, sizeof(ret->reason), s->reason);
	return 0;
}

static int silence(const struct settings *s)
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

/* ---- the verb ---- */

static int run_one(const struct settings *s, const char *what, const char *operand)
{
	bool to_sink = !strcmp(what, "test") || !strcmp(what, "send");

	if (to_sink && cli_alert_shows_secret(operand))
		return EXIT_USAGE;
	if (!strcmp(what, "test"))
		return send_test(s, operand);
	if (!strcmp(what, "send"))
		return send_alert(s, operand);
	if (!strcmp(what, "ack"))
		return acknowledge(s, operand);
	if (!strcmp(what, "unsilence"))
		return unsilence(s, operand);
	return -1;
}

static int run_alone(const struct settings *s, const char *what)
{
	if (!strcmp(what, "list"))
		return list_book(s);
	if (!strcmp(what, "rules"))
		return list_rules(s->json);
	if (!strcmp(what, "check"))
		return cli_alert_check(&s->alert, s->run);
	if (!strcmp(what, "flush"))
		return flush(s);
	if (!strcmp(what, "silence"))
		return silence(s);
	if (!strcmp(what, "send") && getenv("RT_SINK"))
		return send_alert(s, getenv("RT_SINK"));
	return -1;
}

static int run(int argc, char **argv)
{
	struct settings s = {.run = NULL};
	const char *what;
	int at, r = -1;

	if (cli_alert_configure(&configured, argc, argv, &s) != 0)
		return EXIT_USAGE;
	at = cli_options(&cli_alerts, argc, argv, &s);
	what = at < argc ? argv[at] : "list";
	if (at + 1 >= argc)
		r = run_alone(&s, what);
	else if (at + 2 == argc)
		r = run_one(&s, what, argv[at + 1]);
	if (r >= 0)
		return r;
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
		   "TRACKER_SMTP_PASSWORD[_FILE], TRACKER_MAIL_FROM, TRACKER_ALERT_HOSTS,\n"
		   "TRACKER_ALERT_KEY_FILE.",
	.options = options,
	.operands = 2,
	.internal = internal,
	.run = run,
};
