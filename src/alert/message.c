#include "alert/message.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_read.h"

/* A text of one line, cut between characters. */
static void take_text(const char *text, char *ret, size_t size)
{
	size_t len = 0, kept = 0;

	for (; text && text[len] && len + 1 < size; len++) {
		unsigned char c = (unsigned char) text[len];

		ret[len] = (char) (c < ' ' || c == 127 ? ' ' : c);
		if (((unsigned char) text[len + 1] & 0xc0) != 0x80)
			kept = len + 1;
	}
	ret[kept] = '\0';
}

static void take(const struct trk_json_doc *d, const char *key, char *ret, size_t size)
{
	take_text(trk__json_get_text(d, trk__json_root(d), key), ret, size);
}

static void take_list(const struct trk_json_doc *d, struct trk_alert_message *m)
{
	const struct trk_json_value *list = trk__json_get(d, trk__json_root(d), "list");
	char line[2 * TRK_ALERT_SENTENCE_SIZE];

	if (!list || list->type != TRK_JSON_ARRAY)
		return;
	for (const struct trk_json_value *v = trk__json_first(d, list); v;
	     v = trk__json_next(d, v)) {
		take_text(trk__json_as_text(v), line, sizeof(line));
		if (!trk__alert_message_add(m, "%s", line))
			break;
	}
}

bool trk__alert_message_add(struct trk_alert_message *m, const char *format, ...)
{
	size_t used = strlen(m->list), room = sizeof(m->list) - used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(m->list + used, room, format, args);
	va_end(args);
	if (len < 0 || (size_t) len + 1 >= room) {
		m->list[used] = '\0';
		return false;
	}
	m->list[used + (size_t) len] = '\n';
	m->list[used + (size_t) len + 1] = '\0';
	return true;
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
