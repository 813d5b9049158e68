/* The processes of a job that runs on this machine, from /proc: who uses what right now.
 *
 * Source: /proc/PID/stat, cmdline, io, schedstat. Other users' io is not readable; their reads are
 * then unknown. How often the table is read follows from what a reading costs, so that it takes at
 * most 1/400 of a core, whatever the machine holds. */
#ifndef TRK_TOP_PROCESSES_H
#define TRK_TOP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_PROCESSES_MAX = 512 };

struct trk_process_row {
	pid_t pid, parent;
	uint64_t start_ticks;  /* with the pid: who it is */
	char name[100];        /* command line, cut; else the name in brackets */
	char state;            /* as of PID/stat */
	double cores;          /* since the last reading; NaN: not known */
	double rss_mib;        /* resident set size */
	double read_bps;       /* from storage; NaN: not known */
	double cpu_wait_share; /* of the time, the main thread's for a CPU; NaN: not known */
	int depth;             /* below the root, which has 0 */
	/* Counters of the last reading. */
	double cpu_s, read_bytes, wait_s;
	bool seen;
};

struct trk_processes {
	struct trk_process_row *row; /* owned: TRK_PROCESSES_MAX; the root first, then the tree */
	size_t count;
	size_t left_out;     /* beyond the maximum */
	uint64_t read_at_ns; /* of the last reading; 0: none yet */
	uint64_t next_ns;    /* no reading before */
	uint64_t all_ns;     /* no look for new processes before */
	uint64_t last_pid;   /* that the kernel had given out at that look */
};

/* Read the tree below `root` if it is time to. proc_fd: of /proc, borrowed. now_ns: monotonic.
 * Returns the number of processes, 0 when the root is gone, or a negative errno. */
int trk__processes_update(struct trk_processes *p, int proc_fd, pid_t root, uint64_t now_ns);
void trk__processes_release(struct trk_processes *p);

#endif
