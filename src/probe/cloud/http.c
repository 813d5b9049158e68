#include "probe/cloud/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"

/* ---- parsing ---- */

/* Offset of the body, after the empty line; 0: not received yet. */
static size_t head_end(const char *data, size_t len)
{
	const char *end = memmem(data, len, "\r\n\r\n", 4);

	return end ? (size_t) (end - data) + 4 : 0;
}

bool trk__http_header(const struct trk_http_response *r, const char *name, char *value, size_t size)
{
	const char *at = r->head, *end = r->head + r->head_len;
	size_t len = strlen(name);

	while (at < end) {
		const char *eol = memchr(at, '\n', (size_t) (end - at));
		size_t n = eol ? (size_t) (eol - at) : (size_t) (end - at);

		if (n > len && at[len] == ':' && !strncasecmp(at, name, len)) {
			const char *from = at + len + 1;
			size_t left = n - len - 1;

			while (left && (*from == ' ' || *from == '\t')) {
				from++;
				left--;
			}
			while (left && (from[left - 1] == '\r' || from[left - 1] == ' '))
				left--;
			if (left >= size)
				left = size - 1;
			memcpy(value, from, left);
			value[left] = '\0';
			return true;
		}
		at += n + 1;
	}
	return false;
}

/* "HTTP/1.1 200 OK" */
static int parse_status(const char *line, int *ret)
{
	const char *at = line + 8;
	uint64_t status;

	if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || *at != ' ' ||
	    !trk__scan_u64(&at, &status) || status < 100 || status > 599)
		return -EBADMSG;
	*ret = (int) status;
	return 0;
}

/* Parse the size line of a chunk at *at and advance past it. 1, 0 for more, or negative. */
static int chunk_size(const char *data, size_t len, size_t *at, uint64_t *ret)
{
	const char *start = data + *at, *s = start;
	const char *eol = memmem(start, len - *at, "\r\n", 2);

	if (!eol)
		return len - *at > 64 ? -EBADMSG : 0;
	if (!trk__scan_hex(&s, ret) || s == start || s > eol || (*s != '\r' && *s != ';'))
		return -EBADMSG;
	*at = (size_t) (eol - data) + 2;
	return *ret > TRK_HTTP_BODY_MAX ? -EFBIG : 1;
}

/* Walk the chunks from `at` on; `join`: join their data. 1 when complete, 0 for more, or
 * negative. */
static int walk_chunks(char *data, size_t len, size_t at, bool join, size_t *ret_len)
{
	size_t to = at, total = 0;

	for (;;) {
		uint64_t size;
		int r = chunk_size(data, len, &at, &size);

		if (r <= 0)
			return r;
		total += size;
		if (total > TRK_HTTP_BODY_MAX)
			return -EFBIG;
		if (size == 0) {
			if (join)
				data[to] = '\0';
			*ret_len = total;
			return 1; /* trailers are skipped */
		}
		if (len - at < size + 2)
			return 0;
		if (data[at + size] != '\r' || data[at + size + 1] != '\n')
			return -EBADMSG;
		if (join)
			memmove(data + to, data + at, size);
		to += size;
		at += size + 2;
	}
}

/* Join a chunked body. 1, 0 for more, or negative. */
static int frame_chunks(char *data, size_t len, struct trk_http_response *r)
{
	int n = walk_chunks(data, len, r->head_len, false, &r->body_len);

	if (n > 0)
		(void) walk_chunks(data, len, r->head_len, true, &r->body_len);
	return n;
}

static int frame_length(char *data, const char *value, struct trk_http_response *r)
{
	uint64_t length;

	if (!trk__scan_u64(&value, &length) || *value)
		return -EBADMSG;
	if (length > TRK_HTTP_BODY_MAX)
		return -EFBIG;
	if (r->body_len < length)
		return 0;
	r->body_len = length;
	data[r->head_len + length] = '\0';
	return 1;
}

static int frame_body(char *data, size_t len, bool ended, struct trk_http_response *r)
{
	char value[64];

	if (trk__http_header(r, "Transfer-Encoding", value, sizeof(value)))
		return strcasecmp(value, "chunked") != 0 ? -EBADMSG : frame_chunks(data, len, r);
	if (trk__http_header(r, "Content-Length", value, sizeof(value)))
		return frame_length(data, value, r);
	if (r->body_len > TRK_HTTP_BODY_MAX)
		return -EFBIG;
	return ended || r->status == 204 || r->status == 304;
}

int trk__http_parse(char *data, size_t len, bool ended, struct trk_http_response *ret)
{
	struct trk_http_response r = {.head = data, .head_len = head_end(data, len)};
	int n;

	if (!r.head_len && len > TRK_HTTP_HEAD_MAX)
		return -EFBIG;
	if (!r.head_len)
		return ended ? -EBADMSG : 0;
	if (parse_status(data, &r.status) < 0)
		return -EBADMSG;
	r.body = data + r.head_len;
	r.body_len = len - r.head_len;
	n = frame_body(data, len, ended, &r);
	if (n > 0)
		*ret = r;
	return n == 0 && ended ? -EBADMSG : n;
}

/* ---- a connection ---- */

int trk__http_begin(struct trk_http *h, const struct sockaddr_in *to, const char *request)
{
	*h = (struct trk_http){.fd = -1};
	trk__buf_init(&h->out, 4096);
	trk__buf_init(&h->in, TRK_HTTP_HEAD_MAX + 2 * TRK_HTTP_BODY_MAX);
	trk__buf_puts(&h->out, request);
	if (h->out.error)
		return h->out.error;
	h->fd = trk__os_socket(AF_INET, SOCK_STREAM, 0);
	if (h->fd < 0)
		return h->fd;
	if (fcntl(h->fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (connect(h->fd, (const struct sockaddr *) to, sizeof(*to)) < 0 && errno != EINPROGRESS)
		return -errno;
	return 0;
}

static int send_rest(struct trk_http *h)
{
	while (h->sent < h->out.len) {
		ssize_t n = send(h->fd, h->out.data + h->sent, h->out.len - h->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == ENOTCONN ? 0 : -errno;
		h->sent += (size_t) n;
	}
	return 1;
}

int trk__http_step(struct trk_http *h, struct trk_http_response *ret)
{
	int r = send_rest(h);

	if (r <= 0)
		return r;
	for (;;) {
		ssize_t n;

		if (trk__buf_reserve(&h->in, 2048) < 0)
			return h->in.error;
		n = recv(h->fd, h->in.data + h->in.len, 2047, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		h->in.len += (size_t) n;
		h->in.data[h->in.len] = '\0';
		r = trk__http_parse(h->in.data, h->in.len, n == 0, ret);
		if (r != 0)
			return r;
	}
}

void trk__http_close(struct trk_http *h)
{
	trk__close(h->fd);
	h->fd = -1;
}

void trk__http_release(struct trk_http *h)
{
	trk__http_close(h);
	trk__buf_release(&h->out);
	trk__buf_release(&h->in);
}
