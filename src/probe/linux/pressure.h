/* Pressure-stall information: how long tasks waited for a resource.
 *
 * Source: /proc/pressure/<resource>, or <cgroup>/<resource>.pressure (Linux 4.20+; missing if
 * compiled out or disabled at boot). */
#ifndef TRK_PROBE_LINUX_PRESSURE_H
#define TRK_PROBE_LINUX_PRESSURE_H

#include <stdint.h>

struct trk_pressure {
	uint64_t some_ns; /* at least one task stalled; monotonic counter */
	uint64_t full_ns; /* all tasks stalled; 0 where the kernel has no "full" line */
};

/* Parse the text of one pressure file; the kernel's µs become ns. The "some" line is required, so
 * irq is not supported (it has a "full" line only). Pure: no I/O, no allocation. Returns 0, or
 * -EBADMSG and leaves *ret untouched. */
int trk__pressure_parse(const char *text, struct trk_pressure *ret);

#endif
