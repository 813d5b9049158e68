#include "serve/dashboard_server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"
#include "fleet/answer.h"
#include "fleet/dashboard.h"
#include "recording/store.h"
#include "serve/http.h"
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
	ADDRESS_SIZE = 128,
	POLICY_SIZE = 512,
	ANSWER_MAX = 256 << 20,
};

/* ---- what is answered with ---- */

/* The rows of the history, kept for a few seconds, and the page, views and reports that are made of
 * them. */
struct board {
	const struct trk_service *service; /* borrowed */
	double as_of_s;                    /* NaN: now */
	double utc_offset_s;
	/* Of the moment in which the rows were read. */
	bool made, has_page;
	uint64_t made_ns;
	int64_t stamp; /* of the recordings and of the database then */
	struct trk_fleet_rows rows;
	struct trk_dashboard dashboard;
	struct trk_buf page, alerts;
};

static void forget(struct board *b)
{
	if (b->made) {
		trk__dashboard_release(&b->dashboard);
		trk__fleet_rows_release(&b->rows);
	}
	b->made = b->has_page = false;
	trk__buf_clear(&b->page);
	trk__buf_clear(&b->alerts);
}

static void board_release(struct board *b)
{
	forget(b);
	trk__buf_release(&b->page);
	trk__buf_release(&b->alerts);
}

/* While the database of a team is away, a page that was read from it stays: this machine's runs
 * alone would look as if the others had been deleted. */
static int open_history(const struct board *b, struct trk_history **ret, struct trk_error *reterr)
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

static int read_rows(const struct board *b, struct trk_fleet_rows *ret, struct trk_error *reterr)
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
	TRK_FD_CLEANUP int fd = trk__open_dir_at(AT_FDCWD, s->dir);
	char alerts[TRK_ALERT_NAME_SIZE];
	const char *const names[] = {"runs", "history.sqlite", "history.sqlite-wal", alerts};
	int64_t newest = -1;
	struct stat st;

	trk__alert_own_name(fd, "alerts.json", alerts);
	for (size_t i = 0; !s->history_url && i < sizeof(names) / sizeof(names[0]); i++)
		if (fstatat(fd, names[i], &st, 0) == 0 && trk__os_modified_ns(&st) > newest)
			newest = trk__os_modified_ns(&st);
	return newest;
}

static bool is_fresh(const struct board *b, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - b->made_ns;

	if (!b->made)
		return false;
	if (age_ns < FRESH_S * TRK_NS_PER_S)
		return true;
	return age_ns < STILL_FRESH_S * TRK_NS_PER_S && b->stamp >= 0 &&
	       b->dashboard.period[0].overview.running == 0 && stamp_of(b->service) == b->stamp;
}

/* Read the history again if that is 5 s ago and it may have changed since. Where that fails, what
 * was read before stays. 0; a negative error with *reterr where there is nothing at all. */
static int board_refresh(struct board *b, struct trk_error *reterr)
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

/* The page; a view until the next refresh. NULL: out of memory. */
static const struct trk_buf *board_page(struct board *b)
{
	if (!b->has_page)
		b->has_page = trk__dashboard_html(&b->dashboard, &b->page) == 0;
	return b->has_page ? &b->page : NULL;
}

/* ---- the server ---- */

struct server {
	const struct trk_dashboard_server *o;
	struct trk_http http;
	struct board board;
	uint16_t port;
	char token[TRK_GATE_TOKEN_SIZE];
};

/* An argument of the address; NULL: not given. */
static const char *argument(const struct server *s, struct MHD_Connection *c, const char *name)
{
	return s->http.lookup_value(c, TRK_HTTP_ARGUMENT, name);
}

/* ---- views ---- */

/* A number of the address, `usual` where it is not given. */
static int parse_number(const char *text, double least, double most, double usual, double *ret)
{
	*ret = usual;
	if (!text)
		return 0;
	return trk__parse_decimal(text, ret) == 0 && *ret >= least && *ret <= most ? 0 : -EINVAL;
}

static int make_question(const struct server *s, struct MHD_Connection *c, const char *name,
			 struct trk_fleet_question *ret)
{
	const struct trk_fleet_rows *rows = &s->board.rows;
	const char *end = argument(s, c, "end");
	int view = trk__fleet_view_find(name), r;
	double max;

	if (view < 0)
		return -EINVAL;
	*ret = (struct trk_fleet_question){
		.view = (enum trk_fleet_view) view,
		.runs = {.job = argument(s, c, "job"),
			 .scope = argument(s, c, "scope"),
			 .id = argument(s, c, "id"),
			 .end = end ? trk__fleet_end_find(end) : -1,
			 .before_id = argument(s, c, "before_id")},
	};
	if (end && ret->runs.end < 0)
		return -EINVAL;
	r = parse_number(argument(s, c, "before"), 0, 1e11, NAN, &ret->runs.before_s);
	if (r == 0)
		r = parse_number(argument(s, c, "max"), 1, RUNS_MAX, RUNS_USUAL, &max);
	if (r < 0)
		return r;
	ret->runs.max = (size_t) max;
	if (ret->view == TRK_FLEET_VIEW_JOB) {
		ret->job = !ret->runs.job ? rows->jobs
			   : ret->runs.scope
				   ? trk__fleet_find_job(rows, ret->runs.job, ret->runs.scope)
				   : trk__fleet_named_job(rows, ret->runs.job);
		return ret->job < rows->jobs ? 0 : -ENOENT;
	}
	if (ret->view == TRK_FLEET_VIEW_RUN) {
		ret->run = ret->runs.id ? trk__fleet_find_run(rows, ret->runs.id) : NULL;
		return ret->run ? 0 : -ENOENT;
	}
	return 0;
}

/* Append a view as JSON. 0; -EINVAL (a word that is no view, or no number); -ENOENT (no such job or
 * run). */
static int answer_view(const struct server *s, struct MHD_Connection *c, const char *view,
		       struct trk_buf *ret)
{
	const struct board *b = &s->board;
	struct trk_fleet_question question;
	struct trk_fleet_views *views;
	double days;
	int r = make_question(s, c, view, &question);

	if (r == 0)
		r = parse_number(argument(s, c, "days"), 1, DAYS_MAX, DAYS_USUAL, &days);
	if (r < 0)
		return r;
	question.alerts = b->dashboard.alerts;
	for (int i = 0; i < TRK_DASHBOARD_PERIODS; i++)
		if (days == trk__dashboard_days[i])
			return trk__fleet_answer(&b->rows, &b->dashboard.period[i], &question, ret);
	views = malloc(sizeof(*views));
	r = views ? trk__fleet_views_make(&b->rows, days, &b->dashboard.period[0], views) : -ENOMEM;
	if (r == 0) {
		r = trk__fleet_answer(&b->rows, views, &question, ret);
		trk__fleet_views_release(views);
	}
	free(views);
	return r;
}

/* ---- reports ---- */

/* Append the report of a run that the history has. -TRK_ERR_NORUN: it has not, or its recording is
 * not on this machine. */
static int board_report(const struct board *b, const char *id, struct trk_buf *ret,
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

/* ---- who ---- */

struct header_use {
	int hosts;
	bool has_body;
};

static int see_header(void *data, int kind, const char *key, const char *value)
{
	struct header_use *seen = data;

	seen->hosts += strcasecmp(key, "Host") == 0;
	seen->has_body |= strcasecmp(key, "Transfer-Encoding") == 0 ||
			  (strcasecmp(key, "Content-Length") == 0 && strcmp(value, "0") != 0);
	return TRK_HTTP_YES;
}

static enum trk_gate judge(const struct server *s, struct MHD_Connection *c, const char *method,
			   const char *path, const char **rest)
{
	struct trk_gate_request r = {
		.method = method,
		.path = path,
		.host = s->http.lookup_value(c, TRK_HTTP_HEADER, "Host"),
		.origin = s->http.lookup_value(c, TRK_HTTP_HEADER, "Origin"),
		.fetch_site = s->http.lookup_value(c, TRK_HTTP_HEADER, "Sec-Fetch-Site"),
		.fetch_mode = s->http.lookup_value(c, TRK_HTTP_HEADER, "Sec-Fetch-Mode"),
		.fetch_dest = s->http.lookup_value(c, TRK_HTTP_HEADER, "Sec-Fetch-Dest"),
	};
	struct header_use seen = {.hosts = 0};

	(void) s->http.get_values(c, TRK_HTTP_HEADER, see_header, &seen);
	r.has_body = seen.has_body;
	if (seen.hosts > 1)
		r.host = NULL;
	return trk__gate_judge(&r, s->token, s->port, rest);
}

/* ---- answers ---- */

struct answer {
	unsigned int status;
	const char *type, *policy; /* policy NULL: nothing may be loaded or run */
	char saved_as[64];         /* "": shown */
	const char *body;
	size_t len;
};

static const char html_type[] = "text/html; charset=utf-8";

static int reply(const struct server *s, struct MHD_Connection *c, const struct answer *a)
{
	const char *const headers[][2] = {
		{"Content-Type", a->type},
		{"Content-Security-Policy",
		 a->policy ? a->policy : "default-src 'none'; frame-ancestors 'self'"},
		{"Content-Disposition", a->saved_as},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cache-Control", "no-store"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Allow", a->status == 405 ? "GET, HEAD" : ""},
	};
	struct MHD_Response *response =
		s->http.create_response(a->len, (void *) (uintptr_t) a->body, TRK_HTTP_COPY);
	int r;

	if (!response)
		return TRK_HTTP_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (*headers[i][1])
			(void) s->http.add_header(response, headers[i][0], headers[i][1]);
	r = s->http.queue_response(c, a->status, response);
	s->http.destroy_response(response);
	return r;
}

static int reply_text(const struct server *s, struct MHD_Connection *c, unsigned int status,
		      const char *text)
{
	struct answer a = {.status = status,
			   .type = "text/plain; charset=utf-8",
			   .body = text,
			   .len = strlen(text)};

	return reply(s, c, &a);
}

static int refuse(const struct server *s, struct MHD_Connection *c, enum trk_gate why)
{
	static const struct {
		unsigned int status;
		const char *text;
	} answers[] = {
		[TRK_GATE_OPEN] = {500, ""}, /* nothing to refuse */
		[TRK_GATE_METHOD] = {405, "Only GET and HEAD are answered.\n"},
		[TRK_GATE_BODY] = {400, "No page takes a request with a body.\n"},
		[TRK_GATE_HOST] = {421, "This server answers for 127.0.0.1 only.\n"},
		[TRK_GATE_FOREIGN] = {403, "Requests from other sites are refused.\n"},
		[TRK_GATE_TOKEN] = {404,
				    "Open the address that resource-tracker dashboard printed.\n"},
	};

	return reply_text(s, c, answers[why].status, answers[why].text);
}

static int reply_page(struct server *s, struct MHD_Connection *c)
{
	char policy[POLICY_SIZE];
	const struct trk_buf *page = board_page(&s->board);
	struct answer a = {.status = 200, .type = html_type, .policy = policy};

	if (!page)
		return reply_text(s, c, 503, "Out of memory.\n");
	(void) snprintf(policy, sizeof(policy),
			"default-src 'none'; style-src '%s'; script-src '%s'; connect-src 'self'; "
			"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
			"'none'",
			trk__dashboard_css_hash, trk__dashboard_js_hash);
	a.body = page->data;
	a.len = page->len;
	return reply(s, c, &a);
}

static int reply_json(const struct server *s, struct MHD_Connection *c, const char *view)
{
	TRK_BUF_LOCAL(b, ANSWER_MAX);
	struct answer a = {.status = 200, .type = "application/json"};
	int r = answer_view(s, c, view, &b);

	if (r < 0)
		return reply_text(s, c,
				  r == -ENOENT   ? 404
				  : r == -EINVAL ? 400
						 : 503,
				  r == -ENOENT   ? "No such job or run.\n"
				  : r == -EINVAL ? "Not a view, or not a number.\n"
						 : "Out of memory.\n");
	a.body = b.data;
	a.len = b.len;
	return reply(s, c, &a);
}

/* A page in the frame, in place of a report. */
static int reply_no_report(const struct server *s, struct MHD_Connection *c)
{
	static const char text[] =
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
		"name=\"color-scheme\" "
		"content=\"light dark\"><title>No report</title><h1>No report here</h1><p>The "
		"recording of this run is not on this machine: it was removed, or the run was on "
		"another one. The report can be made where it is: <code>resource-tracker "
		"report</code>.</p></html>\n";
	struct answer a = {.status = 404, .type = html_type, .body = text, .len = sizeof(text) - 1};

	return reply(s, c, &a);
}

static int reply_report(const struct server *s, struct MHD_Connection *c, const char *id)
{
	TRK_BUF_LOCAL(b, ANSWER_MAX);
	struct trk_error error = {.code = 0};
	struct answer a = {
		.status = 200,
		.type = html_type,
		/* The report has a policy of its own; here it is kept away from the dashboard. */
		.policy = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'",
	};
	int r;

	r = board_report(&s->board, id, &b, &error);
	if (r == -TRK_ERR_NORUN || r == -ENOENT)
		return reply_no_report(s, c);
	if (r < 0)
		return reply_text(s, c, 500, trk__error_text(&error, r));
	if (argument(s, c, "download"))
		(void) snprintf(a.saved_as, sizeof(a.saved_as),
				"attachment; filename=\"%.30s.html\"", id);
	a.body = b.data;
	a.len = b.len;
	return reply(s, c, &a);
}

static int answer_request(void *data, struct MHD_Connection *c, const char *path,
			  const char *method, const char *version, const char *upload,
			  size_t *upload_size, void **state)
{
	struct server *s = data;
	struct trk_error error = {.code = 0};
	const char *rest = "";
	enum trk_gate gate;

	gate = judge(s, c, method, path, &rest);
	/* Browsers ask for it by themselves. */
	if (gate == TRK_GATE_TOKEN && !strcmp(path, "/favicon.ico"))
		return reply_text(s, c, 204, "");
	if (gate != TRK_GATE_OPEN)
		return refuse(s, c, gate);
	if (*state == TRK_HTTP_CROWDED)
		return reply_text(s, c, 414,
				  "The address is too long, or has too many arguments.\n");
	/* The first call comes before the body, which a request for a page does not have. */
	if (!*state) {
		*state = s;
		return TRK_HTTP_YES;
	}
	*upload_size = 0;
	if (board_refresh(&s->board, &error) < 0)
		return reply_text(s, c, 503, error.message);
	if (!strcmp(rest, "/"))
		return reply_page(s, c);
	if (!strncmp(rest, "/json/", 6))
		return reply_json(s, c, rest + 6);
	if (!strncmp(rest, "/run/", 5) && trk__run_is_id(rest + 5))
		return reply_report(s, c, rest + 5);
	return reply_text(s, c, 404, "There is no such page.\n");
}

/* ---- start and end ---- */

static void pass_address(void *data, uint16_t port)
{
	struct server *s = data;
	char address[ADDRESS_SIZE];

	s->port = port;
	(void) snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", port, s->token);
	s->o->on_ready(s->o->data, address);
}

int trk__dashboard_serve(const struct trk_dashboard_server *o, struct trk_error *reterr)
{
	struct server s = {
		.o = o,
		.board = {.service = &o->service,
			  .as_of_s = o->as_of_s,
			  .utc_offset_s = o->utc_offset_s,
			  .page = {.max = PAGE_MAX},
			  .alerts = {.max = PAGE_MAX}},
	};
	const struct trk_http_server server = {
		.port = o->port,
		.stop_fd = o->stop_fd,
		.on_ready = pass_address,
		.answer = answer_request,
		.data = &s,
	};
	int r = trk__http_load(&s.http);

	if (r < 0)
		return trk__error_set(
			reterr, r, NULL, "libmicrohttpd.so.12 is not installed. %s",
			trk__os_library_advice(
				"Try: apt install libmicrohttpd12, or resource-tracker "
				"dashboard --static fleet.html"));
	r = trk__gate_token(s.token);
	if (r < 0)
		(void) trk__error_set(reterr, r, NULL, "no random bits: %s", trk__strerror(r));
	else
		r = board_refresh(&s.board, reterr);
	if (r == 0 && !board_page(&s.board))
		r = trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
	if (r == 0)
		r = trk__http_serve(&server, reterr);
	board_release(&s.board);
	return r;
}
