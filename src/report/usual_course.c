#include "report/usual_course.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "report/chart_rows.h"

enum { SMOOTH = 2 }; /* points to either side */

static double seconds_of(const struct trk_record *record)
{
	return (double) record->outcome.duration_ns / 1e9;
}

size_t trk__course_bounds(const struct trk_record *record, double bound[TRK_PHASES_MAX + 1])
{
	double end_s = seconds_of(record);
	size_t n = 0;

	if (!record->marks || record->marks >= TRK_PHASES_MAX)
		return 0;
	bound[n++] = 0;
	for (size_t i = 0; i < record->marks; i++) {
		double at = (double) record->mark[i].elapsed_ns / 1e9;

		at = at < bound[n - 1] ? bound[n - 1] : at;
		bound[n++] = at < end_s ? at : end_s;
	}
	bound[n] = end_s;
	return n;
}

static bool have_same_marks(const struct trk_record *a, const struct trk_record *b)
{
	if (a->marks != b->marks || !a->marks)
		return false;
	for (size_t i = 0; i < a->marks; i++)
		if (strcmp(a->mark[i].name, b->mark[i].name) != 0)
			return false;
	return true;
}

/* The moment of the earlier run that corresponds to this moment. */
static double moment_of(const double *now, const double *then, size_t phases, double at)
{
	for (size_t i = 0; i < phases; i++) {
		double length = now[i + 1] - now[i];

		if (at > now[i + 1] && i + 1 < phases)
			continue;
		return length > 0 ? then[i] + (at - now[i]) / length * (then[i + 1] - then[i])
				  : then[i];
	}
	return at;
}

/* The value at a moment; 0 after the end. */
static double value_at(const struct trk_report_rows *rows, size_t chart, double at)
{
	const struct trk_chart_fill *f = &rows->fill[chart][0];
	size_t all = rows->buckets * rows->finer;
	struct trk_chart_bucket b;
	double bucket = at / rows->width_s;

	if (!(at >= 0) || !(bucket < (double) all))
		return at >= 0 ? 0 : (double) NAN;
	b = trk__chart_bucket(f, (size_t) bucket / rows->finer * rows->finer, rows->finer);
	return b.seconds > 0 ? b.mean : (double) NAN;
}

void trk__course_add(struct trk_usual_course *u, const struct trk_record *now,
		     const struct trk_record *earlier, const struct trk_report_rows *rows)
{
	double bound[TRK_PHASES_MAX + 1] = {0}, then[TRK_PHASES_MAX + 1] = {0},
				      whole = seconds_of(now);
	bool same = have_same_marks(now, earlier);
	size_t phases = same ? trk__course_bounds(now, bound) : 0, run = u->runs;

	if (run == TRK_COURSE_RUNS_MAX || !rows->buckets || !(rows->width_s > 0) || !(whole > 0))
		return;
	if (phases)
		(void) trk__course_bounds(earlier, then);
	if (run == 0)
		u->by_phase = phases > 0;
	else if (u->by_phase != (phases > 0))
		return; /* not comparable */
	for (size_t i = 0; i < phases; i++)
		u->phase_s[run][i] = then[i + 1] - then[i];
	u->duration_s[run] = seconds_of(earlier);
	for (size_t p = 0; p < TRK_COURSE_POINTS; p++) {
		double at = ((double) p + 0.5) / TRK_COURSE_POINTS * whole;

		at = phases ? moment_of(bound, then, phases, at) : at;
		for (size_t kind = 0; kind < TRK_COURSE_KINDS; kind++)
			u->value[kind][p][run] = (float) value_at(rows, kind, at);
	}
	u->runs++;
}

/* Quantile with linear interpolation between ranks. */
static double quantile(const double *sorted, size_t n, double share)
{
	double rank = share * (double) (n - 1);
	size_t low = (size_t) rank;

	return low + 1 < n ? sorted[low] + (rank - (double) low) * (sorted[low + 1] - sorted[low])
			   : sorted[n - 1];
}

static struct trk_course_band band_of(const struct trk_usual_course *u, enum trk_course_kind kind,
				      size_t p)
{
	double v[TRK_COURSE_RUNS_MAX] = {0};
	size_t n = 0;

	for (size_t i = 0; i < u->runs; i++)
		if (isfinite(u->value[kind][p][i]))
			v[n++] = (double) u->value[kind][p][i];
	if (n < TRK_COURSE_RUNS_MIN)
		return (struct trk_course_band){NAN, NAN, NAN};
	trk__sort_values(v, n);
	return (struct trk_course_band){quantile(v, n, 0.1), quantile(v, n, 0.5),
					quantile(v, n, 0.9)};
}

struct trk_course_band trk__course_at(const struct trk_usual_course *u, enum trk_course_kind kind,
				      double share)
{
	size_t at = share > 0 ? (size_t) (share * TRK_COURSE_POINTS) : 0, n = 0;
	struct trk_course_band sum = {0, 0, 0};

	at = at < TRK_COURSE_POINTS ? at : TRK_COURSE_POINTS - 1;
	for (size_t p = at < SMOOTH ? 0 : at - SMOOTH; p <= at + SMOOTH && p < TRK_COURSE_POINTS;
	     p++) {
		struct trk_course_band b = band_of(u, kind, p);

		if (isnan(b.middle))
			continue;
		sum.low += b.low;
		sum.middle += b.middle;
		sum.high += b.high;
		n++;
	}
	if (n == 0)
		return (struct trk_course_band){NAN, NAN, NAN};
	return (struct trk_course_band){sum.low / (double) n, sum.middle / (double) n,
					sum.high / (double) n};
}

double trk__course_seconds(const struct trk_usual_course *u, int phase)
{
	double v[TRK_COURSE_RUNS_MAX] = {0};

	if (u->runs == 0 || phase >= TRK_PHASES_MAX)
		return NAN;
	for (size_t i = 0; i < u->runs; i++)
		v[i] = phase < 0 ? u->duration_s[i] : u->phase_s[i][phase];
	trk__sort_values(v, u->runs);
	return quantile(v, u->runs, 0.5);
}
