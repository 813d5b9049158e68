#include "advise/anomaly.h"

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

/* Logarithms of the newest known values, oldest first. */
static size_t logarithms(const double *values, size_t count, double ln[TRK_ANOMALY_RUNS_MAX])
{
	size_t n = 0, first = count;

	while (first > 0 && n < TRK_ANOMALY_RUNS_MAX)
		n += known(values[--first]);
	n = 0;
	for (size_t i = first; i < count; i++)
		if (known(values[i]))
			ln[n++] = trk__ln(values[i]);
	return n;
}

/* Median and unit of noise of n > 0 logarithms. */
static void noise_of(const double *ln, size_t n, double floor_share, double *ret_middle,
		     double *ret_unit)
{
	double v[TRK_ANOMALY_RUNS_MAX];

	memcpy(v, ln, n * sizeof(*v));
	*ret_middle = trk__median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(ln[i] - *ret_middle);
	*ret_unit = mad_to_sd * trk__median(v, n);
	if (*ret_unit < floor_share)
		*ret_unit = floor_share;
}

int trk__anomaly_judge(const double *earlier, size_t count, double value, double floor_share,
		       struct trk_anomaly *ret)
{
	double ln[TRK_ANOMALY_RUNS_MAX];
	size_t n = logarithms(earlier, count, ln);

	return trk__anomaly_judge_ln(ln, n, value, floor_share, ret);
}

int trk__anomaly_judge_ln(const double *ln, size_t n, double value, double floor_share,
			  struct trk_anomaly *ret)
{
	struct trk_anomaly o = {TRK_ANOMALY_TOO_FEW, NAN, NAN, NAN, NAN, n};
	double middle = NAN, unit = NAN;

	if (!known(value) || !(floor_share >= 0))
		return -EINVAL;
	if (o.runs > 0) {
		noise_of(ln, o.runs, floor_share, &middle, &unit);
		o.median = trk__exp(middle);
		o.change = value / o.median - 1;
	}
	if (o.runs >= TRK_ANOMALY_RUNS_MIN) {
		double gap = trk__ln(value) - middle;

		/* Without a floor, equal figures have no noise: then every change is an anomaly. */
		o.noise_share = unit;
		o.distance = unit > 0 ? gap / unit : gap == 0 ? 0 : copysign(INFINITY, gap);
		o.kind = TRK_ANOMALY_NO;
		if (fabs(o.distance) > TRK_ANOMALY_LIMIT)
			o.kind = o.distance > 0 ? TRK_ANOMALY_HIGH : TRK_ANOMALY_LOW;
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

/* Update the cumulative sums by one value; returns the drift that it shows, or 0. */
struct drift {
	double up, down;
};

static double next_drift(struct drift *d, const double *ln, size_t at, double floor_share)
{
	size_t first = at > TRK_ANOMALY_STREAM_RUNS ? at - TRK_ANOMALY_STREAM_RUNS : 0;
	double middle, unit, distance, drift;

	noise_of(ln + first, at - first, floor_share, &middle, &unit);
	distance = at_most((ln[at] - middle) / unit, TRK_ANOMALY_LIMIT);
	d->up = larger(d->up + distance - drift_slack, 0);
	d->down = larger(d->down - distance - drift_slack, 0);
	drift = d->up > TRK_DRIFT_LIMIT ? d->up : d->down > TRK_DRIFT_LIMIT ? -d->down : 0;
	/* A change is reported once. */
	d->up = drift > 0 ? 0 : d->up;
	d->down = drift < 0 ? 0 : d->down;
	return drift;
}

int trk__anomaly_drift(const double *values, size_t count, double floor_share, double *ret)
{
	double ln[TRK_ANOMALY_RUNS_MAX], drift = 0;
	size_t n = logarithms(values, count, ln);
	struct drift d = {0, 0};

	if (!(floor_share > 0))
		return -EINVAL;
	if (n <= TRK_ANOMALY_RUNS_MIN)
		return -TRK_ERR_NODATA;
	for (size_t i = TRK_ANOMALY_RUNS_MIN; i < n; i++)
		drift = next_drift(&d, ln, i, floor_share);
	*ret = drift;
	return 0;
}

size_t trk__anomaly_drifts(const double *values, size_t count, double floor_share, size_t *ret_at)
{
	double ln[TRK_ANOMALY_STREAM_RUNS + 1];
	struct drift d = {0, 0};
	size_t found = 0, held = 0;

	for (size_t i = 0; i < count; i++) {
		if (held > TRK_ANOMALY_STREAM_RUNS)
			memmove(ln, ln + 1, --held * sizeof(*ln));
		ln[held++] = trk__ln(values[i]);
		if (i >= TRK_ANOMALY_RUNS_MIN && next_drift(&d, ln, held - 1, floor_share) != 0)
			ret_at[found++] = i;
	}
	return found;
}
