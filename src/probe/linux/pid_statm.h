/* One process: resident and shared pages, the cheap memory figure.
 *
 * Source: /proc/PID/statm. Its cost does not grow with the process, unlike smaps_rollup's. */
#ifndef TRK_PROBE_LINUX_PID_STATM_H
#define TRK_PROBE_LINUX_PID_STATM_H

#include <stddef.h>
#include <stdint.h>

struct trk_pid_statm {
	uint64_t size_pages;
	uint64_t resident_pages;
	uint64_t shared_pages; /* resident file and shmem pages: possibly shared, not anonymous */
};

/* Parse the text of one statm file, `len` bytes and a NUL. Pure. Returns 0, or -EBADMSG and leaves
 * *ret untouched. A zombie reads as all zeros. */
int trk__pid_statm_parse(const char *text, size_t len, struct trk_pid_statm *ret);

#endif
