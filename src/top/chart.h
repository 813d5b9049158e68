/* A chart of values over time in cells: braille dots, two columns of four rows a cell, or one ASCII
 * level a cell. */
#ifndef TRK_TOP_CHART_H
#define TRK_TOP_CHART_H

#include "top/frame.h"

/* As TRK_WATCH_BINS_MAX, of which charts are. */
enum { TRK_CHART_BINS_MAX = 2 * TRK_FRAME_COLUMNS_MAX };

struct trk_chart {
	int x, y, columns, rows; /* in cells */
	double top;              /* the value of the upper edge; NaN or 0: nothing is drawn */
	unsigned int style;
	double warn; /* values from here on are red; NaN: none are */
};

/* Values that a chart of so many columns takes. */
int trk__chart_bins(const struct trk_frame *f, int columns);

/* Draw value[0..bins), and over it a dim line of usual[0..bins), which may be NULL. NaN is a
 * gap. */
void trk__chart_draw(struct trk_frame *f, const struct trk_chart *chart, const float *value,
		     const float *usual);

/* A meter of n cells that is full to `share`, from 0 to 1; NaN draws nothing. */
void trk__meter_draw(struct trk_frame *f, int x, int y, int n, double share, unsigned int style);

/* The smallest of 1, 2 and 5 times a power of ten, or of the steps of a clock, that is at least so
 * many seconds: how much time a chart shows. Grows in steps, so that most frames move nothing. */
double trk__chart_span(double seconds);

#endif
