#include "service/alert_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert/end_rules.h"
#include "alert/live.h"
#include "fleet/job.h"
#include "service/runs.h"

static const double DAY_S = 86400, JUDGED_DAYS = 14;
enum { SEARCHED_MAX = 2000 };

/* ---- rows ---- */

struct search {
	const char *id;
	char job[TRK_RUN_TEXT_SIZE], scope[TRK_RUN_TEXT_SIZE];
	struct trk_job_key key; /* of these; NULL: not found */
};

static int match_run(void *data, const struct trk_past_run *run)
{
	struct search *s = data;

	if (strcmp(run->id, s->id) != 0)
		return 0;
	(void) snprintf(s->job, sizeof(s->job), "%s", run->job);
	(void) snprintf(s->scope, sizeof(s->scope), "%s", run->scope);
	s->key = (struct trk_job_key){s->job, run->has_scope ? s->scope : NULL};
	return 1;
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
		r = trk__history_list(h, NULL, SEARCHED_MAX, false, match_run, &of, reterr);
		if (r == 0 && !of.key.job)
			r = trk__error_set(reterr, -TRK_ERR_NORUN, run,
					   "%s: not among the newest runs of the history", run);
	}
	trk__fleet_rows_init(ret, when->now_s, when->utc_offset_s);
	if (r == 0 && !run)
		r = trk__fleet_rows_read(h, 0, ret, reterr);
	else if (r == 0)
		r = trk__fleet_rows_read_job(h, &of.key, ret, reterr);
	trk__history_free(h);
	if (r < 0) {
		trk__fleet_rows_release(ret);
		return r;
	}
	*ret_job = run ? trk__fleet_find_job(ret, of.key.job, of.key.scope) : SIZE_MAX;
	return 0;
}

/* ---- judging ---- */

/* Whether the job has not run for so long that its alerts end. */
static bool is_over(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job)
{
	return job->last->past.start_s < rows->now_s - JUDGED_DAYS * DAY_S;
}

/* The news of a digest, which announces nothing: the next judgement does. */
static void update_quietly(const struct trk_alert_news *news, double now_s,
			   struct trk_alert_book *book)
{
	struct trk_alert_entry *e = news->firing ? trk__alert_book_take(book, news, now_s)
						 : trk__alert_book_find(book, news);

	if (e && news->firing)
		e->unannounced |= e->opened_s == now_s;
	else if (e)
		e->is_over = true;
}

static void update_book(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			struct trk_alert_end *end, struct trk_alert_book *book,
			trk_alerts_news_fn *on_news, void *data)
{
	struct trk_alert_news news = trk__alert_end_news(rows, job, end);
	struct trk_alert_entry *e;

	if (job && is_over(rows, job))
		news.firing = false;
	if (!on_news) {
		update_quietly(&news, rows->now_s, book);
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
		    (!trk__fleet_is_test(made.last) || is_over(rows, &made))) {
			trk__alert_end_judge(rows, &made, end);
			for (int k = 0; k < TRK_ALERT_END_RULES; k++)
				update_book(rows, &made, &end[k], book, on_news, data);
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
		update_book(rows, NULL, &end, book, on_news, data);
	return r == -ENODATA ? 0 : r;
}

struct checking {
	const struct trk_alert_hooks *hooks;
	struct trk_alert_checked *checked; /* NULL: nothing is judged */
	struct trk_alert_queue queue;
	struct trk_alert_store store;
};

/* The error to report: a wrong argument takes precedence. */
static int worse(int a, int b)
{
	return a == -EINVAL || b == 0 ? a : b;
}

/* ---- judging ---- */

/* Queue the end of an alert for each Alertmanager that received the alert. */
static void send_end(struct checking *c, const struct trk_alert_entry *e)
{
	struct trk_alert_message *m = malloc(sizeof(*m));

	for (size_t i = 0; m && i < c->hooks->count; i++) {
		const char *sink = c->hooks->list[i].sink;
		struct trk_alert_route route;

		if (!trk__alert_hook_is_alertmanager(&c->hooks->list[i]) ||
		    trk__alert_route(c->queue.sender, sink, &route) < 0 ||
		    !trk__alert_book_was_told(e, &route))
			continue;
		trk__alert_entry_message(e, c->queue.sender->now_s, m);
		trk__alert_queue_add(&c->queue, sink, m);
	}
	free(m);
}

static void keep_news(void *data, const struct trk_alert_news *news,
		      const struct trk_alert_entry *e, bool opened)
{
	struct checking *c = data;
	struct trk_alert_checked *to = c->checked;
	struct trk_alert_message *m = to->count < TRK_ALERT_NEWS_MAX ? malloc(sizeof(*m)) : NULL;

	if (!opened)
		send_end(c, e);
	if (!m)
		return;
	trk__alert_entry_message(e, c->queue.sender->now_s, m);
	to->news[to->count++] = m;
}

/* A run has ended, and with it the alerts of that run that were judged while it ran. */
static void end_run(struct checking *c, const char *run)
{
	struct trk_alert_book *b = &c->store.book;
	double now_s = c->queue.sender->now_s;

	for (size_t i = 0; i < b->count; i++) {
		struct trk_alert_entry ended = b->entry[i];

		if (!isnan(ended.ended_s) || strcmp(ended.run, run) != 0 ||
		    trk__alert_end_find(ended.rule, strlen(ended.rule)) >= 0)
			continue;
		ended.ended_s = now_s;
		send_end(c, &ended);
	}
	(void) trk__alert_book_end_run(b, run, now_s);
}

/* Queue the messages that may be sent now, close the book, then send. job: only sinks of this job;
 * NULL: all. */
static int close_and_send(struct checking *c, const char *job)
{
	const struct trk_alert_sender *s = c->queue.sender;
	char name[TRK_ALERT_FIELD_SIZE]; /* as in the book */
	int r = 0;

	trk__alert_text(name, sizeof(name), job);
	for (size_t i = 0; i < c->hooks->count; i++) {
		const struct trk_alert_hook *hook = &c->hooks->list[i];
		struct trk_alert_route route;
		int error = hook->sink ? trk__alert_route(s, hook->sink, &route) : 0;

		r = worse(r, error);
		if (error < 0 || !hook->sink)
			continue;
		if (hook->rule >= 0)
			route.rule = trk__alert_hook_rule(hook->rule);
		route.job = job ? name : NULL;
		trk__alert_queue_collect(&c->queue, &c->store.book, hook->sink, &route);
	}
	r = worse(r, trk__alert_store_close(s, &c->store, true));
	r = worse(r, trk__alert_queue_send(&c->queue));
	return worse(r, trk__alert_outbox_flush(s));
}

static int judge(struct checking *c, const struct trk_fleet_rows *rows, size_t job, const char *run)
{
	const struct trk_alert_sender *s = c->queue.sender;
	int r = trk__alert_store_open(s, &c->store);

	if (r < 0)
		return r;
	trk__alert_book_age(&c->store.book, s->now_s);
	if (run)
		end_run(c, run);
	if (trk__alerts_judge(rows, job, &c->store.book, keep_news, c) < 0 ||
	    (job == SIZE_MAX &&
	     trk__alerts_judge_budget(rows, s->budget_usd, &c->store.book, keep_news, c) < 0))
		trk__service_note(&s->service, "alerts: out of memory");
	return close_and_send(c, job == SIZE_MAX ? NULL : rows->job[job].name);
}

/* ---- the whole ---- */

static struct checking *checking_new(const struct trk_alert_sender *s,
				     const struct trk_alert_hooks *hooks)
{
	struct checking *c = calloc(1, sizeof(*c));

	if (c) {
		c->hooks = hooks;
		c->queue.sender = s;
	}
	return c;
}

int trk__alert_check(const struct trk_alert_sender *s, const struct trk_alert_hooks *hooks,
		     const char *run, struct trk_alert_checked *ret, struct trk_error *reterr)
{
	const struct trk_alerts_when when = {s->now_s, s->utc_offset_s};
	struct checking *c = checking_new(s, hooks);
	struct trk_fleet_rows rows;
	size_t job;
	int r = c ? trk__alerts_rows(&s->service, run, &when, &rows, &job, reterr) : -ENOMEM;

	ret->count = 0;
	if (r == 0) {
		c->checked = ret;
		r = judge(c, &rows, job, run);
		trk__fleet_rows_release(&rows);
	}
	free(c);
	return r;
}

void trk__alert_checked_release(struct trk_alert_checked *checked)
{
	while (checked->count)
		free(checked->news[--checked->count]);
}

int trk__alert_flush(const struct trk_alert_sender *s, const struct trk_alert_hooks *hooks)
{
	struct checking *c = checking_new(s, hooks);
	int r = c ? trk__alert_store_open(s, &c->store) : -ENOMEM;

	if (r == 0) {
		trk__alert_book_age(&c->store.book, s->now_s);
		r = close_and_send(c, NULL);
	}
	free(c);
	return r;
}

/* ---- one alert ---- */

static int severity_of(const char *name)
{
	for (int i = TRK_ALERT_CRITICAL; i > 0; i--)
		if (!strcmp(name, trk__alert_severity_name((enum trk_alert_severity) i)))
			return i;
	return TRK_ALERT_INFO;
}

/* Whether the book allows the message for this sink now. */
static bool is_to_be_sent(struct trk_alert_book *b, const struct trk_alert_route *route,
			  const struct trk_alert_message *m, double now_s)
{
	const struct trk_alert_news news = {
		.rule = m->rule,
		.job = m->job,
		.scope = "",
		.run = m->run,
		.host = m->host,
		.text = m->text,
		.fix = m->fix,
		.severity = severity_of(m->severity),
		.firing = m->firing,
		.live = true,
		.value = m->value,
		.limit = m->limit,
		.new_s = NAN,
	};
	struct trk_alert_entry *e = trk__alert_book_take(b, &news, now_s);

	/* A sink that never got the alert does not get its end. An Alertmanager may have received
	 * the alert from another process. */
	if (!m->firing) {
		if (!strcmp(route->kind, "alertmanager"))
			return true;
		e = trk__alert_book_find(b, &news);
		return e && trk__alert_book_was_told(e, route);
	}
	if (!trk__alert_book_is_due(b, e, route, now_s))
		return false;
	trk__alert_book_told(e, route, now_s);
	return true;
}

int trk__alert_forward(const struct trk_alert_sender *s, const char *sink,
		       const struct trk_alert_message *m)
{
	struct trk_alert_queue queue = {.sender = s};
	struct trk_alert_store store;
	struct trk_alert_route route;
	bool has_book;
	int r = trk__alert_route(s, sink, &route);

	if (r < 0)
		return r;
	route.job = m->job;
	/* If the book cannot be read, send it: a duplicate is better than a lost alert. */
	has_book = trk__alert_store_open(s, &store) == 0;
	if (!has_book || is_to_be_sent(&store.book, &route, m, s->now_s))
		trk__alert_queue_add(&queue, sink, m);
	if (has_book) {
		trk__alert_queue_collect(&queue, &store.book, sink, &route);
		(void) trk__alert_store_close(s, &store, true);
	}
	r = trk__alert_queue_send(&queue);
	return r ? r : trk__alert_outbox_flush(s);
}
