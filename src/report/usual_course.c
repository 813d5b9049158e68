#include "report/usual_course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "report/chart_rows.h"

#define B TRK_DOC_STRONG
#define E TRK_DOC_PLAIN

#define ODD_TIME         1.25
#define ODD_TIME_SHARE   0.04 /* of the run */
#define ODD_MEMORY       1.15
#define ODD_MEMORY_SHARE 0.1 /* of the peak */

enum { SKIPPED = 2 }; /* first buckets of a phase, in which the previous one releases memory */

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
	size_t at = (size_t) trk__whole(share * TRK_COURSE_POINTS, 0, TRK_COURSE_POINTS - 1), n = 0;
	struct trk_course_band sum = {0, 0, 0};

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

/* ---- in the charts ---- */

double trk__course_most(const struct trk_usual_course *u, enum trk_course_kind kind)
{
	double most = 0;

	for (size_t p = 0; u && p < TRK_COURSE_POINTS; p++) {
		double high = trk__course_at(u, kind, ((double) p + 0.5) / TRK_COURSE_POINTS).high;

		most = high > most ? high : most;
	}
	return isfinite(most) ? most : 0;
}

void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_course_kind kind, double factor, struct trk_doc_chart *c)
{
	double top = c->top * factor;

	if (!u || !(top > 0))
		return;
	c->usual = trk__doc_alloc(d, sizeof(*c->usual));
	for (size_t i = 0; c->usual && i < d->buckets; i++) {
		struct trk_course_band b =
			trk__course_at(u, kind, ((double) i + 0.5) / (double) d->buckets);

		c->usual->low[i] = trk__doc_steps(b.low / top);
		c->usual->middle[i] = trk__doc_steps(b.middle / top);
		c->usual->high[i] = trk__doc_steps(b.high / top);
	}
}

/* ---- what differs ---- */

/* A difference; size: its share of the run or of the peak. The largest are reported. */
struct odd {
	double at, size;
	int chart;
	const char *text;
};

static void keep(struct odd *list, size_t *count, struct odd one)
{
	size_t at = *count < TRK_DOC_ODDS ? (*count)++ : TRK_DOC_ODDS - 1;

	if (at == TRK_DOC_ODDS - 1 && *count == TRK_DOC_ODDS && list[at].text &&
	    list[at].size >= one.size)
		return;
	for (; at > 0 && list[at - 1].size < one.size; at--)
		list[at] = list[at - 1];
	list[at] = one;
}

static const char *phase_name(struct trk_doc *d, const struct trk_report_work *w, size_t phase)
{
	const struct trk_record *record = w->in->record;

	return phase && phase <= record->marks ? trk__doc_safe(d, record->mark[phase - 1].name, 40)
					       : NULL;
}

static void find_slow(struct trk_doc *d, const struct trk_report_work *w, const double *bound,
		      size_t phase, struct odd *list, size_t *count)
{
	double now = bound[phase + 1] - bound[phase];
	double usual = trk__course_seconds(w->in->usual, (int) phase);
	const char *name = phase_name(d, w, phase);
	struct odd one = {.at = (bound[phase] + now / 2) / d->duration_s,
			  .size = (now - usual) / d->duration_s,
			  .chart = TRK_COURSE_CPU};

	if (!(now > ODD_TIME * usual) || !(now >= ODD_TIME_SHARE * d->duration_s))
		return;
	one.text =
		trk__doc_print(d, B "%s" E " took %s, usually %s (+%s)", name ? name : "The start",
			       trk__doc_value(d, trk__human_seconds, now),
			       trk__doc_value(d, trk__human_seconds, usual),
			       trk__doc_value(d, trk__human_seconds, now - usual));
	keep(list, count, one);
}

/* Find the bucket in which memory exceeds the band's edge most. */
static void find_large(struct trk_doc *d, const struct trk_report_work *w,
		       const struct trk_doc_chart *c, double from_s, double to_s, size_t phase,
		       struct odd *list, size_t *count)
{
	const struct trk_doc_series *s = &c->series[0];
	double width_s = d->duration_s / (double) d->buckets, most = 0, peak = 0, usual = 0;
	size_t first = (size_t) trk__whole(from_s / width_s, 0, (int64_t) d->buckets) +
		       (phase ? SKIPPED : 0),
	       best = 0;
	double unit = c->top / TRK_DOC_STEPS * s->factor;
	const char *name = phase_name(d, w, phase);

	for (size_t b = first; b < d->buckets && (double) (b + 1) * width_s <= to_s + width_s / 2;
	     b++) {
		double now = s->avg[b], high = c->usual->high[b];

		if (s->avg[b] == TRK_DOC_GAP || c->usual->high[b] == TRK_DOC_GAP)
			continue;
		peak = now > peak ? now : peak;
		usual = high > usual ? high : usual;
		if (now - high > most) {
			most = now - high;
			best = b;
		}
	}
	if (!(most > 0) || !(peak > ODD_MEMORY * usual) ||
	    !((peak - usual) * unit >= ODD_MEMORY_SHARE * w->memory_peak))
		return;
	keep(list, count,
	     (struct odd){.at = ((double) best + 0.5) / (double) d->buckets,
			  .size = (peak - usual) * unit / w->memory_peak,
			  .chart = TRK_COURSE_MEMORY,
			  .text = trk__doc_print(
				  d, B "%s" E " held %s, usually up to %s", name ? name : "The job",
				  trk__doc_value(d, trk__human_memory, peak * unit),
				  trk__doc_value(d, trk__human_memory, usual * unit))});
}

static int by_moment(const void *a, const void *b)
{
	double x = ((const struct odd *) a)->at, y = ((const struct odd *) b)->at;

	return x < y ? -1 : x > y;
}

static const struct trk_doc_chart *memory_chart(const struct trk_doc *d)
{
	for (size_t i = 0; i < d->charts; i++)
		if (!strcmp(d->chart[i].key, "memory") && d->chart[i].usual &&
		    d->chart[i].series[0].is_job)
			return &d->chart[i];
	return NULL;
}

void trk__course_say(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w)
{
	static const char *const digit[TRK_DOC_ODDS] = {"\u2460", "\u2461", "\u2462", "\u2463"};
	const struct trk_usual_course *u = w->in->usual;
	double bound[TRK_PHASES_MAX + 1] = {0, d->duration_s};
	const struct trk_doc_chart *memory = memory_chart(d);
	struct odd list[TRK_DOC_ODDS] = {{.text = NULL}};
	size_t phases, count = 0;

	if (!u)
		return;
	phases = u->by_phase ? trk__course_bounds(w->in->record, bound) : 0;
	for (size_t i = 0; i < phases; i++)
		find_slow(d, w, bound, i, list, &count);
	for (size_t i = 0; memory && i < (phases ? phases : 1); i++)
		find_large(d, w, memory, bound[i], bound[i + 1], i, list, &count);
	qsort(list, count, sizeof(*list), by_moment);
	for (size_t i = 0; i < count; i++) {
		d->odd[i].at = list[i].at;
		d->odd[i].key = list[i].chart == TRK_COURSE_CPU ? "cpu" : "memory";
		d->odd[i].number = digit[i];
		trk__doc_text(d, s, "%s %s.", digit[i], list[i].text);
	}
	d->odds = count;
	trk__doc_note(d, s,
		      "Tinted band: 10 to 90 %% of %zu earlier good runs, dotted line: "
		      "their median, compared %s.%s",
		      u->runs, u->by_phase ? "phase by phase" : "by time",
		      count ? "" : " Nothing differs from them.");
}
