/* Alerts that could not be delivered yet: one file each in a folder of the user. */
#ifndef TRK_ALERT_OUTBOX_H
#define TRK_ALERT_OUTBOX_H

#include "alert/message.h"

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
