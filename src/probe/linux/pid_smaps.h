/* Proportional set size (PSS) of one process: each shared page is divided by the number of its
 * users.
 *
 * Source: /proc/PID/smaps_rollup (Linux 4.14+). The kernel walks the page tables under the mmap
 * lock: 3 to 7 µs per MiB with 4 KiB pages, so it is read within a budget. Needs the same user or
 * CAP_SYS_PTRACE. */
#ifndef TRK_PROBE_LINUX_PID_SMAPS_H
#define TRK_PROBE_LINUX_PID_SMAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/reader.h"

struct trk_pid_smaps {
	uint64_t rss_bytes;
	uint64_t pss_bytes;
	bool has_split; /* Linux 5.4+ lists the parts of the PSS */
	uint64_t pss_anon_bytes;
	uint64_t pss_file_bytes;
	uint64_t pss_shmem_bytes;
	uint64_t shared_bytes; /* resident pages that other processes also map */
	uint64_t anon_bytes;   /* resident anonymous */
	uint64_t dirty_bytes;  /* resident, and changed since they were read: all anonymous pages */
	/* Swapped out, shared memory included; the proportional share of it, without shared memory
	 * (Linux 4.3+). */
	uint64_t swap_bytes, swap_pss_bytes;
};

/* Parse the text of one smaps_rollup file. Pure. Returns 0, or -EBADMSG and leaves *ret
 * untouched. */
int trk__pid_smaps_parse(const char *text, struct trk_pid_smaps *ret);

/* Read smaps_rollup of a directory below /proc ("4711", "4711/task/4712"), with a bounded wait.
 * Returns 0; -ESRCH when the process is gone or a zombie; -ENOENT when the kernel has no such file;
 * -EACCES for another user's process; or as trk__reader_read(), of which key and ret_ns are. */
int trk__pid_smaps_read(struct trk_reader *reader, const struct trk_env *env, uint64_t key,
			const char *dir, struct trk_pid_smaps *ret, uint64_t *ret_ns);

#endif
