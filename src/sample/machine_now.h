/* The machine's files, read together: CPU time, memory, disks, network interfaces, the number of
 * processes, file systems.
 *
 * One reading serves the columns of a row (linux/sampler_system.c), outputs that list each core, disk
 * and interface (sink/sibling.h), and the counters of the C API. Only what counts in the sums of a
 * row is listed, so that the lists add up to them. */
#ifndef TRK_SAMPLE_MACHINE_NOW_H
#define TRK_SAMPLE_MACHINE_NOW_H

#include "base/env.h"
#include "probe/linux/cpu_stat.h"
#include "probe/linux/meminfo.h"
#include "probe/linux/meter.h"
#include "probe/linux/process_count.h"
#include "probe/linux/space.h"

enum { TRK_MACHINE_CORES = 4096 };

struct trk_machine_now {
	struct trk_env env;      /* descriptors borrowed until _close */
	int stat_fd, meminfo_fd; /* kept open */
	char *text;              /* owned scratch */
	/* The last reading, and which parts of it succeeded. */
	bool has_cpu, has_memory, has_disks, has_nets, has_processes, has_space;
	uint64_t read_ns, over_ns; /* over_ns: since the reading before; 0: there was none */
	/* The first TRK_MACHINE_CORES of cpu.cores; owned. cpu_before.cores 0: unknown. */
	struct trk_cpu_stat cpu, cpu_before;
	struct trk_cpu_times *core, *core_before;
	struct trk_meminfo memory;
	struct trk_meter disks, nets;
	uint64_t processes;
	struct trk_process_count process_count;
	struct trk_space_meter space;
	uint64_t space_total, space_used, space_free;
};

/* Closed, so that _close may be called. */
#define TRK_MACHINE_NOW_NONE                                                                       \
	((struct trk_machine_now){                                                                 \
		.stat_fd = -1, .meminfo_fd = -1, .disks.fd = -1, .nets.fd = -1, .space.fd = -1})

/* 0 or -ENOMEM; call _close in either case. What cannot be read is unknown in each reading. */
int trk__machine_now_open(struct trk_machine_now *m, const struct trk_env *env);
void trk__machine_now_close(struct trk_machine_now *m);
/* Read the files with counters and memory. */
void trk__machine_now_counters(struct trk_machine_now *m);
/* Read everything. */
void trk__machine_now_read(struct trk_machine_now *m);
/* Set the device of each disk and interface that counts. */
void trk__machine_now_devices(struct trk_machine_now *m);

#endif
