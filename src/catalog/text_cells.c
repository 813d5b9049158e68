#include "catalog/text_cells.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int trk__text_mistake(struct trk_text_reading *r, const char *at, const char *format, ...)
{
	va_list args;
	int error;

	va_start(args, format);
	error = trk__catalog_mistake(r->reterr, r->file, r->line, (size_t) (at - r->line_start) + 1,
				     format, args);
	va_end(args);
	return error;
}

bool trk__text_is(const struct trk_text_cell *c, const char *word)
{
	return strlen(word) == c->len && !memcmp(c->at, word, c->len);
}

bool trk__text_is_unknown(const struct trk_text_reading *r, size_t cell)
{
	return cell >= r->n || trk__text_is(&r->cells[cell], "-");
}

int trk__text_quoted(const struct trk_text_cell *c)
{
	return c->len < 60 ? (int) c->len : 60;
}

int trk__text_needs_cells(struct trk_text_reading *r, size_t least, const char *names)
{
	if (r->n >= least)
		return 0;
	return trk__text_mistake(r, r->cells[r->n - 1].at + r->cells[r->n - 1].len,
				 "too few cells; this line has: %s", names);
}

/* An unsigned decimal of at most `max`. Unknown cells leave *ret as it is. */
int trk__text_number(struct trk_text_reading *r, size_t cell, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (trk__text_is_unknown(r, cell))
		return 0;
	for (size_t i = 0; i < r->cells[cell].len; i++) {
		char c = r->cells[cell].at[i];

		if (c < '0' || c > '9')
			return trk__text_mistake(
				r, r->cells[cell].at + i, "not a whole number: %.*s",
				trk__text_quoted(&r->cells[cell]), r->cells[cell].at);
		value = value * 10 + (uint64_t) (c - '0');
		if (value > max)
			return trk__text_mistake(r, r->cells[cell].at, "too large: %.*s",
						 trk__text_quoted(&r->cells[cell]),
						 r->cells[cell].at);
	}
	if (!r->cells[cell].len)
		return trk__text_mistake(r, r->cells[cell].at, "an empty cell; unknown is -");
	*ret = value;
	return 0;
}

/* A decimal fraction in units of 10^-decimals; further digits are a mistake. */
int trk__text_fraction(struct trk_text_reading *r, size_t cell, unsigned int decimals, uint64_t max,
		       uint64_t *ret)
{
	const struct trk_text_cell *c = &r->cells[cell];
	uint64_t value = 0;
	unsigned int after = 0;
	bool point = false, digit = false;

	for (size_t i = 0; i < c->len; i++) {
		if (c->at[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (c->at[i] < '0' || c->at[i] > '9')
			return trk__text_mistake(r, c->at + i, "not a number: %.*s",
						 trk__text_quoted(c), c->at);
		after += point;
		digit = true;
		value = value * 10 + (uint64_t) (c->at[i] - '0');
		if (value > max || after > decimals)
			return trk__text_mistake(r, c->at,
						 "too large or more than %u decimals: %.*s",
						 decimals, trk__text_quoted(c), c->at);
	}
	for (; after < decimals; after++)
		value *= 10;
	if (!digit || value > max)
		return trk__text_mistake(r, c->at, "not a number in range: %.*s",
					 trk__text_quoted(c), c->at);
	*ret = value;
	return 0;
}

int trk__text_choice(struct trk_text_reading *r, size_t cell, const char *const *names, size_t n,
		     uint8_t *ret)
{
	for (size_t i = 0; cell < r->n && i < n; i++) {
		if (trk__text_is(&r->cells[cell], names[i])) {
			*ret = (uint8_t) i;
			return 0;
		}
	}
	return trk__text_mistake(r, r->cells[cell].at, "unknown word %.*s; one is: %s",
				 trk__text_quoted(&r->cells[cell]), r->cells[cell].at, names[0]);
}

/* "2026-07-20" as 20260720. */
int trk__text_date(struct trk_text_reading *r, size_t cell, uint32_t *ret)
{
	const struct trk_text_cell *c = &r->cells[cell];
	uint32_t value = 0;

	for (size_t i = 0; i < c->len; i++) {
		bool dash = i == 4 || i == 7;

		if (dash ? c->at[i] != '-' : c->at[i] < '0' || c->at[i] > '9')
			return trk__text_mistake(r, c->at, "not a date (2026-01-31): %.*s",
						 trk__text_quoted(c), c->at);
		if (!dash && i < 10)
			value = value * 10 + (uint32_t) (c->at[i] - '0');
	}
	if (c->len != 10 || value % 100 < 1 || value % 100 > 31 || value / 100 % 100 < 1 ||
	    value / 100 % 100 > 12)
		return trk__text_mistake(r, c->at, "not a date (2026-01-31): %.*s",
					 trk__text_quoted(c), c->at);
	*ret = value;
	return 0;
}

uint32_t trk__text_text(struct trk_text_reading *r, size_t cell)
{
	if (trk__text_is_unknown(r, cell))
		return 0;
	return trk__catalog_builder_text(r->b, r->cells[cell].at, r->cells[cell].len);
}

/* Index of the record whose first member is the text of the cell, or -1. `vendor`: of a region. */
int trk__text_find(const struct trk_text_reading *r, const struct trk_buf *table, size_t record,
		   size_t cell, int vendor)
{
	for (size_t i = 0; i < table->len / record; i++) {
		const char *at = table->data + i * record;
		uint32_t id;

		memcpy(&id, at, sizeof(id));
		if (vendor >= 0 &&
		    ((const struct trk_catalog_region *) (const void *) at)->vendor != vendor)
			continue;
		if (trk__text_is(&r->cells[cell], r->b->texts.data + id))
			return (int) i;
	}
	return -1;
}

int trk__text_find_vendor(struct trk_text_reading *r, size_t cell)
{
	int at = trk__text_find(r, &r->b->vendors, sizeof(struct trk_catalog_vendor), cell, -1);

	if (at < 0)
		return trk__text_mistake(r, r->cells[cell].at, "vendor %.*s is not defined above",
					 trk__text_quoted(&r->cells[cell]), r->cells[cell].at);
	r->vendor = (uint8_t) at;
	return 0;
}

int trk__text_find_source(struct trk_text_reading *r, size_t cell, uint16_t *ret)
{
	int at = trk__text_find(r, &r->b->sources, sizeof(struct trk_catalog_source), cell, -1);

	if (at < 0)
		return trk__text_mistake(r, r->cells[cell].at, "source %.*s is not defined above",
					 trk__text_quoted(&r->cells[cell]), r->cells[cell].at);
	*ret = (uint16_t) at;
	return 0;
}

/* The server that a row is about. */
struct trk_catalog_server *trk__text_row_server(struct trk_text_reading *r, bool add, int *reterror)
{
	bool fresh;
	int at;

	if (!r->cells[1].len || r->cells[1].len > 200) {
		*reterror = trk__text_mistake(r, r->cells[1].at, "no type, or a very long one");
		return NULL;
	}
	at = trk__catalog_builder_server(r->b, r->vendor, r->cells[1].at, r->cells[1].len, add,
					 &fresh);
	if (at == -ENOENT)
		at = trk__text_mistake(r, r->cells[1].at,
				       "type %.*s is not in a block of servers above",
				       trk__text_quoted(&r->cells[1]), r->cells[1].at);
	if (at < 0) {
		*reterror = at;
		return NULL;
	}
	return (struct trk_catalog_server *) (void *) r->b->servers.data + at;
}

int trk__text_open_block(struct trk_text_reading *r, size_t cell, uint32_t *retdate)
{
	if (trk__text_find_source(r, cell, &r->source) < 0 ||
	    trk__text_date(r, cell + 1, retdate) < 0)
		return -EBADMSG;
	return trk__text_choice(r, cell + 2, trk__catalog_quality_names, TRK_FACTS, &r->quality);
}
