/* Servers that fit and what a run costs on them; where this one ran. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "report/report_private.h"
#include "report/run_needs.h"

enum { SHOWN = 5 };

/* ---- looking ---- */

static void find_here(struct trk_report_work *w, struct trk_server_work *work)
{
	const struct trk_report_place *place = w->in->place;
	const struct trk_outcome *o = &w->in->record->outcome;
	const struct trk_catalog *c = w->in->catalog;
	struct trk_run_use use = {.duration_s = (double) o->duration_ns / 1e9,
				  .cpu_s = o->total[TRK_TOTAL_CPU_S].value,
				  .peak_bytes = w->memory_peak * MIB,
				  .usd_per_hour = place ? place->usd_per_hour : (double) NAN};
	int vendor, region;
	size_t n;

	if (!place || !place->vendor || !place->server)
		return;
	vendor = trk__catalog_find_vendor(c, place->vendor);
	w->here = vendor < 0 ? -1 : trk__catalog_find_server(c, vendor, place->server);
	if (w->here < 0)
		return;
	trk__server_measured_on(work, &trk__catalog_servers(c, &n)[w->here]);
	region = place->region ? trk__catalog_find_region(c, vendor, place->region) : -1;
	if (region >= 0 || !isnan(use.usd_per_hour))
		w->has_paid = trk__server_run_cost(c, w->here, region, &use, &w->paid) == 0;
}

/* As `recommend` looks for them: for the run's architecture, at its vendor and region. */
static bool read_needs(struct trk_report_work *w)
{
	const struct trk_need_words none = {.arch = NULL};
	const struct trk_report_place *named = w->in->place;
	struct trk_place *place = malloc(sizeof(*place));
	bool ok = false;

	if (place) {
		*place = w->in->record->place;
		if (named)
			(void) snprintf(place->cloud.vendor, sizeof(place->cloud.vendor), "%s",
					named->vendor ? named->vendor : "");
		if (named)
			(void) snprintf(place->cloud.region, sizeof(place->cloud.region), "%s",
					named->region ? named->region : "");
		ok = trk__run_needs_read(&w->needs, w->in->catalog, &none, &w->advice, place,
					 NULL) == 0;
	}
	free(place);
	return ok;
}

void trk__report_find_servers(struct trk_report_work *w)
{
	const struct trk_advice *a = &w->advice;
	struct trk_run_work *work = malloc(sizeof(*work));

	if (work && w->in->catalog && w->has_advice && !isnan(a->memory_mib) && read_needs(w)) {
		trk__run_work_read(work, w->in->catalog, w->in->busy, w->in->record);
		work->work.boot_s = 60;
		find_here(w, &work->work);
		w->has_servers = trk__server_advise(w->in->catalog, &w->needs.query, &work->work,
						    &w->servers) == 0;
	}
	free(work);
}

/* ---- telling ---- */

static const struct trk_report_column columns[] = {
	{"server", "Server", TRK_CELL_CODE},
	{"where", "Where", TRK_CELL_TEXT},
	{"vcpus", "vCPU", TRK_CELL_NUMBER},
	{"memory", "Memory", TRK_CELL_NUMBER},
	{"usd_per_hour", "Per hour", TRK_CELL_NUMBER},
	{"run_s", "Est. time", TRK_CELL_NUMBER},
	{"usd_per_run", "Per run", TRK_CELL_NUMBER},
	{"reading", "Reading", TRK_CELL_TEXT},
};
enum { SERVER, WHERE, VCPUS, MEMORY, HOUR, TIME, RUN, READING, COLUMNS };

static const struct trk_catalog_server *server_of(const struct trk_catalog *c, size_t index)
{
	size_t n;

	return &trk__catalog_servers(c, &n)[index];
}

static void describe(struct trk_report *r, const struct trk_catalog *c,
		     const struct trk_catalog_server *s, struct trk_report_cell *row)
{
	row[SERVER].text = trk__catalog_text(c, s->name);
	row[VCPUS] = trk__report_cell(trk__report_print(r, "%u", s->vcpus), s->vcpus);
	row[MEMORY] = trk__report_cell(trk__report_memory(r, s->memory_mib), s->memory_mib);
}

static struct trk_report_cell *add_estimate(struct trk_report *r, struct trk_report_table *t,
					    const struct trk_catalog *c,
					    const struct trk_server_estimate *e)
{
	const struct trk_catalog_server *s = server_of(c, e->offer.server);
	struct trk_report_cell *row = trk__report_row(r, t);
	double hour = trk__catalog_usd(e->offer.units);
	size_t n;

	if (!row)
		return NULL;
	describe(r, c, s, row);
	row[WHERE].text = trk__report_print(
		r, "%s %s", trk__catalog_vendor_id(c, s->vendor),
		trk__catalog_region_id(c, trk__catalog_blocks(c, &n)[e->offer.block].region));
	row[HOUR] = trk__report_cell(trk__report_usd(r, hour), hour);
	row[TIME] = trk__report_cell(trk__report_seconds(r, e->run_s), e->run_s);
	row[RUN] = trk__report_cell(trk__report_usd(r, e->cost_usd), e->cost_usd);
	if (!e->speed_known)
		row[READING].text = "speed not known: time by its number of vCPUs";
	return row;
}

static const char *shortfall(struct trk_report *r, const struct trk_report_work *w,
			     const struct trk_server_estimate *e)
{
	const struct trk_catalog_server *s = server_of(w->in->catalog, e->offer.server);
	const struct trk_catalog_query *q = &w->needs.query;

	switch (e->offer.unmet) {
	case TRK_NEED_MEMORY:
		return trk__report_print(
			r, "excluded: %s of memory for the job, %s needed",
			trk__report_memory(r, (double) trk__catalog_usable_bytes(s) / MIB),
			trk__report_memory(r, (double) q->memory_bytes / MIB));
	case TRK_NEED_VCPUS:
		return trk__report_print(r, "excluded: %u vCPU, %u needed", s->vcpus, q->vcpus);
	case TRK_NEED_VRAM:
		return trk__report_print(r, "excluded: %s of video memory, %s needed",
					 trk__report_memory(r, s->vram_mib),
					 trk__report_memory(r, (double) q->vram_bytes / MIB));
	case TRK_NEED_ALLOCATION:
		return "excluded: burstable, its price holds for a share of its cores only";
	case TRK_NEED_ARCH:
		return trk__report_print(r, "excluded: it is %s", trk__catalog_arch_names[s->arch]);
	default:
		return trk__report_print(r, "excluded: not enough %s",
					 trk__catalog_need_name(e->offer.unmet));
	}
}

static void add_here(struct trk_report *r, const struct trk_report_work *w,
		     struct trk_report_table *t)
{
	const struct trk_catalog *c = w->in->catalog;
	struct trk_report_cell *row = w->here >= 0 ? trk__report_row(r, t) : NULL;
	double duration = (double) w->in->record->outcome.duration_ns / 1e9;

	if (!row)
		return;
	describe(r, c, server_of(c, (size_t) w->here), row);
	row[WHERE].text = trk__report_print(
		r, "%s %s", trk__catalog_vendor_id(c, server_of(c, (size_t) w->here)->vendor),
		w->in->place->region ? trk__report_safe(r, w->in->place->region, 40) : "");
	row[TIME] = trk__report_cell(trk__report_seconds(r, duration), duration);
	if (w->has_paid) {
		row[HOUR] = trk__report_cell(trk__report_usd(r, w->paid.usd_per_hour),
					     w->paid.usd_per_hour);
		row[RUN] = trk__report_cell(trk__report_usd(r, w->paid.usd), w->paid.usd);
	}
	row[READING] =
		trk__report_tone(trk__report_cell("this run, as it was", NAN), TRK_TONE_STRONG);
}

static void compare_cost(struct trk_report *r, const struct trk_report_work *w,
			 struct trk_report_cell *row, double usd)
{
	double change = usd / w->paid.usd - 1;

	if (w->has_paid && row && w->paid.usd > 0)
		row[READING] = trk__report_tone(
			trk__report_cell(trk__report_print(r, "%s beside this run",
							   trk__report_change(r, change)),
					 change),
			change < 0 ? TRK_TONE_GOOD : TRK_TONE_PLAIN);
}

static void add_notes(struct trk_report *r, const struct trk_report_work *w,
		      struct trk_report_section *s)
{
	const struct trk_catalog *c = w->in->catalog;

	trk__report_note(
		s,
		trk__report_print(r,
				  "List prices on demand, catalogue of %s, by the vendor's billing "
				  "step; without storage, traffic and discounts. One minute of "
				  "start-up is counted in.",
				  trk__report_date(r, c->image->date)));
	if (!w->ended_well)
		trk__report_note(s, "Times and costs are those of this run as far as it came.");
	if (w->here < 0)
		trk__report_note(s, "On which server this run took place is not known, so one "
				    "thread is taken for equally fast everywhere.");
	if (w->has_paid && !isnan(w->paid.idle_cpu_usd))
		trk__report_note(
			s, trk__report_print(
				   r,
				   "Of the %s that this run cost, %s went to cores that stood idle "
				   "and %s to memory that was never used.",
				   trk__report_usd(r, w->paid.usd),
				   trk__report_usd(r, w->paid.idle_cpu_usd),
				   trk__report_usd(r, w->paid.idle_memory_usd)));
}

void trk__report_servers(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_SERVERS];
	const struct trk_server_advice *a = &w->servers;
	struct trk_report_table *t;

	if (!w->in->catalog || !w->has_advice) {
		trk__report_empty(s, w->in->catalog ? "Nothing is known of what the job needs."
						    : "No catalogue of servers was at hand.");
		return;
	}
	if (!w->has_servers) {
		trk__report_empty(s, "No server of the catalogue meets these needs.");
		return;
	}
	t = trk__report_table(s, "servers", NULL, columns, COLUMNS);
	for (size_t i = 0; i < a->n && i < SHOWN; i++)
		compare_cost(r, w, add_estimate(r, t, w->in->catalog, &a->list[i]),
			     a->list[i].cost_usd);
	for (size_t i = 0; i < a->nears && i < 3; i++) {
		struct trk_report_cell *row = add_estimate(r, t, w->in->catalog, &a->near[i]);

		if (row)
			row[READING] = trk__report_tone(
				trk__report_cell(shortfall(r, w, &a->near[i]), NAN),
				TRK_TONE_MUTED);
	}
	add_here(r, w, t);
	add_notes(r, w, s);
}

/* ---- the machine ---- */

static const struct trk_report_column facts[] = {{"name", "What", TRK_CELL_TEXT},
						 {"value", "Value", TRK_CELL_TEXT}};

static void add_fact(struct trk_report *r, struct trk_report_table *t, const char *name,
		     const char *text)
{
	struct trk_report_cell *row = trk__report_row(r, t);

	if (!row)
		return;
	row[0] = trk__report_tone(trk__report_cell(name, NAN), TRK_TONE_STRONG);
	row[1].text = text;
}

void trk__report_machine(struct trk_report *r, const struct trk_report_work *w)
{
	struct trk_report_section *s = &r->part[TRK_PART_MACHINE];
	const struct trk_report_place *place = w->in->place;
	struct trk_report_table *t;

	if (!w->in->machine_facts && !place) {
		trk__report_empty(s, "This recording holds no description of its server or cloud; "
				     "the limits that the run stood under are below.");
		return;
	}
	t = trk__report_table(s, "facts", NULL, facts, 2);
	if (place && place->vendor)
		add_fact(r, t, "Cloud", trk__report_safe(r, place->vendor, 60));
	if (place && place->region)
		add_fact(r, t, "Region", trk__report_safe(r, place->region, 60));
	if (place && place->server)
		add_fact(r, t, "Server type", trk__report_safe(r, place->server, 60));
	if (w->has_paid)
		add_fact(r, t, "Cost of this run", trk__report_usd(r, w->paid.usd));
	for (size_t i = 0; i < w->in->machine_facts; i++)
		add_fact(r, t, trk__report_safe(r, w->in->machine[i].name, 60),
			 trk__report_safe(r, w->in->machine[i].text, 200));
	if (!place || !place->vendor)
		trk__report_note(s, "Which cloud this was, if any, is not known.");
}
