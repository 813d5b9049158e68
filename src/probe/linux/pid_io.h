/* One process: bytes read and written.
 *
 * Source: /proc/PID/io (CONFIG_TASK_IO_ACCOUNTING). Needs the same user or CAP_SYS_PTRACE. Children
 * that this process has waited for are included. */
#ifndef TRK_PROBE_LINUX_PID_IO_H
#define TRK_PROBE_LINUX_PID_IO_H

#include <stddef.h>
#include <stdint.h>

struct trk_pid_io {
	uint64_t read_chars, write_chars; /* through system calls, the page cache included */
	uint64_t read_calls, write_calls;
	uint64_t read_bytes, write_bytes; /* caused at the storage layer */
	uint64_t cancelled_write_bytes;   /* written, then truncated before reaching the disk */
};

/* Parse the text of one io file, `len` bytes and a NUL. Pure. Returns 0, or -EBADMSG and leaves
 * *ret untouched. */
int trk__pid_io_parse(const char *text, size_t len, struct trk_pid_io *ret);

#endif
