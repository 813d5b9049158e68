/* Read and write alerts.json, with its lock file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alert/book.h"
#include "alert/live.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/lock.h"
#include "base/trust.h"

enum { FILE_MAX = 8 * 1024 * 1024 };
static const char NAME[] = "alerts.json", SCHEMA[] = "resource-tracker.alerts/1";

/* ---- writing ---- */

/* Seconds since 1970, to the millisecond as they are kept. */
static void put_time(struct trk_json *j, const char *key, double seconds)
{
	trk__json_key(j, key);
	if (seconds > -1e12 && seconds < 1e12)
		trk__json_fixed(j, (int64_t) (seconds * 1e3 + (seconds < 0 ? -0.5 : 0.5)), 3);
	else
		trk__json_null(j);
}

static void put_told(struct trk_json *j, const struct trk_alert_told *t, bool severity)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "sink", t->sink);
	trk__json_key_u64(j, "key", t->key);
	put_time(j, "at", t->at_s);
	if (severity)
		trk__json_key_text(j, "severity",
				   trk__alert_severity_name((enum trk_alert_severity) t->severity));
	trk__json_close(j, '}');
}

static void put_entry(struct trk_json *j, const struct trk_alert_entry *e)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "id", e->id);
	trk__json_key_text(j, "rule", e->rule);
	trk__json_key_text(j, "severity",
			   trk__alert_severity_name((enum trk_alert_severity) e->severity));
	trk__json_key_text(j, "state", isnan(e->ended_s) ? "firing" : "resolved");
	trk__json_key_text(j, "job", e->job);
	trk__json_key_or_null(j, "scope", e->scope);
	trk__json_key_or_null(j, "run", e->run);
	trk__json_key_or_null(j, "host", e->host);
	trk__json_key_text(j, "text", e->text);
	trk__json_key_or_null(j, "fix", e->fix);
	trk__json_key_double(j, "value", e->value);
	trk__json_key_double(j, "limit", e->limit);
	put_time(j, "opened", e->opened_s);
	put_time(j, "seen", e->seen_s);
	put_time(j, "ended", e->ended_s);
	put_time(j, "new", e->new_s);
	trk__json_key_u64(j, "times", e->times);
	trk__json_key_bool(j, "announced", !e->unannounced);
	put_time(j, "acked", e->acked_s);
	trk__json_key_open(j, "told", '[');
	for (size_t i = 0; i < TRK_ALERT_TOLD_MAX && e->told[i].sink[0]; i++)
		put_told(j, &e->told[i], true);
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

static void put_silence(struct trk_json *j, const struct trk_alert_silence *s)
{
	trk__json_open(j, '{');
	trk__json_key_text(j, "id", s->id);
	trk__json_key_or_null(j, "rule", s->rule);
	trk__json_key_or_null(j, "job", s->job);
	put_time(j, "until", s->until_s);
	put_time(j, "made", s->made_s);
	trk__json_key_or_null(j, "reason", s->reason);
	trk__json_close(j, '}');
}

void trk__alert_book_write(const struct trk_alert_book *b, struct trk_buf *out)
{
	struct trk_json j;

	trk__json_init(&j, out, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", SCHEMA);
	trk__json_key_open(&j, "alerts", '[');
	for (size_t i = 0; i < b->count; i++)
		put_entry(&j, &b->entry[i]);
	trk__json_close(&j, ']');
	trk__json_key_open(&j, "silences", '[');
	for (size_t i = 0; i < b->silences; i++)
		put_silence(&j, &b->silence[i]);
	trk__json_close(&j, ']');
	trk__json_key_open(&j, "digests", '[');
	for (size_t i = 0; i < b->digests; i++)
		put_told(&j, &b->digest[i], false);
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(out, '\n');
}

/* ---- reading ---- */

struct reading {
	struct trk_json_doc doc;
	struct trk_alert_book *book;
};

static void take(const struct reading *r, const struct trk_json_value *v, const char *key,
		 char *ret, size_t size)
{
	trk__alert_text(ret, size, trk__json_get_text(&r->doc, v, key));
}

static double take_time(const struct reading *r, const struct trk_json_value *v, const char *key)
{
	double s = trk__json_get_double(&r->doc, v, key);

	return s >= 0 && s < 1e11 ? s : (double) NAN;
}

static int take_severity(const struct reading *r, const struct trk_json_value *v)
{
	const char *text = trk__json_get_text(&r->doc, v, "severity");

	for (int i = TRK_ALERT_CRITICAL; text && i > 0; i--)
		if (!strcmp(text, trk__alert_severity_name((enum trk_alert_severity) i)))
			return i;
	return TRK_ALERT_INFO;
}

static bool take_key(const struct reading *r, const struct trk_json_value *v, const char *name,
		     uint32_t *ret)
{
	double key = trk__json_get_double(&r->doc, v, name);

	if (!(key >= 0) || key > UINT32_MAX)
		return false;
	*ret = (uint32_t) key;
	return true;
}

static bool take_told(const struct reading *r, const struct trk_json_value *v,
		      struct trk_alert_told *ret)
{
	if (!take_key(r, v, "key", &ret->key))
		return false;
	take(r, v, "sink", ret->sink, sizeof(ret->sink));
	ret->at_s = take_time(r, v, "at");
	ret->severity = take_severity(r, v);
	return ret->sink[0] && !isnan(ret->at_s);
}

static void take_texts(const struct reading *r, const struct trk_json_value *v,
		       struct trk_alert_entry *e)
{
	take(r, v, "id", e->id, sizeof(e->id));
	take(r, v, "rule", e->rule, sizeof(e->rule));
	take(r, v, "job", e->job, sizeof(e->job));
	take(r, v, "scope", e->scope, sizeof(e->scope));
	take(r, v, "run", e->run, sizeof(e->run));
	take(r, v, "host", e->host, sizeof(e->host));
	take(r, v, "text", e->text, sizeof(e->text));
	take(r, v, "fix", e->fix, sizeof(e->fix));
}

static bool is_false(const struct reading *r, const struct trk_json_value *v, const char *key)
{
	const struct trk_json_value *at = trk__json_get(&r->doc, v, key);

	return at && at->type == TRK_JSON_BOOL && !at->truth;
}

static void take_entry(const struct reading *r, const struct trk_json_value *v)
{
	struct trk_alert_entry *e = &r->book->entry[r->book->count];
	const struct trk_json_value *told = trk__json_get(&r->doc, v, "told");
	double times = trk__json_get_double(&r->doc, v, "times");
	size_t n = 0;

	if (r->book->count == TRK_ALERT_ENTRIES_MAX)
		return;
	memset(e, 0, sizeof(*e));
	take_texts(r, v, e);
	e->unannounced = is_false(r, v, "announced");
	e->severity = take_severity(r, v);
	e->value = trk__json_get_double(&r->doc, v, "value");
	e->limit = trk__json_get_double(&r->doc, v, "limit");
	e->opened_s = take_time(r, v, "opened");
	e->seen_s = take_time(r, v, "seen");
	e->ended_s = take_time(r, v, "ended");
	e->new_s = take_time(r, v, "new");
	e->acked_s = take_time(r, v, "acked");
	e->times = times >= 1 && times < 1e9 ? (unsigned int) times : 1;
	for (const struct trk_json_value *t = told ? trk__json_first(&r->doc, told) : NULL;
	     t && n < TRK_ALERT_TOLD_MAX; t = trk__json_next(&r->doc, t)) {
		if (take_told(r, t, &e->told[n]))
			n++;
		else
			memset(&e->told[n], 0, sizeof(e->told[n]));
	}
	r->book->count += e->id[0] && e->rule[0] && !isnan(e->opened_s) && !isnan(e->new_s);
}

static void take_silence(const struct reading *r, const struct trk_json_value *v)
{
	struct trk_alert_silence s = {.id = ""};

	take(r, v, "id", s.id, sizeof(s.id));
	take(r, v, "rule", s.rule, sizeof(s.rule));
	take(r, v, "job", s.job, sizeof(s.job));
	take(r, v, "reason", s.reason, sizeof(s.reason));
	s.until_s = take_time(r, v, "until");
	s.made_s = take_time(r, v, "made");
	if (s.id[0] && !isnan(s.until_s) && !isnan(s.made_s) &&
	    r->book->silences < TRK_ALERT_SILENCES_MAX)
		r->book->silence[r->book->silences++] = s;
}

static void take_digest(const struct reading *r, const struct trk_json_value *v)
{
	struct trk_alert_told t = {.sink = ""};

	if (take_told(r, v, &t) && r->book->digests < TRK_ALERT_DIGESTS_MAX)
		r->book->digest[r->book->digests++] = t;
}

static void take_all(const struct reading *r, const char *key,
		     void (*take_one)(const struct reading *, const struct trk_json_value *))
{
	const struct trk_json_value *list = trk__json_get(&r->doc, trk__json_root(&r->doc), key);

	for (const struct trk_json_value *v = list ? trk__json_first(&r->doc, list) : NULL; v;
	     v = trk__json_next(&r->doc, v))
		take_one(r, v);
}

int trk__alert_book_read(const char *text, size_t len, struct trk_alert_book *b,
			 struct trk_error *reterr)
{
	const struct trk_json_limits limits = {.max_bytes = FILE_MAX};
	struct reading r = {.book = b};
	const char *schema;
	int error = trk__json_read(text, len, &limits, NAME, &r.doc, reterr);

	if (error < 0)
		return -EBADMSG;
	schema = trk__json_get_text(&r.doc, trk__json_root(&r.doc), "schema");
	if (!schema || strcmp(schema, SCHEMA) != 0) {
		error = trk__error_set(reterr, -EBADMSG, NAME, "not of the schema %s", SCHEMA);
	} else {
		take_all(&r, "alerts", take_entry);
		take_all(&r, "silences", take_silence);
		take_all(&r, "digests", take_digest);
	}
	trk__json_doc_release(&r.doc);
	return error;
}

/* ---- the file ---- */

void trk__alert_own_name(int dirfd, const char *name, char ret[TRK_ALERT_NAME_SIZE])
{
	int stem = (int) strcspn(name, ".");

	if (trk__trust_is_shared(dirfd))
		(void) snprintf(ret, TRK_ALERT_NAME_SIZE, "%.*s-%u%s", stem, name,
				(unsigned int) geteuid(), name + stem);
	else
		(void) snprintf(ret, TRK_ALERT_NAME_SIZE, "%s", name);
}

static int read_file(int dirfd, struct trk_alert_book *b, struct trk_error *reterr)
{
	char name[TRK_ALERT_NAME_SIZE], *text = NULL;
	TRK_FD_CLEANUP int fd = -1;
	ssize_t len;
	int r;

	trk__alert_own_name(dirfd, NAME, name);
	fd = trk__trust_open_file_at(dirfd, name, reterr);
	if (fd == -ENOENT || fd == -TRK_ERR_UNTRUSTED)
		return 0;
	len = fd < 0 ? fd : trk__read_all_fd(fd, FILE_MAX, &text);
	r = len < 0 ? (int) len : trk__alert_book_read(text, (size_t) len, b, reterr);
	free(text);
	return r;
}

int trk__alert_book_load(int dirfd, struct trk_alert_book *b, struct trk_error *reterr)
{
	char name[TRK_ALERT_NAME_SIZE];
	int lock, r;

	trk__alert_own_name(dirfd, "alerts.lock", name);
	lock = trk__lock_take(dirfd, name, reterr);
	r = lock < 0 ? lock : trk__alert_book_init(b);
	if (r == 0)
		r = read_file(dirfd, b, reterr);
	if (r == 0)
		return lock;
	if (lock >= 0)
		trk__alert_book_release(b);
	trk__close(lock);
	return r;
}

int trk__alert_book_peek(int dirfd, struct trk_alert_book *b, struct trk_error *reterr)
{
	int r = trk__alert_book_init(b);

	return r < 0 || dirfd < 0 ? r : read_file(dirfd, b, reterr);
}

int trk__alert_book_save(int dirfd, int lock, const struct trk_alert_book *b)
{
	char name[TRK_ALERT_NAME_SIZE];
	TRK_BUF_LOCAL(text, FILE_MAX);
	int r;

	trk__alert_own_name(dirfd, NAME, name);
	trk__alert_book_write(b, &text);
	r = text.error ? text.error : trk__replace_at(dirfd, name, 0600, text.data, text.len);
	trk__close(lock);
	return r;
}
