/* What is open, what was told to whom, what is silenced: the memory of alerts between processes.
 * Pure but for trk__alert_book_load and _save; the clock is the caller's.
 *
 * Life. An alert is one rule about one job (a live rule: about one run). It opens when its
 * condition holds, and ends when it no longer does. It is told to a sink once: again only if it
 * opened anew, or says something new (`new_s`), or its severity rose, and not within the cool-down
 * of its rule. What was acknowledged is not told again before it ends. What is silenced, or comes
 * in quiet hours, in a storm (more than 5 of a rule in 10 min), or is neither critical nor urgent
 * and of a rule that is judged after a run, while a digest comes each week or there was a message
 * this week, is held, and told when that is over if it is still open: several as one message.
 * Critical alerts pass quiet hours and the count of a week. An Alertmanager does all of this by
 * itself: for it, only silences count.
 *
 * File: alerts.json in the directory of recordings, one JSON object, mode 0600, replaced at once;
 * whoever changes it holds a lock (flock) on alerts.lock beside it.
 *
 *   schema     "resource-tracker.alerts/1"
 *   alerts     newest last, at most 400; those that have ended are kept for 30 days:
 *     id         "a1b2c3d4": names it for `alerts ack`
 *     rule, severity, job, scope, text, fix   as told; scope and fix may be null
 *     run, host  of a live rule: the run; else the run that showed it; null: not known
 *     value, limit  numbers in the rule's unit, or null
 *     state      "firing", "resolved"
 *     opened, seen, ended   seconds since 1970: opened, newest time it held, ended (null: open)
 *     new        when what it says became true
 *     times      how often it has opened
 *     urgent     true: not to be held for a week's count
 *     held       why it was not told: "silence", "quiet hours", "storm", "digest", "week"; null:
 *                it was, or need not be
 *     held_key   hash of the sink that it is held for; null: it is not held
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
	TRK_ALERT_WEEK_MESSAGES = 2, /* of rules judged after a run, the digest included */
	TRK_ALERT_STORM_MESSAGES = 5,
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
	bool urgent;
	char held[16];
	uint32_t held_key;
	struct trk_alert_told told[TRK_ALERT_TOLD_MAX];
};

struct trk_alert_silence {
	char id[TRK_ALERT_ID_SIZE];
	char rule[TRK_ALERT_WORD_SIZE], job[TRK_ALERT_FIELD_SIZE]; /* "": all */
	char reason[TRK_ALERT_FIELD_SIZE];
	double until_s, made_s;
};

struct trk_alert_book {
	struct trk_alert_entry *entry; /* owned; TRK_ALERT_ENTRIES_MAX of them */
	size_t count;
	struct trk_alert_silence silence[TRK_ALERT_SILENCES_MAX];
	size_t silences;
	struct trk_alert_told digest[TRK_ALERT_DIGESTS_MAX];
	size_t digests;
};

/* 0 or -ENOMEM. */
int trk__alert_book_init(struct trk_alert_book *b);
void trk__alert_book_release(struct trk_alert_book *b);

/* ---- what is known ---- */

/* What a rule says now. */
struct trk_alert_news {
	const char *rule, *job, *scope, *run, *host, *text, *fix; /* "" where there is none */
	int severity;
	bool firing;
	bool live; /* of one run */
	bool urgent;
	double value, limit;
	double new_s; /* when what it says became true; NaN: now */
};
/* Take it in. Returns the entry that it opened, renewed or ended; NULL: nothing was open and
 * nothing fires. A view until the next call. */
struct trk_alert_entry *trk__alert_book_take(struct trk_alert_book *b,
					     const struct trk_alert_news *news, double now_s);
/* The entry that news are about, open or ended; NULL: there is none. */
struct trk_alert_entry *trk__alert_book_find(struct trk_alert_book *b,
					     const struct trk_alert_news *news);
/* End what is open of a live rule about this run, as it is over. Returns how many. */
size_t trk__alert_book_end_run(struct trk_alert_book *b, const char *run, double now_s);
/* End what is open of live rules, or of no job, and was not heard of for a week: the tracker was
 * killed, or the budget was taken away. */
void trk__alert_book_age(struct trk_alert_book *b, double now_s);

/* ---- when to send ---- */

struct trk_alert_route {
	const char *kind; /* of the sink */
	uint32_t key;     /* trk__alert_sink_key of the whole sink */
	const char *rule; /* that alone; NULL: all */
	const char *job;  /* its alerts, and those that were held for this sink, alone; NULL: all */
	int quiet_from_min, quiet_to_min; /* minutes of the day; equal: no quiet hours */
	double utc_offset_s;
};
uint32_t trk__alert_sink_key(const char *sink);
/* "22:00-07:00". 0 or -EINVAL. */
int trk__alert_quiet_parse(const char *text, struct trk_alert_route *ret);
bool trk__alert_is_quiet(const struct trk_alert_route *route, double now_s);

enum trk_alert_gate {
	TRK_ALERT_TELL,
	TRK_ALERT_KNOWN, /* told already, acknowledged, or ended */
	TRK_ALERT_HOLD,  /* entry->held says why */
};
enum trk_alert_gate trk__alert_book_gate(struct trk_alert_book *b, struct trk_alert_entry *e,
					 const struct trk_alert_route *route, double now_s);
/* Whether this sink has been told of it since it opened. */
bool trk__alert_book_was_told(const struct trk_alert_entry *e, const struct trk_alert_route *route);
/* It was told. */
void trk__alert_book_told(struct trk_alert_entry *e, const struct trk_alert_route *route,
			  double now_s);
void trk__alert_book_digest_sent(struct trk_alert_book *b, const struct trk_alert_route *route,
				 double now_s);
/* NaN: never. */
double trk__alert_book_digest_at(const struct trk_alert_book *b,
				 const struct trk_alert_route *route);
/* Messages of rules judged after a run, and digests, in the 7 days before now. */
size_t trk__alert_book_week(const struct trk_alert_book *b, const struct trk_alert_route *route,
			    double now_s);

/* All that may be told now, of entries that are open, as one message: of one alert, or a list of
 * several. False: there is nothing. They count as told. live: those of live rules as well. */
bool trk__alert_book_collect(struct trk_alert_book *b, const struct trk_alert_route *route,
			     bool live, double now_s, struct trk_alert_message *ret);
/* Whether a digest may be sent: none in the 6 days before, and room in the week. */
bool trk__alert_book_digest_due(const struct trk_alert_book *b, const struct trk_alert_route *route,
				double now_s);
/* Whether an entry belongs into a digest: it is open, of a job, and neither acknowledged nor
 * silenced. */
bool trk__alert_book_in_digest(const struct trk_alert_book *b, const struct trk_alert_entry *e,
			       double now_s);
/* Whether any of these was not told to the sink yet. */
bool trk__alert_book_digest_has_news(const struct trk_alert_book *b,
				     const struct trk_alert_route *route, double now_s);
/* A digest with all of these was sent: they count as told. */
void trk__alert_book_digest_told(struct trk_alert_book *b, const struct trk_alert_route *route,
				 double now_s);
void trk__alert_entry_message(const struct trk_alert_entry *e, double now_s,
			      struct trk_alert_message *ret);

/* ---- what a person says ---- */

/* By the start of an id, or by rule and job as "RULE:JOB". Returns how many were acknowledged. */
size_t trk__alert_book_ack(struct trk_alert_book *b, const char *which, double now_s);
/* -ENOSPC: too many. The id is in *ret. */
int trk__alert_book_silence(struct trk_alert_book *b, const struct trk_alert_silence *s,
			    char ret_id[TRK_ALERT_ID_SIZE]);
bool trk__alert_book_unsilence(struct trk_alert_book *b, const char *id);

/* ---- the file ---- */

/* Take the lock and read alerts.json below dirfd (borrowed); a file that is missing is an empty
 * book. Returns the descriptor of the lock, which _save or close(2) gives up, or a negative error:
 * -EBADMSG for a file that is no book, -TRK_E_UNTRUSTED, with *reterr. */
int trk__alert_book_load(int dirfd, struct trk_alert_book *b, struct trk_error *reterr);
/* Read it without the lock, for a reader that changes nothing: the file is replaced as a whole.
 * dirfd -1: an empty book. 0, or the same errors; b is initialised in each case but -ENOMEM. */
int trk__alert_book_peek(int dirfd, struct trk_alert_book *b, struct trk_error *reterr);
/* Write it, and give up the lock (in each case). 0 or a negative errno. */
int trk__alert_book_save(int dirfd, int lock, const struct trk_alert_book *b);
/* The text of the file. */
void trk__alert_book_write(const struct trk_alert_book *b, struct trk_buf *out);
/* 0 or -EBADMSG with *reterr. b is empty before. */
int trk__alert_book_read(const char *text, size_t len, struct trk_alert_book *b,
			 struct trk_error *reterr);

#endif
