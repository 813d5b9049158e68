/* libmicrohttpd, loaded on first use and never linked: a run starts without it. The numbers are its
 * stable interface (libmicrohttpd.so.12, <microhttpd.h>). */
#ifndef TRK_SERVE_HTTP_H
#define TRK_SERVE_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/socket.h>

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;

enum {
	TRK_HTTP_NO = 0,
	TRK_HTTP_YES = 1,
	/* Flags and options of start_daemon. */
	TRK_HTTP_USE_SELECT = 0,
	TRK_HTTP_OPTION_END = 0,
	TRK_HTTP_OPTION_CONNECTION_LIMIT = 2,
	TRK_HTTP_OPTION_CONNECTION_TIMEOUT = 3,
	TRK_HTTP_OPTION_LISTEN_SOCKET = 12,
	/* Kinds of values of a request. */
	TRK_HTTP_HEADER = 1,
	TRK_HTTP_ARGUMENT = 8,
	TRK_HTTP_COPY = 2, /* of a response's body */
};

/* 1 or 0: whether the connection is taken. */
typedef int trk_http_accept_fn(void *data, const struct sockaddr *from, socklen_t len);
/* *state is NULL in the first of the calls for a request. */
typedef int trk_http_request_fn(void *data, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *upload,
				size_t *upload_size, void **state);

struct trk_http {
	struct MHD_Daemon *(*start_daemon)(unsigned int flags, uint16_t port, trk_http_accept_fn *,
					   void *, trk_http_request_fn *, void *, ...);
	void (*stop_daemon)(struct MHD_Daemon *);
	int (*get_fdset)(struct MHD_Daemon *, fd_set *read, fd_set *write, fd_set *except,
			 int *max);
	int (*run)(struct MHD_Daemon *);
	int (*get_timeout)(struct MHD_Daemon *, unsigned long long *ret_ms);
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

#endif
