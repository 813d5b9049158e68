/* Judge the jobs of the history after their runs, for the book of alerts. */
#ifndef TRK_SERVICE_ALERTS_H
#define TRK_SERVICE_ALERTS_H

#include "alert/end.h"
#include "fleet/rows.h"
#include "service/service.h"

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
