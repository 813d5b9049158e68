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

#endif
