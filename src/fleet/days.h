/* Spend by day: what was used and what was wasted, the expected course, and odd days.
 *
 * The course is that of the newest 8 weeks of whole days: the factor of a weekday is the median of
 * its days over the median of all, the level is the line of Theil and Sen through the days by their
 * factor, and nine days of ten lie within 1.64 units of noise of it. A day is odd beyond 3.2 units,
 * and within the budget of the view; its cause is the job with the largest excess over its own
 * mean. Nothing is expected of less than 4 weeks. */
#ifndef TRK_FLEET_DAYS_H
#define TRK_FLEET_DAYS_H

#include "fleet/job.h"

enum {
	TRK_FLEET_DAYS_MAX = 400,
	TRK_FLEET_AHEAD_DAYS = 14,
	TRK_FLEET_COURSE_DAYS = 56,
	TRK_FLEET_COURSE_DAYS_MIN = 28,
	TRK_FLEET_MONTH_DAYS_MIN = 14, /* for what this month is expected to cost */
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
	size_t days;              /* of history that it rests on */
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
	size_t tested; /* days that were looked at for being odd */
};

/* The days since `since_s`; the forecast rests on as many as it needs. saves_usd_month: of the
 * advice. 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_days_make(const struct trk_fleet_rows *rows, double since_s, double saves_usd_month,
			 struct trk_fleet_days *ret);
void trk__fleet_days_release(struct trk_fleet_days *days);

/* The calendar month of the moment of the rows. */
struct trk_fleet_month {
	long first_day;
	double spent_usd;    /* by now */
	double expected_usd; /* of the whole month, by the same course; NaN: less than 14 days */
};
/* 0 or -ENOMEM. */
int trk__fleet_month_make(const struct trk_fleet_rows *rows, struct trk_fleet_month *ret);

#endif
