/* Send alerts of a user: the book (alerts.json) and the outbox in the state directory, and the
 * sinks with their addresses and account. Used by the verbs `alerts` and `alerts digest`, never by the
 * tracker of a job.
 *
 * Each function explains an error in a note of the service. A message is on disk before the book
 * marks it as sent, and is removed when its sink has accepted it: it is delivered at least once. */
#ifndef TRK_SERVICE_ALERT_SEND_H
#define TRK_SERVICE_ALERT_SEND_H

#include "alert/book.h"
#include "alert/deliver.h"
#include "service/service.h"

enum { TRK_ALERT_SECRET_SIZE = 2048, TRK_ALERT_QUEUE_MAX = 64 };

/* Borrowed. */
struct trk_alert_sender {
	struct trk_service service;
	double budget_usd; /* of a month; 0: none */
	/* A variable of the environment, for an address such as slack:$NAME. */
	char *(*variable)(const char *name);
	double now_s, utc_offset_s;
};

/* ---- sinks ---- */

/* Parse KIND:ADDRESS. NULL after a note. *ret_address: a view. */
const struct trk_alert_sink *trk__alert_sink_parse(const struct trk_alert_sender *s,
						   const char *text, const char **ret_address);
/* The route of a sink. 0 or -EINVAL. */
int trk__alert_route(const struct trk_alert_sender *s, const char *sink,
		     struct trk_alert_route *ret);
/* Send now. 0; -EPROTO where the sink refuses the message; -EINVAL for a sink or variable that is
 * wrong; other negative errors, after which it may work later. */
int trk__alert_send(const struct trk_alert_sender *s, const char *sink,
		    const struct trk_alert_message *m);

/* ---- the book ---- */

/* The book, locked. */
struct trk_alert_store {
	struct trk_alert_book book;
	int dirfd, lock;
};
/* 0 or a negative error. */
int trk__alert_store_open(const struct trk_alert_sender *s, struct trk_alert_store *ret);
/* Write it if `changed`, and release it. 0 or a negative error. */
int trk__alert_store_close(const struct trk_alert_sender *s, struct trk_alert_store *b,
			   bool changed);
/* Read the file of a state directory without its lock, for readers. A directory or a file that is
 * missing counts as an empty book. 0, and the caller releases the book; or a negative error. *reterr
 * has the path in its message, and is also set if a file of another user is ignored. */
int trk__alert_store_peek(const char *dir, struct trk_alert_book *ret, struct trk_error *reterr);

/* ---- the outbox and the queue ---- */

/* Send what waits in the outbox. 0 or a negative error: something is left. */
int trk__alert_outbox_flush(const struct trk_alert_sender *s);

/* Messages made while the book is locked; they are sent after it is closed. */
struct trk_alert_queue {
	const struct trk_alert_sender *sender;
	struct trk_alert_queued {
		struct trk_alert_message *message; /* owned */
		const char *sink;                  /* borrowed */
		int fd;                            /* of its file; -1: it could not be kept */
		char name[TRK_ALERT_OUTBOX_NAME_SIZE];
	} at[TRK_ALERT_QUEUE_MAX];
	size_t count;
	int outbox; /* a descriptor, once there is a message */
};
void trk__alert_queue_add(struct trk_alert_queue *q, const char *sink,
			  const struct trk_alert_message *m);
/* Queue the messages that the book allows to send to the sink now. */
void trk__alert_queue_collect(struct trk_alert_queue *q, struct trk_alert_book *b, const char *sink,
			      const struct trk_alert_route *route);
/* Send all of it, and release it. 0 or the last error. */
int trk__alert_queue_send(struct trk_alert_queue *q);

#endif
