/* The few functions of <math.h> that need libm, which the program does not link: it starts with
 * libc alone. Accurate to a few units in the last place; tests hold them to libm's. */
#ifndef TRK_BASE_MATHS_H
#define TRK_BASE_MATHS_H

#include <stddef.h>
#include <stdint.h>

/* Natural logarithm: -inf of 0, NaN of negative numbers and of NaN. */
double trk__ln(double x);
/* e^x: inf and 0 beyond the range, NaN of NaN. */
double trk__exp(double x);
/* Nearest whole number at or above x, and at or below x. */
double trk__ceil(double x);
double trk__floor(double x);
/* Nearest whole number; of two equally near ones the even one (as Python's round()). */
double trk__round_even(double x);
/* x without its fraction, as a number from `low` to `high`; NaN is `low`. C leaves a conversion
 * undefined that does not fit. */
int64_t trk__whole(double x, int64_t low, int64_t high);

/* The median of n values, none of them NaN, in linear time (Hoare's selection); NaN if n is 0.
 * Reorders v. */
double trk__median(double *v, size_t n);
/* Sort ascending; no value is NaN. */
void trk__sort_values(double *v, size_t n);

#endif
