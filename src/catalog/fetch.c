#include "catalog/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "base/curl.h"
#include "base/mask.h"
#include "base/os.h"

enum { CONNECT_MS = 10000 };

/* Called with each piece; less than its size ends the transfer. */
static size_t take_data(const char *data, size_t size, size_t n, void *to)
{
	struct trk_buf *out = to;

	trk__buf_add(out, data, size * n);
	return out->error ? 0 : size * n;
}

static int show_progress(void *to, int64_t total, int64_t done, int64_t up_total, int64_t up_done)
{
	const struct trk_fetch_progress *progress = to;

	progress->show(progress->data, done > 0 ? (uint64_t) done : 0,
		       total > 0 ? (uint64_t) total : 0);
	return 0;
}

/* True where the host of an authority (host[:port]) can only be this machine. */
static bool is_this_machine(const char *authority, size_t len)
{
	char host[64];
	struct in_addr address;
	size_t host_len;

	if (len >= sizeof(host))
		return false;
	memcpy(host, authority, len);
	host[len] = '\0';
	host_len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (host_len > len ||
	    (host[host_len] && (host[host_len] != ':' ||
				strspn(host + host_len + 1, "0123456789") != len - host_len - 1)))
		return false;
	host[host_len] = '\0';
	if (!strcmp(host, "localhost") || !strcmp(host, "[::1]"))
		return true;
	return inet_pton(AF_INET, host, &address) == 1 &&
	       ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* Plain HTTP is allowed to this machine only: elsewhere prices could be modified in transit. A user
 * name could hide the host (http://127.0.0.1@elsewhere/). */
bool trk__fetch_is_allowed(const char *url)
{
	if (strpbrk(url, "@\\"))
		return false;
	if (!strncmp(url, "https://", 8))
		return true;
	return !strncmp(url, "http://", 7) && is_this_machine(url + 7, strcspn(url + 7, "/?#"));
}

/* `shown` is the address for messages. */
static int perform(struct trk_curl *l, struct trk_curl_easy *c, const char *shown,
		   struct trk_buf *out, struct trk_error *reterr)
{
	long status = 0;
	int code = l->easy_perform(c);

	if (out->error)
		return trk__error_set(reterr, -EFBIG, shown, "%.150s: the answer is too long",
				      shown);
	if (code != 0)
		return trk__error_set(reterr, -EIO, shown, "%.150s: %.90s", shown,
				      l->easy_strerror(code));
	(void) l->easy_getinfo(c, TRK_CURL_INFO_RESPONSE_CODE, &status);
	if (status == 429 || status == 503)
		return trk__error_set(reterr, -EBUSY, shown,
				      "%.150s: busy (%ld). Try: again in a minute", shown, status);
	if (status != 200)
		return trk__error_set(reterr, -EIO, shown, "%.150s: answered %ld", shown, status);
	return 0;
}

static void set_options(struct trk_curl *l, struct trk_curl_easy *c, const char *url,
			unsigned int timeout_s, const struct trk_fetch_progress *progress)
{
	(void) l->easy_setopt(c, TRK_CURL_URL, url);
	(void) l->easy_setopt(c, TRK_CURL_PROTOCOLS, (long) (TRK_CURL_HTTP | TRK_CURL_HTTPS));
	(void) l->easy_setopt(c, TRK_CURL_FOLLOWLOCATION, 0L);
	if (!strncmp(url, "http://", 7)) /* to this machine, not to http_proxy */
		(void) l->easy_setopt(c, TRK_CURL_PROXY, "");
	(void) l->easy_setopt(c, TRK_CURL_NOSIGNAL, 1L);
	(void) l->easy_setopt(c, TRK_CURL_CONNECTTIMEOUT_MS, (long) CONNECT_MS);
	(void) l->easy_setopt(c, TRK_CURL_TIMEOUT_MS, (long) timeout_s * 1000);
	(void) l->easy_setopt(c, TRK_CURL_USERAGENT, "resource-tracker");
	(void) l->easy_setopt(c, TRK_CURL_ACCEPT_ENCODING, "");
	(void) l->easy_setopt(c, TRK_CURL_WRITEFUNCTION, take_data);
	if (progress) {
		(void) l->easy_setopt(c, TRK_CURL_XFERINFOFUNCTION, show_progress);
		(void) l->easy_setopt(c, TRK_CURL_XFERINFODATA, progress);
		(void) l->easy_setopt(c, TRK_CURL_NOPROGRESS, 0L);
	}
}

int trk__fetch(const char *url, unsigned int timeout_s, const struct trk_fetch_progress *progress,
	       struct trk_buf *out, struct trk_error *reterr)
{
	struct trk_curl l;
	struct curl_slist *headers = NULL;
	struct trk_curl_easy *c;
	struct trk_mask mask = {.strict = false};
	char shown[256];
	int r;

	(void) trk__mask_argument(&mask, url, shown, sizeof(shown));
	if (!trk__fetch_is_allowed(url))
		return trk__error_set(reterr, -EINVAL, shown,
				      "%.150s: not an address of the form https://…", shown);
	if (trk__curl_load(&l) < 0)
		return trk__error_set(reterr, -TRK_ERR_UNSUPPORTED, shown,
				      "libcurl cannot be loaded. %s",
				      trk__os_library_advice("Try: apt install libcurl4"));
	c = l.easy_init();
	headers = l.slist_append(NULL, "X-Application-ID: resource-tracker");
	if (!c || !headers) {
		r = trk__error_set(reterr, -ENOMEM, shown, "out of memory");
	} else {
		set_options(&l, c, url, timeout_s, progress);
		(void) l.easy_setopt(c, TRK_CURL_HTTPHEADER, headers);
		(void) l.easy_setopt(c, TRK_CURL_WRITEDATA, out);
		r = perform(&l, c, shown, out, reterr);
	}
	if (headers)
		l.slist_free_all(headers);
	if (c)
		l.easy_cleanup(c);
	return r;
}
