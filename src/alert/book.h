/* The persistent state of alerts: which are open, which were sent to which sink, what is silenced.
 * Only _load, _peek and _save do I/O; the caller passes the time.
 *
 * An alert is one rule about one job (for a live rule: about one run). It is open while its
 * condition holds, and closed when it no longer does. It is sent to a sink once, and again only if
 * it opened again, has news (`new_s`) or a higher severity, and not within the cool-down of its
 * rule. It is not sent while it is silenced, or once it was acknowledged, until it is closed. Alerts
 * that are sent at the same time are one message. An Alertmanager groups and repeats alerts itself:
 * it gets each alert by itself, and again in time.
 *
 * File: alerts.json in the directory of recordings, one JSON object, mode 0600, replaced
 * atomically; a writer holds the lock (base/lock.h) alerts.lock in the same directory. In a
 * directory to which other users may write, each user has such files (trk__alert_own_name).
 *
 *   schema     "resource-tracker.alerts/1"
 *   alerts     newest last, at most 400; those that have ended are kept for 30 days:
 *     id         "a1b2c3d4": names it for `alerts ack`
 *     rule, severity, job, scope, text, fix   as sent; scope and fix may be null
 *     run, host  of a live rule: the run; else the run that showed it; null: not known
 *     value, limit  numbers in the rule's unit, or null
 *     state      "firing", "resolved"
 *     opened, seen, ended   seconds since 1970: opened, newest time it held, ended (null: open)
 *     new        when what it says became true
 *     times      how often it has opened
 *     announced  false: a digest has opened it, and no judgement has announced it yet
 *     acked      seconds since 1970, or null; by `alerts ack`
 *     told       [{"sink": kind, "key": hash of the sink, "at": seconds, "severity"}], at most 4
 *   silences   at most 100; those that are over are dropped:
 *     id, rule (null: all), job (null: all), until (seconds), made (seconds), reason (null: none)
 *   digests    [{"sink": kind, "key", "at"}]: when a digest was sent, at most 16 */
#ifndef TRK_ALERT_BOOK_H
#define TRK_ALERT_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alert/message.h"

enum {
	TRK_ALERT_ENTRIES_MAX = 400,
	TRK_ALERT_SILENCES_MAX = 100,
	TRK_ALERT_DIGESTS_MAX = 16,
	TRK_ALERT_TOLD_MAX = 4,
	TRK_ALERT_ID_SIZE = 12,
	TRK_ALERT_WORD_SIZE = 40,
	TRK_ALERT_NAME_SIZE = 32,
};

struct trk_alert_told {
	char sink[16]; /* kind; "": unused */
	uint32_t key;
	double at_s;
	int severity;
};

struct trk_alert_entry {
	char id[TRK_ALERT_ID_SIZE];
	char rule[TRK_ALERT_WORD_SIZE];
	int severity; /* enum of live.h: 0 info to 2 critical */
	char job[TRK_ALERT_FIELD_SIZE], scope[TRK_ALERT_FIELD_SIZE];
	char run[TRK_ALERT_WORD_SIZE], host[TRK_ALERT_FIELD_SIZE];
	char text[TRK_ALERT_SENTENCE_SIZE], fix[TRK_ALERT_SENTENCE_SIZE];
	double value, limit;
	double opened_s, seen_s, ended_s, new_s, acked_s; /* ended_s, acked_s NaN: not */
	unsigned int times;
	bool unannounced; /* opened by a digest: the next judgement after it announces the alert */
	bool is_over;     /* by the judgement of a digest, which ends no alert; not in the file */
	struct trk_alert_told told[TRK_ALERT_TOLD_MAX];
};

struct trk_alert_silence {
	char id[TRK_ALERT_ID_SIZE];
	char rule[TRK_ALERT_WORD_SIZE], job[TRK_ALERT_FIELD_SIZE]; /* "": all */
	char reason[TRK_ALERT_FIELD_SIZE];
	double until_s, made_s;
};

struct trk_alert_book {
	/* Owned: TRK_ALERT_ENTRIES_MAX, _SILENCES_MAX and _DIGESTS_MAX of them. */
	struct trk_alert_entry *entry;
	struct trk_alert_silence *silence;
	struct trk_alert_told *digest;
	size_t count, silences, digests;
};

/* 0 or -ENOMEM. */
int trk__alert_book_init(struct trk_alert_book *b);
void trk__alert_book_release(struct trk_alert_book *b);

/* ---- entries ---- */

/* The current result of a rule. */
struct trk_alert_news {
	const char *rule, *job, *scope, *run, *host, *text, *fix; /* "" where there is none */
	int severity;
	bool firing;
	bool live; /* of one run */
	double value, limit;
	double new_s; /* since when it is true; NaN: now */
};
/* Update the book. Returns the entry that was opened, renewed or ended; NULL: none was open and the
 * rule does not fire. A view until the next call. */
struct trk_alert_entry *trk__alert_book_take(struct trk_alert_book *b,
					     const struct trk_alert_news *news, double now_s);
/* The entry that news are about, open or ended; NULL: there is none. */
struct trk_alert_entry *trk__alert_book_find(struct trk_alert_book *b,
					     const struct trk_alert_news *news);
/* End the open alerts of live rules about this run, which has ended. Returns how many. */
size_t trk__alert_book_end_run(struct trk_alert_book *b, const char *run, double now_s);
/* End open alerts of live rules, or without a job, that were not updated for a week: the tracker
 * was killed, or the budget was removed. */
void trk__alert_book_age(struct trk_alert_book *b, double now_s);

/* ---- when to send ---- */

struct trk_alert_route {
	const char *kind; /* of the sink */
	uint32_t key;     /* trk__alert_sink_key of the whole sink */
	const char *rule; /* this rule only; NULL: all */
	const char *job;  /* only alerts of this job; NULL: all */
};
uint32_t trk__alert_sink_key(const char *sink);
/* Whether an alert is to be sent: it is open, neither acknowledged nor silenced, and has news for
 * the sink. */
bool trk__alert_book_is_due(const struct trk_alert_book *b, const struct trk_alert_entry *e,
			    const struct trk_alert_route *route, double now_s);
bool trk__alert_book_is_silenced(const struct trk_alert_book *b, const struct trk_alert_entry *e,
				 double now_s);
/* Whether it was sent to this sink since it opened. */
bool trk__alert_book_was_told(const struct trk_alert_entry *e, const struct trk_alert_route *route);
/* Record that it was sent. */
void trk__alert_book_told(struct trk_alert_entry *e, const struct trk_alert_route *route,
			  double now_s);
void trk__alert_book_digest_sent(struct trk_alert_book *b, const struct trk_alert_route *route,
				 double now_s);
/* Time of the last digest; NaN: never. */
double trk__alert_book_digest_at(const struct trk_alert_book *b,
				 const struct trk_alert_route *route);
/* Collect the alerts that are to be sent into one message: one alert, or a list of several.
 * False: there are none. They count as sent. live: include live rules. */
bool trk__alert_book_collect(struct trk_alert_book *b, const struct trk_alert_route *route,
			     bool live, double now_s, struct trk_alert_message *ret);
/* Whether a digest may be sent: none in the 6 days before. */
bool trk__alert_book_digest_due(const struct trk_alert_book *b, const struct trk_alert_route *route,
				double now_s);
/* Whether an entry belongs in a digest: it is open, about a job, and neither acknowledged nor
 * silenced. */
bool trk__alert_book_in_digest(const struct trk_alert_book *b, const struct trk_alert_entry *e,
			       double now_s);
/* Whether any of these was not sent to the sink yet. */
bool trk__alert_book_digest_has_news(const struct trk_alert_book *b,
				     const struct trk_alert_route *route, double now_s);
/* A digest was sent: those of these that it lists count as sent. listed: by their place in the
 * book; NULL: all. */
void trk__alert_book_digest_told(struct trk_alert_book *b, const struct trk_alert_route *route,
				 const bool *listed, double now_s);
void trk__alert_entry_message(const struct trk_alert_entry *e, double now_s,
			      struct trk_alert_message *ret);

/* ---- acknowledgements and silences ---- */

/* By the start of an id, or by rule and job as "RULE:JOB". Returns how many were acknowledged. */
size_t trk__alert_book_ack(struct trk_alert_book *b, const char *which, double now_s);
/* -ENOSPC: too many. The id is in *ret. */
int trk__alert_book_silence(struct trk_alert_book *b, const struct trk_alert_silence *s,
			    char ret_id[TRK_ALERT_ID_SIZE]);
bool trk__alert_book_unsilence(struct trk_alert_book *b, const char *id);

/* ---- the file ---- */

/* The name of the user's alerts.json, alerts.lock or outbox below dirfd: alerts-UID.json, for
 * example, where other users may write to dirfd. */
void trk__alert_own_name(int dirfd, const char *name, char ret[TRK_ALERT_NAME_SIZE]);
/* Take the lock and read the file below dirfd (borrowed). A missing file is an empty book, and so is
 * one that another user owns or may write to: then *reterr says why, and nothing failed. Returns the
 * descriptor of the lock, which _save or close(2) releases, or a negative error with *reterr:
 * -EBADMSG for another kind of file, those of trk__lock_take(). */
int trk__alert_book_load(int dirfd, struct trk_alert_book *b, struct trk_error *reterr);
/* Read it without the lock, for a reader that changes nothing: the file is replaced as a whole.
 * dirfd -1: an empty book. 0, or the same errors; b is initialised in each case but -ENOMEM. */
int trk__alert_book_peek(int dirfd, struct trk_alert_book *b, struct trk_error *reterr);
/* Write it, and release the lock (also on failure). 0 or a negative errno. */
int trk__alert_book_save(int dirfd, int lock, const struct trk_alert_book *b);
/* The text of the file. */
void trk__alert_book_write(const struct trk_alert_book *b, struct trk_buf *out);
/* Read the text of the file into the empty book b. 0, or -EBADMSG with *reterr. */
int trk__alert_book_read(const char *text, size_t len, struct trk_alert_book *b,
			 struct trk_error *reterr);

#endif
