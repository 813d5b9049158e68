/* How many processes there are.
 *
 * Source: the directories of /proc that are numbers. The link count of /proc is the number of all
 * processes of the machine and a constant: where /proc shows all of them, in the first pid namespace,
 * one stat(2) stands for the walk, which fixes the constant anew every minute. A container's /proc has
 * that link count as well, and shows its own processes alone: there each reading is a walk. */
#ifndef TRK_PROBE_LINUX_PROCESS_COUNT_H
#define TRK_PROBE_LINUX_PROCESS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/* Zeroed before the first reading. */
struct trk_process_count {
	int64_t links; /* of /proc, less its processes */
	uint64_t recount_ns;
	bool asked, shows_all;
};

/* Returns 0, or a negative errno and leaves *ret untouched. */
int trk__process_count_read(struct trk_process_count *c, const struct trk_env *env, uint64_t *ret);

#endif
