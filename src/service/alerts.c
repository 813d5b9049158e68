#include "service/alerts.h"

#include <errno.h>
#include <string.h>

#include "fleet/job.h"
#include "service/fleet_rows.h"
#include "service/runs.h"

static const double DAY_S = 86400, JUDGED_DAYS = 14;
enum { SEARCHED_MAX = 2000 };

/* ---- rows ---- */

struct search {
	const char *id;
	struct trk_history_run run;
	bool found;
};

static int look_for(void *data, const struct trk_history_run *run)
{
	struct search *s = data;

	s->found = !strcmp(run->id, s->id);
	if (s->found)
		s->run = *run;
	return s->found;
}

int trk__alerts_rows(const struct trk_service *s, const char *run,
		     const struct trk_alerts_when *when, struct trk_fleet_rows *ret,
		     size_t *ret_job, struct trk_error *reterr)
{
	struct search of = {.id = run};
	struct trk_history *h = NULL;
	int r = trk__runs_history(s, 0, &h, reterr);

	if (r < 0)
		return r;
	if (run) {
		r = trk__history_list(h, NULL, SEARCHED_MAX, false, look_for, &of, reterr);
		if (r == 0 && !of.found)
			r = trk__error_set(reterr, -TRK_ERR_NORUN, run,
					   "%s: not among the newest runs of the history", run);
	}
	trk__fleet_rows_init(ret, when->now_s, when->utc_offset_s);
	if (r == 0 && !run)
		r = trk__fleet_rows_read(h, 0, ret, reterr);
	else if (r == 0)
		r = trk__fleet_rows_read_job(
			h,
			&(struct trk_job_key){of.run.job, of.run.has_scope ? of.run.scope : NULL},
			ret, reterr);
	trk__history_free(h);
	if (r < 0) {
		trk__fleet_rows_release(ret);
		return r;
	}
	*ret_job =
		run ? trk__fleet_find_job(ret, of.run.job, of.run.has_scope ? of.run.scope : NULL)
		    : SIZE_MAX;
	return 0;
}

/* ---- judging ---- */

/* Whether the job has not run for so long that its alerts end. */
static bool is_over(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job)
{
	return job->last->start_s < rows->now_s - JUDGED_DAYS * DAY_S;
}

/* The news of a digest, which announces nothing: the next judgement does. */
static void take_quietly(const struct trk_alert_news *news, double now_s,
			 struct trk_alert_book *book)
{
	struct trk_alert_entry *e = news->firing ? trk__alert_book_take(book, news, now_s)
						 : trk__alert_book_find(book, news);

	if (e && news->firing)
		e->unannounced |= e->opened_s == now_s;
	else if (e)
		e->is_over = true;
}

static void take_news(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
		      struct trk_alert_end *end, struct trk_alert_book *book,
		      trk_alerts_news_fn *on_news, void *data)
{
	struct trk_alert_news news = trk__alert_end_news(rows, job, end);
	struct trk_alert_entry *e;

	if (job && is_over(rows, job))
		news.firing = false;
	if (!on_news) {
		take_quietly(&news, rows->now_s, book);
		return;
	}
	e = trk__alert_book_take(book, &news, rows->now_s);
	/* Not for an alert that was open before and still fires. */
	if (e && (!news.firing || e->opened_s == rows->now_s || e->unannounced))
		on_news(data, &news, e, news.firing);
	if (e)
		e->unannounced = false;
}

int trk__alerts_judge(const struct trk_fleet_rows *rows, size_t job, struct trk_alert_book *book,
		      trk_alerts_news_fn *on_news, void *data)
{
	struct trk_alert_end end[TRK_ALERT_END_RULES];
	struct trk_fleet_job made;

	for (size_t i = job == SIZE_MAX ? 0 : job; i < rows->jobs; i++) {
		int r = rows->job[i].count
				? trk__fleet_job_make(rows, i, rows->now_s - 30 * DAY_S, &made)
				: 0;

		if (r < 0)
			return r;
		if (rows->job[i].count &&
		    (!trk__fleet_is_test(rows, made.last) || is_over(rows, &made))) {
			trk__alert_end_judge(rows, &made, end);
			for (int k = 0; k < TRK_ALERT_END_RULES; k++)
				take_news(rows, &made, &end[k], book, on_news, data);
		}
		if (job != SIZE_MAX)
			break;
	}
	return 0;
}

int trk__alerts_judge_budget(const struct trk_fleet_rows *rows, double budget_usd,
			     struct trk_alert_book *book, trk_alerts_news_fn *on_news, void *data)
{
	struct trk_alert_end end;
	int r = budget_usd > 0 ? trk__alert_end_budget(rows, budget_usd, &end) : -ENODATA;

	if (r == 0)
		take_news(rows, NULL, &end, book, on_news, data);
	return r == -ENODATA ? 0 : r;
}
