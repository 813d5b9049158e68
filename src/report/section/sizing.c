/* Right-sizing: what was requested, what was used, what to request, and lines to paste. */
#include <string.h>
#include <strings.h>

#include "answer/snippets.h"
#include "base/maths.h"
#include "report/section/section.h"

static const struct trk_doc_column columns[] = {
	{"resource", "Resource", TRK_CELL_TEXT},   {"requested", "It had", TRK_CELL_NUMBER},
	{"mean", "Mean", TRK_CELL_NUMBER},         {"p95", "p95", TRK_CELL_NUMBER},
	{"peak", "Peak", TRK_CELL_NUMBER},         {"share", "Peak / it had", TRK_CELL_BAR},
	{"next", "Next request", TRK_CELL_NUMBER}, {"why", "Why", TRK_CELL_TEXT},
};

enum { RESOURCE, REQUESTED, MEAN, P95, PEAK, SHARE, NEXT, WHY, COLUMNS };

struct resource {
	const char *name;
	double requested;
	struct trk_column_stats use; /* mean, p95, max */
	double next;
	const char *why;
	const char *had; /* kind of the requested amount; NULL: not shown */
};

static void add_resource(struct trk_doc *d, struct trk_doc_table *t, const struct resource *res,
			 trk_human_fn *request_words, trk_human_fn *words)
{
	struct trk_doc_cell *row = trk__doc_row(d, t);
	double share = res->requested > 0 ? res->use.max / res->requested : (double) NAN;

	row[RESOURCE] = trk__doc_tone(trk__doc_cell(res->name, NAN), TRK_TONE_STRONG);
	row[REQUESTED] = trk__doc_figure(d, request_words, res->requested);
	if (res->had && row[REQUESTED].text)
		row[REQUESTED].text = trk__doc_print(d, "%s %s", row[REQUESTED].text, res->had);
	row[MEAN] = trk__doc_figure(d, words, res->use.mean);
	row[P95] = trk__doc_figure(d, words, res->use.p95);
	row[PEAK] = trk__doc_figure(d, words, res->use.max);
	row[SHARE] = trk__doc_figure(d, trk__human_percent, share);
	row[SHARE].second = res->requested > 0 ? res->use.mean / res->requested : (double) NAN;
	row[NEXT] = trk__doc_tone(trk__doc_figure(d, request_words, res->next), TRK_TONE_STRONG);
	row[WHY].text = res->why;
}

/* The kind of capacity of all amounts in the column, if they agree. */
static enum trk_capacity_kind kind_of_column(const struct trk_report_work *w)
{
	return w->cpu_had.kind == w->memory_had.kind ? w->memory_had.kind : TRK_CAPACITY_UNKNOWN;
}

/* The kind of an amount, unless the title of the column states it. */
static const char *had_words(const struct trk_report_work *w, enum trk_capacity_kind kind)
{
	return kind == kind_of_column(w) ? NULL : trk__capacity_words(kind);
}

static double next_of(const struct trk_report_work *w, double value)
{
	return w->has_advice ? value : (double) NAN;
}

static const char *held_words(const struct trk_report_work *w)
{
	return w->in->record->outcome.end == TRK_END_RUNNING
		       ? "not lowered while the run continues"
		       : "not lowered after a run that did not end well";
}

static void add_cpu(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	const struct trk_advice *a = &w->advice;
	struct resource res = {.name = "CPU, cores",
			       .requested = w->cpu_had.value,
			       .use = w->cpu,
			       .next = next_of(w, a->cores),
			       .had = had_words(w, w->cpu_had.kind)};

	res.use.max = w->cpu_peak;
	if (a->held_cpu)
		res.why = held_words(w);
	else if (w->has_advice && a->has_cpu && a->cpu.reason_count > 1)
		/* The first reason has mean and peak, which the table shows as well. */
		res.why = trk__doc_print(d, "%s", a->cpu.reason[1]);
	add_resource(d, t, &res, trk__human_amount, trk__human_number);
}

static const char *note_words(struct trk_doc *d, const struct trk_advice *a)
{
	TRK_BUF_LOCAL(b, 512);

	(void) trk__advice_memory_note(&b, a);
	return trk__doc_take(d, &b);
}

static void add_memory(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	const struct trk_advice *a = &w->advice;
	struct resource res = {.name = "Memory",
			       .requested = w->memory_had.value,
			       .use = w->memory,
			       .next = next_of(w, a->memory_mib),
			       .had = had_words(w, w->memory_had.kind)};

	res.use.max = w->memory_peak;
	if (a->held_memory)
		res.why = held_words(w);
	else if (w->in->record->outcome.end == TRK_END_OUT_OF_MEMORY)
		res.why = "killed at its limit: the job needs more than that";
	else if (w->has_advice && (a->possible_shared_mib > 0 || a->peak_most_mib > 0))
		res.why = note_words(d, a);
	else if (w->has_advice && a->has_memory && a->memory.reason_count)
		res.why = trk__doc_print(d, "%s", a->memory.reason[0]);
	add_resource(d, t, &res, trk__human_request, trk__human_memory);
}

static void add_gpu(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	struct trk_stats *stats = w->in->record->stats;
	const struct trk_capacity had = trk__capacity(w->in->record, TRK_RESOURCE_GPU);
	const struct trk_advice *a = &w->advice;
	struct resource res = {.name = "GPU",
			       .requested = had.value,
			       .use = trk__stats_get(stats, TRK_PROCESS_GPU_USAGE),
			       .next = next_of(w, a->gpus > 0 ? a->gpus : (double) NAN),
			       .had = had_words(w, had.kind)};
	struct resource vram = {.name = "Video memory",
				.requested = NAN,
				.use = trk__stats_get(stats, TRK_PROCESS_GPU_VRAM),
				.next = next_of(w, a->vram_mib > 0 ? a->vram_mib : (double) NAN)};

	if (isnan(res.use.mean) && isnan(vram.use.mean) && isnan(res.requested))
		return;
	if (!isnan(res.next) && !isnan(res.use.max))
		res.why = "the number of GPUs that were used";
	add_resource(d, t, &res, trk__human_amount, trk__human_number);
	if (!isnan(vram.next) && a->gpus > 1)
		vram.why = "of each GPU; mean and peak are of all GPUs together";
	else if (vram.next >= vram.use.max)
		vram.why = trk__doc_print(
			d, "the peak and %s of headroom",
			trk__doc_value(d, trk__human_memory, vram.next - vram.use.max));
	add_resource(d, t, &vram, trk__human_request, trk__human_memory);
}

/* Disk space is that of the machine, with the system's files: how much the job needs is unknown. */
static void add_space(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	struct trk_stats *stats = w->in->record->stats;
	struct resource res = {.name = "Disk space",
			       .requested = trk__stats_get(stats, TRK_SYSTEM_SPACE_TOTAL).max,
			       .use = trk__stats_get(stats, TRK_SYSTEM_SPACE_USED),
			       .next = NAN,
			       .why = "no request: only the use of the whole machine is known",
			       .had = had_words(w, TRK_CAPACITY_MACHINE)};

	if (isnan(res.use.max))
		return;
	if (res.use.max > res.use.min)
		res.why = trk__doc_print(
			d, "%s, which changed by %s", res.why,
			trk__doc_value(d, trk__human_space, res.use.max - res.use.min));
	add_resource(d, t, &res, trk__human_space, trk__human_space);
}

static void add_time(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	const struct trk_record *record = w->in->record;
	const struct trk_advice *a = &w->advice;
	const struct trk_capacity had = trk__capacity(record, TRK_RESOURCE_TIME_S);
	struct resource res = {
		.name = "Time",
		.requested = had.value,
		.had = had_words(w, had.kind),
		.use = {.mean = NAN, .p95 = NAN, .max = (double) record->outcome.duration_ns / 1e9},
		.next = NAN};

	res.next = next_of(w, trk__advice_time_limit_s(a));
	if (w->has_advice && a->has_time)
		res.why = trk__doc_print(d, "%s", a->time.reason[0]);
	add_resource(d, t, &res, trk__human_seconds, trk__human_seconds);
}

/* ---- lines to paste ---- */

/* Whether the batch system is stated, by the tag that `--orchestrator` sets, or by the caller of
 * the report. */
static bool is_stated(const struct trk_report_input *in, const char *kind)
{
	const struct trk_run *run = &in->record->run;
	size_t len = strlen(kind);

	if (in->integration && !strncasecmp(in->integration, kind, len) &&
	    (in->integration[len] == '\0' || in->integration[len] == ' '))
		return true;
	for (size_t at = 0; at < run->tags_len; at += strlen(run->tags + at) + 1)
		if (!strncmp(run->tags + at, "orchestrator=", 13))
			return !strcmp(run->tags + at + 13, kind);
	return false;
}

static bool is_detected(const struct trk_run *run, const char *const mark[2])
{
	for (int i = 0; i < TRK_REQUESTS * 2; i++)
		if (mark[i % 2] &&
		    !strncmp(run->request[i / 2].source, mark[i % 2], strlen(mark[i % 2])))
			return true;
	return false;
}

/* Add a kind unless it is present. The list has `n` entries; returns the new number. */
static size_t add_snippet(struct trk_doc *d, const struct trk_report_work *w, size_t i,
			  struct trk_doc_snippet *list, size_t n)
{
	const struct trk_snippet_kind *kind = &trk__snippet_kinds[i];
	TRK_BUF_LOCAL(b, 4096);

	for (size_t k = 0; k < n; k++)
		if (!strcmp(list[k].kind, kind->name))
			return n;
	(void) trk__advice_snippet(&b, &w->advice, kind->name);
	list[n] = (struct trk_doc_snippet){kind->name, kind->title, trk__doc_take(d, &b)};
	return list[n].text ? n + 1 : n;
}

/* The batch system of the run comes first. */
static void add_snippets(struct trk_doc *d, struct trk_doc_section *s,
			 const struct trk_report_work *w)
{
	struct trk_doc_snippet *list;
	size_t n = 0;

	if (!w->has_advice || isnan(w->advice.cores) || isnan(w->advice.memory_mib))
		return;
	list = trk__doc_alloc(d, TRK_SNIPPET_KINDS * sizeof(*list));
	for (size_t i = 0; list && i < TRK_SNIPPET_KINDS; i++)
		if (is_stated(w->in, trk__snippet_kinds[i].name))
			n = add_snippet(d, w, i, list, n);
	for (size_t i = 0; list && i < TRK_SNIPPET_KINDS; i++)
		if (is_detected(&w->in->record->run, trk__snippet_kinds[i].mark))
			n = add_snippet(d, w, i, list, n);
	for (size_t i = 0; list && i < TRK_SNIPPET_KINDS; i++)
		n = add_snippet(d, w, i, list, n);
	trk__doc_list(d, s, TRK_BLOCK_SNIPPETS, list, n);
}

static const char *unfinished_words(enum trk_end end)
{
	if (end == TRK_END_RUNNING)
		return "This run has not ended: it raises a request and never lowers it.";
	if (end == TRK_END_TRACKER_DIED)
		return "How this run ended is not known: it raises a request and never lowers it.";
	return "This run did not end well: it raises a request and never lowers it.";
}

/* The columns, with the title for the amounts: request, limit or machine, if all are of one kind.
 * NULL without memory. */
static const struct trk_doc_column *named_columns(struct trk_doc *d,
						  const struct trk_report_work *w)
{
	static const char *const names[][2] = {
		[TRK_CAPACITY_UNKNOWN] = {NULL, NULL},
		[TRK_CAPACITY_MACHINE] = {"In this machine", "Peak / machine"},
		[TRK_CAPACITY_LIMIT] = {"Limit", "Peak / limit"},
		[TRK_CAPACITY_REQUESTED] = {"Requested", "Peak / request"},
	};
	enum trk_capacity_kind kind = kind_of_column(w);
	struct trk_doc_column *named = trk__doc_alloc(d, sizeof(columns));

	if (!named)
		return NULL;
	memcpy(named, columns, sizeof(columns));
	if (names[kind][0]) {
		named[REQUESTED].title = names[kind][0];
		named[SHARE].title = names[kind][1];
	}
	return named;
}

void trk__section_sizing(struct trk_doc *d, struct trk_doc_section *s,
			 const struct trk_report_work *w)
{
	const struct trk_doc_column *named;
	struct trk_doc_table *t;

	if (isnan(w->cpu_peak) && isnan(w->memory_peak)) {
		trk__doc_empty(d, s, "No sample was taken, so there is nothing to size.");
		return;
	}
	named = named_columns(d, w);
	t = trk__doc_table(d, s, "resources", NULL, named ? named : columns, COLUMNS);
	add_cpu(d, w, t);
	add_memory(d, w, t);
	add_gpu(d, w, t);
	add_space(d, w, t);
	add_time(d, w, t);
	add_snippets(d, s, w);
	if (!w->ended_well)
		trk__doc_note(d, s, "%s", unfinished_words(w->in->record->outcome.end));
}
