#include "top/chart.h"
#include "base/maths.h"

#include <math.h>

enum { DOTS = 4, BRAILLE = 0x2800 };

int trk__chart_bins(const struct trk_frame *f, int columns)
{
	int bins = columns < 0                       ? 0
		   : columns > TRK_FRAME_COLUMNS_MAX ? TRK_FRAME_COLUMNS_MAX
						     : columns;

	return f->utf8 ? 2 * bins : bins;
}

/* How many of `levels` levels a value fills: at least one above 0. */
static int level(double value, double top, int levels)
{
	double part = value / top * levels;

	if (!(part > 0))
		return 0;
	return (int) trk__whole(part + 0.5, 1, levels);
}

/* Braille dot of a row, counted from the bottom, in a column of a cell. */
static unsigned int dot(int column, int row)
{
	static const unsigned char bits[2][DOTS] = {{0x40, 0x04, 0x02, 0x01},
						    {0x80, 0x20, 0x10, 0x08}};

	return bits[column][row];
}

static void put_braille(struct trk_frame *f, int x, int y, unsigned int style, unsigned int dots)
{
	unsigned int code = BRAILLE + dots;
	char text[4] = {(char) (0xe0 | code >> 12), (char) (0x80 | (code >> 6 & 0x3f)),
			(char) (0x80 | (code & 0x3f)), '\0'};

	(void) trk__frame_put(f, x, y, 1, style, text);
}

/* The dots of one cell; rows are counted from the bottom. *ret_filled: some are of the value. */
static unsigned int dots_of(const struct trk_chart *c, const double *value, const double *usual,
			    int cell, int row, bool *ret_filled)
{
	unsigned int dots = 0;
	int levels = c->rows * DOTS;

	*ret_filled = false;
	for (int i = 0; i < 2; i++) {
		int filled = level(value[2 * cell + i], c->top, levels) - row * DOTS;
		int line = usual ? level(usual[2 * cell + i], c->top, levels) - row * DOTS : 0;

		for (int d = 0; d < DOTS && d < filled; d++)
			dots |= dot(i, d);
		*ret_filled |= filled > 0;
		if (line > filled && line >= 1 && line <= DOTS)
			dots |= dot(i, line - 1);
	}
	return dots;
}

static bool is_above(const struct trk_chart *c, const double *value, int n)
{
	for (int i = 0; i < n; i++)
		if (value[i] >= c->warn)
			return true;
	return false;
}

static void draw_braille(struct trk_frame *f, const struct trk_chart *c, const double *value,
			 const double *usual)
{
	for (int row = 0; row < c->rows; row++)
		for (int x = 0; x < c->columns; x++) {
			bool filled;
			unsigned int style, dots = dots_of(c, value, usual, x, row, &filled);

			style = !filled                         ? TRK_STYLE_DIM
				: is_above(c, value + 2 * x, 2) ? TRK_STYLE_RED
								: c->style;
			if (dots)
				put_braille(f, c->x + x, c->y + c->rows - 1 - row, style, dots);
		}
}

static void draw_ascii(struct trk_frame *f, const struct trk_chart *c, const double *value,
		       const double *usual)
{
	static const char *const levels[] = {" ", ".", ":", "=", "#"};

	for (int row = 0; row < c->rows; row++)
		for (int x = 0; x < c->columns; x++) {
			int filled = level(value[x], c->top, c->rows * DOTS) - row * DOTS;
			int line = usual ? level(usual[x], c->top, c->rows * DOTS) - row * DOTS : 0;
			int y = c->y + c->rows - 1 - row;

			filled = filled > DOTS ? DOTS : filled;
			if (filled > 0)
				(void) trk__frame_put(f, c->x + x, y, 1,
						      is_above(c, value + x, 1) ? TRK_STYLE_RED
										: c->style,
						      levels[filled]);
			else if (line >= 1 && line <= DOTS)
				(void) trk__frame_put(f, c->x + x, y, 1, TRK_STYLE_DIM, "-");
		}
}

void trk__chart_draw(struct trk_frame *f, const struct trk_chart *chart, const double *value,
		     const double *usual)
{
	if (!(chart->top > 0) || isinf(chart->top) || chart->columns <= 0 ||
	    chart->columns > TRK_FRAME_COLUMNS_MAX)
		return;
	if (f->utf8)
		draw_braille(f, chart, value, usual);
	else
		draw_ascii(f, chart, value, usual);
}

void trk__meter_draw(struct trk_frame *f, int x, int y, int n, double share, unsigned int style)
{
	int full = isnan(share) ? 0 : level(share, 1, n);

	if (isnan(share))
		return;
	for (int i = 0; i < n; i++)
		(void) trk__frame_put(f, x + i, y, 1, i < full ? style : TRK_STYLE_DIM,
				      i < full  ? f->utf8 ? "\u2588" : "#"
				      : f->utf8 ? "\u2591"
						: ".");
}

double trk__chart_span(double seconds)
{
	static const double steps[] = {10,   20,   30,   60,    120,   300,   600,   900,
				       1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800};
	double span = steps[sizeof(steps) / sizeof(steps[0]) - 1];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (seconds <= steps[i])
			return steps[i];
	while (span < seconds && span < 1e12)
		span *= 2;
	return span;
}
