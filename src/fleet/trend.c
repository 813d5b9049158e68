/* Trends of one job: the growth of its peaks, new levels of its run time, and what the newest
 * change of its request has saved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/maths.h"
#include "fleet/job_private.h"
#include "fleet/overview.h"
#include "fleet/statistics.h"
#include "fleet/words.h"

enum {
	GROWTH_RUNS = 40,
	GROWTH_RUNS_MIN = 16,
	DRIFT_RUNS = 90, /* the newest that are looked at */
	RUNS_SINCE_MIN = 2,
	CHANGE_SEARCH = 10, /* runs before the telling one among which the level may have moved */
};

static const double day_s = 86400, rise_min = 0.06, rise_noises = 5, chance_max = 0.01;

/* ---- growth ---- */

void trk__fleet_find_growth(struct trk_fleet_work *w)
{
	struct trk_fleet_growth *g = &w->job->growth;
	double x[GROWTH_RUNS] = {0}, y[GROWTH_RUNS] = {0}, rise;
	struct trk_line line = {.slope = NAN};
	size_t n = 0, first = w->good_count > GROWTH_RUNS ? w->good_count - GROWTH_RUNS : 0;

	*g = (struct trk_fleet_growth){
		.p = 1, .a_day = NAN, .now_bytes = NAN, .days_left = NAN, .runs_left = NAN};
	for (size_t i = first; i < w->good_count; i++) {
		if (!(w->good[i]->past.memory.bytes > 0))
			continue;
		x[n] = (w->good[i]->past.start_s - w->rows->now_s) / day_s;
		y[n++] = trk__ln(w->good[i]->past.memory.bytes / TRK_MIB);
	}
	if (n < GROWTH_RUNS_MIN || trk__line_fit(x, y, n, &line) < 0)
		return;
	rise = line.slope * (x[n - 1] - x[0]);
	g->known = true;
	g->p = line.slope > 0 ? line.trend_p / 2 : 1;
	g->a_day = line.slope;
	g->now_bytes = trk__exp(line.level + line.slope * x[n - 1]) * TRK_MIB;
	g->rising = g->p < 1e-3 && rise > rise_noises * line.noise && rise > rise_min;
	if (!g->rising || !(w->job->asked_bytes > 0))
		return;
	g->days_left = (trk__ln(w->job->asked_bytes / TRK_MIB) - line.level) / line.slope;
	if (g->days_left < 0)
		g->days_left = 0;
	g->runs_left = g->days_left * w->job->runs_a_day;
}

/* ---- new levels ---- */

/* Mean of the logarithms before `cut` less that from it on, as long as both sides are noise: the
 * cut with the largest weighted distance is the change of level. */
static size_t find_cut(const double *ln, size_t from, size_t told, size_t end)
{
	size_t best = told, first = told > from + CHANGE_SEARCH ? told - CHANGE_SEARCH : from + 1;
	double most = -1;

	for (size_t cut = first; cut <= told; cut++) {
		double a = 0, b = 0, n = (double) (cut - from), m = (double) (end - cut), gap;

		for (size_t i = from; i < cut; i++)
			a += ln[i] / n;
		for (size_t i = cut; i < end; i++)
			b += ln[i] / m;
		gap = (a - b) * (a - b) * n * m / (n + m);
		if (gap > most) {
			most = gap;
			best = cut;
		}
	}
	return best;
}

/* The value that at least 90 % of these runs share; 0: there is none. */
static uint32_t common(const struct trk_fleet_run *const *run, size_t n, int trait)
{
	uint32_t value = n ? run[n / 2]->trait[trait] : 0;
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += run[i]->trait[trait] == value;
	return same * 10 >= n * 9 ? value : 0;
}

static void find_ways(const struct trk_fleet_run *const *run, size_t cut, size_t n,
		      struct trk_fleet_drift *d)
{
	size_t from = cut > TRK_ANOMALY_STREAM_RUNS ? cut - TRK_ANOMALY_STREAM_RUNS : 0;

	for (int i = 0; i < TRK_FLEET_TRAITS; i++) {
		uint32_t before = common(run + from, cut - from, i), since;

		since = common(run + cut, n - cut, i);
		if (before && since && before != since && d->ways < TRK_FLEET_WAYS_MAX)
			d->way[d->ways++] =
				(struct trk_fleet_way){(enum trk_fleet_trait) i, before, since};
		if ((i == TRK_FLEET_SERVER || i == TRK_FLEET_MACHINE) && before && before == since)
			d->machine_same = true;
	}
}

/* Chance that noise alone makes a gap between the runs before and since. Uses the distances of the
 * latter from the median of the former, each at most TRK_ANOMALY_LIMIT, widened for the uncertainty
 * of the median and for all possible positions of the change. */
static double chance_of(const double *before, size_t n, const double *since, size_t m,
			size_t places)
{
	double v[DRIFT_RUNS] = {0}, middle, unit, sum = 0, deviation;

	memcpy(v, before, n * sizeof(*v));
	middle = trk__median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(before[i] - middle);
	unit = TRK_MAD_TO_SD * trk__median(v, n);
	if (unit < TRK_ANOMALY_FLOOR_TIME)
		unit = TRK_ANOMALY_FLOOR_TIME;
	/* The noise of so few runs is known to about a third, and run times have long tails. */
	unit *= 1 + 12.0 / (double) n;
	for (size_t i = 0; i < m; i++) {
		double z = (since[i] - middle) / unit;

		sum += z > TRK_ANOMALY_LIMIT    ? TRK_ANOMALY_LIMIT
		       : z < -TRK_ANOMALY_LIMIT ? -TRK_ANOMALY_LIMIT
						: z;
	}
	deviation = trk__square_root((double) m * (1 + 1.57 * (double) m / (double) n));
	return 2 * trk__normal_tail(fabs(sum) / deviation) * (double) places;
}

static double median_s(const struct trk_fleet_run *const *run, size_t n)
{
	double v[DRIFT_RUNS];

	for (size_t i = 0; i < n; i++)
		v[i] = run[i]->past.duration_s;
	return trk__median(v, n);
}

static void describe(struct trk_fleet_work *w, const struct trk_fleet_run *const *run,
		     const double *ln, size_t from, size_t cut, size_t told, size_t n)
{
	struct trk_fleet_drift *d = &w->job->drift;
	double gap;

	if (cut - from > TRK_ANOMALY_STREAM_RUNS)
		from = cut - TRK_ANOMALY_STREAM_RUNS;
	if (cut - from < TRK_ANOMALY_RUNS_MIN || n - cut < RUNS_SINCE_MIN)
		return;
	d->p = chance_of(ln + from, cut - from, ln + cut, n - cut, n);
	d->before_s = median_s(run + from, cut - from);
	d->since_s = median_s(run + cut, n - cut);
	d->change = d->since_s / d->before_s - 1;
	/* Below the floor the level has returned; above the chance it may be noise. */
	d->known = fabs(d->change) >= TRK_ANOMALY_FLOOR_TIME && d->p < chance_max;
	if (!d->known)
		return;
	d->from_s = run[cut]->past.start_s;
	d->told_s = run[told]->past.start_s;
	d->runs_since = n - cut;
	gap = 1 - d->before_s / d->since_s;
	d->usd_month = w->job->usd * w->job->runs_a_day * TRK_FLEET_MONTH_DAYS * gap;
	find_ways(run, cut, n, d);
}

void trk__fleet_find_drift(struct trk_fleet_work *w)
{
	size_t first = w->good_count > DRIFT_RUNS ? w->good_count - DRIFT_RUNS : 0, n = 0;
	size_t from = 0, told[DRIFT_RUNS], tells, cut = 0;
	const struct trk_fleet_run *run[DRIFT_RUNS] = {NULL};
	double seconds[DRIFT_RUNS] = {0}, ln[DRIFT_RUNS] = {0};

	w->job->drift.p = 1;
	for (size_t i = first; i < w->good_count; i++) {
		if (!(w->good[i]->past.duration_s > 0))
			continue;
		run[n] = w->good[i];
		seconds[n] = w->good[i]->past.duration_s;
		ln[n] = trk__ln(seconds[n]);
		n++;
	}
	if (n <= TRK_ANOMALY_RUNS_MIN)
		return;
	tells = trk__anomaly_drifts(seconds, n, TRK_ANOMALY_FLOOR_TIME, told);
	/* Drifts shortly after are the same change. */
	for (size_t i = 0; i < tells; i++) {
		if (i > 0 && told[i] - cut < TRK_ANOMALY_STREAM_RUNS)
			continue;
		from = i > 0 ? cut : 0;
		cut = find_cut(ln, from, told[i], n);
		memset(&w->job->drift, 0, sizeof(w->job->drift));
		w->job->drift.p = 1;
		describe(w, run, ln, from, cut, told[i], n);
	}
}

/* ---- a new request ---- */

enum { RUNS_LEAST = 3, BEFORE_RUNS = 20 };

static bool is_equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool has_request_of(const struct trk_fleet_run *a, const struct trk_fleet_run *b)
{
	return is_equal(a->asked_cores, b->asked_cores) && is_equal(a->asked_bytes, b->asked_bytes);
}

/* The mean cost of the good runs in first .. last, of which at most `most` count, newest first. */
static double mean_usd(const struct trk_fleet_run *run, size_t first, size_t last, size_t most,
		       size_t *ret_runs)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = last; i > first && n < most; i--) {
		if (run[i - 1].end != TRK_FLEET_OK || !(run[i - 1].usd >= 0))
			continue;
		sum += run[i - 1].usd;
		n++;
	}
	*ret_runs = n;
	return sum / (double) n;
}

bool trk__fleet_changed(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			double since_s, struct trk_fleet_changed *ret)
{
	const struct trk_fleet_run *run = rows->run + job->name->first;
	size_t count = job->name->count, at = count, first;

	while (at > 1 && has_request_of(&run[at - 1], &run[count - 1]))
		at--;
	if (at == 0 || at == count || has_request_of(&run[at - 1], &run[count - 1]) ||
	    run[at].past.start_s < since_s)
		return false;
	for (first = at; first > 0 && has_request_of(&run[first - 1], &run[at - 1]);)
		first--;
	*ret = (struct trk_fleet_changed){
		.from_s = run[at].past.start_s, .before = &run[at - 1], .since = &run[at]};
	ret->usd_before = mean_usd(run, first, at, BEFORE_RUNS, &ret->runs_before);
	ret->usd_since = mean_usd(run, at, count, count, &ret->runs_since);
	ret->saves_usd_month =
		(ret->usd_before - ret->usd_since) * job->runs_a_day * TRK_FLEET_MONTH_DAYS;
	return ret->runs_before >= RUNS_LEAST && ret->runs_since >= RUNS_LEAST;
}

void trk__fleet_changed_text(const struct trk_fleet_rows *rows, const struct trk_fleet_changed *c,
			     char text[TRK_FLEET_TEXT_SIZE])
{
	char word[8][TRK_FLEET_WORD_SIZE];
	double saves = c->saves_usd_month;

	(void) snprintf(
		text, TRK_FLEET_TEXT_SIZE,
		"from %s cores, %s to %s cores, %s on %s: %s -> %s a run (%zu runs before, %zu "
		"since), %s a month %s.",
		trk__fleet_cores(word[0], c->before->asked_cores),
		trk__fleet_memory(word[1], c->before->asked_bytes),
		trk__fleet_cores(word[2], c->since->asked_cores),
		trk__fleet_memory(word[3], c->since->asked_bytes),
		trk__fleet_date(word[4], trk__fleet_day(rows, c->from_s)),
		trk__fleet_usd(word[5], c->usd_before), trk__fleet_usd(word[6], c->usd_since),
		c->runs_before, c->runs_since, trk__fleet_usd(word[7], fabs(saves)),
		saves >= 0 ? "less" : "more");
}
