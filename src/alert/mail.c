/* An alert as a mail: RFC 5322 headers that put all mails of a rule and run into one thread, and
 * the same words as plain text and as HTML. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "alert/deliver.h"
#include "alert/end_rules.h"
#include "base/clock.h"

/* A subject outside of printable ASCII is written as encoded words (RFC 2047), of which each
 * may have 75 bytes: it holds 16 bytes of the subject, cut between characters. */
static void put_subject(struct trk_buf *b, const char *text)
{
	size_t len = strlen(text), in_word = 0;
	bool ascii = true;

	for (size_t i = 0; i < len; i++)
		ascii &= text[i] >= ' ' && text[i] < 127;
	if (ascii && len < 900) {
		trk__buf_puts(b, text);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char) text[i];

		if (in_word == 0)
			trk__buf_puts(b, "=?utf-8?q?");
		if (c == ' ')
			trk__buf_putc(b, '_');
		else if (c > ' ' && c < 127 && !strchr("=?_\"(),.:;<>@[\\]", c))
			trk__buf_putc(b, (char) c);
		else
			trk__buf_printf(b, "=%02X", c);
		in_word++;
		/* 16 bytes are at most 48 characters; a character of UTF-8 is not cut. */
		if (in_word >= 16 && ((unsigned char) text[i + 1] & 0xc0) != 0x80) {
			trk__buf_puts(b, "?=\r\n ");
			in_word = 0;
		}
	}
	if (in_word)
		trk__buf_puts(b, "?=");
	else
		b->len -= 3;
}

static void put_id(struct trk_buf *b, const struct trk_alert_message *m, const char *state)
{
	trk__buf_putc(b, '<');
	for (const char *at = m->rule; *at; at++)
		trk__buf_putc(b, (*at >= 'a' && *at <= 'z') || *at == '-' ? *at : 'x');
	/* A thread is about one run or, for alerts judged after runs, about one job. */
	trk__buf_putc(b, '.');
	if (trk__alert_end_find(m->rule, strlen(m->rule)) >= 0 || !m->run[0])
		trk__buf_printf(b, "%08x", trk__alert_sink_key(m->job));
	else
		for (const char *at = m->run; *at; at++)
			trk__buf_putc(b, (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9')
						 ? *at
						 : '-');
	trk__buf_printf(b, "%s@resource-tracker>", state);
}

static void put_headers(struct trk_buf *b, const struct trk_alert_message *m, const char *from,
			const char *to)
{
	time_t seconds = (time_t) (m->wall_ns / TRK_NS_PER_S);
	char date[64], state[40];
	TRK_BUF_LOCAL(line, 2048);
	struct tm tm;

	trk__alert_message_line(m, &line);
	(void) gmtime_r(&seconds, &tm);
	(void) strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &tm);
	trk__buf_printf(b, "From: resource-tracker <%s>\r\nTo: ", from);
	for (const char *at = to; *at; at++)
		trk__buf_puts(b, *at == ',' ? ",\r\n " : (char[]){*at, '\0'});
	trk__buf_puts(b, "\r\nSubject: ");
	put_subject(b, line.data ? line.data : "");
	trk__buf_printf(b, "\r\nDate: %s\r\nMessage-ID: ", date);
	(void) snprintf(state, sizeof(state), ".%s.%llu", m->firing ? "firing" : "resolved",
			(unsigned long long) seconds);
	put_id(b, m, state);
	trk__buf_puts(b, "\r\nReferences: ");
	put_id(b, m, "");
	trk__buf_printf(b,
			"\r\nList-Unsubscribe: <mailto:%s?subject=unsubscribe>\r\n"
			"Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n",
			from);
}

static void put_field(struct trk_buf *b, bool html, const char *name, const char *value)
{
	if (!value[0])
		return;
	if (!html) {
		trk__buf_printf(b, "%-9s %s\r\n", name, value);
		return;
	}
	trk__buf_printf(b, "<tr><th align=\"left\">%s</th><td>", name);
	trk__buf_markup(b, value, strlen(value), "&<>");
	trk__buf_puts(b, "</td></tr>\r\n");
}

static void put_fields(struct trk_buf *b, bool html, const struct trk_alert_message *m)
{
	char when[32];

	trk__clock_iso8601(m->wall_ns, when);
	put_field(b, html, "What", m->text);
	put_field(b, html, "Try", m->fix);
	put_field(b, html, "Job", m->job);
	put_field(b, html, "Run", m->run);
	put_field(b, html, "Host", m->host);
	put_field(b, html, "When", when);
	put_field(b, html, "Rule", m->rule);
}

/* Further lines: "# " begins a heading, "$ " a line to paste. */
static void put_list(struct trk_buf *b, bool html, const char *list)
{
	char line[2 * TRK_ALERT_SENTENCE_SIZE];

	for (const char *at = list; *at; at += strcspn(at, "\n") + 1) {
		bool head = !strncmp(at, "# ", 2), paste = !strncmp(at, "$ ", 2);
		const char *tag = head ? "h2" : paste ? "pre" : "p";

		(void) snprintf(line, sizeof(line), "%.*s", (int) strcspn(at, "\n"),
				at + (head || paste ? 2 : 0));
		line[strcspn(line, "\n")] = '\0';
		if (html) {
			trk__buf_printf(b, "<%s>", tag);
			trk__buf_markup(b, line, strlen(line), "&<>");
			trk__buf_printf(b, "</%s>\r\n", tag);
		} else {
			trk__buf_printf(b, "%s%s\r\n", head ? "\r\n" : paste ? "    " : "", line);
		}
	}
}

void trk__alert_mail(const struct trk_alert_message *m, const char *from, const char *to,
		     struct trk_buf *b)
{
	static const char bound[] = "resource-tracker-alternative";

	put_headers(b, m, from, to);
	trk__buf_printf(b,
			"Content-Type: multipart/alternative; boundary=\"%s\"\r\n\r\n"
			"--%s\r\nContent-Type: text/plain; charset=utf-8\r\n"
			"Content-Transfer-Encoding: 8bit\r\n\r\n",
			bound, bound);
	put_fields(b, false, m);
	put_list(b, false, m->list);
	trk__buf_printf(b,
			"\r\n--%s\r\nContent-Type: text/html; charset=utf-8\r\n"
			"Content-Transfer-Encoding: 8bit\r\n\r\n"
			"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
			"<title>resource-tracker</title>\r\n"
			"<table cellpadding=\"4\">\r\n",
			bound);
	put_fields(b, true, m);
	trk__buf_puts(b, "</table>\r\n");
	put_list(b, true, m->list);
	trk__buf_printf(b, "</html>\r\n\r\n--%s--\r\n", bound);
}
