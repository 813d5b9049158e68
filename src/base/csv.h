/* Cells of delimited text, quoted as CSV quotes them: "a cell, with a ""quote""". */
#ifndef TRK_BASE_CSV_H
#define TRK_BASE_CSV_H

#include <stddef.h>

enum trk_csv_state {
	TRK_CSV_GOOD,
	TRK_CSV_UNCLOSED, /* a quote without its closing one; the cell is the rest of the text */
	TRK_CSV_AFTER,    /* text between a closing quote and the delimiter, at `bad_at` */
};

/* A view of the text. */
struct trk_csv_cell {
	const char *at; /* after the opening quote */
	size_t len;     /* up to the closing quote, "" not yet replaced */
	int is_quoted;
	enum trk_csv_state state;
	const char *bad_at;
};

/* The cell that begins at `at` and ends at the delimiter, at a line end outside quotes or at `end`.
 * Returns where it ends. */
const char *trk__csv_cell(const char *at, const char *end, char delimiter,
			  struct trk_csv_cell *ret);
/* Copy the cell to `to`, which has room for cell->len + 1 bytes and may be cell->at or before it,
 * with "" replaced. Returns its length. */
size_t trk__csv_copy(const struct trk_csv_cell *cell, char *to);

#endif
