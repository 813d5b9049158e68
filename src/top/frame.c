#include "top/frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Up to so many unchanged cells are sent again instead of moving the cursor, which takes 6 to 8
 * bytes. */
enum { GAP = 5, LINE_MAX_BYTES = 4 * TRK_FRAME_COLUMNS_MAX };

static const struct trk_cell blank = {.text = " ", .len = 1};

static int held(int value, int max)
{
	return value < 1 ? 1 : value > max ? max : value;
}

int trk__frame_init(struct trk_frame *f, int columns, int rows, bool utf8)
{
	f->columns = held(columns, TRK_FRAME_COLUMNS_MAX);
	f->rows = held(rows, TRK_FRAME_ROWS_MAX);
	f->utf8 = utf8;
	f->cell = malloc((size_t) f->columns * (size_t) f->rows * sizeof(*f->cell));
	if (!f->cell)
		return -ENOMEM;
	trk__frame_clear(f);
	return 0;
}

void trk__frame_release(struct trk_frame *f)
{
	free(f->cell);
	*f = (struct trk_frame){.cell = NULL};
}

void trk__frame_clear(struct trk_frame *f)
{
	for (int i = 0; i < f->columns * f->rows; i++)
		f->cell[i] = blank;
}

static struct trk_cell *cell_at(const struct trk_frame *f, int x, int y)
{
	return &f->cell[y * f->columns + x];
}

/* A wide character of which one half is overwritten leaves a blank. */
static void detach(struct trk_frame *f, int x, int y)
{
	if (cell_at(f, x, y)->len == 0 && x > 0)
		*cell_at(f, x - 1, y) = blank;
	if (x + 1 < f->columns && cell_at(f, x + 1, y)->len == 0)
		*cell_at(f, x + 1, y) = blank;
}

static void set(struct trk_frame *f, int x, int y, unsigned int style, const char *text, size_t len)
{
	struct trk_cell *c = cell_at(f, x, y);

	detach(f, x, y);
	*c = (struct trk_cell){.len = (uint8_t) len, .style = (uint8_t) style};
	memcpy(c->text, text, len);
}

int trk__frame_put(struct trk_frame *f, int x, int y, int max, unsigned int style, const char *text)
{
	size_t left = strlen(text);
	int end = max < f->columns - x ? x + max : f->columns;

	if (y < 0 || y >= f->rows || x < 0)
		return x;
	while (left && x < end) {
		size_t size = trk__utf8_length(text, left);
		bool shown = !trk__utf8_is_hidden(text, size) && (size == 1 || f->utf8);
		int columns = shown ? (int) trk__utf8_char_columns(text, size) : 1;

		if (x + columns > end)
			break;
		if (columns > 0)
			set(f, x, y, style, shown ? text : "?", shown ? size : 1);
		if (columns > 1) {
			detach(f, x + 1, y);
			*cell_at(f, x + 1, y) = (struct trk_cell){.style = (uint8_t) style};
		}
		x += columns;
		size = size ? size : 1;
		text += size;
		left -= size;
	}
	return x;
}

int trk__frame_text(struct trk_frame *f, int x, int y, unsigned int style, const char *text)
{
	return trk__frame_put(f, x, y, TRK_FRAME_COLUMNS_MAX, style, text);
}

void trk__frame_right(struct trk_frame *f, int right, int y, unsigned int style, const char *text)
{
	int x = right - (int) trk__utf8_columns(text);

	(void) trk__frame_put(f, x < 0 ? 0 : x, y, right, style, text);
}

int trk__frame_printf(struct trk_frame *f, int x, int y, unsigned int style, const char *format,
		      ...)
{
	char text[LINE_MAX_BYTES];
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return trk__frame_text(f, x, y, style, text);
}

void trk__frame_blank(struct trk_frame *f, int x, int y, int n)
{
	if (y < 0 || y >= f->rows || x < 0)
		return;
	for (; n > 0 && x < f->columns; n--, x++)
		set(f, x, y, TRK_STYLE_PLAIN, " ", 1);
}

/* ---- output to the terminal ---- */

struct pen {
	struct trk_buf *out;
	bool color;
	unsigned int style; /* as the terminal has it */
	int x, y;           /* of its cursor; -1: not known */
};

static void take_style(struct pen *p, unsigned int style)
{
	if (!p->color || style == p->style)
		return;
	trk__buf_puts(p->out, "\033[0");
	if (style & TRK_STYLE_BOLD)
		trk__buf_puts(p->out, ";1");
	if (style & TRK_STYLE_DIM)
		trk__buf_puts(p->out, ";2");
	if (style & TRK_STYLE_REVERSE)
		trk__buf_puts(p->out, ";7");
	if (style & TRK_STYLE_COLOR)
		trk__buf_printf(p->out, ";3%u", style & TRK_STYLE_COLOR);
	trk__buf_putc(p->out, 'm');
	p->style = style;
}

static void move(struct pen *p, int x, int y)
{
	if (p->x == x && p->y == y)
		return;
	trk__buf_printf(p->out, "\033[%d;%dH", y + 1, x + 1);
	p->x = x;
	p->y = y;
}

static bool is_same(const struct trk_cell *a, const struct trk_cell *b)
{
	return a->len == b->len && a->style == b->style && !memcmp(a->text, b->text, a->len);
}

/* The first column from which on the row is blank. */
static int row_end(const struct trk_frame *f, int y)
{
	int end = f->columns;

	while (end > 0 && is_same(cell_at(f, end - 1, y), &blank))
		end--;
	return end;
}

static void send_cells(struct pen *p, const struct trk_frame *f, int from, int to, int y)
{
	move(p, from, y);
	for (int x = from; x < to; x++) {
		const struct trk_cell *c = cell_at(f, x, y);

		if (c->len == 0)
			continue;
		take_style(p, c->style);
		trk__buf_add(p->out, c->text, c->len);
	}
	/* After the last column the position of the cursor depends on the terminal. */
	p->x = to < f->columns ? to : -1;
}

/* Find the next run of cells to send in a row; false: none. */
static bool next_run(const struct trk_frame *before, const struct trk_frame *now, int y, int end,
		     int *ret_from, int *ret_to)
{
	int from = *ret_to, to, same = 0;

	while (from < end && is_same(cell_at(before, from, y), cell_at(now, from, y)))
		from++;
	if (from >= end)
		return false;
	for (to = from + 1; to < end && same < GAP; to++)
		same = is_same(cell_at(before, to, y), cell_at(now, to, y)) ? same + 1 : 0;
	to -= same;
	while (from > 0 && cell_at(now, from, y)->len == 0)
		from--;
	*ret_from = from;
	*ret_to = to;
	return true;
}

static void send_row(struct pen *p, const struct trk_frame *before, const struct trk_frame *now,
		     int y)
{
	int end = row_end(now, y), old_end = before ? row_end(before, y) : 0;
	int from = 0, to = 0;

	if (!before && end)
		send_cells(p, now, 0, end, y);
	while (before && next_run(before, now, y, end, &from, &to))
		send_cells(p, now, from, to, y);
	if (old_end > end) {
		move(p, end, y);
		take_style(p, TRK_STYLE_PLAIN);
		trk__buf_puts(p->out, "\033[K");
	}
}

void trk__frame_diff(const struct trk_frame *before, const struct trk_frame *now, bool color,
		     struct trk_buf *out)
{
	struct pen p = {.out = out, .color = color, .x = -1, .y = -1};

	if (before &&
	    (!before->cell || before->columns != now->columns || before->rows != now->rows))
		before = NULL;
	if (!before)
		trk__buf_puts(out, "\033[0m\033[2J");
	for (int y = 0; y < now->rows; y++)
		send_row(&p, before, now, y);
	take_style(&p, TRK_STYLE_PLAIN);
}

void trk__frame_lines(const struct trk_frame *f, bool color, struct trk_buf *out)
{
	struct pen p = {.out = out, .color = color};
	int rows = f->rows;

	while (rows > 0 && row_end(f, rows - 1) == 0)
		rows--;
	for (int y = 0; y < rows; y++) {
		p.x = 0;
		p.y = y;
		send_cells(&p, f, 0, row_end(f, y), y);
		take_style(&p, TRK_STYLE_PLAIN);
		trk__buf_putc(out, '\n');
	}
}
