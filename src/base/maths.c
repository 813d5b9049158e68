#include "base/maths.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* ln 2 in two parts: the first has so few bits that a multiple of it by an exponent is exact. */
static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

double trk__ln(double x)
{
	double m, s, square, sum = 0;
	int exponent;

	if (isnan(x) || x < 0)
		return NAN;
	if (x == 0)
		return -INFINITY;
	if (isinf(x))
		return INFINITY;
	m = frexp(x, &exponent); /* 0.5 to 1 */
	if (m < 0.70710678118654752) {
		m *= 2;
		exponent--;
	}
	/* ln m = 2 atanh s = 2 (s + s^3/3 + s^5/5 ...), |s| <= 0.172 */
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int k = 23; k >= 3; k -= 2)
		sum = (sum + 1.0 / k) * square;
	return exponent * ln2_high + (2 * s + (2 * s * sum + exponent * ln2_low));
}

double trk__exp(double x)
{
	double r, term = 1, sum = 1;
	int exponent;

	if (isnan(x))
		return NAN;
	if (x > 709.8)
		return INFINITY;
	if (x < -745.2)
		return 0;
	exponent = (int) (x / (ln2_high + ln2_low) + (x < 0 ? -0.5 : 0.5));
	r = x - exponent * ln2_high - exponent * ln2_low; /* |r| <= 0.35 */
	for (int k = 1; k <= 15; k++) {
		term *= r / k;
		sum += term;
	}
	return ldexp(sum, exponent);
}

double trk__floor(double x)
{
	double whole;

	if (!(fabs(x) < 0x1p52)) /* whole already, infinite, or NaN */
		return x;
	whole = (double) (int64_t) x;
	return whole > x ? whole - 1 : whole;
}

double trk__ceil(double x)
{
	return -trk__floor(-x);
}

double trk__round_even(double x)
{
	double low = trk__floor(x), over = x - low;

	if (!(fabs(x) < 0x1p52))
		return x;
	if (over > 0.5 || (over == 0.5 && trk__floor(low / 2) * 2 != low))
		return low + 1;
	return low;
}

int64_t trk__whole(double x, int64_t low, int64_t high)
{
	if (!(x > (double) low))
		return low;
	return x >= (double) high ? high : (int64_t) x;
}

/* ---- the middle of a list ---- */

/* Partition v[low..high]: no value up to the returned index is larger than one after it. */
static size_t part_by_value(double *v, size_t low, size_t high)
{
	double pivot = v[low + (high - low) / 2];

	for (;;) {
		double x;

		while (v[low] < pivot)
			low++;
		while (v[high] > pivot)
			high--;
		if (low >= high)
			return high;
		x = v[low];
		v[low++] = v[high];
		v[high--] = x;
	}
}

double trk__median(double *v, size_t n)
{
	size_t low = 0, high = n - 1, at = n / 2;
	double below;

	if (n == 0)
		return NAN;
	while (low < high) {
		size_t cut = part_by_value(v, low, high);

		if (at <= cut)
			high = cut;
		else
			low = cut + 1;
	}
	if (n % 2)
		return v[at];
	below = v[0];
	for (size_t i = 1; i < at; i++)
		below = v[i] > below ? v[i] : below;
	return (below + v[at]) / 2;
}

/* ---- order ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

void trk__sort_values(double *v, size_t n)
{
	enum { FEW = 48 };

	if (n > FEW) {
		qsort(v, n, sizeof(*v), by_value);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t at = i;

		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
}
