/* Readings that may block without a limit, with a bounded wait.
 *
 * /proc/PID/cmdline, environ and smaps_rollup take the lock of the process's memory map, which a
 * process that is stuck in the kernel may hold for good; a file on a dead server blocks stat(2).
 * Such readings are made by workers (probe/linux/worker.h). The caller waits for an answer for a
 * short time. A reading that blocks keeps its worker, and its answer is handed out when the same
 * reading is asked for again. At most TRK_READERS_MAX readings can block at a time. */
#ifndef TRK_PROBE_READER_H
#define TRK_PROBE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"

enum { TRK_READERS_MAX = 8 };

struct trk_reader; /* opaque */

/* Workers are started when they are needed, as threads in a host program. The descriptors of env
 * are borrowed. NULL: no memory; the functions below then read directly. */
struct trk_reader *trk__reader_new(const struct trk_env *env, bool as_thread);
void trk__reader_free(struct trk_reader *r);

/* As trk__read_once_at() of a file below /proc, of at most TRK_READING_MAX bytes with the NUL.
 * -EINPROGRESS: the reading blocks; -EAGAIN: all workers are blocked by other readings. Where no worker
 * can be started, it reads directly. `key` tells
 * two processes with the same number apart. *ret_ns is the CPU time of the reading. */
enum { TRK_READING_MAX = 16384 };
ssize_t trk__reader_read(struct trk_reader *r, const struct trk_env *env, uint64_t key,
			 const char *path, char *text, size_t size, uint64_t *ret_ns);

/* Sum of the sizes of the regular files that a command's arguments name, as arguments or after a
 * '='. 0: none, or a reading that blocks. */
uint64_t trk__reader_input_bytes(struct trk_reader *r, char *const argv[]);

#endif
