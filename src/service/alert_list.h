/* The alerts of this user: open and ended ones, silences, and the rules. */
#ifndef TRK_SERVICE_ALERT_LIST_H
#define TRK_SERVICE_ALERT_LIST_H

#include "base/buf.h"
#include "service/service.h"

/* Append the alerts and silences of a state directory, as `alerts list --json` prints them. 0, or a
 * negative error of trk__alert_store_peek(). */
int trk__alert_list_json(const char *dir, struct trk_buf *ret, struct trk_error *reterr);

/* Append `{"alerts": [...], "silences": [...], "rules": [...]}`, the first two from alerts.json of
 * the service's directory, under the names that the file has. A missing file counts as an empty
 * one; so does a file that cannot be read or trusted, with a note. 0 or a negative error. */
int trk__alert_list(const struct trk_service *s, struct trk_buf *ret);

#endif
