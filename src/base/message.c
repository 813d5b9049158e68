#include "base/message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct line {
	char *text;
	size_t size, len, value_max;
};

/* One conversion of a format: %-08.3llu */
struct conversion {
	char spec[24];
	bool has_precision, precision_is_argument;
	char length; /* l, L (ll), z, or 0 */
	char kind;
};

static void append(struct line *l, const char *text, size_t len)
{
	if (len > l->size - 1 - l->len)
		len = l->size - 1 - l->len;
	memcpy(l->text + l->len, text, len);
	l->len += len;
	l->text[l->len] = '\0';
}

/* Where the conversion ends. One that is too long for us is taken for text. */
static const char *parse(const char *at, struct conversion *ret)
{
	size_t len = strcspn(at + 1, "diouxXeEfFgGcspm%") + 2;

	*ret = (struct conversion){.kind = '%'};
	if (len >= sizeof(ret->spec) || at[len - 1] == '\0')
		return at + 1;
	memcpy(ret->spec, at, len);
	ret->kind = at[len - 1];
	ret->has_precision = strchr(ret->spec, '.') != NULL;
	ret->precision_is_argument = strchr(ret->spec, '*') != NULL;
	ret->length = strstr(ret->spec, "ll")  ? 'L'
		      : strchr(ret->spec, 'l') ? 'l'
		      : strchr(ret->spec, 'z') ? 'z'
					       : '\0';
	return at + len;
}

static void append_text(struct line *l, const char *value)
{
	size_t len = strlen(value), kept = l->value_max;
	char note[40];

	if (len <= l->value_max) {
		append(l, value, len);
		return;
	}
	while (kept > 0 && ((unsigned char) value[kept] & 0xc0) == 0x80)
		kept--; /* not within a character */
	append(l, value, kept);
	(void) snprintf(note, sizeof(note), "... (%zu bytes)", len);
	append(l, note, strlen(note));
}

/* The conversions are those of a format that the compiler has checked where it was written. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void append_number(struct line *l, const struct conversion *c, va_list *args)
{
	char text[512] = ""; /* however wide it is to be */

	if (strchr("eEfFgG", c->kind)) {
		double value = va_arg(*args, double);
		(void) snprintf(text, sizeof(text), c->spec, value);
	} else if (c->kind == 'p') {
		const void *value = va_arg(*args, void *);
		(void) snprintf(text, sizeof(text), c->spec, value);
	} else if (c->kind == 'm') {
		(void) snprintf(text, sizeof(text), "%m");
	} else if (c->length == 'L') {
		long long value = va_arg(*args, long long);
		(void) snprintf(text, sizeof(text), c->spec, value);
	} else if (c->length == 'l') {
		long value = va_arg(*args, long);
		(void) snprintf(text, sizeof(text), c->spec, value);
	} else if (c->length == 'z') {
		size_t value = va_arg(*args, size_t);
		(void) snprintf(text, sizeof(text), c->spec, value);
	} else {
		int value = va_arg(*args, int);
		(void) snprintf(text, sizeof(text), c->spec, value);
	}
	append(l, text, strlen(text));
}

static void append_cut(struct line *l, const struct conversion *c, va_list *args)
{
	char text[1024];

	if (c->precision_is_argument) {
		int precision = va_arg(*args, int);

		(void) snprintf(text, sizeof(text), c->spec, precision, va_arg(*args, char *));
	} else {
		(void) snprintf(text, sizeof(text), c->spec, va_arg(*args, char *));
	}
	append(l, text, strlen(text));
}

#pragma GCC diagnostic pop

void trk__message(char *text, size_t size, size_t value_max, const char *format, va_list args)
{
	struct line l = {.text = text, .size = size, .value_max = value_max};
	struct conversion c;
	va_list rest;

	text[0] = '\0';
	va_copy(rest, args);
	while (*format) {
		size_t plain = strcspn(format, "%");

		append(&l, format, plain);
		format += plain;
		if (*format != '%')
			break;
		format = parse(format, &c);
		if (c.kind == '%')
			append(&l, "%", 1);
		else if (c.kind == 's' && c.has_precision)
			append_cut(&l, &c, &rest);
		else if (c.kind == 's')
			append_text(&l, va_arg(rest, const char *));
		else
			append_number(&l, &c, &rest);
	}
	va_end(rest);
}
