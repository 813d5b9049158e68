#include "fleet/days.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/statistics.h"
#include "fleet/words.h"

enum { WEEK = 7, MONTH = 30 };

static const double nine_of_ten = 1.64, odd_noises = 3.2;
/* The factors are fitted to the same days: the residual is smaller than the noise of a day. */
static const double fitted_noise = 1.4;

/* All days of the view, and the fit to the whole days. */
struct course {
	const struct trk_fleet_rows *rows;
	struct trk_fleet_day *day; /* the newest is today */
	size_t count;
	size_t first; /* of the course; the course ends before today */
	double factor[WEEK];
	struct trk_line line; /* x: days before today, below 0 */
};

static size_t length_of(const struct trk_fleet_rows *rows, double since_s)
{
	long today = trk__fleet_day(rows, rows->now_s), first = trk__fleet_day(rows, since_s);
	long days = today - first + 1;

	return days < 1 ? 1 : days > TRK_FLEET_DAYS_MAX ? TRK_FLEET_DAYS_MAX : (size_t) days;
}

static void sum_days(struct course *c)
{
	long today = trk__fleet_day(c->rows, c->rows->now_s);

	for (size_t i = 0; i < c->count; i++)
		c->day[i].day = today - (long) (c->count - 1 - i);
	for (size_t i = 0; i < c->rows->count; i++) {
		const struct trk_fleet_run *run = &c->rows->run[i];
		long at = trk__fleet_day(c->rows, run->past.start_s) - c->day[0].day;

		if (at >= 0 && at < (long) c->count && run->end != TRK_FLEET_RUNNING)
			trk__fleet_sum_add(&c->day[at].sum, run);
	}
}

/* ---- the course ---- */

static size_t weekday(long day)
{
	return (size_t) (((day % WEEK) + WEEK) % WEEK);
}

static void find_factors(struct course *c)
{
	double all[TRK_FLEET_COURSE_DAYS], same[TRK_FLEET_COURSE_DAYS], middle;
	size_t n = 0;

	for (size_t i = c->first; i + 1 < c->count; i++)
		all[n++] = c->day[i].sum.usd;
	middle = trk__median(all, n);
	for (size_t w = 0; w < WEEK; w++) {
		n = 0;
		for (size_t i = c->first; i + 1 < c->count; i++)
			if (weekday(c->day[i].day) == w)
				same[n++] = c->day[i].sum.usd;
		c->factor[w] = n && middle > 0 ? trk__median(same, n) / middle : 1;
		if (!(c->factor[w] > 0.02))
			c->factor[w] = 0.02;
	}
}

/* False: fewer days than `least`, or too few of them with runs. */
static bool fit(struct course *c, size_t least)
{
	double x[TRK_FLEET_COURSE_DAYS], y[TRK_FLEET_COURSE_DAYS];
	size_t n = 0, whole = c->count - 1, used = 0;

	c->first = whole > TRK_FLEET_COURSE_DAYS ? whole - TRK_FLEET_COURSE_DAYS : 0;
	while (c->first < whole && c->day[c->first].sum.runs == 0)
		c->first++;
	for (size_t i = c->first; i < whole; i++)
		used += c->day[i].sum.usd > 0;
	if (whole - c->first < least || used * 2 < whole - c->first)
		return false;
	find_factors(c);
	for (size_t i = c->first; i < whole; i++) {
		x[n] = (double) i - (double) whole;
		y[n++] = c->day[i].sum.usd / c->factor[weekday(c->day[i].day)];
	}
	if (trk__line_fit(x, y, n, &c->line) < 0)
		return false;
	/* Ignore a slope that noise can explain: it would be extrapolated by a month. */
	if (c->line.trend_p > 0.05) {
		c->line.slope = 0;
		c->line.level = trk__median(y, n);
	}
	return true;
}

static double expected(const struct course *c, size_t at, long day)
{
	double x = (double) at - (double) (c->count - 1), usd = c->line.level + c->line.slope * x;

	return usd > 0 ? usd * c->factor[weekday(day)] : 0;
}

static void look_ahead(const struct course *c, double saves_usd_month, struct trk_fleet_forecast *f)
{
	double squares = 0;

	f->known = true;
	f->first_day = c->day[c->count - 1].day + 1;
	f->days = c->count - 1 - c->first;
	for (size_t i = 0; i < MONTH; i++) {
		long day = f->first_day + (long) i;
		double usd = expected(c, c->count + i, day);
		double band = nine_of_ten * fitted_noise * c->line.noise * c->factor[weekday(day)];

		f->month_usd += usd;
		squares += band * band;
		if (i < TRK_FLEET_AHEAD_DAYS) {
			f->usd[i] = usd;
			f->band_usd[i] = band;
		}
	}
	f->month_band_usd = trk__square_root(squares);
	f->month_usd_advised = f->month_usd > saves_usd_month ? f->month_usd - saves_usd_month : 0;
}

/* ---- odd days ---- */

/* Compare the spend of each job on these days with its mean. */
static void find_cause(const struct course *c, size_t first, size_t last,
		       struct trk_fleet_odd_day *odd)
{
	double sign = odd->change < 0 ? -1 : 1, most = 0;
	double days = (double) (last - first + 1), whole = (double) (c->count - 1 - c->first);

	odd->job = SIZE_MAX;
	for (size_t k = 0; k < c->rows->jobs; k++) {
		const struct trk_fleet_name *job = &c->rows->job[k];
		double then = 0, usual = 0;

		for (size_t i = job->first; i < job->first + job->count; i++) {
			const struct trk_fleet_run *run = &c->rows->run[i];
			long at = trk__fleet_day(c->rows, run->past.start_s) - c->day[0].day;

			if (!(run->usd > 0) || at < (long) c->first || at + 1 >= (long) c->count)
				continue;
			usual += run->usd / whole;
			if (at >= (long) first && at <= (long) last)
				then += run->usd;
		}
		odd->jobs_less += then < 0.5 * usual * days;
		if ((then - usual * days) * sign > most) {
			most = (then - usual * days) * sign;
			odd->job = k;
			odd->job_usd = then - usual * days;
		}
	}
	/* A job that explains less than half of the gap is not its cause. */
	if (most < 0.5 * fabs(odd->usd - odd->usual_usd))
		odd->job = SIZE_MAX;
}

static double distance(const struct course *c, size_t at)
{
	double usual = expected(c, at, c->day[at].day);
	double noise = fitted_noise * c->line.noise * c->factor[weekday(c->day[at].day)];

	/* Days of equal sums have no noise: use at least 0.1 % of a usual day. */
	if (noise < usual / 1000)
		noise = usual / 1000;
	return noise > 0 ? (c->day[at].sum.usd - usual) / noise : 0;
}

static void find_odd(const struct course *c, struct trk_fleet_days *days)
{
	for (size_t i = c->first; i + 1 < c->count; i++) {
		double z = distance(c, i), p = 2 * trk__normal_tail(fabs(z));
		struct trk_fleet_odd_day *odd = NULL;
		bool merge;

		days->tested++;
		if (fabs(z) < odd_noises || i + days->count < c->count)
			continue;
		if (days->odd_count)
			odd = &days->odd[days->odd_count - 1];
		merge = odd && odd->last_day + 1 == c->day[i].day && (odd->change < 0) == (z < 0);
		if (!merge && days->odd_count == TRK_FLEET_ODD_DAYS_MAX)
			continue;
		if (!merge) {
			odd = &days->odd[days->odd_count++];
			*odd = (struct trk_fleet_odd_day){.day = c->day[i].day, .p = 1};
		}
		odd->last_day = c->day[i].day;
		odd->usd += c->day[i].sum.usd;
		odd->usual_usd += expected(c, i, c->day[i].day);
		odd->change = odd->usual_usd > 0 ? odd->usd / odd->usual_usd - 1 : (double) NAN;
		odd->p = p < odd->p ? p : odd->p;
	}
	for (size_t i = 0; i < days->odd_count; i++)
		find_cause(c, (size_t) (days->odd[i].day - c->day[0].day),
			   (size_t) (days->odd[i].last_day - c->day[0].day), &days->odd[i]);
}

int trk__fleet_days_make(const struct trk_fleet_rows *rows, double since_s, double saves_usd_month,
			 struct trk_fleet_days *ret)
{
	struct trk_fleet_days days = {.count = length_of(rows, since_s)};
	struct course c = {.rows = rows, .count = days.count};

	if (c.count < TRK_FLEET_COURSE_DAYS + 1)
		c.count = TRK_FLEET_COURSE_DAYS + 1;
	c.day = calloc(c.count, sizeof(*c.day));
	days.day = calloc(days.count, sizeof(*days.day));
	if (!c.day || !days.day) {
		free(c.day);
		free(days.day);
		return -ENOMEM;
	}
	sum_days(&c);
	if (fit(&c, TRK_FLEET_COURSE_DAYS_MIN)) {
		look_ahead(&c, saves_usd_month > 0 ? saves_usd_month : 0, &days.forecast);
		find_odd(&c, &days);
	}
	memcpy(days.day, c.day + c.count - days.count, days.count * sizeof(*days.day));
	free(c.day);
	*ret = days;
	return 0;
}

void trk__fleet_days_release(struct trk_fleet_days *days)
{
	free(days->day);
	*days = (struct trk_fleet_days){.count = 0};
}

/* ---- the month ---- */

/* Expected spend of the rest of today and of the days until `end`. */
static double rest_of_month(const struct course *c, long end)
{
	const struct trk_fleet_day *today = &c->day[c->count - 1];
	double usd = expected(c, c->count - 1, today->day) - today->sum.usd;

	if (usd < 0)
		usd = 0;
	for (long day = today->day + 1; day < end; day++)
		usd += expected(c, c->count - 1 + (size_t) (day - today->day), day);
	return usd;
}

int trk__fleet_month_make(const struct trk_fleet_rows *rows, struct trk_fleet_month *ret)
{
	struct course c = {.rows = rows, .count = TRK_FLEET_COURSE_DAYS + 1};
	long today = trk__fleet_day(rows, rows->now_s);
	long first = today - trk__fleet_day_of_month(today) + 1, end = first + 28;

	while (trk__fleet_day_of_month(end) != 1)
		end++;
	c.day = calloc(c.count, sizeof(*c.day));
	if (!c.day)
		return -ENOMEM;
	sum_days(&c);
	*ret = (struct trk_fleet_month){.first_day = first, .expected_usd = NAN};
	for (size_t i = 0; i < c.count; i++)
		if (c.day[i].day >= first)
			ret->spent_usd += c.day[i].sum.usd;
	if (fit(&c, TRK_FLEET_MONTH_DAYS_MIN))
		ret->expected_usd = ret->spent_usd + rest_of_month(&c, end);
	free(c.day);
	return 0;
}
