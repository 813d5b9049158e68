/* What a recording says of the machine, the cloud and the price, as the report takes it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/place.h"
#include "report/report_private.h"

enum { FACTS_MAX = 24 };

struct facts {
	struct trk_report *r;
	struct trk_report_fact *fact;
	size_t count;
};

static void add(struct facts *f, const char *name, const char *text)
{
	if (f->fact && text && *text && f->count < FACTS_MAX)
		f->fact[f->count++] = (struct trk_report_fact){name, text};
}

/* "kvm (DMI: Amazon EC2)". */
static const char *with_source(struct facts *f, const char *text, const char *from)
{
	return *text && *from ? trk__report_print(f->r, "%s (%s)", text, from) : text;
}

static void server_facts(struct facts *f, const struct trk_server *s)
{
	char gpus[sizeof(s->gpu_names)];

	add(f, "Processor", s->cpu_model);
	add(f, "Architecture", s->arch);
	if (!isnan(s->vcpus))
		add(f, "vCPUs",
		    isnan(s->cores)
			    ? trk__report_number(f->r, s->vcpus)
			    : trk__report_print(f->r, "%.0f (%.0f cores)", s->vcpus, s->cores));
	if (!isnan(s->memory_mib))
		add(f, "Memory", trk__report_memory(f->r, s->memory_mib));
	if (!isnan(s->disk_gb))
		add(f, "Disks", trk__report_print(f->r, "%.0f, %.0f GB", s->disks, s->disk_gb));
	(void) snprintf(gpus, sizeof(gpus), "%s", s->gpu_names);
	for (char *c = gpus; *c; c++)
		*c = *c == '\n' ? ',' : *c;
	if (s->gpu_count > 0)
		add(f, "GPUs", trk__report_print(f->r, "%.0f: %s", s->gpu_count, gpus));
	else
		add(f, "GPUs", s->gpu_count == 0 ? "none" : s->gpu_reason);
	add(f, "System", trk__report_print(f->r, "%s %s", s->os, s->kernel));
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
	    trk__report_print(f->r, "%s at %s an hour (price of %s, %s)",
			      trk__report_usd(f->r, c->usd), trk__report_usd(f->r, c->usd_per_hour),
			      c->price_date, c->price_source));
	if (!isnan(c->idle_cpu_usd))
		add(f, "of it for idle cores", trk__report_usd(f->r, c->idle_cpu_usd));
	if (!isnan(c->idle_memory_usd))
		add(f, "of it for unused memory", trk__report_usd(f->r, c->idle_memory_usd));
	if (c->best_type[0])
		add(f, "Cheapest server for it",
		    trk__report_print(f->r, "%s %s in %s, %s a run", c->best_vendor, c->best_type,
				      c->best_region, trk__report_usd(f->r, c->best_usd)));
}

void trk__report_place_of(struct trk_report *r, struct trk_report_input *in,
			  struct trk_report_place *place)
{
	const struct trk_place *p = &in->record->place;
	struct facts f = {.r = r};
	char evidence[200] = "";
	const char *allocation;

	if (!in->place && p->has_cloud && p->cloud.vendor[0]) {
		*place = (struct trk_report_place){
			.vendor = p->cloud.vendor,
			.region = p->cloud.region[0] ? p->cloud.region : NULL,
			.server = p->cloud.instance_type[0] ? p->cloud.instance_type : NULL,
			.usd_per_hour = p->has_cost ? p->cost.usd_per_hour : (double) NAN,
		};
		in->place = place;
	}
	if (in->machine_facts || !(p->has_server || p->has_cloud || p->has_cost))
		return;
	f.fact = trk__report_alloc(r, FACTS_MAX * sizeof(*f.fact));
	if (p->has_server) {
		server_facts(&f, &p->server);
		allocation = trk__allocation_of(in->record, true, evidence, sizeof(evidence));
		if (allocation)
			add(&f, "Allocation",
			    with_source(&f, allocation, trk__report_print(r, "%s", evidence)));
	}
	if (p->has_cloud)
		cloud_facts(&f, &p->cloud);
	if (p->has_cost)
		cost_facts(&f, &p->cost);
	/* With a count of 0 the section says that nothing is known. */
	in->machine = f.fact;
	in->machine_facts = f.count;
}
