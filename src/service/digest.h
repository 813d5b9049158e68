/* The digest: what will fail, what was reported, which changes save most, of the last 30 days of all
 * jobs, in one message. */
#ifndef TRK_SERVICE_DIGEST_H
#define TRK_SERVICE_DIGEST_H

#include "alert/hook.h"
#include "base/buf.h"
#include "service/alert_send.h"

enum trk_digest_form { TRK_DIGEST_NONE, TRK_DIGEST_TEXT, TRK_DIGEST_JSON };

/* Append the digest to `b` in the form. sinks: also send it to those that take all rules and for
 * which there is news, at most once in 6 days; NULL: send nothing. The alerts' book is brought up
 * to date. 0; -TRK_ERR_NODATA: no runs; or another negative error, explained in *reterr or, where its
 * message is empty, in a note of the service. */
int trk__digest(const struct trk_alert_sender *s, const struct trk_alert_hooks *sinks,
		enum trk_digest_form form, struct trk_buf *b, struct trk_error *reterr);

#endif
