/* One process of a job, as the table of top processes shows it. */
#ifndef TRK_MODEL_PROCESS_H
#define TRK_MODEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known of one process, for the table of top processes. */
struct trk_process_info {
	pid_t pid;
	bool alive;
	char name[64];
	char command[160]; /* blanks between arguments, cut; empty when it was never read */
	/* Since its first sample; since its start if it started after tracking began. */
	uint64_t cpu_ns;                  /* its own threads, without children */
	uint64_t read_bytes, write_bytes; /* waited-for children included, as the kernel counts */
	uint64_t peak_bytes;              /* largest RSS (VmHWM) */
};

/* A process whose memory and command line cannot be read: a system call that it cannot leave holds
 * the lock of its memory map, as when a file server is dead. */
struct trk_stuck_process {
	pid_t pid;
	char name[16];
	uint64_t since_ms; /* since the start of the run */
	bool is_over;      /* it could be read again, or has ended */
};

enum { TRK_STUCK_MAX = 4, TRK_STUCK_TEXT_SIZE = 96 };

/* "process 4711 (python) is stuck in the kernel since 0:00:12". */
void trk__stuck_text(const struct trk_stuck_process *s, char text[TRK_STUCK_TEXT_SIZE]);

#endif
