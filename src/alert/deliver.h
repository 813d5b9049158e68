/* Sending an alert to a person or a program: mail, chat, webhook, Alertmanager.
 *
 * Uses libcurl, which is loaded on first use, in a separate process, never in the tracker of a
 * job; on Windows nothing is sent. */
#ifndef TRK_ALERT_DELIVER_H
#define TRK_ALERT_DELIVER_H

#include "alert/message.h"

/* One kind of sink: a line in the table of sinks.c. */
struct trk_alert_sink {
	const char *kind; /* "slack" */
	const char *path; /* added to the address; "" */
	bool secret;      /* the address alone permits to send to it */
	/* Writes the body of the request; NULL: mail. */
	void (*body)(const struct trk_alert_message *m, struct trk_buf *b);
};
extern const struct trk_alert_sink trk__alert_sinks[]; /* NULL kind at the end */
const struct trk_alert_sink *trk__alert_sink_find(const char *kind, size_t len);

/* Why this build sends nothing; NULL: it sends. */
extern const char *const trk__alert_delivers_nothing;

/* Configuration other than the address. NULL: not set. */
struct trk_alert_account {
	const char *smtp_url; /* smtp://host:port or smtps:// */
	const char *smtp_user, *smtp_password;
	const char *mail_from;
	const char *hosts; /* that may be private or reached without TLS: "a b" or "a,b" */
	const char *key;   /* signs messages of kind json */
};

/* Send to address: a URL, or for mail the recipients, separated by commas. Private and loopback
 * addresses, and plain HTTP, are refused unless the host is listed. Returns 0; -TRK_ERR_UNSUPPORTED
 * without libcurl; -EINVAL and -EACCES for an address that cannot be used; -EPROTO where the server
 * refuses the message; -EIO where it may work later; with *reterr. */
int trk__alert_deliver(const struct trk_alert_sink *sink, const char *address,
		       const struct trk_alert_account *account, const struct trk_alert_message *m,
		       struct trk_error *reterr);

/* The mail as sent: headers and both bodies. */
void trk__alert_mail(const struct trk_alert_message *m, const char *from, const char *to,
		     struct trk_buf *b);

/* ---- those that could not be delivered yet: one file each in a folder of the user ---- */

enum { TRK_ALERT_OUTBOX_NAME_SIZE = 80 };

/* Store a message until it is delivered; it is on disk when this returns. dirfd: the folder.
 * Returns a descriptor, or a negative errno. While the descriptor is open, trk__alert_outbox_each
 * of other processes skips the message. */
int trk__alert_outbox_put(int dirfd, const char *sink, const struct trk_alert_message *m,
			  char ret_name[TRK_ALERT_OUTBOX_NAME_SIZE]);
/* Remove a message that was delivered or can never be. */
void trk__alert_outbox_done(int dirfd, const char *name);

/* Called for each message, oldest first. Return 0 if it was delivered or can never be: it is then
 * removed. */
typedef int trk_alert_outbox_fn(void *data, const char *sink, const struct trk_alert_message *m);
/* Deliver all messages. Returns how many remain, or a negative errno. Files that are not messages,
 * and messages that another process is delivering, are skipped. */
int trk__alert_outbox_each(int dirfd, trk_alert_outbox_fn *on_message, void *data);

#endif
