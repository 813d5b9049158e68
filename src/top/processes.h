/* Current use of CPU, memory and disk by the processes of a job on this machine, from /proc.
 *
 * Source: /proc/PID/stat, cmdline, io, schedstat. The io files of other users' processes are not
 * readable; their reads are unknown. The interval between readings depends on the cost of a
 * reading, so that it uses at most 1/400 of a core, for any number of processes. */
#ifndef TRK_TOP_PROCESSES_H
#define TRK_TOP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/reader.h"

enum { TRK_PROCESSES_MAX = 512 };

struct trk_process_row {
	pid_t pid, parent;
	uint64_t start_ticks;  /* identifies the process, with its pid */
	char name[100];        /* command line, truncated; else the name in brackets */
	char state;            /* as of PID/stat */
	double cores;          /* since the last reading; NaN: not known */
	double rss_mib;        /* resident set size */
	double read_bps;       /* from storage; NaN: not known */
	double cpu_wait_share; /* share of time, of the main thread; NaN: unknown */
	int depth;             /* depth in the tree; root: 0 */
	/* Counters of the last reading. */
	double cpu_s, read_bytes, wait_s;
};

struct trk_processes {
	struct trk_process_row *row; /* owned: TRK_PROCESSES_MAX; the root first, then the tree */
	size_t count;
	size_t left_out;           /* beyond the maximum */
	uint64_t read_at_ns;       /* of the last reading; 0: none yet */
	uint64_t next_ns;          /* earliest time of the next reading */
	uint64_t all_ns;           /* earliest time of the next search for new processes */
	struct trk_reader *reader; /* owned: of command lines */
};

/* Read the tree below `root` if a reading is due. proc_fd: of /proc, borrowed. now_ns: monotonic.
 * Returns the number of processes, 0 when the root has ended, or a negative errno. */
int trk__processes_update(struct trk_processes *p, int proc_fd, pid_t root, uint64_t now_ns);
void trk__processes_release(struct trk_processes *p);

#endif
