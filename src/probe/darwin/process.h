/* One process of macOS, and the children of one.
 *
 * Source: proc_pid_rusage(), proc_pidinfo() and proc_listchildpids() of libproc, and sysctl(3). No
 * privilege is needed for processes of the same user; of others only struct trk_mac_brief can be
 * read. The figures of a zombie can still be read.
 *
 * Times are ticks of the kernel's clock: 24 MHz on Apple silicon, 1 GHz on Intel. hw.tbfrequency
 * says which; mach_timebase_info() describes another clock to a program under Rosetta. */
#ifndef TRK_PROBE_DARWIN_PROCESS_H
#define TRK_PROBE_DARWIN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/linux/pid_stat.h" /* TRK_COMM_SIZE */

struct trk_mac_brief {
	pid_t ppid;
	bool has_ended; /* a zombie */
	char name[TRK_COMM_SIZE];
};

struct trk_mac_usage {
	uint64_t start_ns; /* on the clock of trk__mac_now_ns; identifies a reused pid */
	uint64_t user_ns, system_ns;
	uint64_t child_user_ns, child_system_ns; /* of reaped descendants */
	uint64_t page_ins, child_page_ins;
	uint64_t footprint_bytes; /* the column Memory of Activity Monitor */
	uint64_t peak_bytes;      /* the largest footprint of its life */
	uint64_t resident_bytes;
	uint64_t read_bytes, written_bytes; /* at the storage layer, without its children */
};

/* Returns 0, or -ESRCH when there is no such process. */
int trk__mac_brief(pid_t pid, struct trk_mac_brief *ret);
/* Returns 0, -ESRCH, or -EPERM for a process of another user. */
int trk__mac_usage(pid_t pid, struct trk_mac_usage *ret);
/* Number of its threads, or a negative errno. */
int trk__mac_threads(pid_t pid);
/* The pids of its children, zombies included. Their number, which may exceed `max`, or a negative
 * errno. */
int trk__mac_children(pid_t pid, pid_t *pids, int max);
/* Its arguments, each ended by a NUL. Returns their length or a negative errno. */
ssize_t trk__mac_arguments(pid_t pid, char *text, size_t size);

/* The kernel's clock now; it stops while the machine is suspended. */
uint64_t trk__mac_now_ns(void);
/* Convert ticks of a clock of `hz` without overflow. Pure. */
uint64_t trk__mac_ticks_ns(uint64_t ticks, uint64_t hz);

#endif
