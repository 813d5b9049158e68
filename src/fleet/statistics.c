#include "fleet/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

double trk__quantile(double *v, size_t n, double share)
{
	size_t at;

	if (n == 0)
		return NAN;
	trk__sort_values(v, n);
	at = (size_t) (share * (double) n);
	return v[at < n ? at : n - 1];
}

double trk__square_root(double x)
{
	double root;

	if (!(x > 0))
		return x < 0 ? (double) NAN : x;
	/* Root by its logarithm, then one step of Newton. */
	root = trk__exp(trk__ln(x) / 2);
	return (root + x / root) / 2;
}

/* The tail of the error function by the rational approximation of Abramowitz and Stegun (26.2.17)
 * near the middle, and by the continued fraction beyond. */
double trk__normal_tail(double z)
{
	static const double root_of_2pi = 2.5066282746310002;
	double density, t, tail;

	if (z < 0)
		return 1 - trk__normal_tail(-z);
	density = trk__exp(-z * z / 2) / root_of_2pi;
	if (z < 3) {
		t = 1 / (1 + 0.2316419 * z);
		tail = t * (0.319381530 +
			    t * (-0.356563782 +
				 t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
		return density * tail;
	}
	t = z;
	for (int k = 40; k > 0; k--)
		t = z + k / t;
	return density / t;
}

/* ---- a line ---- */

static double slope_of(const double *x, const double *y, size_t n)
{
	double *slopes = malloc(n * n / 2 * sizeof(*slopes)), slope = NAN;
	size_t count = 0;

	for (size_t i = 0; slopes && i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (x[k] > x[i])
				slopes[count++] = (y[k] - y[i]) / (x[k] - x[i]);
	slope = trk__median(slopes, count);
	free(slopes);
	return slope;
}

/* Mann and Kendall: pairs that rise less those that fall, in standard deviations. */
static double trend_p(const double *y, size_t n)
{
	double sum = 0, count = (double) n;
	double deviation = trk__square_root(count * (count - 1) * (2 * count + 5) / 18);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			sum += (y[k] > y[i]) - (y[k] < y[i]);
	sum = fabs(sum) - 1;
	return sum <= 0 ? 1 : 2 * trk__normal_tail(sum / deviation);
}

int trk__line_fit(const double *x, const double *y, size_t n, struct trk_line *ret)
{
	double v[TRK_LINE_POINTS_MAX];
	struct trk_line line;

	if (n > TRK_LINE_POINTS_MAX) {
		x += n - TRK_LINE_POINTS_MAX;
		y += n - TRK_LINE_POINTS_MAX;
		n = TRK_LINE_POINTS_MAX;
	}
	if (n < 3)
		return -TRK_ERR_NODATA;
	line.slope = slope_of(x, y, n);
	if (isnan(line.slope))
		return -TRK_ERR_NODATA;
	for (size_t i = 0; i < n; i++)
		v[i] = y[i] - line.slope * x[i];
	line.level = trk__median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(y[i] - line.slope * x[i] - line.level);
	line.noise = TRK_MAD_TO_SD * trk__median(v, n);
	line.trend_p = trend_p(y, n);
	*ret = line;
	return 0;
}

/* ---- tests by count ---- */

/* ln(n!), by the series of Stirling from 16 on. */
static double ln_factorial(double n)
{
	static const double half_ln_2pi = 0.91893853320467274;
	double sum = 0;

	if (n < 16) {
		for (int k = 2; k <= (int) n; k++)
			sum += trk__ln(k);
		return sum;
	}
	return (n + 0.5) * trk__ln(n) - n + half_ln_2pi + 1 / (12 * n) - 1 / (360 * n * n * n);
}

static double ln_choose(double n, double k)
{
	return ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
}

double trk__fisher_tail(uint32_t hits, uint32_t with, uint32_t failed, uint32_t all)
{
	double k = hits, w = with, f = failed, n = all, most = w < f ? w : f, term, sum;

	if (hits == 0)
		return 1;
	if (k > most || w > n || f > n || n - w < f - k)
		return k > most ? 0 : 1;
	term = trk__exp(ln_choose(w, k) + ln_choose(n - w, f - k) - ln_choose(n, f));
	sum = term;
	for (uint32_t i = hits; i < most && term > 1e-30; i++) {
		k = i;
		term *= (w - k) * (f - k) / ((k + 1) * (n - w - f + k + 1));
		sum += term;
	}
	return sum < 1 ? sum : 1;
}

double trk__sign_tail(uint32_t hits, uint32_t n)
{
	static const double ln_2 = 0.69314718055994531;
	double sum = 0;

	for (uint32_t k = hits; k <= n; k++)
		sum += trk__exp(ln_choose(n, k) - n * ln_2);
	return sum < 1 ? sum : 1;
}

double trk__budget(double *p, size_t n, size_t tests, double share)
{
	if (tests < n)
		tests = n;
	trk__sort_values(p, n);
	for (size_t i = n; i-- > 0;)
		if (p[i] <= share * (double) (i + 1) / (double) tests)
			return p[i];
	return 0;
}
