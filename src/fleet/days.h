/* Spend by day: what was used and what was wasted, the expected course, and odd days.
 *
 * The forecast uses the newest 8 weeks of whole days, at least 4. The factor of a weekday is the
 * median of its days divided by the median of all days. The level is the Theil-Sen line through the
 * days divided by their factor; 90 % of days lie within 1.64 units of noise of it. A day is odd
 * beyond 3.2 units, if the false-discovery budget of the view permits; its cause is the job with
 * the largest excess over its own mean. */
#ifndef TRK_FLEET_DAYS_H
#define TRK_FLEET_DAYS_H

#include "fleet/job.h"

enum {
	TRK_FLEET_DAYS_MAX = 400,
	TRK_FLEET_AHEAD_DAYS = 14,
	TRK_FLEET_COURSE_DAYS = 56,
	TRK_FLEET_COURSE_DAYS_MIN = 28,
	TRK_FLEET_MONTH_DAYS_MIN = 14, /* for the expected cost of this month */
	TRK_FLEET_ODD_DAYS_MAX = 8,
};

struct trk_fleet_day {
	long day; /* since 1970 */
	struct trk_fleet_sum sum;
};

struct trk_fleet_forecast {
	bool known;
	long first_day;                                                   /* tomorrow */
	double usd[TRK_FLEET_AHEAD_DAYS], band_usd[TRK_FLEET_AHEAD_DAYS]; /* +- */
	double month_usd, month_band_usd;                                 /* the next 30 days */
	double month_usd_advised; /* the same less what the changes save */
	size_t days;              /* of history that it uses */
};

struct trk_fleet_odd_day {
	long day, last_day;
	double usd, usual_usd, change; /* of all those days */
	double p;
	size_t job;       /* index in rows; SIZE_MAX: no single one */
	double job_usd;   /* its excess, signed */
	size_t jobs_less; /* jobs that ran less or not at all, where the days are low */
};

struct trk_fleet_days {
	struct trk_fleet_day *day; /* owned; oldest first, up to today, which is not over */
	size_t count;
	struct trk_fleet_forecast forecast;
	struct trk_fleet_odd_day odd[TRK_FLEET_ODD_DAYS_MAX]; /* oldest first */
	size_t odd_count;
	size_t tested; /* days that were tested */
};

/* The days since `since_s`; the forecast may use earlier days. saves_usd_month: savings by the
 * advice. 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_days_make(const struct trk_fleet_rows *rows, double since_s, double saves_usd_month,
			 struct trk_fleet_days *ret);
void trk__fleet_days_release(struct trk_fleet_days *days);

/* The calendar month of the time of the rows. */
struct trk_fleet_month {
	long first_day;
	double spent_usd;    /* so far */
	double expected_usd; /* for the whole month, by the same forecast; NaN: less than 14 days */
};
/* 0 or -ENOMEM. */
int trk__fleet_month_make(const struct trk_fleet_rows *rows, struct trk_fleet_month *ret);

#endif
