/* The number of processes.
 *
 * Source: the numeric directories of /proc. In the initial pid namespace the link count of /proc is
 * the number of processes plus a constant, so one stat(2) replaces the walk; the constant is
 * determined again every minute. A container's /proc has the link count of the machine but lists
 * only its own processes: there each reading walks it. */
#ifndef TRK_PROBE_LINUX_PROCESS_COUNT_H
#define TRK_PROBE_LINUX_PROCESS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/* Zero-initialise it. */
struct trk_process_count {
	int64_t links; /* link count of /proc, less its processes */
	uint64_t recount_ns;
	bool asked, shows_all;
};

/* Returns 0, or a negative errno and leaves *ret untouched. */
int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret);

#endif
