/* The text of `recommend` as a document: a term per resource, with the reasons below it. */
#include <math.h>

#include "report/recommend_text.h"
#include "report/summary_terms.h"

#define LINE "\n" /* separator of items that have a line each */
#define MIB  1048576.0

static const char *request(struct trk_doc *d, double mib)
{
	return isnan(mib) ? "unknown" : trk__doc_value(d, trk__human_request, mib);
}

static void add_cpu(struct trk_doc *d, struct trk_doc_section *s, const struct trk_advice *a)
{
	const struct trk_cpu_advice *c = &a->cpu;
	struct trk_doc_term *t = trk__doc_term(d, s, "CPU", LINE);
	const char *times = "";

	if (isnan(a->cores)) {
		trk__doc_item(d, t, "unknown: no run has enough samples");
		return;
	}
	trk__doc_item(d, t, "%.4g core%s%s", a->cores, a->cores > 1 ? "s" : "",
		      a->has_cpu ? "" : " (mean of the means, rounded)");
	for (size_t i = 0; a->has_cpu && i < c->reason_count; i++)
		trk__doc_item(d, t, "%s", c->reason[i]);
	if (!a->has_cpu || c->queue.cause == TRK_QUEUE_UNKNOWN)
		return;
	for (size_t i = 0; i < c->point_count; i++)
		times = trk__doc_print(
			d, "%s%s%s%s on %.4g", times, i ? ", " : "",
			c->point[i].at_most ? "at most " : "",
			trk__doc_value(d, trk__human_seconds, c->point[i].run_time_s),
			c->point[i].cores);
	if (*times)
		trk__doc_item(d, t, "run time %s%s",
			      c->queue.cause == TRK_QUEUE_NONE ? "" : "without the queue ", times);
}

static void add_memory(struct trk_doc *d, struct trk_doc_section *s, const struct trk_advice *a)
{
	const struct trk_memory_advice *m = &a->memory;
	struct trk_doc_term *t = trk__doc_term(d, s, "Memory", LINE);
	const char *note;
	TRK_BUF_LOCAL(b, 512);

	if (a->has_memory)
		trk__doc_item(d, t, "%s, then %s if that is not enough", request(d, a->memory_mib),
			      request(d, m->next_rung_bytes / MIB));
	else
		trk__doc_item(d, t, "%s%s", request(d, a->memory_mib),
			      a->original ? " (largest peak x 1.2, rounded up)" : "");
	if (a->has_memory)
		trk__doc_item(d, t, "confidence %s (%zu run%s)",
			      trk__confidence_name(m->confidence), m->runs_used,
			      m->runs_used == 1 ? "" : "s");
	for (size_t i = 0; a->has_memory && i < m->reason_count; i++)
		trk__doc_item(d, t, "%s", m->reason[i]);
	(void) trk__advice_memory_note(&b, a);
	note = trk__doc_take(d, &b);
	if (note)
		trk__doc_item(d, t, "%s", note);
}

/* Where the newest run's time went, and whether to split it. */
static void add_time(struct trk_doc *d, struct trk_doc_section *s,
		     const struct trk_time_breakdown *c)
{
	struct trk_doc_term *t;

	if (!c || !c->has_wall)
		return;
	trk__term_time(d, s, c);
	t = trk__doc_term(d, s, "", LINE);
	if (c->bound != TRK_BOUND_UNKNOWN)
		trk__doc_item(d, t, "%s", c->bottleneck);
	if (c->has_split && c->split.pays)
		trk__doc_item(d, t, "%s", trk__split_words(d, c));
}

/* The reason, if the cloud is known and the cost is not. */
static void add_cost(struct trk_doc *d, struct trk_doc_section *s, const struct trk_place *place)
{
	const struct trk_cost *cost = &place->cost;

	if (place->has_cost && isnan(cost->usd) && place->cloud.vendor[0] && cost->reason[0])
		trk__doc_item(d, trk__doc_term(d, s, "Cost", LINE), "not known: %s",
			      trk__doc_safe(d, cost->reason, sizeof(cost->reason)));
	else
		trk__term_cost(d, s, place);
}

static void make(struct trk_doc *d, const struct trk_record *record, const struct trk_advice *a,
		 const struct trk_time_breakdown *times)
{
	const char *job = record->run.job[0] ? record->run.job : "job", *line;
	struct trk_doc_section *s = d->section = trk__doc_alloc(d, sizeof(*s));
	struct trk_doc_term *why;
	TRK_BUF_LOCAL(b, 4096);

	if (!s)
		return;
	d->sections = 1;
	s->key = "recommend";
	trk__advice_line(&b, a);
	line = trk__doc_take(d, &b);
	trk__doc_text(d, s, "%s: %s", trk__doc_safe(d, job, TRK_RUN_TEXT_SIZE), line ? line : "");
	if (a->sizing.reason_count) {
		why = trk__doc_term(d, s, "", LINE);
		for (size_t i = 0; i < a->sizing.reason_count; i++)
			trk__doc_item(d, why, "%s", a->sizing.reason[i]);
	}
	add_cpu(d, s, a);
	add_memory(d, s, a);
	if (a->gpus > 0)
		trk__doc_item(d, trk__doc_term(d, s, "GPU", LINE), "%.4g, video memory %s", a->gpus,
			      request(d, a->vram_mib));
	add_time(d, s, times);
	add_cost(d, s, &record->place);
}

void trk__recommend_text(struct trk_buf *b, const struct trk_record *record,
			 const struct trk_advice *a, const struct trk_time_breakdown *times,
			 const struct trk_terminal_style *style)
{
	struct trk_doc d = {.error = 0};

	make(&d, record, a, times);
	if (d.error)
		b->error = d.error;
	else
		trk__write_terminal(b, &d, style);
	trk__doc_release(&d);
}
