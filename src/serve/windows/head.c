#include "serve/windows/head.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

size_t trk__head_length(const char *text, size_t len)
{
	for (size_t i = 3; i < len; i++)
		if (!memcmp(text + i - 3, "\r\n\r\n", 4))
			return i + 1;
	return 0;
}

/* A character of the names of methods and headers. */
static bool is_of_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *text)
{
	if (!*text)
		return false;
	while (is_of_token(*text))
		text++;
	return !*text;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replace "%41" by "A" in place, and '+' by a blank in a query. */
static int decode(char *text, bool is_query)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '%') {
			int high = digit(text[1]), low = high < 0 ? -1 : digit(text[2]);

			if (low < 0 || high + low == 0)
				return -EBADMSG;
			*to++ = (char) (high << 4 | low);
			text += 2;
		} else {
			*to++ = is_query && *text == '+' ? ' ' : *text;
		}
	}
	*to = '\0';
	return 0;
}

/* "a=b&c=d" */
static int take_arguments(char *text, struct trk_head *ret)
{
	while (*text) {
		char *end = text + strcspn(text, "&"), *equals, *next = *end ? end + 1 : end;
		struct trk_head_value *v;

		if (ret->arguments == TRK_HEAD_VALUES_MAX)
			return -EBADMSG;
		*end = '\0';
		equals = strchr(text, '=');
		v = &ret->argument[ret->arguments++];
		*v = (struct trk_head_value){text, equals ? equals + 1 : end};
		if (equals)
			*equals = '\0';
		if (decode(v->key, true) < 0 || decode(v->value, true) < 0)
			return -EBADMSG;
		text = next;
	}
	return 0;
}

/* "GET /path?query HTTP/1.1" */
static int take_first_line(char *line, struct trk_head *ret)
{
	char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
	char *query;

	if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0 ||
	    (strcmp(version + 8, "0") != 0 && strcmp(version + 8, "1") != 0))
		return -EBADMSG;
	*target++ = *version = '\0';
	ret->is_last = version[8] == '0';
	if (!is_token(line) || *target != '/')
		return -EBADMSG;
	for (const char *at = target; *at; at++)
		if ((unsigned char) *at <= ' ' || *at == 0x7f)
			return -EBADMSG;
	query = strchr(target, '?');
	if (query)
		*query++ = '\0';
	ret->method = line;
	ret->path = target;
	if (decode(target, false) < 0)
		return -EBADMSG;
	return query ? take_arguments(query, ret) : 0;
}

/* "Name: value". A line that continues the one before begins with a blank, and is no token. */
static int take_header(char *line, struct trk_head *ret)
{
	char *value = strchr(line, ':'), *end;

	if (!value || ret->headers == TRK_HEAD_VALUES_MAX)
		return -EBADMSG;
	*value++ = '\0';
	if (!is_token(line))
		return -EBADMSG;
	value += strspn(value, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	ret->header[ret->headers++] = (struct trk_head_value){line, value};
	return 0;
}

static int take_lines(char *text, struct trk_head *ret)
{
	bool is_first = true;

	for (;;) {
		char *end = strstr(text, "\r\n");
		int r;

		if (!end)
			return -EBADMSG;
		if (end == text)
			return is_first ? -EBADMSG : 0;
		*end = '\0';
		r = is_first ? take_first_line(text, ret) : take_header(text, ret);
		if (r < 0)
			return r;
		is_first = false;
		text = end + 2;
	}
}

int trk__head_parse(char *text, size_t len, struct trk_head *ret)
{
	const char *value;

	*ret = (struct trk_head){.method = NULL};
	if (strlen(text) != len || take_lines(text, ret) < 0)
		return -EBADMSG;
	value = trk__head_header(ret, "Content-Length");
	ret->has_body =
		(value && strcmp(value, "0") != 0) || trk__head_header(ret, "Transfer-Encoding");
	value = trk__head_header(ret, "Connection");
	ret->is_last |= value && !strcasecmp(value, "close");
	return 0;
}

const char *trk__head_header(const struct trk_head *r, const char *key)
{
	for (int i = 0; i < r->headers; i++)
		if (!strcasecmp(r->header[i].key, key))
			return r->header[i].value;
	return NULL;
}

const char *trk__head_argument(const struct trk_head *r, const char *key)
{
	for (int i = 0; i < r->arguments; i++)
		if (!strcmp(r->argument[i].key, key))
			return r->argument[i].value;
	return NULL;
}
