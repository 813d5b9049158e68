/* Robust statistics and tests for the views over many runs: medians, the slope of Theil and Sen,
 * tests by rank and by count, and one budget for all tests of a view. Pure; nothing but libc, so
 * logarithms and roots are those of base/maths. */
#ifndef TRK_FLEET_STATISTICS_H
#define TRK_FLEET_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* 1.4826 times the median absolute deviation is the standard deviation of normal noise. */
#define TRK_MAD_TO_SD 1.4826

/* Median of n values, which are put in another order; NaN of none. */
double trk__median(double *values, size_t n);
/* The value below which this share (0 to 1) of the values lies, as `values` are put in order. */
double trk__quantile(double *values, size_t n, double share);

double trk__square_root(double x);

/* Chance that a normal value is above z standard deviations. */
double trk__normal_tail(double z);

/* A straight line through points that outliers do not move. */
struct trk_line {
	double slope, level; /* value = level + slope * x */
	double noise;        /* TRK_MAD_TO_SD times the median absolute residual */
	double trend_p;      /* chance of so clear a rise or fall without one (Mann-Kendall) */
};
enum { TRK_LINE_POINTS_MAX = 64 };
/* Through the newest TRK_LINE_POINTS_MAX of n points, x ascending. 0, or -TRK_E_NODATA below 3
 * points or where all x are equal. */
int trk__line_fit(const double *x, const double *y, size_t n, struct trk_line *ret);

/* Fisher's exact test, one-sided: the chance of at least `hits` failures among `with` runs that
 * have a trait, where `failed` of `all` runs failed and the trait has no part in it. */
double trk__fisher_tail(uint32_t hits, uint32_t with, uint32_t failed, uint32_t all);

/* Sign test, one-sided: the chance of at least `hits` heads of n throws of a fair coin. */
double trk__sign_tail(uint32_t hits, uint32_t n);

/* The budget of Benjamini and Hochberg: of `tests` tests, those with a p of at most the returned
 * value are told, so that at most `share` of what is told is false in the long run. p: of the tests
 * that may be told, put in order here; the others count in `tests` alone. 0: none. */
double trk__budget(double *p, size_t n, size_t tests, double share);

#endif
