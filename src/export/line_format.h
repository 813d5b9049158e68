/* Formats with one row a line, which `export` writes: CSV, TSV and JSON Lines.
 *
 * A format is one line of the table in line_format.c. Samples (sink/table.h), GPUs, programs,
 * processes and lines of code are written through it. */
#ifndef TRK_EXPORT_LINE_FORMAT_H
#define TRK_EXPORT_LINE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct trk_line_format {
	const char *name;       /* as in --format */
	const char *extensions; /* of file names, with blanks between them */
	bool has_head;          /* the first line has the names; else each cell has its own */
	char separator;
	const char *open, *close; /* of a line */
	const char *unknown, *no, *yes;
	void (*text)(struct trk_buf *b, const char *text);
	void (*number)(struct trk_buf *b, double value, int digits);
};

enum { TRK_LINE_CSV, TRK_LINE_TSV, TRK_LINE_JSONL, TRK_LINE_FORMATS };
extern const struct trk_line_format trk__line_formats[TRK_LINE_FORMATS];

/* Values of trk_line_column.digits other than a number of decimals. */
enum { TRK_LINE_ANY = -1, TRK_LINE_TEXT = -2, TRK_LINE_FLAG = -3 };

struct trk_line_column {
	const char *name;
	int digits; /* decimals in formats that round, or one of the above */
};

/* An unknown value is NULL or NaN; a flag is a number. */
struct trk_line_cell {
	const char *text; /* borrowed */
	double number;
};

/* The line of names; nothing in a format without one. */
void trk__line_head(struct trk_buf *b, const struct trk_line_format *f,
		    const struct trk_line_column *column, size_t columns);
void trk__line_row(struct trk_buf *b, const struct trk_line_format *f,
		   const struct trk_line_column *column, size_t columns,
		   const struct trk_line_cell *cell);
/* Write the text before a cell: a separator, and the name in formats where each cell has it. */
void trk__line_begin_cell(struct trk_buf *b, const struct trk_line_format *f, const char *name,
			  bool is_first);

#endif
