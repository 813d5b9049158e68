/* The cells of one line of a catalogue text, and errors in them with file, line and column.
 *
 * Shared by the files of catalog/text.h. */
#ifndef TRK_CATALOG_TEXT_CELLS_H
#define TRK_CATALOG_TEXT_CELLS_H

#include "base/error.h"
#include "catalog/image.h"

enum { TRK_TEXT_CELLS_MAX = 12 };

struct trk_text_cell {
	const char *at;
	size_t len;
};

struct trk_text_reading {
	struct trk_catalog_builder *b;
	const char *file;
	struct trk_error *reterr;
	unsigned long line;
	const char *line_start;
	struct trk_text_cell cells[TRK_TEXT_CELLS_MAX];
	size_t n;
	bool has_head, has_end;
	size_t base_blocks; /* blocks that were there before this file */
	/* The block that rows belong to. */
	int (*row)(struct trk_text_reading *r);
	uint8_t vendor, quality;
	uint16_t source, region;
};

/* -EBADMSG, with a message about the place `at`. */
int trk__text_mistake(struct trk_text_reading *r, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool trk__text_is(const struct trk_text_cell *c, const char *word);
/* Whether a cell is "-" or missing. */
bool trk__text_is_unknown(const struct trk_text_reading *r, size_t cell);
/* Length of a cell for "%.*s", bounded. */
int trk__text_quoted(const struct trk_text_cell *c);
int trk__text_needs_cells(struct trk_text_reading *r, size_t least, const char *names);

/* The value of a cell; 0 or -EBADMSG. An unknown number leaves *ret untouched. */
int trk__text_number(struct trk_text_reading *r, size_t cell, uint64_t max, uint64_t *ret);
/* A decimal fraction in units of 10^-decimals; further digits are a mistake. */
int trk__text_fraction(struct trk_text_reading *r, size_t cell, unsigned int decimals, uint64_t max,
		       uint64_t *ret);
int trk__text_choice(struct trk_text_reading *r, size_t cell, const char *const *names, size_t n,
		     uint8_t *ret);
/* "2026-07-20" as 20260720. */
int trk__text_date(struct trk_text_reading *r, size_t cell, uint32_t *ret);
/* The cell in the pool of texts; 0 when unknown. */
uint32_t trk__text_text(struct trk_text_reading *r, size_t cell);

/* Index of the record whose first member is the text of the cell, or -1. `vendor`: for regions. */
int trk__text_find(const struct trk_text_reading *r, const struct trk_buf *table, size_t record,
		   size_t cell, int vendor);
/* These set r->vendor and *ret. */
int trk__text_find_vendor(struct trk_text_reading *r, size_t cell);
int trk__text_find_source(struct trk_text_reading *r, size_t cell, uint16_t *ret);

/* The server in the second cell of a row; NULL with *reterror. */
struct trk_catalog_server *trk__text_row_server(struct trk_text_reading *r, bool add,
						int *reterror);
/* Read source, date and quality of a block, from this cell on. */
int trk__text_open_block(struct trk_text_reading *r, size_t cell, uint32_t *retdate);
/* Lines that open blocks of text_prices.c. */
int trk__text_open_prices(struct trk_text_reading *r);
int trk__text_open_spots(struct trk_text_reading *r);

#endif
