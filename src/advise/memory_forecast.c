/* The predictors of the next peak. */
#include <math.h>
#include <string.h>

#include "advise/memory_private.h"
#include "base/maths.h"

enum { ALIKE = 3, LINE_POINTS_MIN = 3 };

static const double average_share = 0.3; /* of the newest run in the moving average */
static const double power_max = 1.5;     /* memory grows with at most this power of the input */
static const double ln_2 = 0.69314718055994531;
static const double ln_beyond_max = 2 * 0.69314718055994531; /* 4 times */

/* If the next input of a young job is known, earlier peaks are scaled up to that input by its
 * power, at most young_power_max, and by at most young_scale_max: without that bound the young jobs
 * of held-out families paid a third more (docs/advice-replay.md). */
static const double young_power_max = 1.2, young_scale_max = 1.5;
/* Added to the spread of ln input, so that two or three points do not give a steep line. */
static const double young_spread = 1;

/* Each: what would have been forecast before run `at` (at == count: for the next run), from the
 * runs before it; NaN where nothing can be said. */

static void forecast_max(const struct trk_history *h, double *past)
{
	double max = NAN;

	for (size_t i = 0; i <= h->count; i++) {
		past[i] = max;
		if (i < h->count && !(max >= h->need_bytes[i]))
			max = h->need_bytes[i];
	}
}

struct trk_input_fit trk__history_fit(const struct trk_history *h)
{
	struct trk_input_fit fit = {0};
	double sx = 0, sy = 0;

	for (size_t i = 0; i < h->count; i++)
		if (!isnan(h->ln_input[i])) {
			fit.n++;
			sx += h->ln_input[i];
			sy += h->ln_need[i];
		}
	for (size_t i = 0; i < h->count; i++)
		if (!isnan(h->ln_input[i])) {
			double x = h->ln_input[i] - sx / fit.n;

			fit.sxx += x * x;
			fit.sxy += x * (h->ln_need[i] - sy / fit.n);
		}
	return fit;
}

/* Slope of ln peak over ln input of the few runs that there are. */
static double young_power(const struct trk_history *h)
{
	struct trk_input_fit fit = trk__history_fit(h);
	double power = fit.sxy / (fit.sxx + young_spread);

	return power < 0 ? 0 : power > young_power_max ? young_power_max : power;
}

bool trk__memory_scale_young(const struct trk_history *h, double *ret_need_bytes)
{
	double ln_next = trk__ln(h->next_input_bytes), power, ln_most = trk__ln(young_scale_max);
	bool scaled = false;

	memcpy(ret_need_bytes, h->need_bytes, h->count * sizeof(*ret_need_bytes));
	if (h->count >= TRK_YOUNG_RUNS || isnan(ln_next))
		return false;
	power = young_power(h);
	for (size_t i = 0; i < h->count; i++) {
		double ln_scale = power * (ln_next - h->ln_input[i]);

		if (!(ln_scale > 0))
			continue;
		ret_need_bytes[i] *= trk__exp(ln_scale < ln_most ? ln_scale : ln_most);
		scaled = true;
	}
	return scaled;
}

static void forecast_average(const struct trk_history *h, double *past)
{
	double ln = NAN;

	for (size_t i = 0; i <= h->count; i++) {
		past[i] = trk__exp(ln);
		if (i < h->count)
			ln = isnan(ln) ? h->ln_need[i] : ln + average_share * (h->ln_need[i] - ln);
	}
}

static double input_at(const struct trk_history *h, size_t at)
{
	return at < h->count ? h->input_bytes[at] : h->next_input_bytes;
}

/* Running sums around the first point, so that nothing cancels. */
struct line {
	size_t n;
	double x0, y0, sx, sy, sxx, sxy, min;
};

static void line_add(struct line *l, double x, double y)
{
	if (l->n == 0) {
		l->x0 = x;
		l->y0 = y;
		l->min = y;
	}
	x -= l->x0;
	l->n++;
	l->sx += x;
	l->sy += y - l->y0;
	l->sxx += x * x;
	l->sxy += x * (y - l->y0);
	if (y < l->min)
		l->min = y;
}

/* The line's value at x, its slope no less than 0 and no more than slope_max. */
static double line_at(const struct line *l, double x, double slope_max)
{
	double n = (double) l->n, spread, slope = 0;

	if (l->n < LINE_POINTS_MIN || isnan(x))
		return NAN;
	spread = l->sxx - l->sx * l->sx / n;
	if (spread > 1e-12 * l->sxx)
		slope = (l->sxy - l->sx * l->sy / n) / spread;
	if (!(slope > 0))
		slope = 0;
	if (slope > slope_max)
		slope = slope_max;
	return l->y0 + l->sy / n + slope * (x - l->x0 - l->sx / n);
}

static double at_least(double y, double least)
{
	return y < least ? least : y; /* NaN stays */
}

/* The largest input and peak of the runs so far, which bound the forecast for a larger input. */
struct seen {
	double ln_input, ln_need;
};

static void seen_add(struct seen *s, const struct trk_history *h, size_t at)
{
	if (isnan(h->ln_input[at]))
		return;
	s->ln_input = s->ln_input > h->ln_input[at] ? s->ln_input : h->ln_input[at];
	s->ln_need = s->ln_need > h->ln_need[at] ? s->ln_need : h->ln_need[at];
}

/* Beyond the runs so far, memory grows at most in proportion to the input, and the forecast is at
 * most some times the largest peak: a line through runs of different programs may give 5 TiB where
 * 0.3 GiB are needed. */
static double bounded(double bytes, const struct seen *s, double ln_x)
{
	double ln_more = ln_x - s->ln_input, most;

	ln_more = !(ln_more > 0) ? 0 : ln_more < ln_beyond_max ? ln_more : ln_beyond_max;
	most = trk__exp(s->ln_need + ln_more);
	return bytes > most ? most : bytes;
}

static void forecast_line(const struct trk_history *h, double *past)
{
	struct line l = {0};
	struct seen seen = {-INFINITY, -INFINITY};

	for (size_t i = 0; i <= h->count; i++) {
		double x = input_at(h, i);

		past[i] = at_least(line_at(&l, x, INFINITY), l.min / 2);
		past[i] = bounded(past[i], &seen, trk__ln(x));
		if (i == h->count || isnan(h->input_bytes[i]))
			continue;
		line_add(&l, h->input_bytes[i], h->need_bytes[i]);
		seen_add(&seen, h, i);
	}
}

/* The same through the logarithms: memory as a power of the input. */
static void forecast_power(const struct trk_history *h, double *past)
{
	struct line l = {0};
	struct seen seen = {-INFINITY, -INFINITY};

	for (size_t i = 0; i <= h->count; i++) {
		double ln_x = i < h->count ? h->ln_input[i] : trk__ln(h->next_input_bytes);

		past[i] = trk__exp(at_least(line_at(&l, ln_x, power_max), l.min - ln_2));
		past[i] = bounded(past[i], &seen, ln_x);
		if (i == h->count || isnan(h->ln_input[i]))
			continue;
		line_add(&l, h->ln_input[i], h->ln_need[i]);
		seen_add(&seen, h, i);
	}
}

static double alike_at(const struct trk_history *h, size_t at)
{
	double ln_x = trk__ln(input_at(h, at)), distance[ALIKE], need[ALIKE], max = NAN;
	size_t kept = 0;

	if (isnan(ln_x))
		return NAN;
	for (size_t i = at; i-- > 0;) { /* newest first: it wins a tie */
		double d = fabs(h->ln_input[i] - ln_x);
		size_t place = kept;

		if (isnan(d))
			continue;
		while (place > 0 && d < distance[place - 1])
			place--;
		if (place == ALIKE)
			continue;
		if (kept < ALIKE)
			kept++;
		for (size_t k = kept - 1; k > place; k--) {
			distance[k] = distance[k - 1];
			need[k] = need[k - 1];
		}
		distance[place] = d;
		need[place] = h->need_bytes[i];
	}
	for (size_t k = 0; k < kept; k++)
		if (!(max >= need[k]))
			max = need[k];
	return max;
}

static void forecast_alike(const struct trk_history *h, double *past)
{
	for (size_t i = 0; i <= h->count; i++)
		past[i] = alike_at(h, i);
}

static void (*const forecast[TRK_BASES])(const struct trk_history *h, double *past) = {
	[TRK_BASIS_MAX] = forecast_max,     [TRK_BASIS_AVERAGE] = forecast_average,
	[TRK_BASIS_LINE] = forecast_line,   [TRK_BASIS_ALIKE] = forecast_alike,
	[TRK_BASIS_POWER] = forecast_power,
};

void trk__memory_forecast(const struct trk_history *h, enum trk_basis basis, double *ret_past)
{
	forecast[basis](h, ret_past);
}
