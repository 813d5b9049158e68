/* A screen as an array of cells. Text is written into a frame, and the terminal receives the
 * difference between two frames.
 *
 * Untrusted text is sanitised here: control and invisible characters become '?'. Wide characters
 * take two cells, combining marks are dropped. */
#ifndef TRK_TOP_FRAME_H
#define TRK_TOP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	TRK_FRAME_COLUMNS_MAX = 512,
	TRK_FRAME_ROWS_MAX = 256,
	TRK_CELL_BYTES = 4, /* bytes of one character of UTF-8 */
};

/* A style is one of the 16-colour palette's colours and any of the attributes. */
enum trk_style {
	TRK_STYLE_PLAIN = 0,
	TRK_STYLE_RED = 1,
	TRK_STYLE_GREEN = 2,
	TRK_STYLE_YELLOW = 3,
	TRK_STYLE_BLUE = 4,
	TRK_STYLE_MAGENTA = 5,
	TRK_STYLE_CYAN = 6,
	TRK_STYLE_COLOR = 7, /* mask */
	TRK_STYLE_BOLD = 8,
	TRK_STYLE_DIM = 16,
	TRK_STYLE_REVERSE = 32,
};

struct trk_cell {
	char text[TRK_CELL_BYTES]; /* not terminated; "" is the right half of a wide character */
	uint8_t len;
	uint8_t style;
};

struct trk_frame {
	int columns, rows;
	bool utf8;             /* else only ASCII reaches the cells */
	struct trk_cell *cell; /* owned: rows * columns */
};

/* Create a blank frame; sizes are clamped to 1 and the maxima above. 0 or -ENOMEM. */
int trk__frame_init(struct trk_frame *f, int columns, int rows, bool utf8);
void trk__frame_release(struct trk_frame *f);
void trk__frame_clear(struct trk_frame *f);

/* Write text at column x of row y, in at most `max` columns, clipped to the frame. Returns the
 * column after it. */
int trk__frame_put(struct trk_frame *f, int x, int y, int max, unsigned int style,
		   const char *text);
/* As above, up to the row's end. */
int trk__frame_text(struct trk_frame *f, int x, int y, unsigned int style, const char *text);
/* As above, right-aligned: the text ends before column `right`. */
void trk__frame_right(struct trk_frame *f, int right, int y, unsigned int style, const char *text);
int trk__frame_printf(struct trk_frame *f, int x, int y, unsigned int style, const char *format,
		      ...) __attribute__((format(printf, 5, 6)));
/* Blank n cells. */
void trk__frame_blank(struct trk_frame *f, int x, int y, int n);

/* Append the output that changes a terminal from `before` to `now`: cursor moves, styles and text.
 * before NULL or of another size: the screen is cleared first. Without `color` no attributes or
 * colours are written. */
void trk__frame_diff(const struct trk_frame *before, const struct trk_frame *now, bool color,
		     struct trk_buf *out);
/* The frame as lines without blanks at their ends, for a pipe. */
void trk__frame_lines(const struct trk_frame *f, bool color, struct trk_buf *out);

#endif
