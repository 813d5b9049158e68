/* Resident and shared pages of one process.
 *
 * Source: /proc/PID/statm. Unlike smaps_rollup, its cost does not grow with the process. */
#ifndef TRK_PROBE_LINUX_PID_STATM_H
#define TRK_PROBE_LINUX_PID_STATM_H

#include <stddef.h>
#include <stdint.h>

struct trk_pid_statm {
	uint64_t size_pages;
	uint64_t resident_pages;
	uint64_t shared_pages; /* resident file and shmem pages, shared or not */
};

/* Parse the text of one statm file, `len` bytes and a NUL. Pure. Returns 0, or -EBADMSG and leaves
 * *ret untouched. A zombie reads as all zeros. */
int trk__pid_statm_parse(const char *text, size_t len, struct trk_pid_statm *ret);

#endif
