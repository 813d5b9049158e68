/* What the alerts of this user are: those that are open or have ended, silences, and the rules. */
#ifndef TRK_SERVICE_ALERT_LIST_H
#define TRK_SERVICE_ALERT_LIST_H

#include "base/buf.h"
#include "service/service.h"

/* Append `{"alerts": [...], "silences": [...], "rules": [...]}`, the first two from alerts.json of
 * the service's directory, by the names that the file has; members of another type are null. A
 * missing file is one without entries; so is one that cannot be read or trusted, with a note. 0 or
 * a negative error. */
int trk__alert_list(const struct trk_service *s, struct trk_buf *ret);

/* The same of the text of such a file. Pure. 0, or the errors of trk__json_read and nothing
 * appended. */
int trk__alert_list_text(const char *text, size_t len, struct trk_buf *ret,
			 struct trk_error *reterr);

#endif
