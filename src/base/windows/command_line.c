#include "base/windows/command_line.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Backslashes are doubled only before a quote. */
static void add_quoted(struct trk_buf *b, const char *argument)
{
	trk__buf_putc(b, '"');
	for (size_t slashes = 0;; argument++) {
		if (*argument == '\\') {
			slashes++;
			continue;
		}
		if (*argument == '\0' || *argument == '"')
			slashes *= 2;
		for (; slashes > 0; slashes--)
			trk__buf_putc(b, '\\');
		if (*argument == '\0')
			break;
		if (*argument == '"')
			trk__buf_putc(b, '\\');
		trk__buf_putc(b, *argument);
	}
	trk__buf_putc(b, '"');
}

void trk__command_line_add(struct trk_buf *b, const char *argument)
{
	if (b->len > 0)
		trk__buf_putc(b, ' ');
	if (*argument == '\0' || strpbrk(argument, " \t\n\v\""))
		add_quoted(b, argument);
	else
		trk__buf_puts(b, argument);
}

int trk__command_line_add_batch(struct trk_buf *b, const char *argument)
{
	if (strpbrk(argument, "\"%\r\n"))
		return -EINVAL;
	if (b->len > 0)
		trk__buf_putc(b, ' ');
	trk__buf_putc(b, '"');
	trk__buf_puts(b, argument);
	trk__buf_putc(b, '"');
	return 0;
}

/* ---- apart again ---- */

struct out {
	char *text;
	size_t size, len;
};

static void put(struct out *o, char c, size_t times)
{
	for (; times > 0 && o->len < o->size; times--)
		o->text[o->len++] = c;
}

/* One argument. In quotes a blank is part of it, and "" is a quote. */
static const char *take_argument(const char *at, struct out *o)
{
	bool quoted = false;

	while (*at && (quoted || (*at != ' ' && *at != '\t'))) {
		size_t slashes = strspn(at, "\\");

		at += slashes;
		if (*at != '"') {
			put(o, '\\', slashes);
			if (slashes == 0)
				put(o, *at++, 1);
			continue;
		}
		put(o, '\\', slashes / 2);
		if (slashes % 2) {
			put(o, '"', 1);
		} else if (quoted && at[1] == '"') {
			put(o, '"', 1);
			at++;
		} else {
			quoted = !quoted;
		}
		at++;
	}
	put(o, '\0', 1);
	return at;
}

size_t trk__command_line_split(const char *line, char *text, size_t size)
{
	struct out o = {text, size, 0};

	line += strspn(line, " \t");
	while (*line) {
		line = take_argument(line, &o);
		line += strspn(line, " \t");
	}
	return o.len;
}
