#include "serve/board.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"
#include "recording/store.h"
#include "service/alert_list.h"
#include "service/runs.h"
#include "service/page.h"

enum {
	FRESH_S = 5,
	STILL_FRESH_S = 300, /* while no run has begun or ended */
	PAGE_MAX = 256 << 20,
	RUNS_MAX = 1000,
	RUNS_USUAL = 100,
	DAYS_USUAL = 30,
	DAYS_MAX = 366,
};

void trk__board_init(struct trk_board *b, const struct trk_service *service, double as_of_s,
		     double utc_offset_s)
{
	*b = (struct trk_board){
		.service = service, .as_of_s = as_of_s, .utc_offset_s = utc_offset_s};
	trk__buf_init(&b->page, PAGE_MAX);
	trk__buf_init(&b->alerts, PAGE_MAX);
}

static void forget(struct trk_board *b)
{
	if (b->made) {
		trk__dashboard_release(&b->dashboard);
		trk__fleet_rows_release(&b->rows);
	}
	b->made = b->has_page = false;
	trk__buf_clear(&b->page);
	trk__buf_clear(&b->alerts);
}

void trk__board_release(struct trk_board *b)
{
	forget(b);
	trk__buf_release(&b->page);
	trk__buf_release(&b->alerts);
}

/* While the database of a team is away, a page that was read from it stays: this machine's runs
 * alone would look as if the others had been deleted. */
static int open_history(const struct trk_board *b, struct trk_history **ret,
			struct trk_error *reterr)
{
	const struct trk_service *s = b->service;
	struct trk_error error = {.code = 0};

	if (!b->made || !s->history_url)
		return trk__runs_history(s, 0, ret, reterr);
	*ret = trk__history_open_at(s->history_url, s->dir ? s->dir : "", 0, &error);
	if (*ret)
		return 0;
	trk__service_note(s, "%s; the page keeps what was read before", error.message);
	return error.code < 0 ? error.code : -ENOMEM;
}

static int read_rows(const struct trk_board *b, struct trk_fleet_rows *ret,
		     struct trk_error *reterr)
{
	double now_s = isnan(b->as_of_s) ? (double) trk__clock_wall_ns() / 1e9 : b->as_of_s;
	struct trk_history *h = NULL;
	int r = open_history(b, &h, reterr);

	trk__fleet_rows_init(ret, now_s, b->utc_offset_s);
	if (r == -TRK_ERR_NODATA)
		return 0; /* no runs yet: the page says how to begin */
	if (r < 0)
		return r;
	r = trk__fleet_rows_read(h, 0, ret, reterr);
	trk__history_free(h);
	if (r < 0)
		trk__fleet_rows_release(ret);
	return r;
}

/* When a recording or the database last changed, by their modification times; -1: that is not
 * known. */
static int64_t stamp_of(const struct trk_service *s)
{
	static const char *const names[] = {"runs", "history.sqlite", "history.sqlite-wal",
					    "alerts.json"};
	int64_t newest = -1;
	char path[4096];
	struct stat st;

	for (size_t i = 0; !s->history_url && i < sizeof(names) / sizeof(names[0]); i++)
		if (snprintf(path, sizeof(path), "%s/%s", s->dir, names[i]) < (int) sizeof(path) &&
		    stat(path, &st) == 0 && trk__os_modified_ns(&st) > newest)
			newest = trk__os_modified_ns(&st);
	return newest;
}

static bool is_fresh(const struct trk_board *b, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - b->made_ns;

	if (!b->made)
		return false;
	if (age_ns < FRESH_S * TRK_NS_PER_S)
		return true;
	return age_ns < STILL_FRESH_S * TRK_NS_PER_S && b->stamp >= 0 &&
	       b->dashboard.period[0].overview.running == 0 && stamp_of(b->service) == b->stamp;
}

int trk__board_refresh(struct trk_board *b, struct trk_error *reterr)
{
	struct trk_fleet_rows rows;
	int64_t stamp;
	int r;

	if (is_fresh(b, trk__clock_monotonic_ns()))
		return 0;
	r = read_rows(b, &rows, reterr);
	if (r < 0 && b->made) { /* the next attempt in 5 s */
		b->made_ns = trk__clock_monotonic_ns();
		b->stamp = -1;
		return 0;
	}
	if (r < 0)
		return r;
	/* After the reading, which itself may write to the database; a run that ends in between is
	 * seen when the page is next made. */
	stamp = stamp_of(b->service);
	forget(b);
	b->rows = rows;
	b->stamp = stamp;
	r = trk__dashboard_make(&b->rows, &b->dashboard);
	if (r < 0) {
		trk__fleet_rows_release(&b->rows);
		return trk__error_set(reterr, r, NULL, "out of memory");
	}
	b->dashboard.kind = TRK_DASHBOARD_SERVED;
	if (trk__alert_list(b->service, &b->alerts) == 0)
		b->dashboard.alerts = b->alerts.data;
	b->made = true;
	b->made_ns = trk__clock_monotonic_ns();
	return 0;
}

const struct trk_buf *trk__board_page(struct trk_board *b)
{
	if (!b->has_page)
		b->has_page = trk__dashboard_html(&b->dashboard, &b->page) == 0;
	return b->has_page ? &b->page : NULL;
}

/* ---- views ---- */

/* A number of the address, `usual` where it is not given. */
static int take_number(const char *text, double least, double most, double usual, double *ret)
{
	*ret = usual;
	if (!text)
		return 0;
	return trk__parse_decimal(text, ret) == 0 && *ret >= least && *ret <= most ? 0 : -EINVAL;
}

static int make_question(const struct trk_board *b, const struct trk_board_query *q,
			 struct trk_fleet_question *ret)
{
	int view = trk__fleet_view_find(q->view), r;
	double max;

	if (view < 0)
		return -EINVAL;
	*ret = (struct trk_fleet_question){
		.view = (enum trk_fleet_view) view,
		.runs = {.job = q->job,
			 .scope = q->scope,
			 .id = q->id,
			 .end = q->end ? trk__fleet_end_find(q->end) : -1,
			 .before_id = q->before_id},
	};
	if (q->end && ret->runs.end < 0)
		return -EINVAL;
	r = take_number(q->before, 0, 1e11, NAN, &ret->runs.before_s);
	if (r == 0)
		r = take_number(q->max, 1, RUNS_MAX, RUNS_USUAL, &max);
	if (r < 0)
		return r;
	ret->runs.max = (size_t) max;
	if (ret->view == TRK_FLEET_VIEW_JOB) {
		ret->job = q->job ? q->scope ? trk__fleet_find_job(&b->rows, q->job, q->scope)
					     : trk__fleet_named_job(&b->rows, q->job)
				  : b->rows.jobs;
		return ret->job < b->rows.jobs ? 0 : -ENOENT;
	}
	if (ret->view == TRK_FLEET_VIEW_RUN) {
		ret->run = q->id ? trk__fleet_find_run(&b->rows, q->id) : NULL;
		return ret->run ? 0 : -ENOENT;
	}
	return 0;
}

int trk__board_answer(const struct trk_board *b, const struct trk_board_query *q,
		      struct trk_buf *ret)
{
	struct trk_fleet_question question;
	struct trk_fleet_views views;
	double days;
	int r = make_question(b, q, &question);

	if (r == 0)
		r = take_number(q->days, 1, DAYS_MAX, DAYS_USUAL, &days);
	if (r < 0)
		return r;
	question.alerts = b->dashboard.alerts;
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		if (days == trk__dashboard_days[i])
			return trk__fleet_answer(&b->rows, &b->dashboard.period[i], &question, ret);
	r = trk__fleet_views_make(&b->rows, days, &b->dashboard.period[0], &views);
	if (r < 0)
		return r;
	r = trk__fleet_answer(&b->rows, &views, &question, ret);
	trk__fleet_views_release(&views);
	return r;
}

/* ---- reports ---- */

int trk__board_report(const struct trk_board *b, const char *id, struct trk_buf *ret,
		      struct trk_error *reterr)
{
	struct trk_page_request request = {.format = "html"};
	TRK_FD_CLEANUP int runs_fd = -1;
	struct trk_history *h = NULL;
	char name[96];
	int r;

	if (!trk__fleet_find_run(&b->rows, id))
		return trk__error_set(reterr, -TRK_ERR_NORUN, NULL, "%s: no such run", id);
	runs_fd = trk__store_open(b->service->dir, false, reterr);
	r = runs_fd < 0 ? -TRK_ERR_NORUN : trk__store_find(runs_fd, id, name, NULL, reterr);
	if (r < 0)
		return r;
	(void) trk__runs_history(b->service, 0, &h, NULL);
	request.dirfd = runs_fd;
	request.path = name;
	r = trk__page_make(b->service, h, &request, ret, NULL, reterr);
	trk__history_free(h);
	return r;
}
