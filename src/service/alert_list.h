/* The alerts of this user: open and ended ones, silences, and the rules. */
#ifndef TRK_SERVICE_ALERT_LIST_H
#define TRK_SERVICE_ALERT_LIST_H

#include "alert/end_rules.h"
#include "alert/live.h"
#include "base/json.h"
#include "service/service.h"

enum { TRK_ALERT_LISTED_RULES = (int) TRK_ALERT_RULES + (int) TRK_ALERT_END_RULES };

/* All static. */
struct trk_alert_listed_rule {
	const char *name, *condition;
	const char *evaluated; /* "while_running", "after_run" or "by_check" */
	enum trk_alert_severity severity;
	double window_s; /* NaN: a rule that is not judged while a job runs */
};

/* All rules. Returns how many there are. */
size_t trk__alert_rule_list(struct trk_alert_listed_rule ret[TRK_ALERT_LISTED_RULES]);
/* The same as a JSON array. */
void trk__alert_rules_json(struct trk_json *j);

/* Append the alerts and silences of a state directory, as `alerts list --json` prints them. 0, or a
 * negative error of trk__alert_store_peek(). */
int trk__alert_list_json(const char *dir, struct trk_buf *ret, struct trk_error *reterr);

/* Append `{"alerts": [...], "silences": [...], "rules": [...]}`, the first two from alerts.json of
 * the service's directory, under the names that the file has. A missing file counts as an empty
 * one; so does a file that cannot be read or trusted, with a note. 0 or a negative error. */
int trk__alert_list(const struct trk_service *s, struct trk_buf *ret);

#endif
