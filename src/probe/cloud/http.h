/* A small HTTP/1.1 client for metadata services: one request per connection, non-blocking.
 *
 * It supports plain HTTP to an IPv4 address, without name resolution, redirects or proxies, with at
 * most 64 KiB of body and 16 KiB of head. The caller polls and limits the time. */
#ifndef TRK_PROBE_CLOUD_HTTP_H
#define TRK_PROBE_CLOUD_HTTP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { TRK_HTTP_HEAD_MAX = 16 * 1024, TRK_HTTP_BODY_MAX = 64 * 1024 };

/* Views into the text that was parsed. */
struct trk_http_response {
	int status; /* 100 to 599 */
	const char *head;
	size_t head_len;
	const char *body; /* a NUL follows */
	size_t body_len;
};

/* Parse what was received so far, data[0..len) and a NUL; `ended`: the peer closed the connection.
 * Chunks are joined in place once all have arrived. Returns 1 with *ret; 0 when more is needed;
 * -EBADMSG for a malformed or truncated response; -EFBIG beyond the limits. */
int trk__http_parse(char *data, size_t len, bool ended, struct trk_http_response *ret);

/* Value of a response header, cut to fit; false without such a header. Case-insensitive. */
bool trk__http_header(const struct trk_http_response *r, const char *name, char *value,
		      size_t size);

struct trk_http {
	int fd; /* -1: not connected */
	struct trk_buf out, in;
	size_t sent;
};

/* Begin to connect; copies `request`. Returns 0 or a negative errno; call _release in both
 * cases. */
int trk__http_begin(struct trk_http *h, const struct sockaddr_in *to, const char *request);
/* Send and receive as far as possible. 1: *ret holds the response, valid until _release; 0: wait
 * for the descriptor to become readable or writable; a negative errno: failed. */
int trk__http_step(struct trk_http *h, struct trk_http_response *ret);
/* Close the connection; the response stays valid until _release. */
void trk__http_close(struct trk_http *h);
void trk__http_release(struct trk_http *h);

#endif
