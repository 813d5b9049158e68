/* Alerts after a run: judge jobs, update the book, and send what the book allows now. The book is
 * closed before anything is sent. */
#ifndef TRK_SERVICE_ALERT_CHECK_H
#define TRK_SERVICE_ALERT_CHECK_H

#include "alert/hook.h"
#include "service/alert_send.h"

enum { TRK_ALERT_NEWS_MAX = 256 };

/* Alerts that opened or ended, owned. */
struct trk_alert_checked {
	struct trk_alert_message *news[TRK_ALERT_NEWS_MAX];
	size_t count;
};

/* Judge the job of a run that has ended (NULL: all jobs), and send to the sinks of `hooks`. 0;
 * -EINVAL for a wrong sink; the errors of trk__alerts_rows() with *reterr; or another negative
 * error with a note of the service. The caller releases *ret in each case. */
int trk__alert_check(const struct trk_alert_sender *s, const struct trk_alert_hooks *hooks,
		     const char *run, struct trk_alert_checked *ret, struct trk_error *reterr);
void trk__alert_checked_release(struct trk_alert_checked *checked);

/* Send held alerts that are allowed now, and the outbox. The same errors. */
int trk__alert_flush(const struct trk_alert_sender *s, const struct trk_alert_hooks *hooks);

/* Send an alert to a sink, unless by the book it was sent already or must be held. The same
 * errors. */
int trk__alert_forward(const struct trk_alert_sender *s, const char *sink,
		       const struct trk_alert_message *m);

#endif
