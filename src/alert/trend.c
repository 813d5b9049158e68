#include "alert/trend.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"

static const double SPACING_S = 10, LEAST_S = 55;
enum { LEAST_POINTS = 6 };

void trk__alert_trend_init(struct trk_alert_trend *t)
{
	memset(t, 0, sizeof(*t));
	t->slope = NAN;
}

static double median_slope(const struct trk_alert_trend *t)
{
	double slope[TRK_ALERT_POINTS * (TRK_ALERT_POINTS - 1) / 2] = {0};
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < i; k++)
			slope[n++] = (t->value[i] - t->value[k]) / (t->at_s[i] - t->at_s[k]);
	return trk__median(slope, n);
}

void trk__alert_trend_add(struct trk_alert_trend *t, double at_s, double value)
{
	size_t last = (t->next + TRK_ALERT_POINTS - 1) % TRK_ALERT_POINTS;

	if (isnan(value) || (t->count && at_s < t->at_s[last] + SPACING_S))
		return;
	t->at_s[t->next] = at_s;
	t->value[t->next] = value;
	t->next = (t->next + 1) % TRK_ALERT_POINTS;
	if (t->count < TRK_ALERT_POINTS)
		t->count++;
	t->is_old = true;
}

double trk__alert_trend_slope(struct trk_alert_trend *t)
{
	size_t first = t->count < TRK_ALERT_POINTS ? 0 : t->next;
	size_t last = (t->next + TRK_ALERT_POINTS - 1) % TRK_ALERT_POINTS;

	if (!t->is_old)
		return t->slope;
	t->is_old = false;
	t->slope = t->count >= LEAST_POINTS && t->at_s[last] - t->at_s[first] >= LEAST_S
			   ? median_slope(t)
			   : NAN;
	return t->slope;
}
