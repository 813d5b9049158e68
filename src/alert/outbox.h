/* Alerts that could not be delivered yet: one file each in a folder of the user's own. */
#ifndef TRK_ALERT_OUTBOX_H
#define TRK_ALERT_OUTBOX_H

#include "alert/message.h"

enum { TRK_ALERT_OUTBOX_NAME_SIZE = 80 };

/* Keep it until it is delivered; on disk when this returns. dirfd: the folder. Returns a descriptor
 * that holds the message against trk__alert_outbox_each of other processes until it is closed, or a
 * negative errno. */
int trk__alert_outbox_put(int dirfd, const char *sink, const struct trk_alert_message *m,
			  char ret_name[TRK_ALERT_OUTBOX_NAME_SIZE]);
/* It was delivered, or can never be. */
void trk__alert_outbox_done(int dirfd, const char *name);

/* Called with each that is kept, oldest first. 0: it was delivered, or can never be, and is
 * removed. */
typedef int trk_alert_outbox_fn(void *data, const char *sink, const struct trk_alert_message *m);
/* Deliver all messages. Returns how many remain, or a negative errno. Files that are not messages,
 * and messages that another process is delivering, are skipped. */
int trk__alert_outbox_each(int dirfd, trk_alert_outbox_fn *on_message, void *data);

#endif
