/* Robust statistics and tests for the views over many runs: medians, the Theil-Sen slope, rank
 * tests, count tests, and the false-discovery rate over all tests of a view. Pure; uses base/maths
 * instead of libm. */
#ifndef TRK_FLEET_STATISTICS_H
#define TRK_FLEET_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/maths.h"

/* 1.4826 times the median absolute deviation is the standard deviation of normal noise. */
#define TRK_MAD_TO_SD 1.4826

/* The value below which this share (0 to 1) of the values lies; sorts `values`. */
double trk__quantile(double *values, size_t n, double share);

double trk__square_root(double x);

/* Chance that a normal value is above z standard deviations. */
double trk__normal_tail(double z);

/* A straight line through points, robust against outliers (Theil-Sen). */
struct trk_line {
	double slope, level; /* value = level + slope * x */
	double noise;        /* TRK_MAD_TO_SD times the median absolute residual */
	double trend_p;      /* p-value of the trend (Mann-Kendall) */
};
enum { TRK_LINE_POINTS_MAX = 64 };
/* Fit the newest TRK_LINE_POINTS_MAX of n points, x ascending. 0, or -TRK_ERR_NODATA below 3 points
 * or where all x are equal. */
int trk__line_fit(const double *x, const double *y, size_t n, struct trk_line *ret);

/* Fisher's exact test, one-sided: the chance of at least `hits` failures among `with` runs that
 * have a trait, if `failed` of `all` runs failed independently of the trait. */
double trk__fisher_tail(uint32_t hits, uint32_t with, uint32_t failed, uint32_t all);

/* Sign test, one-sided: the chance of at least `hits` heads in n tosses of a fair coin. */
double trk__sign_tail(uint32_t hits, uint32_t n);

/* Benjamini-Hochberg: of `tests` tests, those with a p of at most the returned value may be
 * reported, so that in the long run at most `share` of the reports are false. p: the p-values of
 * the candidates, sorted here; other tests count in `tests` only. 0: none. */
double trk__budget(double *p, size_t n, size_t tests, double share);

#endif
