#include "fleet/json_columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The end of the value or key that begins here. */
static const char *skip(const char *at)
{
	bool text = false;
	int depth = 0;

	for (; *at; at++) {
		if (text) {
			at += *at == '\\' && at[1];
			text = *at != '"';
		} else if (*at == '"') {
			text = true;
		} else if (*at == '{' || *at == '[') {
			depth++;
		} else if (depth == 0 && strchr(",:}]", *at)) {
			break;
		} else if (*at == '}' || *at == ']') {
			depth--;
		}
	}
	return at;
}

/* One member of all objects. Each cursor moves on to the comma behind it, or to the end of its
 * object. */
static void put_column(const char **at, size_t count, struct trk_buf *b)
{
	const char *key = at[0] + 1, *colon = skip(key);

	trk__buf_add(b, key, (size_t) (colon - key));
	trk__buf_puts(b, ":[");
	for (size_t i = 0; i < count; i++) {
		const char *value = skip(at[i] + 1);

		value += *value == ':';
		at[i] = skip(value);
		trk__buf_puts(b, i ? "," : "");
		trk__buf_add(b, value, (size_t) (at[i] - value));
	}
	trk__buf_putc(b, ']');
}

int trk__json_columns(const char *text, size_t count, struct trk_buf *b)
{
	const char **at = calloc(count + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		at[i] = text + 1; /* a brace, after the bracket or a comma */
		text = skip(text + 1);
	}
	trk__buf_putc(b, '{');
	while (count && *at[0] && *at[0] != '}') {
		trk__buf_puts(b, *at[0] == ',' ? "," : "");
		put_column(at, count, b);
	}
	trk__buf_putc(b, '}');
	free(at);
	return 0;
}
