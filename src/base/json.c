#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/utf8.h"

#define WHOLE_FROM 1e5 /* with few digits, larger numbers are rounded to whole ones */

void trk__json_init(struct trk_json *j, struct trk_buf *buf, unsigned int indent)
{
	*j = (struct trk_json){.buf = buf, .indent = indent};
}

static void newline(struct trk_json *j)
{
	unsigned int i;

	if (!j->indent)
		return;
	trk__buf_putc(j->buf, '\n');
	for (i = 0; i < j->depth * j->indent; i++)
		trk__buf_putc(j->buf, ' ');
}

/* Write the separator before a value: nothing after a key, else a comma if needed. */
static void before_value(struct trk_json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->comma)
		trk__buf_putc(j->buf, ',');
	if (j->depth)
		newline(j);
	j->comma = true;
}

void trk__json_open(struct trk_json *j, char bracket)
{
	before_value(j);
	trk__buf_putc(j->buf, bracket);
	j->lists = j->lists << 1 | (bracket == '[');
	j->depth++;
	j->comma = false;
}

void trk__json_close(struct trk_json *j, char bracket)
{
	j->lists >>= 1;
	j->depth--;
	if (j->comma)
		newline(j);
	trk__buf_putc(j->buf, bracket);
	j->comma = true;
}

void trk__json_begin(struct trk_json *j, struct trk_buf *buf, unsigned int indent,
		     const char *schema)
{
	trk__json_init(j, buf, indent);
	trk__json_open(j, '{');
	if (schema)
		trk__json_key_text(j, "schema", schema);
}

void trk__json_end(struct trk_json *j)
{
	while (j->depth)
		trk__json_close(j, j->lists & 1 ? ']' : '}');
	trk__buf_putc(j->buf, '\n');
}

/* Escape characters that a terminal interprets or hides, so that they are visible on a screen. */
static void escaped(struct trk_buf *b, uint32_t code)
{
	if (code >= 0x10000) {
		trk__buf_printf(b, "\\u%04x", 0xd800u + ((code - 0x10000u) >> 10));
		code = 0xdc00u + ((code - 0x10000u) & 0x3ffu);
	}
	trk__buf_printf(b, "\\u%04x", (unsigned int) code);
}

static void quoted(struct trk_buf *b, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *) text;
	size_t i = 0;

	trk__buf_putc(b, '"');
	while (i < len) {
		size_t n = trk__utf8_length(text + i, len - i);

		if (n == 0) {
			trk__buf_puts(b, "\xef\xbf\xbd");
			n = 1;
		} else if (s[i] == '"' || s[i] == '\\') {
			trk__buf_putc(b, '\\');
			trk__buf_putc(b, (char) s[i]);
		} else if (s[i] == '\n') {
			trk__buf_puts(b, "\\n");
		} else if (s[i] == '\t') {
			trk__buf_puts(b, "\\t");
		} else if (trk__utf8_is_hidden(text + i, n)) {
			escaped(b, trk__utf8_code(text + i, n));
		} else {
			trk__buf_add(b, s + i, n);
		}
		i += n;
	}
	trk__buf_putc(b, '"');
}

void trk__json_key(struct trk_json *j, const char *key)
{
	before_value(j);
	quoted(j->buf, key, strlen(key));
	trk__buf_puts(j->buf, j->indent ? ": " : ":");
	j->after_key = true;
}

void trk__json_text_n(struct trk_json *j, const char *text, size_t len)
{
	before_value(j);
	quoted(j->buf, text, len);
}

void trk__json_text(struct trk_json *j, const char *text)
{
	if (!text)
		trk__json_null(j);
	else
		trk__json_text_n(j, text, strlen(text));
}

void trk__json_u64(struct trk_json *j, uint64_t value)
{
	before_value(j);
	trk__buf_printf(j->buf, "%" PRIu64, value);
}

void trk__json_i64(struct trk_json *j, int64_t value)
{
	before_value(j);
	trk__buf_printf(j->buf, "%" PRId64, value);
}

/* A host program may have set a locale with a decimal comma. */
static void set_point(char *text)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma = '.';
}

static void print_shortest(char *text, size_t size, double value)
{
	for (int precision = 15; precision <= 17; precision++) {
		(void) snprintf(text, size, "%.*g", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
}

void trk__json_double(struct trk_json *j, double value)
{
	char text[40];

	if (!isfinite(value)) {
		trk__json_null(j);
		return;
	}
	before_value(j);
	if (j->digits && fabs(value) < WHOLE_FROM)
		(void) snprintf(text, sizeof(text), "%.*g", (int) j->digits, value);
	else
		print_shortest(text, sizeof(text), j->digits ? trk__round_even(value) : value);
	set_point(text);
	trk__buf_puts(j->buf, text);
}

void trk__buf_fixed(struct trk_buf *b, int64_t value, unsigned int decimals)
{
	uint64_t magnitude = value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
	uint64_t unit = 1, fraction;
	char text[48];
	int n;

	for (unsigned int i = 0; i < decimals; i++)
		unit *= 10;
	n = snprintf(text, sizeof(text), "%s%" PRIu64, value < 0 ? "-" : "", magnitude / unit);
	fraction = magnitude % unit;
	if (fraction) {
		n += snprintf(text + n, sizeof(text) - (size_t) n, ".%0*" PRIu64, (int) decimals,
			      fraction);
		while (text[n - 1] == '0')
			n--;
	}
	trk__buf_add(b, text, (size_t) n);
}

void trk__json_fixed(struct trk_json *j, int64_t value, unsigned int decimals)
{
	before_value(j);
	trk__buf_fixed(j->buf, value, decimals);
}

void trk__json_bool(struct trk_json *j, bool value)
{
	before_value(j);
	trk__buf_puts(j->buf, value ? "true" : "false");
}

void trk__json_verbatim(struct trk_json *j, const char *json)
{
	before_value(j);
	trk__buf_puts(j->buf, json);
}

void trk__json_null(struct trk_json *j)
{
	before_value(j);
	trk__buf_puts(j->buf, "null");
}

void trk__json_key_text(struct trk_json *j, const char *key, const char *text)
{
	trk__json_key(j, key);
	trk__json_text(j, text);
}

void trk__json_key_or_null(struct trk_json *j, const char *key, const char *text)
{
	trk__json_key_text(j, key, text && *text ? text : NULL);
}

void trk__json_key_double(struct trk_json *j, const char *key, double value)
{
	trk__json_key(j, key);
	trk__json_double(j, value);
}

void trk__json_key_open(struct trk_json *j, const char *key, char bracket)
{
	trk__json_key(j, key);
	trk__json_open(j, bracket);
}

bool trk__json_key_object(struct trk_json *j, const char *key, bool is_known)
{
	trk__json_key(j, key);
	if (is_known)
		trk__json_open(j, '{');
	else
		trk__json_null(j);
	return is_known;
}

void trk__json_key_u64(struct trk_json *j, const char *key, uint64_t value)
{
	trk__json_key(j, key);
	trk__json_u64(j, value);
}

void trk__json_key_i64(struct trk_json *j, const char *key, int64_t value)
{
	trk__json_key(j, key);
	trk__json_i64(j, value);
}

void trk__json_key_bool(struct trk_json *j, const char *key, bool value)
{
	trk__json_key(j, key);
	trk__json_bool(j, value);
}
