#include "service/alert_list.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "alert/book.h"
#include "alert/end_rules.h"
#include "alert/live.h"
#include "base/file.h"
#include "base/json.h"
#include "service/alert_send.h"

const struct trk_alert_sink *trk__alert_sink_parse(const struct trk_alert_sender *s,
						   const char *text, const char **ret_address)
{
	const char *colon = strchr(text, ':');
	const struct trk_alert_sink *sink =
		colon ? trk__alert_sink_find(text, (size_t) (colon - text)) : NULL;

	if (!sink || !colon[1]) {
		trk__service_note(&s->service,
				  "alerts: %.*s: not of the form KIND:ADDRESS. Kinds: mail, slack, "
				  "teams, discord, json, alertmanager",
				  (int) strcspn(text, ":"), text);
		return NULL;
	}
	*ret_address = colon + 1;
	return sink;
}

int trk__alert_store_peek(const char *dir, struct trk_alert_book *ret, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = dir && *dir ? trk__open_dir_at(AT_FDCWD, dir) : -ENOENT;
	struct trk_error error = {.code = 0};
	bool reads = fd >= 0 || fd == -ENOENT;
	char name[TRK_ALERT_NAME_SIZE];
	int r = reads ? trk__alert_book_peek(fd, ret, &error) : fd;

	if (r == 0 && !error.code)
		return 0;
	if (r < 0 && reads)
		trk__alert_book_release(ret);
	trk__alert_own_name(fd, "alerts.json", name);
	(void) trk__error_set(reterr, r < 0 ? r : error.code, dir, "%s/%s: %s%s", dir, name,
			      trk__error_text(&error, r), r < 0 ? "" : "; ignored");
	return r;
}

static void put_entry(struct trk_json *j, const struct trk_alert_entry *e)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "id", e->id);
	trk__json_key_text(j, "rule", e->rule);
	trk__json_key_text(j, "severity",
			   trk__alert_severity_name((enum trk_alert_severity) e->severity));
	trk__json_key_text(j, "job", e->job);
	trk__json_key_or_null(j, "scope", e->scope);
	trk__json_key_or_null(j, "run", e->run);
	trk__json_key_text(j, "text", e->text);
	trk__json_key_or_null(j, "fix", e->fix);
	trk__json_key_text(j, "state", isnan(e->ended_s) ? "firing" : "resolved");
	trk__json_key_double(j, "opened", e->opened_s);
	trk__json_key_double(j, "ended", e->ended_s);
	trk__json_key_double(j, "acked", e->acked_s);
	trk__json_close(j, '}');
}

static void put_silence(struct trk_json *j, const struct trk_alert_silence *s)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "id", s->id);
	trk__json_key_or_null(j, "rule", s->rule);
	trk__json_key_or_null(j, "job", s->job);
	trk__json_key_or_null(j, "reason", s->reason);
	trk__json_key_double(j, "until", s->until_s);
	trk__json_close(j, '}');
}

size_t trk__alert_rule_list(struct trk_alert_listed_rule ret[TRK_ALERT_LISTED_RULES])
{
	size_t n = 0;

	for (int i = 0; i < TRK_ALERT_RULES; i++) {
		const struct trk_alert_rule_info *rule = &trk__alert_rules[i];

		ret[n++] =
			(struct trk_alert_listed_rule){rule->name, rule->condition, "while_running",
						       rule->severity, rule->window_s};
	}
	for (int i = 0; i < TRK_ALERT_END_RULES; i++) {
		const struct trk_alert_end_info *rule = &trk__alert_end_rules[i];

		ret[n++] = (struct trk_alert_listed_rule){
			rule->name, rule->condition,
			i == TRK_ALERT_END_BUDGET ? "by_check" : "after_run",
			(enum trk_alert_severity) rule->severity, NAN};
	}
	return n;
}

void trk__alert_rules_json(struct trk_json *j)
{
	struct trk_alert_listed_rule rule[TRK_ALERT_LISTED_RULES];
	size_t n = trk__alert_rule_list(rule);

	trk__json_open(j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "rule", rule[i].name);
		trk__json_key_text(j, "severity", trk__alert_severity_name(rule[i].severity));
		trk__json_key_text(j, "evaluated", rule[i].evaluated);
		trk__json_key_double(j, "window_s", rule[i].window_s);
		trk__json_key_text(j, "condition", rule[i].condition);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

/* A book that cannot be read is an empty one, with a note. */
static int read_book(const struct trk_service *s, struct trk_alert_book *b)
{
	struct trk_error error = {.code = 0};
	int r = trk__alert_store_peek(s->dir, b, &error);

	if (error.code)
		trk__service_note(s, "%s%s", error.message, r < 0 ? "; no alerts are shown" : "");
	return r == 0 || r == -ENOMEM ? r : trk__alert_book_init(b);
}

int trk__alert_list(const struct trk_service *s, struct trk_buf *ret)
{
	struct trk_alert_book b;
	struct trk_json j;
	int r = read_book(s, &b);

	if (r < 0)
		return r;
	trk__json_begin(&j, ret, 0, NULL);
	trk__json_key_open(&j, "alerts", '[');
	for (size_t i = 0; i < b.count; i++)
		put_entry(&j, &b.entry[i]);
	trk__json_close(&j, ']');
	trk__json_key_open(&j, "silences", '[');
	for (size_t i = 0; i < b.silences; i++)
		put_silence(&j, &b.silence[i]);
	trk__json_close(&j, ']');
	trk__json_key(&j, "rules");
	trk__alert_rules_json(&j);
	trk__json_close(&j, '}');
	trk__alert_book_release(&b);
	return ret->error;
}

int trk__alert_list_json(const char *dir, struct trk_buf *ret, struct trk_error *reterr)
{
	struct trk_alert_book b;
	int r = trk__alert_store_peek(dir, &b, reterr);

	if (r < 0)
		return r;
	trk__alert_book_write(&b, ret);
	trk__alert_book_release(&b);
	return ret->error;
}
