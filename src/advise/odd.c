#include "advise/odd.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/maths.h"

static const double mad_to_sd = 1.4826;
static const double drift_slack = 0.5;

static bool known(double x)
{
	return x > 0 && x < INFINITY;
}

/* Median of n > 0 values, which are put in order. */
static double median_of(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t at = i;

		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Logarithms of the newest known values, oldest first. */
static size_t logarithms(const double *values, size_t count, double ln[TRK_ODD_RUNS_MAX])
{
	size_t n = 0, first = count;

	while (first > 0 && n < TRK_ODD_RUNS_MAX)
		n += known(values[--first]);
	n = 0;
	for (size_t i = first; i < count; i++)
		if (known(values[i]))
			ln[n++] = trk__ln(values[i]);
	return n;
}

/* Middle and unit of noise of n > 0 logarithms. */
static void noise_of(const double *ln, size_t n, double floor_share, double *ret_middle,
		     double *ret_unit)
{
	double v[TRK_ODD_RUNS_MAX];

	memcpy(v, ln, n * sizeof(*v));
	*ret_middle = median_of(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(ln[i] - *ret_middle);
	*ret_unit = mad_to_sd * median_of(v, n);
	if (*ret_unit < floor_share)
		*ret_unit = floor_share;
}

int trk__odd_judge(const double *earlier, size_t count, double value, double floor_share,
		   struct trk_odd *ret)
{
	struct trk_odd o = {TRK_ODD_TOO_FEW, NAN, NAN, NAN, NAN, 0};
	double ln[TRK_ODD_RUNS_MAX], middle, unit;

	if (!known(value) || !(floor_share >= 0))
		return -EINVAL;
	o.runs = logarithms(earlier, count, ln);
	if (o.runs > 0) {
		noise_of(ln, o.runs, floor_share, &middle, &unit);
		o.median = trk__exp(middle);
		o.change = value / o.median - 1;
	}
	if (o.runs >= TRK_ODD_RUNS_MIN) {
		double gap = trk__ln(value) - middle;

		/* Without a floor, equal figures have no noise: then every change is odd. */
		o.noise_share = unit;
		o.distance = unit > 0 ? gap / unit : gap == 0 ? 0 : copysign(INFINITY, gap);
		o.verdict = TRK_ODD_NO;
		if (fabs(o.distance) > TRK_ODD_LIMIT)
			o.verdict = o.distance > 0 ? TRK_ODD_HIGH : TRK_ODD_LOW;
	}
	*ret = o;
	return 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double at_most(double x, double bound)
{
	return x > bound ? bound : x < -bound ? -bound : x;
}

int trk__odd_drift(const double *values, size_t count, double floor_share, double *ret)
{
	double ln[TRK_ODD_RUNS_MAX], middle, unit, up = 0, down = 0, drift = 0;
	size_t n = logarithms(values, count, ln);

	if (!(floor_share > 0))
		return -EINVAL;
	if (n <= TRK_ODD_RUNS_MIN)
		return -TRK_E_NODATA;
	for (size_t i = TRK_ODD_RUNS_MIN; i < n; i++) {
		size_t first = i > TRK_ODD_STREAM_RUNS ? i - TRK_ODD_STREAM_RUNS : 0;
		double distance;

		noise_of(ln + first, i - first, floor_share, &middle, &unit);
		distance = at_most((ln[i] - middle) / unit, TRK_ODD_LIMIT);
		up = larger(up + distance - drift_slack, 0);
		down = larger(down - distance - drift_slack, 0);
		drift = up > TRK_DRIFT_LIMIT ? up : down > TRK_DRIFT_LIMIT ? -down : 0;
		/* What was told is told once. */
		up = drift > 0 ? 0 : up;
		down = drift < 0 ? 0 : down;
	}
	*ret = drift;
	return 0;
}
