/* Load averages, and the last pid that was allocated.
 *
 * Source: /proc/loadavg. The fourth field counts threads, not processes. */
#ifndef TRK_PROBE_LINUX_LOADAVG_H
#define TRK_PROBE_LINUX_LOADAVG_H

#include <stdint.h>

struct trk_loadavg {
	uint64_t load_1m, load_5m, load_15m; /* hundredths */
	uint64_t running, threads;
	uint64_t last_pid; /* of the reader's pid namespace; threads use pids too */
};

/* Parse the text of the file. Pure. Returns 0, or -EBADMSG and leaves *ret untouched. */
int trk__loadavg_parse(const char *text, struct trk_loadavg *ret);

#endif
