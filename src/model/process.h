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

#endif
