#include "import/delimited.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/parse.h"
#include "import/values.h"

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
		struct trk_csv_cell c;
		char *start = s, ended_by;

		if (n == TRK_DELIMITED_CELLS_MAX)
			return -EBADMSG;
		s += trk__csv_cell(s, d->end, d->delimiter, &c) - s;
		if (c.state == TRK_CSV_UNCLOSED)
			return -EBADMSG;
		ended_by = *s;
		(void) trk__csv_copy(&c, start);
		cell[n++] = start;
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
	d->end = text + strlen(text);
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

static int find(const struct trk_delimited *d, const char *name, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (!strcasecmp(d->head[i], name))
			return (int) i;
	return -1;
}

int trk__delimited_column(const struct trk_delimited *d, const char *name)
{
	return find(d, name, d->columns);
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

static int find_cell(const struct trk_delimited *d, const char *name)
{
	return find(d, name, d->cells < d->columns ? d->cells : d->columns);
}

const char *trk__delimited_cell(const struct trk_delimited *d, const char *name)
{
	return trk__delimited_text(d, find_cell(d, name));
}

double trk__delimited_value(const struct trk_delimited *d, const char *name)
{
	return trk__delimited_number(d, find_cell(d, name));
}

double trk__delimited_bytes(const struct trk_delimited *d, const char *name)
{
	return trk__value_bytes(trk__delimited_cell(d, name), 1, NULL);
}
