/* The HTTP server below the dashboard: its address and how it ends, and what a page asks of a request
 * and says in its answer.
 *
 * It is libmicrohttpd (microhttpd.c), which is loaded on first use and never linked: a run starts
 * without it. The functions and numbers below are a part of its stable interface
 * (libmicrohttpd.so.12, <microhttpd.h>). */
#ifndef TRK_SERVE_HTTP_H
#define TRK_SERVE_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct MHD_Connection;
struct MHD_Response;

enum {
	TRK_HTTP_NO = 0,
	TRK_HTTP_YES = 1,
	/* Kinds of values of a request. */
	TRK_HTTP_HEADER = 1,
	TRK_HTTP_ARGUMENT = 8,
	TRK_HTTP_COPY = 2, /* of a response's body */
};

/* The query of a request with a longer target or more arguments is cut off before it is parsed:
 * libmicrohttpd 0.9 has no memory for it, and does not answer then. */
enum { TRK_HTTP_TARGET_MAX = 8192, TRK_HTTP_ARGUMENTS_MAX = 32 };
#define TRK_HTTP_CROWDED ((void *) 1)

/* *state is NULL in the first of the calls for a request; TRK_HTTP_CROWDED where the query was cut
 * off. */
typedef int trk_http_request_fn(void *data, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *upload,
				size_t *upload_size, void **state);

struct trk_http {
	const char *(*lookup_value)(struct MHD_Connection *, int kind, const char *key);
	int (*get_values)(struct MHD_Connection *, int kind,
			  int (*fn)(void *data, int kind, const char *key, const char *value),
			  void *data);
	struct MHD_Response *(*create_response)(size_t size, void *body, int mode);
	int (*add_header)(struct MHD_Response *, const char *name, const char *value);
	int (*queue_response)(struct MHD_Connection *, unsigned int status, struct MHD_Response *);
	void (*destroy_response)(struct MHD_Response *);
};

/* 0 or -TRK_ERR_UNSUPPORTED. It stays loaded. */
int trk__http_load(struct trk_http *ret);

enum { TRK_HTTP_CONNECTIONS_MAX = 64, TRK_HTTP_IDLE_S = 30, TRK_HTTP_WAITING_MAX = 16 };

struct trk_http_server {
	uint16_t port; /* of 127.0.0.1; 0: one that is free */
	int stop_fd;   /* borrowed; it ends when this can be read */
	/* Called once, with the port, when it answers. */
	void (*on_ready)(void *data, uint16_t port);
	trk_http_request_fn *answer; /* one call at a time */
	void *data;
};

/* Serve until stop_fd. Connections whose other end belongs to another user of this machine are
 * closed unread, where the system tells. After trk__http_load(). 0, or a negative error with
 * *reterr. */
int trk__http_serve(const struct trk_http_server *o, struct trk_error *reterr);

/* Random bits of the kernel. 0 or a negative errno. */
int trk__http_random(void *ret, size_t size);

#endif
