#include "report/offers_text.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/human.h"
#include "report/shared_terms.h"

enum { NOTES_MAX = 8192 };

/* Large vendors rarely change list prices, small ones often. */
static bool is_old(const struct trk_catalog *c, const struct trk_catalog_block *block,
		   uint32_t today)
{
	long days = trk__catalog_age_days(block->date, today);
	const struct trk_catalog_vendor *v = &trk__catalog_vendors(c, NULL)[block->vendor];
	const char *id = trk__catalog_text(c, v->id);
	bool large = !strcmp(id, "aws") || !strcmp(id, "azure") || !strcmp(id, "gcp");

	return days > (large ? 180 : 30);
}

static void add_sources(struct trk_buf *b, const struct trk_offers *r)
{
	size_t n, shown = 0;
	const struct trk_catalog_source *sources = trk__catalog_sources(r->c, &n);
	const struct trk_catalog_block *blocks = trk__catalog_blocks(r->c, &n);
	bool seen[256] = {false};
	char day[16];

	trk__buf_puts(b, "prices of");
	for (size_t i = 0; i < r->n && i < r->limit; i++) {
		const struct trk_catalog_block *block = &blocks[r->list[i].offer.block];

		if (seen[block->source])
			continue;
		seen[block->source] = true;
		trk__buf_puts(b, shown++ ? ", " : " ");
		trk__buf_printf(b, "%s (%s%s%s)", trk__catalog_date(block->date, day),
				trk__catalog_text(r->c, sources[block->source].id),
				block->quality == TRK_FACT_EST ? ", estimated" : "",
				is_old(r->c, block, r->query->today) ? ", old" : "");
	}
	trk__buf_putc(b, '\n');
}

/* "aws t3a.nano". */
static void add_name(struct trk_buf *b, const struct trk_catalog *c,
		     const struct trk_server_estimate *e)
{
	const struct trk_catalog_server *s = trk__offers_server(c, &e->offer);

	trk__buf_printf(b, "%s %s", trk__catalog_vendor_id(c, s->vendor),
			trk__catalog_text(c, s->name));
}

static void add_usd(struct trk_buf *b, int width, double usd)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_printf(b, "%*s", width, trk__human_usd(text, usd));
}

static void add_notes(struct trk_buf *b, const struct trk_offers *r)
{
	char update[TRK_OFFER_UPDATE_SIZE];

	for (size_t i = 0; i < r->advice.nears; i++) {
		const struct trk_server_estimate *e = &r->advice.near[i];
		char why[160] = "";

		trk__offers_shortfall(r->query, trk__offers_server(r->c, &e->offer), e->offer.unmet,
				      why, sizeof(why));
		trk__buf_printf(
			b, "cheaper, but short of %s: ", trk__catalog_need_name(e->offer.unmet));
		add_name(b, r->c, e);
		trk__buf_puts(b, " at ");
		add_usd(b, 0, e->cost_usd);
		trk__buf_printf(b, " a run, %s\n", why);
	}
	if (r->n > r->limit)
		trk__buf_printf(b, "%zu more: -n 0 shows all\n", r->n - r->limit);
	add_sources(b, r);
	if (*trk__offers_update(r, update))
		trk__buf_printf(b, "%s\n", update);
}

void trk__offers_notes(struct trk_buf *b, const struct trk_offers *r,
		       const struct trk_terminal_style *style)
{
	TRK_BUF_LOCAL(notes, NOTES_MAX);

	add_notes(&notes, r);
	if (notes.error)
		b->error = notes.error;
	else if (notes.len)
		trk__write_terminal_lines(b, notes.data, style);
}

/* ---- the table ---- */

enum {
	SERVER,
	REGION,
	VCPUS,
	MEMORY,
	HOUR,
	RUN_TIME,
	RUN_COST,
	AGE,
	ARCH,
	CORES,
	GPU,
	SCORE,
	REMARK,
	COLUMNS
};

static const char *gpus(struct trk_doc *d, const struct trk_catalog *c,
			const struct trk_catalog_server *s)
{
	if (!s->gpu_count)
		return NULL;
	return trk__doc_print(d, "%.3g %s",
			      s->gpu_permille < 1000 ? s->gpu_permille / 1000.0 : s->gpu_count,
			      trk__catalog_text(c, s->gpu_model));
}

static void set(struct trk_doc_cell *cell, const char *text)
{
	*cell = trk__doc_cell(text && *text ? text : NULL, NAN);
}

/* All columns of one server; those about a run are dashes without a run. */
static void fill_row(struct trk_doc *d, const struct trk_offers *r,
		     const struct trk_server_estimate *e, struct trk_doc_cell *row)
{
	const struct trk_catalog_server *s = trk__offers_server(r->c, &e->offer);
	char age[TRK_OFFER_AGE_SIZE], remark[TRK_OFFER_REMARK_SIZE];

	set(&row[SERVER], trk__doc_print(d, "%s %s", trk__catalog_vendor_id(r->c, s->vendor),
					 trk__catalog_text(r->c, s->name)));
	set(&row[REGION], trk__catalog_region_id(r->c, trk__offers_block(r->c, &e->offer)->region));
	row[VCPUS] = trk__doc_figure(d, trk__human_count, s->vcpus);
	row[MEMORY] = trk__doc_figure(d, trk__human_memory, s->memory_mib);
	row[HOUR] = trk__doc_figure(d, trk__human_usd_per_hour, trk__catalog_usd(e->offer.units));
	row[RUN_TIME] = trk__doc_figure(d, trk__human_seconds, r->costs ? e->run_s : (double) NAN);
	row[RUN_COST] = trk__doc_figure(d, trk__human_usd, r->costs ? e->cost_usd : (double) NAN);
	set(&row[AGE], trk__doc_print(d, "%s", trk__offers_age(r, e, age)));
	set(&row[ARCH], trk__catalog_arch_names[s->arch]);
	set(&row[CORES], trk__catalog_allocation_names[s->allocation]);
	set(&row[GPU], gpus(d, r->c, s));
	row[SCORE] = trk__doc_figure(d, trk__human_count, trk__offers_score(r->c, &e->offer));
	set(&row[REMARK], trk__doc_print(d, "%s", trk__offers_remark(r, e, remark)));
}

void trk__offers_text(struct trk_buf *b, const struct trk_offers *r,
		      const struct trk_terminal_style *style)
{
	const struct trk_doc_column column[COLUMNS] = {
		[SERVER] = {"server", "server", TRK_CELL_CODE},
		[REGION] = {"region", "region", TRK_CELL_TEXT},
		[VCPUS] = {"vcpus", "vCPU", TRK_CELL_NUMBER},
		[MEMORY] = {"memory", "memory", TRK_CELL_NUMBER},
		[HOUR] = {"usd_per_hour", r->query->spot ? "spot/h" : "USD/h", TRK_CELL_NUMBER},
		[RUN_TIME] = {"run_s", "run time", TRK_CELL_NUMBER},
		[RUN_COST] = {"usd_per_run", "USD/run", TRK_CELL_NUMBER},
		[AGE] = {"price_age", "price age", TRK_CELL_TEXT},
		[ARCH] = {"arch", "arch", TRK_CELL_TEXT},
		[CORES] = {"allocation", "cores", TRK_CELL_TEXT},
		[GPU] = {"gpu", "GPU", TRK_CELL_TEXT},
		[SCORE] = {"score", "score", TRK_CELL_NUMBER},
		[REMARK] = {"remark", "", TRK_CELL_TEXT},
	};
	struct trk_doc d = {.error = 0};
	struct trk_doc_table t = {
		.key = "servers", .column = column, .columns = COLUMNS, .essential = AGE};

	for (size_t i = 0; i < r->n && i < r->limit; i++)
		fill_row(&d, r, &r->list[i], trk__doc_row(&d, &t));
	trk__write_terminal_table(b, &d, &t, style);
}

/* ---- what to request ---- */

#define LINE "\n" /* separator of items that have a line each */

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
			      request(d, m->next_rung_bytes / TRK_MIB));
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

static void add_limit(struct trk_doc *d, struct trk_doc_section *s, const struct trk_advice *a)
{
	struct trk_doc_term *t = trk__doc_term(d, s, "Limit", LINE);
	double limit_s = trk__advice_time_limit_s(a);

	if (isnan(limit_s)) {
		trk__doc_item(d, t, "unknown: no run has ended well");
		return;
	}
	trk__doc_item(d, t, "run time of %s%s", trk__doc_value(d, trk__human_seconds, limit_s),
		      trk__capacity_is_stated(&a->time_had)
			      ? ""
			      : ", where a limit is needed: none was requested");
	for (size_t i = 0; a->has_time && i < a->time.reason_count; i++)
		trk__doc_item(d, t, "%s", a->time.reason[i]);
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

static void make_advice(struct trk_doc *d, const struct trk_record *record,
			const struct trk_advice *a, const struct trk_time_breakdown *times)
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
	add_limit(d, s, a);
	if (a->gpus > 0)
		trk__doc_item(d, trk__doc_term(d, s, "GPU", LINE), "%.4g, video memory %s%s",
			      a->gpus, request(d, a->vram_mib), a->gpus > 1 ? " each" : "");
	add_time(d, s, times);
	add_cost(d, s, &record->place);
}

void trk__recommend_text(struct trk_buf *b, const struct trk_record *record,
			 const struct trk_advice *a, const struct trk_time_breakdown *times,
			 const struct trk_terminal_style *style)
{
	struct trk_doc d = {.error = 0};

	make_advice(&d, record, a, times);
	if (d.error)
		b->error = d.error;
	else
		trk__write_terminal(b, &d, style);
	trk__doc_release(&d);
}
