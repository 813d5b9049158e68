/* Alerts after a run: judge jobs, update the book, and send what the book allows now. The book is
 * closed before anything is sent. */
#ifndef TRK_SERVICE_ALERT_CHECK_H
#define TRK_SERVICE_ALERT_CHECK_H

#include "alert/end_rules.h"
#include "alert/hook.h"
#include "fleet/rows.h"
#include "service/alert_send.h"
#include "service/service.h"

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

/* Send alerts that were silenced and are to be sent now, and the outbox. The same errors. */
int trk__alert_flush(const struct trk_alert_sender *s, const struct trk_alert_hooks *hooks);

/* Send an alert to a sink, unless by the book it was sent already or is silenced. The same
 * errors. */
int trk__alert_forward(const struct trk_alert_sender *s, const char *sink,
		       const struct trk_alert_message *m);

/* ---- judging, for a book that the caller has opened ---- */

struct trk_alerts_when {
	double now_s, utc_offset_s;
};

/* Read the rows of the job of this run; NULL: of all jobs that ran in the last 120 days. Updates
 * the history first. *ret_job: the job's index, or SIZE_MAX for all. 0, -TRK_ERR_NORUN, or a negative
 * error with *reterr. The caller releases the rows, on success only. */
int trk__alerts_rows(const struct trk_service *s, const char *run,
		     const struct trk_alerts_when *when, struct trk_fleet_rows *ret,
		     size_t *ret_job, struct trk_error *reterr);

/* Called for each alert that opened or ended; views. */
typedef void trk_alerts_news_fn(void *data, const struct trk_alert_news *news,
				const struct trk_alert_entry *entry, bool opened);
/* Judge this job of the rows (SIZE_MAX: all), and update the book. The alerts of a job that has not
 * run for two weeks end; those of a job whose newest run is a test stay. 0 or -ENOMEM. */
int trk__alerts_judge(const struct trk_fleet_rows *rows, size_t job, struct trk_alert_book *book,
		      trk_alerts_news_fn *on_news, void *data);
/* Judge the budget of a month over all rows; budget_usd 0: none is set, and nothing changes. 0 or
 * -ENOMEM. */
int trk__alerts_judge_budget(const struct trk_fleet_rows *rows, double budget_usd,
			     struct trk_alert_book *book, trk_alerts_news_fn *on_news, void *data);

#endif
