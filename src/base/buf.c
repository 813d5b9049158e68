#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trk__buf_init(struct trk_buf *b, size_t max)
{
	*b = (struct trk_buf){.max = max};
}

void trk__buf_release(struct trk_buf *b)
{
	free(b->data);
	*b = (struct trk_buf){.max = b->max};
}

char *trk__buf_take(struct trk_buf *b)
{
	char *data = b->error ? NULL : b->data;

	if (data)
		*b = (struct trk_buf){.max = b->max};
	return data;
}

void trk__buf_clear(struct trk_buf *b)
{
	b->len = 0;
	b->error = 0;
	if (b->data)
		b->data[0] = '\0';
}

int trk__buf_reserve(struct trk_buf *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (b->error)
		return b->error;
	/* One byte more than requested: the terminating NUL. */
	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need) ||
	    need - 1 > b->max)
		return b->error = -EFBIG;
	if (need <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 64;
	while (cap < need)
		cap += cap / 2 + 16;
	data = realloc(b->data, cap);
	if (!data)
		return b->error = -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

void trk__buf_add(struct trk_buf *b, const void *data, size_t len)
{
	if (trk__buf_reserve(b, len) < 0)
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void trk__buf_puts(struct trk_buf *b, const char *text)
{
	trk__buf_add(b, text, strlen(text));
}

void trk__buf_putc(struct trk_buf *b, char c)
{
	trk__buf_add(b, &c, 1);
}

void trk__buf_integer(struct trk_buf *b, long value)
{
	unsigned long left = value < 0 ? 0 - (unsigned long) value : (unsigned long) value;
	char text[24], *at = text + sizeof(text);

	do
		*--at = (char) ('0' + left % 10);
	while ((left /= 10) > 0);
	if (value < 0)
		*--at = '-';
	trk__buf_add(b, at, (size_t) (text + sizeof(text) - at));
}

void trk__buf_markup(struct trk_buf *b, const char *text, size_t len, const char *special)
{
	static const char *const entities[128] = {['&'] = "&amp;",
						  ['<'] = "&lt;",
						  ['>'] = "&gt;",
						  ['"'] = "&quot;",
						  ['\''] = "&#39;"};

	for (size_t i = 0; i < len; i++)
		if (text[i] && strchr(special, text[i]))
			trk__buf_puts(b, entities[(unsigned char) text[i]]);
		else
			trk__buf_putc(b, text[i]);
}

/* First print into the available room; print again only if the buffer had to grow. */
void trk__buf_printf(struct trk_buf *b, const char *format, ...)
{
	size_t room = b->error || b->cap <= b->len ? 0 : b->cap - b->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? b->data + b->len : NULL, room, format, args);
	va_end(args);
	if (n >= 0 && (size_t) n < room && (size_t) n <= b->max - b->len) {
		b->len += (size_t) n;
		return;
	}
	if (room)
		b->data[b->len] = '\0';
	if (n < 0 || trk__buf_reserve(b, (size_t) n) < 0)
		return;
	va_start(args, format);
	(void) vsnprintf(b->data + b->len, (size_t) n + 1, format, args);
	va_end(args);
	b->len += (size_t) n;
}

void trk__buf_varint(struct trk_buf *b, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	while (value >= 0x80) {
		bytes[n++] = (unsigned char) (value | 0x80);
		value >>= 7;
	}
	bytes[n++] = (unsigned char) value;
	trk__buf_add(b, bytes, n);
}

void trk__buf_svarint(struct trk_buf *b, int64_t value)
{
	trk__buf_varint(b, ((uint64_t) value << 1) ^ (uint64_t) (value >> 63));
}

void trk__buf_bytes(struct trk_buf *b, const void *data, size_t len)
{
	trk__buf_varint(b, len);
	trk__buf_add(b, data, len);
}

void trk__buf_text(struct trk_buf *b, const char *text)
{
	trk__buf_bytes(b, text, strlen(text));
}

uint64_t trk__cursor_varint(struct trk_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift;

	if (!c->bad && c->at != c->end && *c->at < 0x80) /* most are small */
		return *c->at++;
	for (shift = 0; shift < 64; shift += 7) {
		unsigned char byte;

		if (c->bad || c->at == c->end)
			break;
		byte = *c->at++;
		value |= (uint64_t) (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = 1;
	return 0;
}

int64_t trk__cursor_svarint(struct trk_cursor *c)
{
	uint64_t value = trk__cursor_varint(c);

	return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

const char *trk__cursor_bytes(struct trk_cursor *c, size_t *retlen)
{
	uint64_t len = trk__cursor_varint(c);
	const char *data;

	*retlen = 0;
	if (c->bad || len > (uint64_t) (c->end - c->at)) {
		c->bad = 1;
		return NULL;
	}
	data = (const char *) c->at;
	c->at += len;
	*retlen = (size_t) len;
	return data;
}

void trk__cursor_text(struct trk_cursor *c, char *text, size_t size)
{
	size_t len;
	const char *data = trk__cursor_bytes(c, &len);

	if (len >= size)
		len = size - 1;
	if (data)
		memcpy(text, data, len);
	text[len] = '\0';
}

void trk__buf_base64(struct trk_buf *b, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *data = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned int word = (unsigned int) data[i] << 16;

		word |= left > 1 ? (unsigned int) data[i + 1] << 8 : 0;
		word |= left > 2 ? data[i + 2] : 0;
		trk__buf_putc(b, digits[word >> 18 & 63]);
		trk__buf_putc(b, digits[word >> 12 & 63]);
		trk__buf_putc(b, left > 1 ? digits[word >> 6 & 63] : '=');
		trk__buf_putc(b, left > 2 ? digits[word & 63] : '=');
	}
}
