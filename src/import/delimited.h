/* Tables of text: a header line with the names of the columns, then rows. Cells may be quoted as in
 * CSV. The text is split in place. */
#ifndef TRK_IMPORT_DELIMITED_H
#define TRK_IMPORT_DELIMITED_H

#include <stddef.h>

enum { TRK_DELIMITED_CELLS_MAX = 128 };

struct trk_delimited {
	char *at; /* the rest of the text; modified */
	const char *end;
	char delimiter;
	unsigned long line; /* of the row, from 1 */
	char *head[TRK_DELIMITED_CELLS_MAX];
	size_t columns;
	char *cell[TRK_DELIMITED_CELLS_MAX];
	size_t cells;
};

/* Read the header line. 0; -ENOENT for an empty text; -EBADMSG for a quote that is not closed, or
 * too many columns. */
int trk__delimited_init(struct trk_delimited *d, char *text, char delimiter);
/* The next row that is not empty. 1; 0 at the end; -EBADMSG. */
int trk__delimited_next(struct trk_delimited *d);
/* Index of a column, ignoring case; -1: none. */
int trk__delimited_column(const struct trk_delimited *d, const char *name);
/* The cell of a column; "" where the row is too short or column is -1. */
const char *trk__delimited_text(const struct trk_delimited *d, int column);
/* A cell as a number; NaN for an empty cell, "-", "NA" and other text. */
double trk__delimited_number(const struct trk_delimited *d, int column);
/* The same by the name of the column. The search costs at most a comparison per cell of the row. */
const char *trk__delimited_cell(const struct trk_delimited *d, const char *name);
double trk__delimited_value(const struct trk_delimited *d, const char *name);
/* "1.2 GB", "512K": see trk__value_bytes(); a bare number is bytes. */
double trk__delimited_bytes(const struct trk_delimited *d, const char *name);

#endif
