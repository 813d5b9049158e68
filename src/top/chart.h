/* A chart of values over time in character cells: braille dots, two columns of four rows per cell,
 * or one ASCII level per cell. */
#ifndef TRK_TOP_CHART_H
#define TRK_TOP_CHART_H

#include "top/frame.h"

/* Maximum number of bins. */
enum { TRK_CHART_BINS_MAX = 2 * TRK_FRAME_COLUMNS_MAX };

struct trk_chart {
	int x, y, columns, rows; /* in cells */
	double top;              /* the value of the upper edge; NaN or 0: nothing is drawn */
	unsigned int style;
	double warn; /* values from here on are red; NaN: none are */
};

/* Number of values that a chart of `columns` columns shows. */
int trk__chart_bins(const struct trk_frame *f, int columns);

/* Draw value[0..bins), and over it a dim line of usual[0..bins), which may be NULL. NaN is a
 * gap. */
void trk__chart_draw(struct trk_frame *f, const struct trk_chart *chart, const double *value,
		     const double *usual);

/* A meter of n cells that is full to `share`, from 0 to 1; NaN draws nothing. */
void trk__meter_draw(struct trk_frame *f, int x, int y, int n, double share, unsigned int style);

/* The time that a chart shows: at least `seconds`, rounded up to 1, 2 or 5 times a power of ten, or
 * to a step of a clock, so that most frames keep the scale. */
double trk__chart_span(double seconds);

#endif
