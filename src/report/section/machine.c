/* The server and the cloud that the run was on, and its price: from the caller, else from the
 * recording. */
#include <math.h>
#include <stdio.h>

#include "report/place_json.h"
#include "report/section/section.h"

struct facts {
	struct trk_doc *d;
	struct trk_doc_table *t;
};

static void add(struct facts *f, const char *name, const char *text)
{
	struct trk_doc_cell *row = text && *text ? trk__doc_row(f->d, f->t) : NULL;

	if (!row)
		return;
	row[0] = trk__doc_tone(trk__doc_cell(name, NAN), TRK_TONE_STRONG);
	row[1].text = trk__doc_safe(f->d, text, 200);
}

/* "kvm (DMI: Amazon EC2)". */
static const char *with_source(struct facts *f, const char *text, const char *from)
{
	return *text && *from ? trk__doc_print(f->d, "%s (%s)", text, from) : text;
}

static void server_facts(struct facts *f, const struct trk_server *s)
{
	char gpus[sizeof(s->gpu_names)];

	add(f, "Processor", s->cpu_model);
	add(f, "Architecture", s->arch);
	if (!isnan(s->vcpus))
		add(f, "vCPUs",
		    isnan(s->cores)
			    ? trk__doc_value(f->d, trk__human_number, s->vcpus)
			    : trk__doc_print(f->d, "%.0f (%.0f cores)", s->vcpus, s->cores));
	if (!isnan(s->memory_mib))
		add(f, "Memory", trk__doc_value(f->d, trk__human_memory, s->memory_mib));
	if (!isnan(s->disk_gb))
		add(f, "Disks", trk__doc_print(f->d, "%.0f, %.0f GB", s->disks, s->disk_gb));
	(void) snprintf(gpus, sizeof(gpus), "%s", s->gpu_names);
	for (char *c = gpus; *c; c++)
		*c = *c == '\n' ? ',' : *c;
	if (s->gpu_count > 0)
		add(f, "GPUs", trk__doc_print(f->d, "%.0f: %s", s->gpu_count, gpus));
	else
		add(f, "GPUs", s->gpu_count == 0 ? "none" : s->gpu_reason);
	add(f, "System", trk__doc_print(f->d, "%s %s", s->os, s->kernel));
	add(f, "Virtualisation", with_source(f, s->virtualization, s->virtualization_from));
	add(f, "Container", with_source(f, s->container, s->container_from));
}

static void cloud_facts(struct facts *f, const struct trk_cloud *c)
{
	add(f, "Cloud", c->vendor[0] ? with_source(f, c->vendor, c->source) : c->reason);
	add(f, "Region", c->region);
	add(f, "Zone", c->zone);
	add(f, "Server type", c->instance_type);
	add(f, "Billing", c->allocation);
}

static void cost_facts(struct facts *f, const struct trk_cost *c)
{
	if (isnan(c->usd)) {
		add(f, "Cost of this run", c->reason);
		return;
	}
	add(f, "Cost of this run",
	    trk__doc_print(f->d, "%s at %s an hour (price of %s, %s)",
			   trk__doc_value(f->d, trk__human_usd, c->usd),
			   trk__doc_value(f->d, trk__human_usd_per_hour, c->usd_per_hour),
			   c->price_date, c->price_source));
	if (!isnan(c->idle_cpu_usd))
		add(f, "of it for idle cores",
		    trk__doc_value(f->d, trk__human_usd, c->idle_cpu_usd));
	if (!isnan(c->idle_memory_usd))
		add(f, "of it for unused memory",
		    trk__doc_value(f->d, trk__human_usd, c->idle_memory_usd));
}

bool trk__report_knows_cloud(const struct trk_report_work *w)
{
	const struct trk_place *p = &w->in->record->place;

	return p->has_cloud && p->cloud.vendor[0];
}

void trk__section_machine(struct trk_doc *d, struct trk_doc_section *s,
			  const struct trk_report_work *w)
{
	static const struct trk_doc_column columns[] = {{"name", "What", TRK_CELL_TEXT},
							{"value", "Value", TRK_CELL_TEXT}};
	const struct trk_place *p = &w->in->record->place;
	struct facts f = {d, trk__doc_table(d, s, "facts", NULL, columns, 2)};
	char evidence[200] = "";
	const char *allocation;

	if (w->has_paid && !p->has_cost)
		cost_facts(&f, &w->paid);
	if (p->has_server) {
		server_facts(&f, &p->server);
		allocation = trk__allocation_of(w->in->record, true, evidence, sizeof(evidence));
		if (allocation)
			add(&f, "Allocation",
			    with_source(&f, allocation, trk__doc_print(d, "%s", evidence)));
	}
	if (p->has_cloud)
		cloud_facts(&f, &p->cloud);
	if (p->has_cost)
		cost_facts(&f, &p->cost);
	if (!f.t->rows)
		trk__doc_empty(d, s,
			       "This recording does not describe its server or cloud. The limits "
			       "of the run are below.");
	else if (!trk__report_knows_cloud(w))
		trk__doc_note(d, s, "The cloud of this machine, if any, is not known.");
}
