/* Fetch a document over HTTPS, on the user's request.
 *
 * Loads libcurl on first use (base/curl.h). */
#ifndef TRK_CATALOG_FETCH_H
#define TRK_CATALOG_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* True for https, and for http where the host is this machine: localhost, 127.0.0.0/8 or [::1]. */
bool trk__fetch_is_allowed(const char *url);

/* NULL, or a function that is called at least about once a second with the bytes received; total is
 * 0 where the server does not send it. */
struct trk_fetch_progress {
	void (*show)(void *data, uint64_t done, uint64_t total);
	void *data;
};

/* GET `url` (https, or http to this machine) into `out`, whose maximum bounds the answer;
 * `timeout_s` bounds the whole request. Returns 0; -TRK_ERR_UNSUPPORTED without libcurl, -EINVAL for
 * other addresses, -EBUSY for status 429 and 503, -EIO for other statuses except 200 and for no
 * answer, -EFBIG; with a sentence in *reterr. */
int trk__fetch(const char *url, unsigned int timeout_s, const struct trk_fetch_progress *progress,
	       struct trk_buf *out, struct trk_error *reterr);

#endif
