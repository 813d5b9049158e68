#include "import/delimited.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

/* Unquote in place: *from stands at the opening quote, and behind the closing one after it. Returns
 * the cell's end, or NULL without a closing quote. */
static char *unquote(char **from)
{
	char *to = *from, *s = *from + 1;

	for (;; s++) {
		if (*s == '\0')
			return NULL;
		if (*s == '"' && s[1] != '"')
			break;
		s += *s == '"';
		*to++ = *s;
	}
	*from = s + 1;
	return to;
}

/* One line into cells. 1, 0 at the end of the text, -EBADMSG. */
static int read_line(struct trk_delimited *d, char **cell, size_t *ret_cells)
{
	char *s = d->at;
	size_t n = 0;

	while (*s == '\n' || *s == '\r') {
		d->line += *s == '\n';
		s++;
	}
	if (*s == '\0') {
		d->at = s;
		return 0;
	}
	d->line++;
	for (;;) {
		char *end = NULL, ended_by;

		if (n == TRK_DELIMITED_CELLS_MAX)
			return -EBADMSG;
		cell[n++] = s;
		if (*s == '"') {
			end = unquote(&s);
			if (!end)
				return -EBADMSG;
		}
		s += strcspn(s, (const char[]){d->delimiter, '\n', '\0'});
		ended_by = *s;
		if (!end)
			end = s > cell[n - 1] && s[-1] == '\r' ? s - 1 : s;
		*end = '\0';
		if (ended_by != '\0')
			*s++ = '\0';
		if (ended_by != d->delimiter)
			break;
	}
	d->at = s;
	*ret_cells = n;
	return 1;
}

int trk__delimited_init(struct trk_delimited *d, char *text, char delimiter)
{
	int r;

	memset(d, 0, sizeof(*d));
	d->at = text;
	d->delimiter = delimiter;
	if (!strncmp(text, "\xef\xbb\xbf", 3)) /* a byte order mark */
		d->at += 3;
	r = read_line(d, d->head, &d->columns);
	return r == 0 ? -ENOENT : r < 0 ? r : 0;
}

int trk__delimited_next(struct trk_delimited *d)
{
	return read_line(d, d->cell, &d->cells);
}

int trk__delimited_column(const struct trk_delimited *d, const char *name)
{
	for (size_t i = 0; i < d->columns; i++)
		if (!strcasecmp(d->head[i], name))
			return (int) i;
	return -1;
}

const char *trk__delimited_text(const struct trk_delimited *d, int column)
{
	return column >= 0 && (size_t) column < d->cells ? d->cell[column] : "";
}

double trk__delimited_number(const struct trk_delimited *d, int column)
{
	double value;

	return trk__parse_decimal(trk__delimited_text(d, column), &value) == 0 ? value
									       : (double) NAN;
}
