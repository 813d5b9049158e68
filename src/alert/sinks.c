/* The message formats of the kinds of sinks. A new kind is one function and one line of the
 * table. */
#include <string.h>

#include "alert/deliver.h"
#include "alert/end_rules.h"
#include "base/clock.h"
#include "base/json.h"

/* When an Alertmanager ends an alert that is neither posted again nor resolved. The tracker posts
 * an alert of its job every 8 hours (hook.c), unless it is killed. Alerts that are judged after a
 * run last until 14 days after the job's newest run (service/alert_check.c). */
#define FIRING_NS     (24 * 3600 * TRK_NS_PER_S)
#define FIRING_END_NS (14 * FIRING_NS)
/* Chat messages are cut here: Discord takes 2000 characters, escaped. */
enum { CHAT_MAX = 1500 };

static void put_lines(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__alert_message_line(m, b);
	if (m->fix[0])
		trk__buf_printf(b, "\nTry: %s", m->fix);
	if (m->run[0])
		trk__buf_printf(b, "\nRun: %s%s%s", m->run, m->host[0] ? " on " : "", m->host);
	for (const char *at = m->list; *at; at += strcspn(at, "\n") + 1) {
		size_t len = strcspn(at, "\n");

		if (b->len + len > CHAT_MAX) {
			trk__buf_puts(b, "\n...");
			return;
		}
		trk__buf_putc(b, '\n');
		trk__buf_add(b, at, len);
	}
}

/* The lines as a JSON string; escape: writes a character of them. */
static void put_text(const struct trk_alert_message *m, void (*escape)(struct trk_buf *, char),
		     struct trk_buf *b)
{
	TRK_BUF_LOCAL(lines, 4096);
	TRK_BUF_LOCAL(escaped, 32768);
	struct trk_json j;

	put_lines(m, &lines);
	for (size_t i = 0; i < lines.len; i++)
		escape(&escaped, lines.data[i]);
	trk__json_init(&j, b, 0);
	trk__json_text_n(&j, escaped.data ? escaped.data : "", escaped.len);
}

static void escape_nothing(struct trk_buf *b, char c)
{
	trk__buf_putc(b, c);
}

static void escape_slack(struct trk_buf *b, char c)
{
	trk__buf_markup(b, &c, 1, "&<>");
}

/* Markdown must not turn a job's name into links or headings. */
static void escape_markdown(struct trk_buf *b, char c)
{
	if (c != '\0' && strchr("\\`*_~|[]()<>#", c))
		trk__buf_putc(b, '\\');
	trk__buf_putc(b, c);
}

static void slack(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_puts(b, "{\"text\":");
	put_text(m, escape_slack, b);
	trk__buf_puts(b, ",\"blocks\":[{\"type\":\"section\",\"text\":"
			 "{\"type\":\"plain_text\",\"text\":");
	put_text(m, escape_nothing, b);
	trk__buf_puts(b, "}}]}");
}

static void discord(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_puts(b, "{\"content\":");
	put_text(m, escape_markdown, b);
	trk__buf_puts(b, ",\"allowed_mentions\":{\"parse\":[]}}");
}

static void teams(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_puts(b, "{\"type\":\"message\",\"attachments\":[{\"contentType\":"
			 "\"application/vnd.microsoft.card.adaptive\",\"content\":"
			 "{\"type\":\"AdaptiveCard\",\"version\":\"1.4\",\"body\":"
			 "[{\"type\":\"TextBlock\",\"text\":");
	put_text(m, escape_markdown, b);
	trk__buf_puts(b, ",\"wrap\":true}]}}]}");
}

static void alertmanager(const struct trk_alert_message *m, struct trk_buf *b)
{
	bool end = trk__alert_end_find(m->rule, strlen(m->rule)) >= 0;
	uint64_t end_ns = m->wall_ns + (!m->firing ? 0 : end ? FIRING_END_NS : FIRING_NS);
	char at[32];
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '[');
	trk__json_open(&j, '{');
	trk__json_key_open(&j, "labels", '{');
	trk__json_key_text(&j, "alertname", m->rule);
	trk__json_key_text(&j, "severity", m->severity);
	trk__json_key_text(&j, "job", m->job);
	/* Labels identify an alert; those judged after a run are not identified by run and
	 * machine. */
	if (!end)
		trk__json_key_text(&j, "run", m->run);
	if (!end && m->host[0])
		trk__json_key_text(&j, "instance", m->host);
	trk__json_close(&j, '}');
	trk__json_key_open(&j, "annotations", '{');
	if (end && m->run[0])
		trk__json_key_text(&j, "run", m->run);
	trk__json_key_text(&j, "summary", m->text);
	trk__json_key_text(&j, "description", m->fix);
	trk__json_close(&j, '}');
	/* Without startsAt, Alertmanager uses endsAt. It keeps the earliest start. */
	trk__clock_iso8601(m->wall_ns, at);
	trk__json_key_text(&j, "startsAt", at);
	trk__clock_iso8601(end_ns, at);
	trk__json_key_text(&j, "endsAt", at);
	trk__json_close(&j, '}');
	trk__json_close(&j, ']');
}

const struct trk_alert_sink trk__alert_sinks[] = {
	{"mail", "", false, NULL},
	{"slack", "", true, slack},
	{"teams", "", true, teams},
	{"discord", "", true, discord},
	{"json", "", false, trk__alert_message_write},
	{"alertmanager", "/api/v2/alerts", false, alertmanager},
	{NULL, NULL, false, NULL},
};

const struct trk_alert_sink *trk__alert_sink_find(const char *kind, size_t len)
{
	for (const struct trk_alert_sink *s = trk__alert_sinks; s->kind; s++)
		if (strlen(s->kind) == len && !memcmp(s->kind, kind, len))
			return s;
	return NULL;
}
