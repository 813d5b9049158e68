/* The limits of a run: the current ones, their changes, and the value that use is compared with.
 *
 * A limit may change while the job runs, and so may the control group. Then the CPU limit of the
 * run is the largest one, and the memory limit is the one that the job came nearest to; the reason
 * of each states this. */
#ifndef TRK_TRACK_LIMITS_H
#define TRK_TRACK_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "model/run.h"
#include "sample/sampler.h"

/* The history of one limit as text: "100 MiB until 2.1 s, 300 MiB". */
struct trk_limit_words {
	char text[160];
	unsigned int changes;
};

struct trk_limits {
	struct trk_quantity now[TRK_LIMITS];
	struct trk_quantity stated[TRK_REQUESTS]; /* requests that do not come from limits */
	uint64_t own_bytes;                       /* --limit mem=; 0: none */
	unsigned int seen;                        /* changes of the sampler's limits */
	struct trk_limit_words cpu, memory;
	double nearest_share;                 /* of the memory limit in use, largest so far */
	struct trk_quantity nearest, largest; /* memory limits: at nearest_share, and of all */
	struct trk_quantity cores;            /* largest CPU limit */
};

/* Set run->limit to the limits at the start and, where nothing is stated, run->request too. */
void trk__limits_begin(struct trk_limits *l, const struct trk_env *env,
		       const struct trk_sampler *sampler, uint64_t own_bytes, struct trk_run *run);

/* After trk__limits_begin: a time limit that the tracker enforces (0: none), and the GPUs that the
 * environment of the job makes visible (NULL: not known). */
void trk__limits_state(struct trk_limits *l, uint64_t time_ns, const struct trk_gpu_hints *gpus,
		       struct trk_run *run);

/* Call after each row. Returns true if run->limit or run->request changed. */
bool trk__limits_follow(struct trk_limits *l, const struct trk_env *env,
			const struct trk_sampler *sampler, const struct trk_sample *row,
			struct trk_run *run);

/* Call at the end: after an out-of-memory kill the memory limit is that of the group that ran out
 * (`killed`, NULL: not known), else the current one. Returns as above. */
bool trk__limits_end(struct trk_limits *l, const struct trk_outcome *o,
		     const struct trk_quantity *killed, struct trk_run *run);

/* Memory of the machine, MiB: /proc/meminfo, or sysinfo(2) where /proc shows processes alone. */
double trk__machine_memory_mib(const struct trk_env *env);

#endif
