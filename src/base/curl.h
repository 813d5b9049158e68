/* libcurl, loaded on first use instead of linked, so that a run starts without it. The constants
 * are those of its stable ABI (libcurl.so.4, <curl/curl.h>). */
#ifndef TRK_BASE_CURL_H
#define TRK_BASE_CURL_H

struct trk_curl_easy; /* CURL */
struct curl_slist;

enum {
	TRK_CURL_NOPROGRESS = 43,
	TRK_CURL_UPLOAD = 46,
	TRK_CURL_FOLLOWLOCATION = 52,
	TRK_CURL_POSTFIELDSIZE = 60,
	TRK_CURL_NOSIGNAL = 99,
	TRK_CURL_USE_SSL = 119,
	TRK_CURL_TIMEOUT_MS = 155,
	TRK_CURL_CONNECTTIMEOUT_MS = 156,
	TRK_CURL_PROTOCOLS = 181,
	TRK_CURL_WRITEDATA = 10001,
	TRK_CURL_URL = 10002,
	TRK_CURL_PROXY = 10004,
	TRK_CURL_READDATA = 10009,
	TRK_CURL_POSTFIELDS = 10015,
	TRK_CURL_USERAGENT = 10018,
	TRK_CURL_HTTPHEADER = 10023,
	TRK_CURL_XFERINFODATA = 10057,
	TRK_CURL_ACCEPT_ENCODING = 10102,
	TRK_CURL_OPENSOCKETDATA = 10164,
	TRK_CURL_USERNAME = 10173,
	TRK_CURL_PASSWORD = 10174,
	TRK_CURL_MAIL_FROM = 10186,
	TRK_CURL_MAIL_RCPT = 10187,
	TRK_CURL_WRITEFUNCTION = 20011,
	TRK_CURL_READFUNCTION = 20012,
	TRK_CURL_OPENSOCKETFUNCTION = 20163,
	TRK_CURL_XFERINFOFUNCTION = 20219,
	TRK_CURL_INFO_RESPONSE_CODE = 0x200002,
	/* Values. */
	TRK_CURL_HTTP = 1,
	TRK_CURL_HTTPS = 2,
	TRK_CURL_SMTP = 1 << 16,
	TRK_CURL_SMTPS = 1 << 17,
	TRK_CURL_SSL_TRY = 1,
	TRK_CURL_SSL_ALL = 3,
};

struct trk_curl {
	struct trk_curl_easy *(*easy_init)(void);
	int (*easy_setopt)(struct trk_curl_easy *, int, ...);
	int (*easy_perform)(struct trk_curl_easy *);
	int (*easy_getinfo)(struct trk_curl_easy *, int, ...);
	void (*easy_cleanup)(struct trk_curl_easy *);
	const char *(*easy_strerror)(int);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

/* Returns 0 or -TRK_ERR_UNSUPPORTED. libcurl is never unloaded: it starts threads that cannot be
 * stopped. */
int trk__curl_load(struct trk_curl *ret);

#endif
