/* Alerts about a job that are judged after a run, from its history: by a helper process, by `alerts
 * check`, and by the digest. Pure. */
#ifndef TRK_ALERT_END_RULES_H
#define TRK_ALERT_END_RULES_H

#include <stddef.h>

#include "alert/book.h"
#include "alert/end_rules.def"

enum trk_alert_end_rule {
#define X(id, name, severity, again_h, text) TRK_ALERT_END_##id,
	TRK_ALERT_END_RULE_LIST(X)
#undef X
		TRK_ALERT_END_RULES
};

struct trk_alert_end_info {
	const char *name;
	int severity; /* enum trk_alert_severity */
	unsigned int again_h;
	const char *condition;
};
extern const struct trk_alert_end_info trk__alert_end_rules[TRK_ALERT_END_RULES];
/* By name; -1: none. */
int trk__alert_end_find(const char *name, size_t len);

struct trk_fleet_rows;
struct trk_fleet_job;

struct trk_alert_end {
	enum trk_alert_end_rule rule;
	bool firing;
	double value, limit, new_s;
	char text[TRK_ALERT_SENTENCE_SIZE], fix[TRK_ALERT_SENTENCE_SIZE];
};

/* Judge all rules for a job of the rows, as of its newest run; ret[rule]. `budget` is not about a
 * job and does not fire here. */
void trk__alert_end_judge(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			  struct trk_alert_end ret[TRK_ALERT_END_RULES]);
/* Judge `budget` over all rows. 0 or -ENOMEM. */
int trk__alert_end_budget(const struct trk_fleet_rows *rows, double budget_usd,
			  struct trk_alert_end *ret);
/* A judgement of the job (NULL: of all jobs) as news for the book; views of both. */
struct trk_alert_news trk__alert_end_news(const struct trk_fleet_rows *rows,
					  const struct trk_fleet_job *job,
					  const struct trk_alert_end *end);

#endif
