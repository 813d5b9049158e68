/* Servers that fit and what a run costs on them. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "report/section/section.h"

enum { SHOWN = 5, LEAST_S = 600 };

#define B TRK_DOC_STRONG
#define E TRK_DOC_PLAIN

/* ---- search ---- */

/* The cost of the run as recorded, or else by the catalogue. */
static void find_here(struct trk_report_work *w)
{
	const struct trk_place *place = &w->in->record->place;
	const struct trk_cloud *cloud = &place->cloud;
	const struct trk_catalog *c = w->in->catalog;
	int vendor;

	if (!trk__report_knows_cloud(w) || !cloud->instance_type[0])
		return;
	vendor = trk__catalog_find_vendor(c, cloud->vendor);
	w->here = vendor < 0 ? -1 : trk__catalog_find_server(c, vendor, cloud->instance_type);
	if (w->here < 0)
		return;
	if (place->has_cost && !isnan(place->cost.usd))
		w->paid = place->cost;
	else if (trk__cost_here(c, w->in->record, cloud, &w->paid) < 0)
		return;
	w->has_paid = !isnan(w->paid.usd);
}

void trk__report_find_servers(struct trk_report_work *w)
{
	const struct trk_catalog *c = w->in->catalog;
	const struct trk_run_question question = {.record = w->in->record,
						  .advice = &w->advice,
						  .busy = w->in->use ? &w->in->use->busy : NULL,
						  .words = w->in->words};

	if (!c || !w->has_advice)
		return;
	find_here(w);
	w->servers = calloc(1, sizeof(*w->servers));
	w->has_servers = w->servers && trk__run_servers_read(w->servers, c, &question, NULL) == 0 &&
			 trk__run_servers_find(w->servers, c, TRK_ORDER_RUN_COST, SHOWN) == 0 &&
			 w->servers->offers.n > 0;
}

/* ---- tables and sentences ---- */

static const struct trk_doc_column columns[] = {
	{"server", "Server", TRK_CELL_CODE},
	{"where", "Where", TRK_CELL_TEXT},
	{"vcpus", "vCPU", TRK_CELL_NUMBER},
	{"memory", "Memory", TRK_CELL_NUMBER},
	{"usd_per_hour", "Per hour", TRK_CELL_NUMBER},
	{"price_age", "Price age", TRK_CELL_TEXT},
	{"run_s", "Est. time", TRK_CELL_NUMBER},
	{"usd_per_run", "Per run", TRK_CELL_NUMBER},
	{"reading", "Reading", TRK_CELL_TEXT},
};
enum { SERVER, WHERE, VCPUS, MEMORY, HOUR, AGE, TIME, RUN, READING, COLUMNS };

static void describe(struct trk_doc *d, const struct trk_catalog *c,
		     const struct trk_catalog_server *s, struct trk_doc_cell *row)
{
	row[SERVER].text = trk__catalog_text(c, s->name);
	row[VCPUS] = trk__doc_cell(trk__doc_print(d, "%u", s->vcpus), s->vcpus);
	row[MEMORY] = trk__doc_figure(d, trk__human_memory, s->memory_mib);
}

static struct trk_doc_cell *add_estimate(struct trk_doc *d, struct trk_doc_table *t,
					 const struct trk_offers *o,
					 const struct trk_server_estimate *e)
{
	const struct trk_catalog *c = o->c;
	const struct trk_catalog_server *s = trk__offers_server(c, &e->offer);
	struct trk_doc_cell *row = trk__doc_row(d, t);
	double hour = trk__catalog_usd(e->offer.units);
	long days = trk__offers_age_days(o, e);
	char age[TRK_OFFER_AGE_SIZE], remark[TRK_OFFER_REMARK_SIZE];

	describe(d, c, s, row);
	row[WHERE].text =
		trk__doc_print(d, "%s %s", trk__catalog_vendor_id(c, s->vendor),
			       trk__catalog_region_id(c, trk__offers_block(c, &e->offer)->region));
	row[HOUR] = trk__doc_figure(d, trk__human_usd_per_hour, hour);
	row[AGE] = trk__doc_tone(trk__doc_cell(trk__doc_print(d, "%s", trk__offers_age(o, e, age)),
					       days < 0 ? (double) NAN : (double) days),
				 e->offer.old ? TRK_TONE_WARN : TRK_TONE_PLAIN);
	row[TIME] = trk__doc_figure(d, trk__human_seconds, e->run_s);
	row[RUN] = trk__doc_figure(d, trk__human_usd, e->cost_usd);
	if (*trk__offers_remark(o, e, remark))
		row[READING].text = trk__doc_print(d, "%s", remark);
	return row;
}

static const char *shortfall(struct trk_doc *d, const struct trk_report_work *w,
			     const struct trk_server_estimate *e)
{
	char why[160];

	trk__offers_shortfall(&w->servers->needs.query,
			      trk__offers_server(w->in->catalog, &e->offer), e->offer.unmet, why,
			      sizeof(why));
	return trk__doc_print(d, "excluded by %s: %s", trk__catalog_need_name(e->offer.unmet), why);
}

/* The price of the run has its date as text. */
static uint32_t date_of(const char *text)
{
	unsigned int y, m, d;

	return sscanf(text, "%4u-%2u-%2u", &y, &m, &d) == 3 ? y * 10000 + m * 100 + d : 0;
}

/* "4 months", with "estimated" if the present server's price is an estimate. */
static struct trk_doc_cell age_here(struct trk_doc *d, const struct trk_report_work *w)
{
	bool estimated = !strcmp(w->paid.price_quality, trk__catalog_quality_names[TRK_FACT_EST]);
	long days =
		trk__catalog_age_days(date_of(w->paid.price_date), w->servers->needs.query.today);
	char age[16];

	if (days < 0)
		return trk__doc_cell(estimated ? "estimated" : NULL, NAN);
	return trk__doc_cell(trk__doc_print(d, "%s%s", trk__catalog_age(days, age),
					    estimated ? ", estimated" : ""),
			     (double) days);
}

static void add_here(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_table *t)
{
	const struct trk_catalog *c = w->in->catalog;
	struct trk_doc_cell *row = w->here >= 0 ? trk__doc_row(d, t) : NULL;
	double duration = (double) w->in->record->outcome.duration_ns / 1e9;
	const char *region = w->in->record->place.cloud.region;
	const struct trk_catalog_server *here;

	if (!row)
		return;
	here = &trk__catalog_servers(c, NULL)[w->here];
	describe(d, c, here, row);
	row[WHERE].text = trk__doc_print(d, "%s %s", trk__catalog_vendor_id(c, here->vendor),
					 region[0] ? trk__doc_safe(d, region, 40) : "");
	row[TIME] = trk__doc_figure(d, trk__human_seconds, duration);
	if (w->has_paid) {
		row[HOUR] = trk__doc_figure(d, trk__human_usd_per_hour, w->paid.usd_per_hour);
		row[AGE] = age_here(d, w);
		row[RUN] = trk__doc_figure(d, trk__human_usd, w->paid.usd);
	}
	row[READING] =
		trk__doc_tone(trk__doc_cell(here->flags & TRK_SERVER_PREVIOUS
						    ? "this run, as it was; previous generation"
						    : "this run, as it was",
					    NAN),
			      TRK_TONE_STRONG);
}

static void compare_cost(struct trk_doc *d, const struct trk_report_work *w,
			 struct trk_doc_cell *row, double usd)
{
	double change = usd / w->paid.usd - 1;
	const char *remark;

	if (!w->has_paid || !row || !(w->paid.usd > 0))
		return;
	remark = row[READING].text;
	row[READING] = trk__doc_tone(
		trk__doc_cell(trk__doc_print(d, "%s against this run%s%s",
					     trk__doc_value(d, trk__human_change, change),
					     remark ? ", " : "", remark ? remark : ""),
			      change),
		change < 0 ? TRK_TONE_GOOD : TRK_TONE_PLAIN);
}

static void add_notes(struct trk_doc *d, const struct trk_report_work *w, struct trk_doc_section *s)
{
	const struct trk_catalog *c = w->in->catalog;
	char update[TRK_OFFER_UPDATE_SIZE];

	trk__doc_note(d, s,
		      "%s, catalogue of %s, in the vendor's billing steps; without "
		      "storage, traffic, discounts and the time that a server takes to "
		      "start.",
		      w->servers->needs.query.spot ? "Typical prices of spot servers"
						   : "List prices on demand",
		      trk__doc_date(d, c->image->date));
	if (*trk__offers_update(&w->servers->offers, update))
		trk__doc_note(d, s, "%s.", trk__doc_upper(d, update));
	if (!w->servers->place_known && !w->servers->needs.query.vendors_ok &&
	    !w->servers->needs.query.regions_ok)
		trk__doc_note(d, s,
			      "The cloud of the job is not known, so servers of all vendors are "
			      "listed. State it with " B "--instance VENDOR/REGION/TYPE" E " (of " B
			      "run" E ", or now of " B "report" E ", " B "recommend" E " and " B
			      "show" E "), or " B "--vendor" E " and " B "--region" E " (of " B
			      "report" E " and " B "recommend" E ").");
	if (!w->ended_well)
		trk__doc_note(
			d, s,
			"Times and costs cover only the part of the job that this run completed.");
	if (w->here < 0 && w->servers->place_known)
		trk__doc_note(d, s,
			      "The server of this run is not known, so one thread is assumed to be "
			      "equally fast on all servers.");
	if (w->has_paid && !isnan(w->paid.idle_cpu_usd))
		trk__doc_note(d, s,
			      "Of the %s that this run cost, %s went to idle cores "
			      "and %s to memory that was never used.",
			      trk__doc_value(d, trk__human_usd, w->paid.usd),
			      trk__doc_value(d, trk__human_usd, w->paid.idle_cpu_usd),
			      trk__doc_value(d, trk__human_usd, w->paid.idle_memory_usd));
}

static const char *why_no_servers(struct trk_doc *d, const struct trk_report_work *w)
{
	const char *why = w->servers ? w->servers->offers.nothing : "";

	if (w->in->live_s > 0)
		return "Servers are searched for when the run has ended.";
	if (!w->in->catalog)
		return "No catalogue of servers was available.";
	if (!w->has_advice)
		return "The needs of the job are not known.";
	return *why ? trk__doc_print(d, "%s.", trk__doc_upper(d, why))
		    : "No server of the catalogue meets these needs.";
}

/* No table for a run of seconds, or if the cloud is unknown and none was stated. */
static bool is_worth_a_table(const struct trk_report_work *w)
{
	double seconds = (double) w->in->record->outcome.duration_ns / 1e9;
	bool asked = w->servers->needs.query.vendors_ok || w->servers->needs.query.regions_ok;

	return asked || (w->servers->place_known && seconds >= LEAST_S);
}

static void say_short(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w)
{
	const char *why =
		w->servers->place_known
			? "The run was short, so its price on another server is of little use."
			: "The cloud of the job is not known, so prices of servers are of little "
			  "use.";

	trk__doc_text(d, s,
		      "%s " B "resource-tracker recommend %s" E " lists what fits; " B
		      "--instance VENDOR/REGION/TYPE" E " of " B "run" E " and " B "report" E
		      " states where it ran.",
		      why, trk__doc_safe(d, w->in->record->run.id, 40));
}

void trk__section_servers(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_report_work *w)
{
	const struct trk_offers *o;
	struct trk_doc_table *t;

	if (!w->has_servers) {
		trk__doc_empty(d, s, why_no_servers(d, w));
		return;
	}
	if (!is_worth_a_table(w)) {
		say_short(d, s, w);
		return;
	}
	o = &w->servers->offers;
	t = trk__doc_table(d, s, "servers", NULL, columns, COLUMNS);
	for (size_t i = 0; i < o->n && i < o->limit; i++)
		compare_cost(d, w, add_estimate(d, t, o, &o->list[i]), o->list[i].cost_usd);
	for (size_t i = 0; i < o->advice.nears && i < 3; i++) {
		const struct trk_server_estimate *near = &o->advice.near[i];
		struct trk_doc_cell *row = add_estimate(d, t, o, near);

		if (row)
			row[READING] = trk__doc_tone(trk__doc_cell(shortfall(d, w, near), NAN),
						     TRK_TONE_MUTED);
	}
	add_here(d, w, t);
	add_notes(d, w, s);
}
