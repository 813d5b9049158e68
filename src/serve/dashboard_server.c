#include "serve/dashboard_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/os.h"
#include "serve/board.h"
#include "serve/http.h"

enum {
	ADDRESS_SIZE = 128,
	POLICY_SIZE = 512,
	ANSWER_MAX = 256 << 20,
};

struct server {
	const struct trk_dashboard_server *o;
	struct trk_http http;
	struct trk_board board;
	uint16_t port;
	char token[TRK_GATE_TOKEN_SIZE];
};

/* ---- who ---- */

static int count_hosts(void *data, int kind, const char *key, const char *value)
{
	*(int *) data += strcasecmp(key, "Host") == 0;
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
	int hosts = 0;

	(void) s->http.get_values(c, TRK_HTTP_HEADER, count_hosts, &hosts);
	if (hosts > 1)
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
	switch (why) {
	case TRK_GATE_METHOD:
		return reply_text(s, c, 405, "Only GET and HEAD are answered.\n");
	case TRK_GATE_HOST:
		return reply_text(s, c, 421, "This server answers for 127.0.0.1 only.\n");
	case TRK_GATE_FOREIGN:
		return reply_text(s, c, 403, "Requests from other sites are refused.\n");
	default:
		return reply_text(s, c, 404,
				  "Open the address that resource-tracker dashboard printed.\n");
	}
}

static int reply_page(struct server *s, struct MHD_Connection *c)
{
	char policy[POLICY_SIZE];
	const struct trk_buf *page = trk__board_page(&s->board);
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

static const char *argument(const struct server *s, struct MHD_Connection *c, const char *name)
{
	return s->http.lookup_value(c, TRK_HTTP_ARGUMENT, name);
}

static int reply_json(const struct server *s, struct MHD_Connection *c, const char *view)
{
	const struct trk_board_query q = {
		.view = view,
		.days = argument(s, c, "days"),
		.job = argument(s, c, "job"),
		.scope = argument(s, c, "scope"),
		.id = argument(s, c, "id"),
		.end = argument(s, c, "end"),
		.before = argument(s, c, "before"),
		.before_id = argument(s, c, "before_id"),
		.max = argument(s, c, "max"),
	};
	TRK_BUF_LOCAL(b, ANSWER_MAX);
	struct answer a = {.status = 200, .type = "application/json"};
	int r;

	r = trk__board_answer(&s->board, &q, &b);
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

	r = trk__board_report(&s->board, id, &b, &error);
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
	/* The first call comes before the body, which a request for a page does not have. */
	if (!*state) {
		*state = s;
		return TRK_HTTP_YES;
	}
	*upload_size = 0;
	if (trk__board_refresh(&s->board, &error) < 0)
		return reply_text(s, c, 503, error.message);
	if (!strcmp(rest, "/"))
		return reply_page(s, c);
	if (!strncmp(rest, "/json/", 6))
		return reply_json(s, c, rest + 6);
	if (!strncmp(rest, "/run/", 5) && trk__run_is_id(rest + 5))
		return reply_report(s, c, rest + 5);
	return reply_text(s, c, 404, "There is no such page.\n");
}

/* ---- the server ---- */

static void tell_address(void *data, uint16_t port)
{
	struct server *s = data;
	char address[ADDRESS_SIZE];

	s->port = port;
	(void) snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", port, s->token);
	s->o->on_ready(s->o->data, address);
}

int trk__dashboard_serve(const struct trk_dashboard_server *o, struct trk_error *reterr)
{
	struct server s = {.o = o};
	const struct trk_http_server server = {
		.port = o->port,
		.stop_fd = o->stop_fd,
		.on_ready = tell_address,
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
	trk__board_init(&s.board, &o->service, o->as_of_s, o->utc_offset_s);
	r = trk__gate_token(s.token);
	if (r < 0)
		(void) trk__error_set(reterr, r, NULL, "no random bits: %s", trk__strerror(r));
	else
		r = trk__board_refresh(&s.board, reterr);
	if (r == 0 && !trk__board_page(&s.board))
		r = trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
	if (r == 0)
		r = trk__http_serve(&server, reterr);
	trk__board_release(&s.board);
	return r;
}
