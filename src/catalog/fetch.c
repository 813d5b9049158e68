#include "catalog/fetch.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/dynamic.h"

/* What is needed of <curl/curl.h>; the numbers are its stable interface (libcurl.so.4). */
struct curl;
struct curl_slist;

enum {
	OPT_WRITEDATA = 10001,
	OPT_URL = 10002,
	OPT_USERAGENT = 10018,
	OPT_HTTPHEADER = 10023,
	OPT_ACCEPT_ENCODING = 10102,
	OPT_FOLLOWLOCATION = 52,
	OPT_NOSIGNAL = 99,
	OPT_TIMEOUT_MS = 155,
	OPT_CONNECTTIMEOUT_MS = 156,
	OPT_PROTOCOLS = 181,
	OPT_WRITEFUNCTION = 20011,
	INFO_RESPONSE_CODE = 0x200002,
	PROTOCOL_HTTP = 1,
	PROTOCOL_HTTPS = 2,
	CONNECT_MS = 10000,
};

struct library {
	void *handle;
	struct curl *(*easy_init)(void);
	int (*easy_setopt)(struct curl *, int, ...);
	int (*easy_perform)(struct curl *);
	int (*easy_getinfo)(struct curl *, int, ...);
	void (*easy_cleanup)(struct curl *);
	const char *(*easy_strerror)(int);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

static int load(struct library *l)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
					    "libcurl-nss.so.4"};
	const struct trk_symbol wanted[] = {
		{"curl_easy_init", &l->easy_init},
		{"curl_easy_setopt", &l->easy_setopt},
		{"curl_easy_perform", &l->easy_perform},
		{"curl_easy_getinfo", &l->easy_getinfo},
		{"curl_easy_cleanup", &l->easy_cleanup},
		{"curl_easy_strerror", &l->easy_strerror},
		{"curl_slist_append", &l->slist_append},
		{"curl_slist_free_all", &l->slist_free_all},
	};

	l->handle = NULL;
	for (size_t i = 0; !l->handle && i < sizeof(names) / sizeof(names[0]); i++)
		l->handle = trk__library_load(names[i], wanted, sizeof(wanted) / sizeof(wanted[0]));
	return l->handle ? 0 : -TRK_E_UNSUPPORTED;
}

/* Called with each piece; less than its size ends the transfer. */
static size_t take(const char *data, size_t size, size_t n, void *to)
{
	struct trk_buf *out = to;

	trk__buf_add(out, data, size * n);
	return out->error ? 0 : size * n;
}

/* Plain HTTP goes to this machine only: nobody in between can change a price. */
static bool is_allowed(const char *url)
{
	static const char *const starts[] = {"https://", "http://127.",
					     "http://localhost:", "http://[::1]"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(url, starts[i], strlen(starts[i])))
			return !strchr(url, '@'); /* http://127.0.0.1@elsewhere/ */
	return false;
}

static int perform(struct library *l, struct curl *c, const char *url, struct trk_buf *out,
		   struct trk_error *reterr)
{
	long status = 0;
	int code = l->easy_perform(c);

	if (out->error)
		return trk__error_set(reterr, -EFBIG, url, "%.150s: the answer is too long", url);
	if (code != 0)
		return trk__error_set(reterr, -EIO, url, "%.150s: %.90s", url,
				      l->easy_strerror(code));
	(void) l->easy_getinfo(c, INFO_RESPONSE_CODE, &status);
	if (status == 429 || status == 503)
		return trk__error_set(reterr, -EBUSY, url,
				      "%.150s: busy (%ld). Try: again in a minute", url, status);
	if (status != 200)
		return trk__error_set(reterr, -EIO, url, "%.150s: answered %ld", url, status);
	return 0;
}

int trk__fetch(const char *url, unsigned int timeout_s, struct trk_buf *out,
	       struct trk_error *reterr)
{
	struct library l;
	struct curl_slist *headers = NULL;
	struct curl *c;
	int r;

	if (!is_allowed(url))
		return trk__error_set(reterr, -EINVAL, url,
				      "%.150s: not an address of the form https://…", url);
	if (load(&l) < 0)
		return trk__error_set(reterr, -TRK_E_UNSUPPORTED, url,
				      "libcurl is not installed. Try: apt install libcurl4");
	c = l.easy_init();
	headers = l.slist_append(NULL, "X-Application-ID: resource-tracker");
	if (!c || !headers) {
		r = trk__error_set(reterr, -ENOMEM, url, "out of memory");
	} else {
		(void) l.easy_setopt(c, OPT_URL, url);
		(void) l.easy_setopt(c, OPT_PROTOCOLS, (long) (PROTOCOL_HTTP | PROTOCOL_HTTPS));
		(void) l.easy_setopt(c, OPT_FOLLOWLOCATION, 0L);
		(void) l.easy_setopt(c, OPT_NOSIGNAL, 1L);
		(void) l.easy_setopt(c, OPT_CONNECTTIMEOUT_MS, (long) CONNECT_MS);
		(void) l.easy_setopt(c, OPT_TIMEOUT_MS, (long) timeout_s * 1000);
		(void) l.easy_setopt(c, OPT_HTTPHEADER, headers);
		(void) l.easy_setopt(c, OPT_USERAGENT, "resource-tracker");
		(void) l.easy_setopt(c, OPT_ACCEPT_ENCODING, "");
		(void) l.easy_setopt(c, OPT_WRITEFUNCTION, take);
		(void) l.easy_setopt(c, OPT_WRITEDATA, out);
		r = perform(&l, c, url, out, reterr);
	}
	if (headers)
		l.slist_free_all(headers);
	if (c)
		l.easy_cleanup(c);
	/* It stays loaded: it starts what cannot be ended. */
	return r;
}
