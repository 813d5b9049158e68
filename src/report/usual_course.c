#include "report/usual_course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"

#define B TRK_DOC_STRONG
#define E TRK_DOC_PLAIN

#define ODD_TIME         1.25
#define ODD_TIME_SHARE   0.04 /* of the run */
#define ODD_MEMORY       1.15
#define ODD_MEMORY_SHARE 0.1 /* of the peak */

enum { SKIPPED = 2 }; /* first buckets of a phase, in which the previous one releases memory */

/* ---- in the charts ---- */

double trk__course_most(const struct trk_usual_course *u, enum trk_block_figure figure)
{
	double most = 0;

	for (size_t p = 0; u && p < TRK_USUAL_POINTS; p++) {
		double at_s = ((double) p + 0.5) / TRK_USUAL_POINTS * u->span_s;
		double high = trk__usual_course_at(u, figure, at_s).high;

		most = high > most ? high : most;
	}
	return isfinite(most) ? most : 0;
}

void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_block_figure figure, double factor, struct trk_doc_chart *c)
{
	double top = c->top * factor;

	if (!u || !(top > 0))
		return;
	c->usual = trk__doc_alloc(d, sizeof(*c->usual));
	for (size_t i = 0; c->usual && i < d->buckets; i++) {
		double at_s = ((double) i + 0.5) / (double) d->buckets * d->duration_s;
		struct trk_usual_band b = trk__usual_course_at(u, figure, at_s);

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

static void find_slow(struct trk_doc *d, const struct trk_report_work *w, size_t phase,
		      const char *name, struct odd *list, size_t *count)
{
	const struct trk_run_phase *p = &w->course.phase[phase];
	double now = p->end_s - p->start_s;
	double usual = trk__usual_course_phase_s(w->in->usual, &w->course, phase);
	struct odd one = {.at = (p->start_s + now / 2) / d->duration_s,
			  .size = (now - usual) / d->duration_s,
			  .chart = TRK_FIGURE_CORES};

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
		       const struct trk_doc_chart *c, double from_s, double to_s, const char *name,
		       struct odd *list, size_t *count)
{
	const struct trk_doc_series *s = &c->series[0];
	double width_s = d->duration_s / (double) d->buckets, most = 0, peak = 0, usual = 0;
	size_t first = (size_t) trk__whole(from_s / width_s, 0, (int64_t) d->buckets) +
		       (from_s > 0 ? SKIPPED : 0),
	       best = 0;
	double unit = c->top / TRK_DOC_STEPS * s->factor;

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
			  .chart = TRK_FIGURE_MEMORY_MIB,
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
	const struct trk_doc_chart *memory = memory_chart(d);
	struct odd list[TRK_DOC_ODDS] = {{.text = NULL}};
	size_t count = 0;

	if (!u)
		return;
	for (size_t i = 0; u->by_phase && i < w->course.phase_count; i++) {
		const struct trk_run_phase *p = &w->course.phase[i];
		const char *name = p->name[0] ? trk__doc_safe(d, p->name, 40) : NULL;

		find_slow(d, w, i, name, list, &count);
		if (memory)
			find_large(d, w, memory, p->start_s, p->end_s, name, list, &count);
	}
	if (!u->by_phase && memory)
		find_large(d, w, memory, 0, d->duration_s, NULL, list, &count);
	qsort(list, count, sizeof(*list), by_moment);
	for (size_t i = 0; i < count; i++) {
		d->odd[i].at = list[i].at;
		d->odd[i].key = list[i].chart == TRK_FIGURE_CORES ? "cpu" : "memory";
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
