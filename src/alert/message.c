#include "alert/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/utf8.h"

enum { LINE_SIZE = 2 * TRK_ALERT_SENTENCE_SIZE };

void trk__alert_text(char *ret, size_t size, const char *text)
{
	size_t len = 0, left = text ? strlen(text) : 0, n;

	for (; left > 0; text += n, left -= n) {
		bool hidden;

		n = trk__utf8_length(text, left);
		hidden = trk__utf8_is_hidden(text, n);
		n = n ? n : 1;
		if (len + (hidden ? 1 : n) >= size)
			break;
		memcpy(ret + len, hidden ? " " : text, hidden ? 1 : n);
		len += hidden ? 1 : n;
	}
	ret[len] = '\0';
}

static void take(const struct trk_json_doc *d, const char *key, char *ret, size_t size)
{
	trk__alert_text(ret, size, trk__json_get_text(d, trk__json_root(d), key));
}

static bool add_line(struct trk_alert_message *m, const char *line)
{
	size_t used = strlen(m->list), len = strlen(line);

	if (used + len + 2 > sizeof(m->list))
		return false;
	(void) snprintf(m->list + used, sizeof(m->list) - used, "%s\n", line);
	return true;
}

bool trk__alert_message_add(struct trk_alert_message *m, const char *format, ...)
{
	char raw[LINE_SIZE], line[LINE_SIZE + 1] = " ";
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	if (len < 0)
		return false;
	trk__alert_text(line + 1, LINE_SIZE, raw);
	/* A line that begins with a name must not become a heading or a line to paste. */
	return add_line(m, strchr("#$", line[1]) && line[1] != format[0] ? line : line + 1);
}

static void take_list(const struct trk_json_doc *d, struct trk_alert_message *m)
{
	const struct trk_json_value *list = trk__json_get(d, trk__json_root(d), "list");
	char line[LINE_SIZE];

	if (!list || list->type != TRK_JSON_ARRAY)
		return;
	for (const struct trk_json_value *v = trk__json_first(d, list); v;
	     v = trk__json_next(d, v)) {
		trk__alert_text(line, sizeof(line), trk__json_as_text(v));
		if (!add_line(m, line))
			break;
	}
}

int trk__alert_message_read(const char *json, size_t len, struct trk_alert_message *ret,
			    struct trk_error *reterr)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc d = {.values = NULL};
	char state[TRK_ALERT_FIELD_SIZE];
	double at;
	int r = trk__json_read(json, len, NULL, "alert", &d, reterr);

	if (r < 0)
		return -EBADMSG;
	*ret = (struct trk_alert_message){.firing = true};
	take(&d, "rule", ret->rule, sizeof(ret->rule));
	take(&d, "severity", ret->severity, sizeof(ret->severity));
	take(&d, "state", state, sizeof(state));
	take(&d, "text", ret->text, sizeof(ret->text));
	take(&d, "fix", ret->fix, sizeof(ret->fix));
	take(&d, "job", ret->job, sizeof(ret->job));
	take(&d, "run", ret->run, sizeof(ret->run));
	take(&d, "host", ret->host, sizeof(ret->host));
	ret->value = trk__json_get_double(&d, trk__json_root(&d), "value");
	ret->limit = trk__json_get_double(&d, trk__json_root(&d), "limit");
	at = trk__json_get_double(&d, trk__json_root(&d), "time");
	ret->wall_ns = at > 0 && at < 1e10 ? (uint64_t) (at * 1e9) : 0;
	take_list(&d, ret);
	ret->firing = strcmp(state, "resolved") != 0;
	if (!ret->rule[0] || !ret->text[0] || (ret->firing && strcmp(state, "firing") != 0))
		return trk__error_set(reterr, -EBADMSG, "",
				      "an alert has rule, text, and a state: firing or resolved");
	return 0;
}

static void write_list(struct trk_json *j, const char *list)
{
	trk__json_key_open(j, "list", '[');
	for (const char *at = list; *at; at += strcspn(at, "\n") + 1)
		trk__json_text_n(j, at, strcspn(at, "\n"));
	trk__json_close(j, ']');
}

void trk__alert_message_write(const struct trk_alert_message *m, struct trk_buf *b)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "rule", m->rule);
	trk__json_key_text(&j, "severity", m->severity);
	trk__json_key_text(&j, "state", m->firing ? "firing" : "resolved");
	trk__json_key_text(&j, "text", m->text);
	trk__json_key_text(&j, "fix", m->fix[0] ? m->fix : NULL);
	trk__json_key_double(&j, "value", m->value);
	trk__json_key_double(&j, "limit", m->limit);
	trk__json_key_text(&j, "job", m->job);
	trk__json_key_text(&j, "run", m->run);
	trk__json_key_text(&j, "host", m->host);
	if (m->list[0])
		write_list(&j, m->list);
	trk__json_key(&j, "time");
	trk__json_fixed(&j, (int64_t) (m->wall_ns / TRK_NS_PER_MS), 3);
	trk__json_close(&j, '}');
}

void trk__alert_message_line(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_printf(b, "[%s] %s: %s%s%s", m->firing ? m->severity : "resolved", m->rule, m->job,
			m->job[0] ? ": " : "", m->text);
}
