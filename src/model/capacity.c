#include "model/capacity.h"

#include <math.h>
#include <string.h>

bool trk__capacity_is_machine(const struct trk_quantity *limit)
{
	return !strcmp(limit->source, TRK_SOURCE_ALL_MEMORY) ||
	       !strcmp(limit->source, TRK_SOURCE_ALL_CPUS) ||
	       !strcmp(limit->source, TRK_SOURCE_SERVER_INFO);
}

static double gpus_seen(const struct trk_gpu_log *log)
{
	double n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += log->total[i].device.parent < 0;
	return n > 0 ? n : (double) NAN;
}

/* A request that was copied from the limit (trk__request_from_limits) is an estimate. */
static struct trk_capacity of(const struct trk_quantity *request, const struct trk_quantity *limit)
{
	if (request->value > 0)
		return (struct trk_capacity){request->value,
					     request->quality == TRK_QUALITY_ESTIMATED
						     ? TRK_CAPACITY_LIMIT
						     : TRK_CAPACITY_REQUESTED,
					     request->source};
	if (!(limit->value > 0))
		return (struct trk_capacity){NAN, TRK_CAPACITY_UNKNOWN, ""};
	return (struct trk_capacity){limit->value,
				     trk__capacity_is_machine(limit) ? TRK_CAPACITY_MACHINE
								     : TRK_CAPACITY_LIMIT,
				     limit->source};
}

/* A list of visible GPUs may name more than exist. */
static struct trk_capacity of_gpus(const struct trk_record *record)
{
	const struct trk_run *run = &record->run;
	struct trk_capacity c = of(&run->request[TRK_REQUEST_GPU], &run->limit[TRK_LIMIT_GPU]);
	double seen = gpus_seen(&record->gpus);

	if (c.kind == TRK_CAPACITY_UNKNOWN && !isnan(seen))
		return (struct trk_capacity){seen, TRK_CAPACITY_MACHINE,
					     "GPUs that the driver lists"};
	if (c.kind == TRK_CAPACITY_LIMIT && c.value > seen)
		c.value = seen;
	return c;
}

/* If Slurm gave the job all CPUs of the machine (--exclusive, or by the partition), no other job
 * can use them or the memory, so neither counts as requested. --request and --cpus-per-task still
 * do. */
static struct trk_capacity of_node(const struct trk_run *run, struct trk_capacity c)
{
	const struct trk_quantity *cpus = &run->request[TRK_REQUEST_CPU];
	const struct trk_quantity *all = &run->limit[TRK_LIMIT_CPU];
	bool whole = (!strcmp(cpus->source, "SLURM_CPUS_ON_NODE") ||
		      !strcmp(cpus->source, "SLURM_JOB_CPUS_PER_NODE")) &&
		     trk__capacity_is_machine(all) && cpus->value == all->value;

	if (whole && (!strncmp(c.source, "SLURM_", 6) || !strncmp(c.source, "cgroup", 6)))
		c.kind = TRK_CAPACITY_MACHINE;
	return c;
}

struct trk_capacity trk__capacity(const struct trk_record *record, enum trk_resource resource)
{
	const struct trk_quantity *request = record->run.request, *limit = record->run.limit;

	switch (resource) {
	case TRK_RESOURCE_CPU:
		return of_node(&record->run, of(&request[TRK_REQUEST_CPU], &limit[TRK_LIMIT_CPU]));
	case TRK_RESOURCE_MEMORY_MIB:
		return of_node(&record->run,
			       of(&request[TRK_REQUEST_MEMORY_MIB], &limit[TRK_LIMIT_MEMORY_MIB]));
	case TRK_RESOURCE_TIME_S:
		return of(&request[TRK_REQUEST_TIME_S], &limit[TRK_LIMIT_TIME_S]);
	default:
		return of_gpus(record);
	}
}

bool trk__capacity_is_stated(const struct trk_capacity *c)
{
	return c->kind >= TRK_CAPACITY_LIMIT;
}

static const struct {
	const char *name, *words;
} kinds[] = {
	[TRK_CAPACITY_UNKNOWN] = {"unknown", ""},
	[TRK_CAPACITY_MACHINE] = {"machine", "in this machine"},
	[TRK_CAPACITY_LIMIT] = {"limit", "limit"},
	[TRK_CAPACITY_REQUESTED] = {"requested", "requested"},
};

const char *trk__capacity_words(enum trk_capacity_kind kind)
{
	return kinds[kind].words;
}

const char *trk__capacity_name(enum trk_capacity_kind kind)
{
	return kinds[kind].name;
}

enum trk_capacity_kind trk__capacity_find(const char *name)
{
	int kind = TRK_CAPACITY_REQUESTED;

	while (kind > TRK_CAPACITY_UNKNOWN && strcmp(kinds[kind].name, name) != 0)
		kind--;
	return (enum trk_capacity_kind) kind;
}

void trk__capacity_json(struct trk_json *j, const char *key, const struct trk_capacity *c)
{
	trk__json_key_open(j, key, '{');
	trk__json_key_double(j, "value", c->value);
	trk__json_key_text(j, "kind", trk__capacity_name(c->kind));
	trk__json_key_or_null(j, "source", c->source);
	trk__json_close(j, '}');
}
