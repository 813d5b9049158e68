/* Fetching a document over HTTPS, when a person asks for it.
 *
 * libcurl does it. It is loaded on first use and never linked: a run starts without it. */
#ifndef TRK_CATALOG_FETCH_H
#define TRK_CATALOG_FETCH_H

#include "base/buf.h"
#include "base/error.h"

/* GET `url` (https, or http to this machine itself) into `out`, whose maximum bounds the answer;
 * `timeout_s` bounds all of it. Returns 0; -TRK_E_UNSUPPORTED without libcurl, -EINVAL for another kind
 * of address, -EBUSY for "not now" (429, 503), -EIO for another answer than 200 or
 * none, -EFBIG; with a sentence in *reterr. */
int trk__fetch(const char *url, unsigned int timeout_s, struct trk_buf *out,
	       struct trk_error *reterr);

#endif
