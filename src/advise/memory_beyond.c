/* The need of a run whose input is larger than that of all runs of a young job. A line through few
 * runs says little there. But over many jobs it is known how the need grows: need = (peak at the
 * largest input) * (ratio of the inputs)^p, and how p is distributed among jobs whose own runs have
 * about this slope. */
#include <math.h>

#include "advise/memory_private.h"
#include "base/maths.h"

enum { SLOPES = 6, QUANTILES = 10, POINTS_MIN = 3 };

static const double beyond_from = 1.05; /* inputs nearer than this are not larger */
static const double same_input = 1.1;   /* the peak is that of inputs within a tenth */
static const double request_most = 2.5; /* times that peak */
static const double noise = 1.02;       /* of runs with the same input */
static const double spread_min = 0.02;  /* of ln input: below, the slope is unknown */

/* A request is one of the quantiles times these. */
static const double margins[] = {1.0, 1.03, 1.08};
enum { MARGINS = sizeof(margins) / sizeof(margins[0]) };

/* Slope of ln peak over ln input up to which a line of `powers` applies; the first line is for an
 * unknown slope. */
static const double slope_most[SLOPES] = {NAN, 0.05, 0.3, 0.6, 0.9, INFINITY};
/* Quantiles 5 %, 15 % … 95 % of p, measured on the jobs of 19 data sets. */
static const double powers[SLOPES][QUANTILES] = {
	{-0.05, 0.00, 0.05, 0.11, 0.22, 0.35, 0.52, 0.75, 0.97, 1.50},
	{-0.05, 0.00, 0.00, 0.00, 0.01, 0.01, 0.03, 0.07, 0.20, 0.60},
	{-0.20, -0.05, 0.00, 0.02, 0.05, 0.09, 0.18, 0.29, 0.50, 0.95},
	{0.00, 0.01, 0.04, 0.20, 0.42, 0.58, 0.80, 0.93, 1.00, 1.15},
	{0.05, 0.30, 0.55, 0.65, 0.72, 0.80, 0.90, 0.99, 1.15, 1.60},
	{0.00, 0.00, 0.02, 0.30, 0.60, 0.72, 0.85, 0.97, 1.02, 1.40},
};

/* Line of `powers` by the slope of the runs. */
static int slope_class(const struct trk_history *h)
{
	struct trk_input_fit fit = trk__history_fit(h);
	int class = 1;

	if (fit.n < POINTS_MIN || fit.sxx <= spread_min)
		return 0;
	while (fit.sxy / fit.sxx > slope_most[class])
		class ++;
	return class;
}

bool trk__memory_is_beyond(const struct trk_history *h, struct trk_beyond *ret)
{
	double most = 0, peak = 0;

	for (size_t i = 0; i < h->count; i++)
		if (h->input_bytes[i] > most)
			most = h->input_bytes[i];
	if (!(most > 0) || h->count >= TRK_YOUNG_RUNS ||
	    !(h->next_input_bytes > beyond_from * most))
		return false;
	for (size_t i = 0; i < h->count; i++)
		if (h->input_bytes[i] >= most / same_input && h->need_bytes[i] > peak)
			peak = h->need_bytes[i];
	*ret = (struct trk_beyond){peak, trk__ln(h->next_input_bytes / most),
				   powers[slope_class(h)]};
	return true;
}

static double need_at(const struct trk_beyond *b, int quantile)
{
	return trk__exp(b->power[quantile] * b->ln_input_ratio);
}

/* Expected price of a request, as in memory_price.c; both in multiples of the peak. */
static double price_of(const struct trk_beyond *b, double lambda, double request)
{
	double price = request;

	for (int i = 0; i < QUANTILES; i++) {
		double need = noise * need_at(b, i);
		double retry = 1.2 * need > 1.6 * request ? 1.2 * need : 1.6 * request;

		if (need > request)
			price += (lambda * need + retry) / QUANTILES;
	}
	return price;
}

double trk__memory_beyond_request(const struct trk_beyond *b, double lambda)
{
	double best = 1, least = price_of(b, lambda, 1);

	for (int i = 0; i < QUANTILES; i++)
		for (int k = 0; k < MARGINS; k++) {
			double request = need_at(b, i) * margins[k];
			double price = request <= request_most ? price_of(b, lambda, request)
							       : (double) INFINITY;

			if (request >= 1 && price < least) {
				least = price;
				best = request;
			}
		}
	return best * b->peak_bytes;
}

/* Between two quantiles the share falls evenly; above the last one it halves with each step of
 * 0.3. */
double trk__memory_beyond_chance(const struct trk_beyond *b, double bytes)
{
	static const double step = 0.3, last_share = 0.5 / QUANTILES;
	double p = trk__ln(bytes / (noise * b->peak_bytes)) / b->ln_input_ratio;
	int at = 0;

	while (at < QUANTILES && b->power[at] <= p)
		at++;
	if (at == 0)
		return 1 - last_share;
	if (at == QUANTILES)
		return last_share * trk__exp(-(p - b->power[at - 1]) / step * trk__ln(2));
	return 1 -
	       (at - 0.5 + (p - b->power[at - 1]) / (b->power[at] - b->power[at - 1])) / QUANTILES;
}
