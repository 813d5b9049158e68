#include "serve/windows/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "serve/windows/head.h"

enum { ANSWER_HEAD_MAX = 8192 };

struct MHD_Response {
	struct trk_buf head; /* its headers */
	char *body;          /* owned */
	size_t len;
};

struct MHD_Connection {
	trk_tcp socket;
	char text[TRK_HEAD_MAX + 1];
	size_t len; /* of the text that was received */
	struct trk_head request;
	unsigned int status; /* 0: no answer yet */
	struct MHD_Response response;
};

/* ---- an answer ---- */

static const char *reason_of(unsigned int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 204:
		return "No Content";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 421:
		return "Misdirected Request";
	case 431:
		return "Request Header Fields Too Large";
	case 500:
		return "Internal Server Error";
	default:
		return "Service Unavailable";
	}
}

/* The mode is always TRK_HTTP_COPY. */
static struct MHD_Response *create_response(size_t size, void *body, int mode)
{
	struct MHD_Response *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	trk__buf_init(&r->head, ANSWER_HEAD_MAX);
	r->body = malloc(size + 1);
	r->len = size;
	if (!r->body) {
		free(r);
		return NULL;
	}
	memcpy(r->body, body, size);
	return r;
}

static void release(struct MHD_Response *r)
{
	trk__buf_release(&r->head);
	free(r->body);
	*r = (struct MHD_Response){.body = NULL};
}

static void destroy_response(struct MHD_Response *r)
{
	release(r);
	free(r);
}

static int add_header(struct MHD_Response *r, const char *name, const char *value)
{
	trk__buf_printf(&r->head, "%s: %s\r\n", name, value);
	return r->head.error ? TRK_HTTP_NO : TRK_HTTP_YES;
}

/* Takes what the response holds: it is sent when the request has been handled. */
static int queue_response(struct MHD_Connection *c, unsigned int status, struct MHD_Response *r)
{
	if (c->status)
		return TRK_HTTP_NO;
	c->status = status;
	c->response = *r;
	*r = (struct MHD_Response){.body = NULL};
	return TRK_HTTP_YES;
}

static const char *lookup_value(struct MHD_Connection *c, int kind, const char *key)
{
	return kind == TRK_HTTP_HEADER ? trk__head_header(&c->request, key)
				       : trk__head_argument(&c->request, key);
}

static int get_values(struct MHD_Connection *c, int kind,
		      int (*fn)(void *data, int kind, const char *key, const char *value),
		      void *data)
{
	int n = kind == TRK_HTTP_HEADER ? c->request.headers : c->request.arguments;
	const struct trk_head_value *list =
		kind == TRK_HTTP_HEADER ? c->request.header : c->request.argument;

	for (int i = 0; i < n; i++)
		if (fn(data, kind, list[i].key, list[i].value) != TRK_HTTP_YES)
			return i + 1;
	return n;
}

void trk__connection_functions(struct trk_http *ret)
{
	*ret = (struct trk_http){
		.lookup_value = lookup_value,
		.get_values = get_values,
		.create_response = create_response,
		.add_header = add_header,
		.queue_response = queue_response,
		.destroy_response = destroy_response,
	};
}

/* ---- a request ---- */

/* 0, or a negative errno: the connection is of no further use. */
static int send_answer(struct MHD_Connection *c, bool has_body, bool is_last)
{
	TRK_BUF_CLEANUP struct trk_buf head;
	int r;

	trk__buf_init(&head, 2 * ANSWER_HEAD_MAX);
	trk__buf_printf(&head, "HTTP/1.1 %u %s\r\nContent-Length: %zu\r\n%s%s\r\n", c->status,
			reason_of(c->status), c->response.len,
			c->response.head.len ? c->response.head.data : "",
			is_last ? "Connection: close\r\n" : "");
	r = head.error ? head.error : trk__tcp_send(c->socket, head.data, head.len);
	if (r == 0 && has_body)
		r = trk__tcp_send(c->socket, c->response.body, c->response.len);
	return r;
}

static void refuse(struct MHD_Connection *c, unsigned int status)
{
	c->status = status;
	c->response = (struct MHD_Response){.body = NULL};
	trk__buf_init(&c->response.head, ANSWER_HEAD_MAX);
	(void) send_answer(c, false, true);
	release(&c->response);
}

/* Read until the text holds a head: its length; 0: the client has ended, or is silent, or sends too
 * much. */
static size_t receive_head(struct MHD_Connection *c)
{
	size_t head;
	int n;

	while ((head = trk__head_length(c->text, c->len)) == 0) {
		if (c->len == TRK_HEAD_MAX) {
			refuse(c, 431);
			return 0;
		}
		n = trk__tcp_receive(c->socket, c->text + c->len, TRK_HEAD_MAX - c->len);
		if (n <= 0)
			return 0;
		c->len += (size_t) n;
	}
	return head;
}

static void ask(struct MHD_Connection *c, const struct trk_http_server *o)
{
	void *state = NULL;
	size_t none = 0;

	/* The first call comes before the body, the second one makes the answer. */
	for (int i = 0; i < 2 && c->status == 0; i++)
		if (o->answer(o->data, c, c->request.path, c->request.method, "HTTP/1.1", NULL,
			      &none, &state) != TRK_HTTP_YES)
			return;
}

/* Answer one request. False: it was the last one. */
static bool serve_one(struct MHD_Connection *c, const struct trk_http_server *o,
		      void (*lock)(bool take))
{
	size_t head = receive_head(c);
	char after;
	bool goes_on;

	if (head == 0)
		return false;
	after = c->text[head];
	c->text[head] = '\0';
	if (trk__head_parse(c->text, head, &c->request) < 0) {
		refuse(c, 400);
		return false;
	}
	c->status = 0;
	lock(true);
	ask(c, o);
	lock(false);
	if (c->status == 0)
		return false;
	goes_on = !c->request.has_body && !c->request.is_last;
	if (send_answer(c, strcmp(c->request.method, "HEAD") != 0, !goes_on) < 0)
		goes_on = false;
	release(&c->response);
	c->text[head] = after;
	c->len -= head;
	memmove(c->text, c->text + head, c->len);
	return goes_on;
}

void trk__connection_serve(trk_tcp socket, const struct trk_http_server *o, void (*lock)(bool take))
{
	struct MHD_Connection *c = calloc(1, sizeof(*c));

	if (c) {
		c->socket = socket;
		while (serve_one(c, o, lock))
			;
		free(c);
	}
	trk__tcp_close(socket);
}
