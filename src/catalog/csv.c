/* Convert a site's own prices from CSV to the text format of catalog/text.h.
 *
 * The first line names the columns, in any order: vendor, region, type, price (or ondemand,
 * usd_per_hour) in USD an hour, and optionally saving (typical spot saving in percent). Cells may
 * be quoted. Vendor, region and type must be in the catalogue. */
#include "catalog/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/csv.h"
#include "catalog/image.h"
#include "catalog/suggest.h"

enum { CELLS_MAX = 32, CELL_MAX = 128, PRICES_MAX = 100000 };

enum column { VENDOR, REGION, TYPE, PRICE, SAVING, COLUMNS };

struct row {
	int vendor, region, server, saving;
	uint32_t units;
	unsigned long line;
};

struct reading {
	const struct trk_catalog *c;
	struct trk_catalog_line in;
	char text[CELLS_MAX][CELL_MAX];
	const char *at[CELLS_MAX]; /* where each cell starts, for messages */
	size_t n;
	size_t columns;      /* that the first line names */
	int column[COLUMNS]; /* index of the cell; -1: absent */
	struct row *rows;
	size_t count, room;
};

#define mistake(r, ...) trk__catalog_mistake(&(r)->in, __VA_ARGS__)

/* One cell, quoted or not; *at moves to its comma or to the end. */
static int take_cell(struct reading *r, const char **at, const char *end)
{
	struct trk_csv_cell cell;
	const char *start = *at;
	size_t len;

	if (r->n == CELLS_MAX)
		return mistake(r, start, "more than %d columns", CELLS_MAX);
	r->at[r->n] = start;
	*at = trk__csv_cell(start, end, ',', &cell);
	for (size_t i = 0; i < cell.len; i++)
		if ((unsigned char) cell.at[i] < 0x20 || cell.at[i] == 0x7f)
			return mistake(r, cell.at + i, "a control character");
	if (cell.state == TRK_CSV_UNCLOSED)
		return mistake(r, start, "a quote that is not closed");
	if (cell.state == TRK_CSV_AFTER)
		return mistake(r, cell.bad_at, "text after a closed quote");
	if (cell.len >= CELL_MAX)
		return mistake(r, start, "a cell of more than %d bytes", CELL_MAX);
	len = trk__csv_copy(&cell, r->text[r->n]);
	while (len && r->text[r->n][len - 1] == ' ')
		len--;
	r->text[r->n++][len] = '\0';
	return 0;
}

static int split(struct reading *r, const char *line, const char *end)
{
	r->n = 0;
	r->in.line_start = line;
	for (;;) {
		if (take_cell(r, &line, end) < 0)
			return -EBADMSG;
		if (line == end)
			return 0;
		line++;
	}
}

static int take_header(struct reading *r)
{
	static const struct {
		const char *name;
		enum column column;
	} known[] = {
		{"vendor", VENDOR},      {"vendor_id", VENDOR}, {"region", REGION},
		{"region_id", REGION},   {"type", TYPE},        {"instance_type", TYPE},
		{"api_reference", TYPE}, {"price", PRICE},      {"ondemand", PRICE},
		{"usd_per_hour", PRICE}, {"saving", SAVING},
	};
	static const char *const names[] = {"vendor", "region", "type", "price"};

	for (int i = 0; i < COLUMNS; i++)
		r->column[i] = -1;
	for (size_t i = 0; i < r->n; i++) {
		bool found = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
			if (strcasecmp(r->text[i], known[k].name) != 0)
				continue;
			if (r->column[known[k].column] >= 0)
				return mistake(r, r->at[i], "column %.40s appears twice",
					       r->text[i]);
			r->column[known[k].column] = (int) i;
			found = true;
		}
		if (!found && strchr(r->text[i], ';'))
			return mistake(r, r->at[i], "cells must be separated by commas, not by ;");
		if (!found)
			return mistake(r, r->at[i],
				       "unknown column %.40s; known: vendor region type price "
				       "saving",
				       r->text[i]);
	}
	for (int i = 0; i <= PRICE; i++)
		if (r->column[i] < 0)
			return mistake(r, r->in.line_start, "no column %s", names[i]);
	r->columns = r->n;
	return 0;
}

static int unknown(struct reading *r, enum column column, enum trk_catalog_kind kind, int vendor)
{
	static const char *const words[] = {"vendor", "region", "type"};
	const char *near[TRK_SUGGESTIONS], *typed = r->text[r->column[column]];
	int n = trk__catalog_suggest(r->c, kind, vendor, typed, near);

	return mistake(r, r->at[r->column[column]], "unknown %s %.40s%s%s%s%s", words[column],
		       typed, n > 0 ? ". Try: " : "", n > 0 ? near[0] : "", n > 1 ? " or " : "",
		       n > 1 ? near[1] : "");
}

/* A decimal of at most 5 places, in units of 1e-5. */
static int take_price(struct reading *r, uint32_t *ret)
{
	const char *s = r->text[r->column[PRICE]];
	uint64_t value = 0;
	int after = -1;

	for (; *s; s++) {
		if (*s == '.' && after < 0) {
			after = 0;
			continue;
		}
		if (*s < '0' || *s > '9' || value > UINT32_MAX)
			return mistake(r, r->at[r->column[PRICE]],
				       "not a price in USD an hour: %.40s",
				       r->text[r->column[PRICE]]);
		if (after >= 5)
			continue;
		value = value * 10 + (uint64_t) (*s - '0');
		after += after >= 0;
	}
	for (after = after < 0 ? 0 : after; after < 5; after++)
		value *= 10;
	if (value == 0 || value > UINT32_MAX)
		return mistake(r, r->at[r->column[PRICE]], "not a price in USD an hour: %.40s",
			       r->text[r->column[PRICE]][0] ? r->text[r->column[PRICE]]
							    : "(empty)");
	*ret = (uint32_t) value;
	return 0;
}

static int take_saving(struct reading *r, int *ret)
{
	const char *s = r->column[SAVING] < 0 ? "" : r->text[r->column[SAVING]];
	char *end;
	long value;

	*ret = -1;
	if (!*s || !strcmp(s, "-"))
		return 0;
	value = strtol(s, &end, 10);
	if (*end || *s < '0' || *s > '9' || value < 0 || value > 100)
		return mistake(r, r->at[r->column[SAVING]], "not a percentage: %.40s", s);
	*ret = (int) value;
	return 0;
}

static int add_row(struct reading *r, const struct row *row)
{
	if (r->count == PRICES_MAX)
		return mistake(r, r->in.line_start, "more than %d prices", PRICES_MAX);
	if (trk__array_reserve(&r->rows, &r->room, r->count + 1, sizeof(*r->rows)) < 0)
		return -ENOMEM;
	r->rows[r->count++] = *row;
	return 0;
}

static int take_row(struct reading *r)
{
	struct row row = {.line = r->in.line};

	for (int i = 0; i < COLUMNS; i++)
		if (r->column[i] >= (int) r->n)
			return mistake(r, r->at[r->n - 1], "too few cells");
	if (r->n > r->columns)
		return mistake(r, r->at[r->columns], "more cells than columns");
	row.vendor = trk__catalog_find_vendor(r->c, r->text[r->column[VENDOR]]);
	if (row.vendor < 0)
		return unknown(r, VENDOR, TRK_KIND_VENDOR, -1);
	row.region = trk__catalog_find_region(r->c, row.vendor, r->text[r->column[REGION]]);
	if (row.region < 0)
		return unknown(r, REGION, TRK_KIND_REGION, row.vendor);
	row.server = trk__catalog_find_server(r->c, row.vendor, r->text[r->column[TYPE]]);
	if (row.server < 0)
		return unknown(r, TYPE, TRK_KIND_SERVER, row.vendor);
	if (take_price(r, &row.units) < 0 || take_saving(r, &row.saving) < 0)
		return -EBADMSG;
	return add_row(r, &row);
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void write_price(struct trk_buf *out, const struct trk_catalog *c, const struct row *row)
{
	size_t n;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);

	trk__buf_printf(out, "\t%s\t%u.%05u", trk__catalog_text(c, s[row->server].name),
			row->units / 100000, row->units % 100000);
	if (row->saving >= 0)
		trk__buf_printf(out, "\t%d", row->saving);
	trk__buf_putc(out, '\n');
}

static int write_all(struct reading *r, const char *date, struct trk_buf *out)
{
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(r->c, &n);
	const struct trk_catalog_region *g = trk__catalog_regions(r->c, &n);

	trk__buf_printf(out, "catalogue\t%d\t%s\nsource\timport\t%s\town\tprices of this site\n",
			TRK_CATALOG_FORMAT, date, date);
	for (size_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i], *last = i ? row - 1 : NULL;

		if (last && last->region == row->region && last->server == row->server) {
			r->in.line = row->line;
			r->in.line_start = "";
			return mistake(r, r->in.line_start,
				       "the same vendor, region and type as line "
				       "%lu",
				       last->line);
		}
		if (!last || last->region != row->region)
			trk__buf_printf(out, "prices\t%s\t%s\timport\t%s\tnegotiated\t%s\n",
					trk__catalog_text(r->c, v[row->vendor].id),
					trk__catalog_text(r->c, g[row->region].id), date, "import");
		write_price(out, r->c, row);
	}
	trk__buf_puts(out, "end\n");
	return out->error;
}

static int take_lines(struct reading *r, const char *csv, size_t len)
{
	const char *end = csv + len;
	bool header = false;

	while (csv < end) {
		const char *stop = memchr(csv, '\n', (size_t) (end - csv)), *last;
		int error;

		last = stop ? stop : end;
		r->in.line++;
		if (last > csv && last[-1] == '\r')
			last--;
		if (last > csv && *csv != '#') {
			error = split(r, csv, last);
			if (error == 0)
				error = header ? take_row(r) : take_header(r);
			if (error < 0)
				return error;
			header = true;
		}
		csv = stop ? stop + 1 : end;
	}
	r->in.line++;
	r->in.line_start = end;
	if (!header)
		return mistake(r, end, "empty; the first line names the columns");
	return r->count ? 0 : mistake(r, end, "no prices");
}

int trk__catalog_csv_convert(const struct trk_catalog *c, const char *file, const char *csv,
			     size_t len, const char *date, struct trk_buf *out,
			     struct trk_error *reterr)
{
	struct reading *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	r->c = c;
	r->in.file = file;
	r->in.reterr = reterr;
	if (len >= 3 && !memcmp(csv, "\xef\xbb\xbf", 3)) { /* spreadsheets begin with it */
		csv += 3;
		len -= 3;
	}
	error = take_lines(r, csv, len);
	if (error == 0 && r->rows) {
		qsort(r->rows, r->count, sizeof(*r->rows), by_place);
		error = write_all(r, date, out);
	}
	if (error == 0)
		error = (int) r->count;
	free(r->rows);
	free(r);
	return error;
}
