#include "base/maths.h"
#include "report/place_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"

static const double OTHERS_CORES = 0.25;
static const double OTHERS_MEMORY_MIB = 512;
static const double OTHERS_MEMORY_SHARE = 0.5;

const char *trk__allocation_of(const struct trk_record *r, bool measured, char *evidence,
			       size_t size)
{
	const struct trk_server *s = &r->place.server;
	double cores = trk__stats_get(r->stats, TRK_SYSTEM_CPU_USAGE).mean -
		       trk__stats_get(r->stats, TRK_PROCESS_CPU_USAGE).mean;
	double used = trk__stats_get(r->stats, TRK_SYSTEM_MEMORY_USED).mean;
	double others = used - trk__stats_get(r->stats, TRK_PROCESS_MEMORY).mean;
	char memory[TRK_HUMAN_SIZE];

	if (r->place.has_server && !isnan(s->cpu_limit)) {
		(void) snprintf(evidence, size, "%.4g of %.4g CPUs: %s", s->cpu_limit, s->vcpus,
				s->cpu_limit_from);
		return "shared";
	}
	if (r->place.has_server && !isnan(s->memory_limit_mib)) {
		(void) snprintf(evidence, size, "%.0f of %.0f MiB: %s", s->memory_limit_mib,
				s->memory_mib, s->memory_limit_from);
		return "shared";
	}
	if (!measured || isnan(cores) || isnan(others) || r->samples < 3) {
		(void) snprintf(evidence, size,
				measured ? "no samples of both the job and the machine"
					 : "only known from the samples of a run");
		return NULL;
	}
	(void) snprintf(evidence, size, "other processes used %.2f cores and %s (mean)",
			cores > 0 ? cores : 0, trk__human_memory(memory, others > 0 ? others : 0));
	return cores > OTHERS_CORES ||
			       (others > OTHERS_MEMORY_MIB && others > OTHERS_MEMORY_SHARE * used)
		       ? "shared"
		       : "dedicated";
}

/* ---- JSON ---- */

/* JSON has sizes of memory and disks with two decimals. */
static double hundredths(double size)
{
	return trk__round_even(size * 100) / 100;
}

static bool is_size(const char *key)
{
	size_t len = strlen(key);

	return len > 3 && (!strcmp(key + len - 3, "mib") || !strcmp(key + len - 3, "_gb"));
}

static void field_json(struct trk_json *j, const struct trk_place *p,
		       const struct trk_place_field *f)
{
	const char *text = trk__place_text(p, f);

	trk__json_key(j, f->key);
	if (f->is_number && is_size(f->key))
		trk__json_double(j, hundredths(trk__place_number(p, f)));
	else if (f->is_number)
		trk__json_double(j, trk__place_number(p, f));
	else
		trk__json_text(j, *text ? text : NULL);
}

static void part_json(struct trk_json *j, const struct trk_place *p, enum trk_place_part part)
{
	for (size_t i = 0; i < trk__place_field_count; i++)
		if (trk__place_fields[i].part == part &&
		    strcmp(trk__place_fields[i].key, "gpu_names"))
			field_json(j, p, &trk__place_fields[i]);
}

static void gpu_names_json(struct trk_json *j, const struct trk_server *s)
{
	const char *at = s->gpu_names;
	char first[256];

	(void) snprintf(first, sizeof(first), "%.*s", (int) strcspn(at, "\n"), at);
	trk__json_key_or_null(j, "gpu_name", first);
	trk__json_key(j, "gpu_names");
	if (isnan(s->gpu_count)) {
		trk__json_null(j);
		return;
	}
	trk__json_open(j, '[');
	while (*at) {
		size_t len = strcspn(at, "\n");

		trk__json_text_n(j, at, len);
		at += len + (at[len] == '\n');
	}
	trk__json_close(j, ']');
}

static void server_json(struct trk_json *j, const struct trk_place *p, const char *allocation,
			const char *evidence)
{
	part_json(j, p, TRK_PLACE_SERVER);
	trk__json_key_double(j, "memory_mb", hundredths(p->server.memory_mib));
	trk__json_key_double(j, "gpu_memory_mb", hundredths(p->server.gpu_memory_mib));
	gpu_names_json(j, &p->server);
	trk__json_key_text(j, "allocation", allocation);
	trk__json_key_text(j, "allocation_evidence", evidence);
}

void trk__cloud_document(struct trk_buf *b, const struct trk_place *p)
{
	struct trk_json j;

	trk__json_begin(&j, b, 2, "resource-tracker.cloud/1");
	part_json(&j, p, TRK_PLACE_CLOUD);
	trk__json_end(&j);
}

void trk__server_document(struct trk_buf *b, const struct trk_record *r, bool measured)
{
	struct trk_json j;
	char evidence[320];
	const char *allocation = trk__allocation_of(r, measured, evidence, sizeof(evidence));

	trk__json_begin(&j, b, 2, "resource-tracker.server/1");
	server_json(&j, &r->place, allocation, evidence);
	trk__json_end(&j);
}

void trk__place_json(struct trk_json *j, const struct trk_record *r)
{
	const struct trk_place *p = &r->place;
	char evidence[320];
	const char *allocation = trk__allocation_of(r, true, evidence, sizeof(evidence));

	if (trk__json_key_object(j, "server", p->has_server)) {
		server_json(j, p, allocation, evidence);
		trk__json_close(j, '}');
	}
	if (trk__json_key_object(j, "cloud", p->has_cloud)) {
		part_json(j, p, TRK_PLACE_CLOUD);
		trk__json_close(j, '}');
	}
	if (trk__json_key_object(j, "cost", p->has_cost)) {
		part_json(j, p, TRK_PLACE_COST);
		trk__json_close(j, '}');
	}
}
