#include "alert/book.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/end_rules.h"
#include "alert/live.h"
#include "base/clock.h"
#include "base/maths.h"

static const double LIVE_AGAIN_S = 1800, WEEK_S = 7 * 86400.0, KEPT_S = 30 * 86400.0,
		    RENEW_S = 6 * 3600.0, DIGEST_AGAIN_S = 6 * 86400.0;
enum { LISTED_MAX = 40 };

int trk__alert_book_init(struct trk_alert_book *b)
{
	memset(b, 0, sizeof(*b));
	b->entry = calloc(TRK_ALERT_ENTRIES_MAX, sizeof(*b->entry));
	b->silence = calloc(TRK_ALERT_SILENCES_MAX, sizeof(*b->silence));
	b->digest = calloc(TRK_ALERT_DIGESTS_MAX, sizeof(*b->digest));
	if (b->entry && b->silence && b->digest)
		return 0;
	trk__alert_book_release(b);
	return -ENOMEM;
}

void trk__alert_book_release(struct trk_alert_book *b)
{
	free(b->entry);
	free(b->silence);
	free(b->digest);
	memset(b, 0, sizeof(*b));
}

/* ---- what is known ---- */

static uint32_t hash(uint32_t h, const char *text)
{
	/* FNV-1a, including the NUL, so that the boundaries of the texts count. */
	do
		h = (h ^ (unsigned char) *text) * 16777619u;
	while (*text++);
	return h;
}

uint32_t trk__alert_sink_key(const char *sink)
{
	return hash(2166136261u, sink);
}

static bool is_live(const char *rule)
{
	return trk__alert_end_find(rule, strlen(rule)) < 0;
}

static double again_s(const char *rule)
{
	int at = trk__alert_end_find(rule, strlen(rule));

	return at < 0 ? LIVE_AGAIN_S : trk__alert_end_rules[at].again_h * 3600.0;
}

static struct trk_alert_entry *find(struct trk_alert_book *b, const char *id)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->entry[i].id, id))
			return &b->entry[i];
	return NULL;
}

static bool is_open(const struct trk_alert_entry *e)
{
	return isnan(e->ended_s);
}

static void drop(struct trk_alert_book *b, size_t at)
{
	memmove(&b->entry[at], &b->entry[at + 1], (b->count - at - 1) * sizeof(*b->entry));
	b->count--;
}

/* Make room for one entry: drop those that ended long ago, then the one that ended first, then the
 * one that opened first. */
static void make_room(struct trk_alert_book *b, double now_s)
{
	size_t first = 0;

	for (size_t i = b->count; i-- > 0;)
		if (b->entry[i].ended_s < now_s - KEPT_S)
			drop(b, i);
	if (b->count < TRK_ALERT_ENTRIES_MAX)
		return;
	while (first < b->count && is_open(&b->entry[first]))
		first++;
	drop(b, first < b->count ? first : 0);
}

static void renew(struct trk_alert_entry *e, const struct trk_alert_news *n, double now_s)
{
	/* While it is open: gpu-idle, after an hour. */
	if (n->live && strcmp(e->text, n->text) != 0)
		e->new_s = now_s;
	trk__alert_text(e->text, sizeof(e->text), n->text);
	trk__alert_text(e->fix, sizeof(e->fix), n->fix);
	trk__alert_text(e->run, sizeof(e->run), n->run);
	trk__alert_text(e->host, sizeof(e->host), n->host);
	e->value = n->value;
	e->limit = n->limit;
	e->severity = n->severity;
	e->seen_s = now_s;
	if (n->new_s > e->new_s)
		e->new_s = n->new_s;
}

static struct trk_alert_entry *open_entry(struct trk_alert_book *b, const char *id,
					  const struct trk_alert_news *n, double now_s)
{
	struct trk_alert_entry *e = find(b, id);

	if (!e) {
		make_room(b, now_s);
		e = &b->entry[b->count++];
		memset(e, 0, sizeof(*e));
		trk__alert_text(e->id, sizeof(e->id), id);
		trk__alert_text(e->rule, sizeof(e->rule), n->rule);
		trk__alert_text(e->job, sizeof(e->job), n->job);
		trk__alert_text(e->scope, sizeof(e->scope), n->scope);
	}
	e->opened_s = now_s;
	e->new_s = now_s;
	e->ended_s = e->acked_s = NAN;
	e->times++;
	e->unannounced = false;
	return e;
}

static void end_entry(struct trk_alert_entry *e, double now_s)
{
	e->ended_s = now_s;
	e->acked_s = NAN;
}

static void put_id(char id[TRK_ALERT_ID_SIZE], const struct trk_alert_news *n)
{
	uint32_t h = trk__alert_sink_key(n->rule);

	h = hash(hash(h, n->job), n->scope ? n->scope : "");
	if (n->live)
		h = hash(h, n->run);
	(void) snprintf(id, TRK_ALERT_ID_SIZE, "%08x", h);
}

struct trk_alert_entry *trk__alert_book_find(struct trk_alert_book *b,
					     const struct trk_alert_news *n)
{
	char id[TRK_ALERT_ID_SIZE];

	put_id(id, n);
	return find(b, id);
}

struct trk_alert_entry *trk__alert_book_take(struct trk_alert_book *b,
					     const struct trk_alert_news *n, double now_s)
{
	struct trk_alert_entry *e;
	char id[TRK_ALERT_ID_SIZE];

	put_id(id, n);
	e = find(b, id);
	if (!n->firing) {
		if (!e || !is_open(e))
			return NULL;
		end_entry(e, now_s);
		return e;
	}
	if (!e || !is_open(e))
		e = open_entry(b, id, n, now_s);
	renew(e, n, now_s);
	return e;
}

size_t trk__alert_book_end_run(struct trk_alert_book *b, const char *run, double now_s)
{
	size_t n = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct trk_alert_entry *e = &b->entry[i];

		if (!is_open(e) || !is_live(e->rule) || strcmp(e->run, run) != 0)
			continue;
		end_entry(e, now_s);
		n++;
	}
	return n;
}

void trk__alert_book_age(struct trk_alert_book *b, double now_s)
{
	for (size_t i = 0; i < b->count; i++)
		if (is_open(&b->entry[i]) && (is_live(b->entry[i].rule) || !b->entry[i].job[0]) &&
		    b->entry[i].seen_s < now_s - WEEK_S)
			end_entry(&b->entry[i], now_s);
}

/* ---- when to send ---- */

bool trk__alert_book_is_silenced(const struct trk_alert_book *b, const struct trk_alert_entry *e,
				 double now_s)
{
	for (size_t i = 0; i < b->silences; i++) {
		const struct trk_alert_silence *s = &b->silence[i];

		if (s->until_s > now_s && (!s->rule[0] || !strcmp(s->rule, e->rule)) &&
		    (!s->job[0] || !strcmp(s->job, e->job)))
			return true;
	}
	return false;
}

static const struct trk_alert_told *told_of(const struct trk_alert_entry *e,
					    const struct trk_alert_route *r)
{
	for (size_t i = 0; i < TRK_ALERT_TOLD_MAX; i++)
		if (e->told[i].sink[0] && e->told[i].key == r->key)
			return &e->told[i];
	return NULL;
}

bool trk__alert_book_was_told(const struct trk_alert_entry *e, const struct trk_alert_route *r)
{
	const struct trk_alert_told *t = told_of(e, r);

	return t && t->at_s >= e->opened_s;
}

/* Whether it was sent to this sink and has no news since. */
static bool is_known(const struct trk_alert_entry *e, const struct trk_alert_route *r, double now_s)
{
	const struct trk_alert_told *t = told_of(e, r);

	if (!t)
		return false;
	/* An Alertmanager ends alerts that are not posted again. */
	if (!strcmp(r->kind, "alertmanager") && now_s - t->at_s >= RENEW_S)
		return false;
	return now_s - t->at_s < again_s(e->rule) ||
	       (e->new_s <= t->at_s && e->severity <= t->severity);
}

bool trk__alert_book_is_due(const struct trk_alert_book *b, const struct trk_alert_entry *e,
			    const struct trk_alert_route *r, double now_s)
{
	return is_open(e) && isnan(e->acked_s) && !is_known(e, r, now_s) &&
	       !trk__alert_book_is_silenced(b, e, now_s);
}

void trk__alert_book_told(struct trk_alert_entry *e, const struct trk_alert_route *r, double now_s)
{
	size_t at = 0, oldest = 0;

	while (at < TRK_ALERT_TOLD_MAX && e->told[at].sink[0] && e->told[at].key != r->key) {
		if (e->told[at].at_s < e->told[oldest].at_s)
			oldest = at;
		at++;
	}
	at = at < TRK_ALERT_TOLD_MAX ? at : oldest;
	e->told[at] =
		(struct trk_alert_told){.key = r->key, .at_s = now_s, .severity = e->severity};
	trk__alert_text(e->told[at].sink, sizeof(e->told[at].sink), r->kind);
}

void trk__alert_book_digest_sent(struct trk_alert_book *b, const struct trk_alert_route *r,
				 double now_s)
{
	size_t at = 0;

	while (at < b->digests && b->digest[at].key != r->key)
		at++;
	if (at == TRK_ALERT_DIGESTS_MAX) {
		memmove(&b->digest[0], &b->digest[1], (--at) * sizeof(b->digest[0]));
		b->digests--;
	}
	b->digest[at] = (struct trk_alert_told){.key = r->key, .at_s = now_s};
	trk__alert_text(b->digest[at].sink, sizeof(b->digest[at].sink), r->kind);
	b->digests += at == b->digests;
}

double trk__alert_book_digest_at(const struct trk_alert_book *b, const struct trk_alert_route *r)
{
	for (size_t i = 0; i < b->digests; i++)
		if (b->digest[i].key == r->key)
			return b->digest[i].at_s;
	return NAN;
}

/* ---- messages ---- */

static uint64_t ns_of(double seconds)
{
	return seconds > 0 && seconds < 1e10 ? (uint64_t) (seconds * 1e3) * TRK_NS_PER_MS : 0;
}

void trk__alert_entry_message(const struct trk_alert_entry *e, double now_s,
			      struct trk_alert_message *ret)
{
	memset(ret, 0, sizeof(*ret));
	trk__alert_text(ret->rule, sizeof(ret->rule), e->rule);
	trk__alert_text(ret->severity, sizeof(ret->severity),
			trk__alert_severity_name((enum trk_alert_severity) e->severity));
	trk__alert_text(ret->text, sizeof(ret->text), e->text);
	trk__alert_text(ret->fix, sizeof(ret->fix), e->fix);
	trk__alert_text(ret->job, sizeof(ret->job), e->job);
	trk__alert_text(ret->run, sizeof(ret->run), e->run);
	trk__alert_text(ret->host, sizeof(ret->host), e->host);
	ret->firing = is_open(e);
	ret->value = e->value;
	ret->limit = e->limit;
	ret->wall_ns = ns_of(now_s);
}

/* Room for any entry and for the line after the last one. */
enum { ENTRY_ROOM = 4 * TRK_ALERT_SENTENCE_SIZE };

static void list_entry(const struct trk_alert_entry *e, struct trk_alert_message *ret)
{
	(void) trk__alert_message_add(
		ret, "[%s] %s: %s%s%s",
		trk__alert_severity_name((enum trk_alert_severity) e->severity), e->rule, e->job,
		e->job[0] ? ": " : "", e->text);
	if (e->fix[0])
		(void) trk__alert_message_add(ret, "Try: %s", e->fix);
}

/* Several alerts as one message: a summary in its text, one line each in its list. */
static void list_entries(struct trk_alert_entry *const *e, size_t n, double now_s,
			 struct trk_alert_message *ret)
{
	size_t listed = 0;
	bool same = true;
	int worst = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		same = same && !strcmp(e[i]->rule, e[0]->rule);
		worst = e[i]->severity > worst ? e[i]->severity : worst;
	}
	trk__alert_text(ret->rule, sizeof(ret->rule), same ? e[0]->rule : "alerts");
	trk__alert_text(ret->severity, sizeof(ret->severity),
			trk__alert_severity_name((enum trk_alert_severity) worst));
	(void) snprintf(ret->text, sizeof(ret->text), "%zu alerts%s%s: %.100s, %.100s%s", n,
			same ? " of " : "", same ? e[0]->rule : "", e[0]->job, e[1]->job,
			n > 2 ? " and others" : "");
	ret->firing = true;
	ret->value = (double) n;
	ret->limit = NAN;
	ret->wall_ns = ns_of(now_s);
	while (listed < n && listed < LISTED_MAX &&
	       strlen(ret->list) + ENTRY_ROOM < sizeof(ret->list))
		list_entry(e[listed++], ret);
	if (n > listed)
		(void) trk__alert_message_add(ret, "and %zu more: resource-tracker alerts",
					      n - listed);
}

/* A sink of one job gets only alerts of that job. */
static bool is_routed(const struct trk_alert_entry *e, const struct trk_alert_route *r)
{
	if (r->rule && strcmp(r->rule, e->rule) != 0)
		return false;
	return !r->job || !strcmp(r->job, e->job);
}

bool trk__alert_book_collect(struct trk_alert_book *b, const struct trk_alert_route *r, bool live,
			     double now_s, struct trk_alert_message *ret)
{
	struct trk_alert_entry *due[TRK_ALERT_ENTRIES_MAX];
	size_t n = 0;
	/* An Alertmanager groups alerts itself and resolves them one by one. */
	size_t most = !strcmp(r->kind, "alertmanager") ? 1 : TRK_ALERT_ENTRIES_MAX;

	for (size_t i = 0; i < b->count && n < most; i++)
		if ((live || !is_live(b->entry[i].rule)) && is_routed(&b->entry[i], r) &&
		    trk__alert_book_is_due(b, &b->entry[i], r, now_s))
			due[n++] = &b->entry[i];
	for (size_t i = 0; i < n; i++)
		trk__alert_book_told(due[i], r, now_s);
	if (n == 1)
		trk__alert_entry_message(due[0], now_s, ret);
	else if (n > 1)
		list_entries(due, n, now_s, ret);
	return n > 0;
}

/* ---- digests ---- */

bool trk__alert_book_digest_due(const struct trk_alert_book *b, const struct trk_alert_route *r,
				double now_s)
{
	return !(now_s - trk__alert_book_digest_at(b, r) < DIGEST_AGAIN_S);
}

bool trk__alert_book_in_digest(const struct trk_alert_book *b, const struct trk_alert_entry *e,
			       double now_s)
{
	return is_open(e) && !e->is_over && !is_live(e->rule) && isnan(e->acked_s) &&
	       !trk__alert_book_is_silenced(b, e, now_s);
}

bool trk__alert_book_digest_has_news(const struct trk_alert_book *b,
				     const struct trk_alert_route *r, double now_s)
{
	for (size_t i = 0; i < b->count; i++)
		if (trk__alert_book_in_digest(b, &b->entry[i], now_s) &&
		    !is_known(&b->entry[i], r, now_s))
			return true;
	return false;
}

void trk__alert_book_digest_told(struct trk_alert_book *b, const struct trk_alert_route *r,
				 const bool *listed, double now_s)
{
	for (size_t i = 0; i < b->count; i++)
		if (trk__alert_book_in_digest(b, &b->entry[i], now_s) && (!listed || listed[i]))
			trk__alert_book_told(&b->entry[i], r, now_s);
	trk__alert_book_digest_sent(b, r, now_s);
}

/* ---- what a person says ---- */

static bool is_named(const struct trk_alert_entry *e, const char *which)
{
	size_t len = strlen(which), rule = strlen(e->rule);

	if (len >= 4 && !strncmp(e->id, which, len))
		return true;
	return len > rule && !strncmp(which, e->rule, rule) && which[rule] == ':' &&
	       !strcmp(which + rule + 1, e->job);
}

size_t trk__alert_book_ack(struct trk_alert_book *b, const char *which, double now_s)
{
	size_t n = 0;

	for (size_t i = 0; i < b->count; i++) {
		if (!is_open(&b->entry[i]) || !is_named(&b->entry[i], which))
			continue;
		b->entry[i].acked_s = now_s;
		n++;
	}
	return n;
}

int trk__alert_book_silence(struct trk_alert_book *b, const struct trk_alert_silence *s,
			    char ret_id[TRK_ALERT_ID_SIZE])
{
	struct trk_alert_silence *at;
	size_t n = 0;
	char made[32];

	for (size_t i = 0; i < b->silences; i++)
		if (b->silence[i].until_s > s->made_s)
			b->silence[n++] = b->silence[i];
	b->silences = n;
	if (n == TRK_ALERT_SILENCES_MAX)
		return -ENOSPC;
	at = &b->silence[b->silences++];
	*at = *s;
	(void) snprintf(made, sizeof(made), "%.3f %zu", s->made_s, n);
	(void) snprintf(at->id, sizeof(at->id), "%08x",
			hash(hash(trk__alert_sink_key(s->rule), s->job), made));
	trk__alert_text(ret_id, TRK_ALERT_ID_SIZE, at->id);
	return 0;
}

bool trk__alert_book_unsilence(struct trk_alert_book *b, const char *id)
{
	for (size_t i = 0; i < b->silences; i++) {
		if (strlen(id) < 4 || strncmp(b->silence[i].id, id, strlen(id)) != 0)
			continue;
		memmove(&b->silence[i], &b->silence[i + 1],
			(b->silences - i - 1) * sizeof(b->silence[0]));
		b->silences--;
		return true;
	}
	return false;
}
