#include "alert/deliver.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/curl.h"
#include "base/sha256.h"
#include "base/os.h"

enum {
	CONNECT_MS = 10000,
	ALL_MS = 40000,
	ANSWER_MAX = 4096,
	RECIPIENTS_MAX = 20,
	HOST_SIZE = 256
};

const char *const trk__alert_delivers_nothing = NULL;

/* ---- where to ---- */

static bool is_private_v4(uint32_t a)
{
	return a >> 24 == 0 || a >> 24 == 10 || a >> 24 == 127 || a >> 22 == (100u << 2 | 1) ||
	       a >> 16 == 0xa9fe || a >> 20 == 0xac1 || a >> 16 == 0xc0a8 || a >> 28 >= 14;
}

/* Whether an address is private: of this machine, of a local network, or not unicast. */
static bool is_private(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *) address;
	const struct sockaddr_in6 *v6 = (const void *) address;
	const uint8_t *b = v6->sin6_addr.s6_addr;

	if (address->sa_family == AF_INET)
		return is_private_v4(ntohl(v4->sin_addr.s_addr));
	if (address->sa_family != AF_INET6)
		return true;
	if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) || IN6_IS_ADDR_V4COMPAT(&v6->sin6_addr))
		return is_private_v4((uint32_t) b[12] << 24 | (uint32_t) b[13] << 16 |
				     (uint32_t) b[14] << 8 | b[15]);
	/* Global unicast is 2000::/3. */
	return b[0] >> 5 != 1;
}

/* The host of a URL, without port and brackets. False where there is none, or a user name. */
static bool host_of(const char *url, char host[HOST_SIZE])
{
	const char *at = strstr(url, "://"), *end;
	size_t len;

	if (!at)
		return false;
	at += 3;
	len = strcspn(at, "/?#");
	if (memchr(at, '@', len) || memchr(at, '\\', len))
		return false;
	end = *at == '[' ? memchr(at, ']', len) : NULL;
	if (*at == '[' && !end)
		return false;
	if (end)
		len = (size_t) (end - ++at);
	else
		len = strcspn(at, ":/?#");
	if (len == 0 || len >= HOST_SIZE)
		return false;
	(void) snprintf(host, HOST_SIZE, "%.*s", (int) len, at);
	return true;
}

static bool is_listed(const char *hosts, const char *host)
{
	size_t len = strlen(host);

	for (const char *at = hosts ? hosts : ""; *at;) {
		size_t n = strcspn(at, ", ");

		if (n == len && !strncasecmp(at, host, len))
			return true;
		at += n + strspn(at + n, ", ");
	}
	return false;
}

struct curl_sockaddr {
	int family, socktype, protocol;
	unsigned int addrlen;
	struct sockaddr addr;
};

/* Called with the address that the name was resolved to, so that a name cannot refer to a private
 * one. */
static int open_public_socket(void *refused, int purpose, struct curl_sockaddr *address)
{
	if (is_private(&address->addr)) {
		*(bool *) refused = true;
		return -1;
	}
	return trk__os_socket(address->family, address->socktype, address->protocol);
}

/* ---- sending ---- */

struct transfer {
	struct trk_curl curl;
	struct trk_curl_easy *easy;
	struct trk_buf answer;
	const char *host;
	bool refused; /* the address is private */
	const char *mail;
	size_t mail_left;
};

static size_t take_answer(const char *data, size_t size, size_t n, void *to)
{
	struct trk_buf *b = to;

	if (b->len + size * n < b->max)
		trk__buf_add(b, data, size * n);
	return size * n;
}

static size_t give_mail(char *data, size_t size, size_t n, void *from)
{
	struct transfer *t = from;
	size_t len = size * n < t->mail_left ? size * n : t->mail_left;

	memcpy(data, t->mail, len);
	t->mail += len;
	t->mail_left -= len;
	return len;
}

static void set_common(struct transfer *t, const char *url, bool listed, long protocols)
{
	int (*set)(struct trk_curl_easy *, int, ...) = t->curl.easy_setopt;

	(void) set(t->easy, TRK_CURL_URL, url);
	(void) set(t->easy, TRK_CURL_PROTOCOLS, protocols);
	(void) set(t->easy, TRK_CURL_FOLLOWLOCATION, 0L);
	(void) set(t->easy, TRK_CURL_NOSIGNAL, 1L);
	(void) set(t->easy, TRK_CURL_CONNECTTIMEOUT_MS, (long) CONNECT_MS);
	(void) set(t->easy, TRK_CURL_TIMEOUT_MS, (long) ALL_MS);
	(void) set(t->easy, TRK_CURL_USERAGENT, "resource-tracker");
	(void) set(t->easy, TRK_CURL_WRITEFUNCTION, take_answer);
	(void) set(t->easy, TRK_CURL_WRITEDATA, &t->answer);
	/* A listed host may be private, where a proxy cannot reach it. */
	if (listed) {
		(void) set(t->easy, TRK_CURL_PROXY, "");
	} else {
		(void) set(t->easy, TRK_CURL_OPENSOCKETFUNCTION, open_public_socket);
		(void) set(t->easy, TRK_CURL_OPENSOCKETDATA, &t->refused);
	}
}

static int perform(struct transfer *t, bool is_mail, struct trk_error *reterr)
{
	int code = t->curl.easy_perform(t->easy);
	long status = 0;

	if (t->refused)
		return trk__error_set(reterr, -EACCES, t->host,
				      "%.150s: a private address. Try: TRACKER_ALERT_HOSTS=%.150s",
				      t->host, t->host);
	if (code != 0)
		return trk__error_set(reterr, -EIO, t->host, "%.150s: %.90s", t->host,
				      t->curl.easy_strerror(code));
	(void) t->curl.easy_getinfo(t->easy, TRK_CURL_INFO_RESPONSE_CODE, &status);
	if (is_mail || (status >= 200 && status < 300))
		return 0;
	/* A retry does not help for errors of the sender (4xx), except 408, 425 and 429. */
	return trk__error_set(reterr,
			      status >= 400 && status < 500 && status != 408 && status != 425 &&
					      status != 429
				      ? -EPROTO
				      : -EIO,
			      t->host, "%.150s: answered %ld: %.100s", t->host, status,
			      t->answer.data ? t->answer.data : "");
}

static int begin(struct transfer *t, const char *host, struct trk_error *reterr)
{
	*t = (struct transfer){.host = host};
	if (trk__curl_load(&t->curl) < 0)
		return trk__error_set(reterr, -TRK_ERR_UNSUPPORTED, host,
				      "libcurl cannot be loaded. %s",
				      trk__os_library_advice("Try: apt install libcurl4"));
	t->easy = t->curl.easy_init();
	trk__buf_init(&t->answer, ANSWER_MAX);
	return t->easy ? 0 : trk__error_set(reterr, -ENOMEM, host, "out of memory");
}

static void end(struct transfer *t, struct curl_slist *list)
{
	if (list)
		t->curl.slist_free_all(list);
	if (t->easy)
		t->curl.easy_cleanup(t->easy);
	trk__buf_release(&t->answer);
}

static int add_signature(struct transfer *t, const char *key, const struct trk_buf *body,
			 struct curl_slist **headers, struct trk_error *reterr)
{
	char hex[TRK_SHA256_SIZE], line[120];

	if (trk__hmac_sha256(key, body->data, body->len, hex) < 0)
		return trk__error_set(
			reterr, -TRK_ERR_UNSUPPORTED, t->host,
			"libcrypto, which signs the alert, cannot be loaded. Try: apt install "
			"libssl3");
	(void) snprintf(line, sizeof(line), "X-Signature: sha256=%s", hex);
	*headers = t->curl.slist_append(*headers, line);
	return 0;
}

static int post(const struct trk_alert_sink *sink, const char *url, const char *host, bool listed,
		const char *key, const struct trk_alert_message *m, struct trk_error *reterr)
{
	struct transfer t;
	struct curl_slist *headers = NULL;
	TRK_BUF_LOCAL(body, 1 << 16);
	int r = begin(&t, host, reterr);

	if (r == 0) {
		sink->body(m, &body);
		r = body.error;
		headers = t.curl.slist_append(NULL, "Content-Type: application/json");
		if (r == 0 && key && !strcmp(sink->kind, "json"))
			r = add_signature(&t, key, &body, &headers, reterr);
	}
	if (r == 0) {
		set_common(&t, url, listed, TRK_CURL_HTTP | TRK_CURL_HTTPS);
		(void) t.curl.easy_setopt(t.easy, TRK_CURL_POSTFIELDS, body.data);
		(void) t.curl.easy_setopt(t.easy, TRK_CURL_POSTFIELDSIZE, (long) body.len);
		(void) t.curl.easy_setopt(t.easy, TRK_CURL_HTTPHEADER, headers);
		r = perform(&t, false, reterr);
	}
	end(&t, headers);
	return r;
}

/* ---- mail ---- */

static bool is_mail_address(const char *text, size_t len)
{
	const char *at = memchr(text, '@', len);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char) text[i] <= ' ' || (unsigned char) text[i] >= 127 ||
		    strchr("<>,;:\"\\()", text[i]))
			return false;
	return at && at > text && at + 1 < text + len &&
	       !memchr(at + 1, '@', len - (size_t) (at + 1 - text));
}

static struct curl_slist *recipients_of(const struct trk_curl *c, const char *to)
{
	struct curl_slist *list = NULL;
	int n = 0;

	for (const char *at = to; *at; n++) {
		size_t len = strcspn(at, ",");
		char one[HOST_SIZE];

		if (n == RECIPIENTS_MAX || len >= sizeof(one) || !is_mail_address(at, len)) {
			if (list)
				c->slist_free_all(list);
			return NULL;
		}
		(void) snprintf(one, sizeof(one), "%.*s", (int) len, at);
		list = c->slist_append(list, one);
		at += len + (at[len] == ',');
	}
	return list;
}

static int send_mail(struct transfer *t, const char *to, const char *from,
		     const struct trk_alert_account *a, bool listed, const struct trk_buf *mail,
		     struct trk_error *reterr)
{
	int (*set)(struct trk_curl_easy *, int, ...) = t->curl.easy_setopt;
	struct curl_slist *recipients = recipients_of(&t->curl, to);
	int r;

	if (!recipients)
		return trk__error_set(reterr, -EINVAL, to,
				      "mail:%.150s: not a list of at most %d mail addresses", to,
				      RECIPIENTS_MAX);
	set_common(t, a->smtp_url, listed, TRK_CURL_SMTP | TRK_CURL_SMTPS);
	(void) set(t->easy, TRK_CURL_MAIL_FROM, from);
	(void) set(t->easy, TRK_CURL_MAIL_RCPT, recipients);
	(void) set(t->easy, TRK_CURL_UPLOAD, 1L);
	(void) set(t->easy, TRK_CURL_READFUNCTION, give_mail);
	(void) set(t->easy, TRK_CURL_READDATA, t);
	/* A password is never sent unencrypted. */
	(void) set(t->easy, TRK_CURL_USE_SSL,
		   (long) (a->smtp_password ? TRK_CURL_SSL_ALL : TRK_CURL_SSL_TRY));
	if (a->smtp_user)
		(void) set(t->easy, TRK_CURL_USERNAME, a->smtp_user);
	if (a->smtp_password)
		(void) set(t->easy, TRK_CURL_PASSWORD, a->smtp_password);
	t->mail = mail->data;
	t->mail_left = mail->len;
	r = perform(t, true, reterr);
	t->curl.slist_free_all(recipients);
	return r;
}

static int mail(const char *to, const struct trk_alert_account *a,
		const struct trk_alert_message *m, struct trk_error *reterr)
{
	char host[HOST_SIZE], from[2 * HOST_SIZE], name[HOST_SIZE] = "localhost";
	struct transfer t;
	TRK_BUF_LOCAL(text, 1 << 16);
	int r;

	if (!a->smtp_url ||
	    (strncmp(a->smtp_url, "smtp://", 7) != 0 && strncmp(a->smtp_url, "smtps://", 8) != 0) ||
	    !host_of(a->smtp_url, host))
		return trk__error_set(reterr, -EINVAL, "mail",
				      "mail needs a server. Try: TRACKER_SMTP=smtp://HOST:587");
	(void) gethostname(name, sizeof(name) - 1);
	(void) snprintf(from, sizeof(from), "resource-tracker@%s", name);
	if (a->mail_from)
		(void) snprintf(from, sizeof(from), "%s", a->mail_from);
	if (!is_mail_address(from, strlen(from)))
		return trk__error_set(
			reterr, -EINVAL, from,
			"%.150s: not a mail address. Try: TRACKER_MAIL_FROM=NAME@HOST", from);
	r = begin(&t, host, reterr);
	if (r == 0) {
		trk__alert_mail(m, from, to, &text);
		r = text.error
			    ? text.error
			    : send_mail(&t, to, from, a, is_listed(a->hosts, host), &text, reterr);
	}
	end(&t, NULL);
	return r;
}

int trk__alert_deliver(const struct trk_alert_sink *sink, const char *address,
		       const struct trk_alert_account *account, const struct trk_alert_message *m,
		       struct trk_error *reterr)
{
	char host[HOST_SIZE], url[2048];
	size_t len = strlen(address);
	bool listed;

	if (!sink->body)
		return mail(address, account, m, reterr);
	/* Messages omit the URL, which contains the secret of a webhook. */
	if (!host_of(address, host) || len + strlen(sink->path) >= sizeof(url))
		return trk__error_set(reterr, -EINVAL, sink->kind,
				      "%s: not an address of the form https://HOST/…", sink->kind);
	listed = is_listed(account->hosts, host);
	if (strncmp(address, "https://", 8) != 0 &&
	    (strncmp(address, "http://", 7) != 0 || !listed))
		return trk__error_set(reterr, -EACCES, host,
				      "%s: %.150s: no TLS. Try: https://, or "
				      "TRACKER_ALERT_HOSTS=%.150s",
				      sink->kind, host, host);
	while (sink->path[0] && len > 0 && address[len - 1] == '/')
		len--;
	(void) snprintf(url, sizeof(url), "%.*s%s", (int) len, address, sink->path);
	return post(sink, url, host, listed, account->key, m, reterr);
}
