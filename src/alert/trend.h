/* The slope of a figure over the last five minutes: the median of the slopes between all pairs of
 * points (Theil-Sen), on which a spike has no effect. */
#ifndef TRK_ALERT_TREND_H
#define TRK_ALERT_TREND_H

#include <stdbool.h>
#include <stddef.h>

enum { TRK_ALERT_POINTS = 30 };

struct trk_alert_trend {
	double at_s[TRK_ALERT_POINTS], value[TRK_ALERT_POINTS]; /* a ring */
	size_t count, next;
	double slope;
	bool is_old; /* the slope is outdated: a point was added */
};

void trk__alert_trend_init(struct trk_alert_trend *t);
/* Points closer than 10 s to the last one are left out. */
void trk__alert_trend_add(struct trk_alert_trend *t, double at_s, double value);
/* Units per second; NaN with less than a minute of points. Sorts 435 slopes after a new point. */
double trk__alert_trend_slope(struct trk_alert_trend *t);

#endif
