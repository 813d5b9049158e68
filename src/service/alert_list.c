#include "service/alert_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alert/end.h"
#include "alert/live.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/trust.h"

enum { FILE_MAX = 4 << 20, PATH_SIZE = 4096 };

static const char *const entry_texts[] = {"id",  "rule", "severity", "job",  "scope",
					  "run", "text", "fix",      "held", "state"};
static const char *const entry_numbers[] = {"opened", "ended", "acked"};
static const char *const silence_texts[] = {"id", "rule", "job", "reason"};
static const char *const silence_numbers[] = {"until"};

/* The members of an object: texts, then numbers. */
struct members {
	const char *const *text, *const *number;
	size_t texts, numbers;
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void put_list(struct trk_json *j, const char *key, const struct trk_json_doc *doc,
		     const struct members *of)
{
	const struct trk_json_value *list = trk__json_get(doc, trk__json_root(doc), key);
	const struct trk_json_value *at =
		list && list->type == TRK_JSON_ARRAY ? trk__json_first(doc, list) : NULL;

	trk__json_key_open(j, key, '[');
	for (; at; at = trk__json_next(doc, at)) {
		if (at->type != TRK_JSON_OBJECT)
			continue;
		trk__json_open(j, '{');
		for (size_t i = 0; i < of->texts; i++)
			trk__json_key_text(j, of->text[i],
					   trk__json_get_text(doc, at, of->text[i]));
		for (size_t i = 0; i < of->numbers; i++)
			trk__json_key_double(j, of->number[i],
					     trk__json_get_double(doc, at, of->number[i]));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void put_rules(struct trk_json *j)
{
	trk__json_key_open(j, "rules", '[');
	for (int i = 0; i < TRK_ALERT_RULES; i++) {
		const struct trk_alert_rule_info *rule = &trk__alert_rules[i];

		trk__json_open(j, '{');
		trk__json_key_text(j, "rule", rule->name);
		trk__json_key_text(j, "severity", trk__alert_severity_name(rule->severity));
		trk__json_key_text(j, "when", "while it runs");
		trk__json_key_double(j, "window_s", rule->window_s);
		trk__json_key_text(j, "condition", rule->condition);
		trk__json_close(j, '}');
	}
	for (int i = 0; i < TRK_ALERT_END_RULES; i++) {
		const struct trk_alert_end_info *rule = &trk__alert_end_rules[i];

		trk__json_open(j, '{');
		trk__json_key_text(j, "rule", rule->name);
		trk__json_key_text(
			j, "severity",
			trk__alert_severity_name((enum trk_alert_severity) rule->severity));
		trk__json_key_text(j, "when", "after a run");
		trk__json_key_double(j, "window_s", 0);
		trk__json_key_text(j, "condition", rule->condition);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

int trk__alert_list_text(const char *text, size_t len, struct trk_buf *ret,
			 struct trk_error *reterr)
{
	static const struct trk_json_limits limits = {.max_bytes = FILE_MAX};
	static const struct members entry = {entry_texts, entry_numbers, COUNT(entry_texts),
					     COUNT(entry_numbers)};
	static const struct members silence = {silence_texts, silence_numbers, COUNT(silence_texts),
					       COUNT(silence_numbers)};
	struct trk_json_doc doc;
	struct trk_json j;
	int r = trk__json_read(text, len, &limits, "alerts.json", &doc, reterr);

	if (r < 0)
		return r;
	trk__json_init(&j, ret, 0);
	trk__json_open(&j, '{');
	put_list(&j, "alerts", &doc, &entry);
	put_list(&j, "silences", &doc, &silence);
	put_rules(&j);
	trk__json_close(&j, '}');
	trk__json_doc_release(&doc);
	return ret->error;
}

/* The text of the file (owned), NULL without one or after a note. */
static char *read_file(const struct trk_service *s, size_t *ret_len)
{
	char path[PATH_SIZE], *text = NULL;
	struct trk_error error = {.code = 0};
	ssize_t len;
	int fd;

	if (!s->dir || !*s->dir ||
	    snprintf(path, sizeof(path), "%s/alerts.json", s->dir) >= PATH_SIZE)
		return NULL;
	fd = trk__trust_open_file(path, &error);
	if (fd < 0) {
		if (fd != -ENOENT)
			trk__service_note(s, "%s: %s; no alerts are shown", path,
					  error.message[0] ? error.message : trk__strerror(fd));
		return NULL;
	}
	len = trk__read_all_fd(fd, FILE_MAX, &text);
	(void) close(fd);
	if (len < 0)
		trk__service_note(s, "%s: %s; no alerts are shown", path, trk__strerror((int) len));
	*ret_len = len < 0 ? 0 : (size_t) len;
	return len < 0 ? NULL : text;
}

int trk__alert_list(const struct trk_service *s, struct trk_buf *ret)
{
	struct trk_error error = {.code = 0};
	size_t len = 0;
	char *text = read_file(s, &len);
	int r = text ? trk__alert_list_text(text, len, ret, &error) : -ENOENT;

	if (text && r == -EBADMSG)
		trk__service_note(s, "%s/alerts.json:%lu: %s; no alerts are shown", s->dir,
				  error.line, error.message);
	free(text);
	return r < 0 && r != -ENOMEM ? trk__alert_list_text("{}", 2, ret, NULL) : r;
}
