/* The capacity of a run for a resource: the figure that its use is compared with, in verdicts,
 * bars, tables and documents. It is the request; else the enforced limit (--limit, a control group,
 * the batch system, ulimit, CPU affinity); else the size of the machine. If Slurm gave the job a
 * whole node, it is the size of the machine as well. */
#ifndef TRK_MODEL_CAPACITY_H
#define TRK_MODEL_CAPACITY_H

#include "base/json.h"
#include "model/run.h"

enum trk_resource {
	TRK_RESOURCE_CPU,        /* cores */
	TRK_RESOURCE_MEMORY_MIB, /* MiB */
	TRK_RESOURCE_GPU,        /* devices */
	TRK_RESOURCE_TIME_S,     /* s */
	TRK_RESOURCES
};

enum trk_capacity_kind {
	TRK_CAPACITY_UNKNOWN,
	TRK_CAPACITY_MACHINE,
	TRK_CAPACITY_LIMIT,
	TRK_CAPACITY_REQUESTED,
};

struct trk_capacity {
	double value; /* NaN: unknown */
	enum trk_capacity_kind kind;
	const char *source; /* a view of the record, or static */
};

struct trk_capacity trk__capacity(const struct trk_record *record, enum trk_resource resource);

/* True if the capacity was requested or limited: only then can it be called too large or too
 * small. */
bool trk__capacity_is_stated(const struct trk_capacity *c);

/* "requested", "limit", "machine", "unknown". */
const char *trk__capacity_name(enum trk_capacity_kind kind);
/* By that name; TRK_CAPACITY_UNKNOWN of another one. */
enum trk_capacity_kind trk__capacity_find(const char *name);

/* The key and its object: value, kind, source. */
void trk__capacity_json(struct trk_json *j, const char *key, const struct trk_capacity *c);

/* Words after an amount: "requested", "limit", "in this machine", "". */
const char *trk__capacity_words(enum trk_capacity_kind kind);

/* Is this limit the machine's size? */
bool trk__capacity_is_machine(const struct trk_quantity *limit);

/* Sources of a limit that are the machine itself, and that of --limit. */
#define TRK_SOURCE_ALL_MEMORY  "MemTotal"
#define TRK_SOURCE_ALL_CPUS    "online CPUs"
#define TRK_SOURCE_SERVER_INFO "server_info"
#define TRK_SOURCE_OWN_LIMIT   "--limit"

#endif
