/* The two accounts of a job's CPU time, and what their difference means.
 *
 * The ledger of the process tree (CPU clocks, PID/stat, wait4) is the kernel's own account. It
 * misses CPU time that the kernel drops: a child whose parent ignores SIGCHLD, or has SA_NOCLDWAIT,
 * passes on nothing when it ends. The perf clock, which every process of the job inherits, includes
 * that time, but differs for other reasons:
 *
 *   + it runs while the hypervisor or an interrupt has the CPU. /proc/stat shows some of that as
 *     steal, not all: dd that fills the page cache had 4 to 21 % too much on a virtual machine,
 *     also where no steal was shown;
 *   - it starts late and stops early in each process and after each wake-up: -11 % for /bin/true
 *     in a loop, -50 % for a process that sleeps 0.1 ms at a time.
 *
 * The size of the difference is therefore no evidence of a dropped child. With evidence the perf
 * clock is an estimate of the whole, less the stolen time.
 *
 * A second perf clock counts the first process of the job alone. Both are read by the kernel at
 * the same instants, so that a job without descendants has exactly the same time on both. */
#ifndef TRK_SAMPLE_CPU_CLOCKS_H
#define TRK_SAMPLE_CPU_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* All since the start of the job. */
struct trk_cpu_clocks {
	uint64_t ledger_ns;
	uint64_t perf_ns;
	bool knows_root;       /* whether root_perf_ns is known */
	uint64_t root_perf_ns; /* of the first process alone */
	uint64_t root_ns;      /* the same in the ledger */
	/* What the perf clock gained on the ledger, without the first process, in intervals in
	 * which processes may have come and gone unseen. Kept by trk__cpu_clocks_step. */
	uint64_t surplus_ns;
	int64_t ahead_ns;    /* of the perf clock at the last step */
	bool knows_stolen;   /* whether the next two are known */
	uint64_t stolen_ns;  /* steal and interrupts of the whole machine */
	uint64_t machine_ns; /* busy time of the whole machine, stolen time included */
};

/* The job's part of stolen_ns, in proportion to its part of the machine's busy time. Pure, as all
 * here. */
uint64_t trk__cpu_clocks_stolen(const struct trk_cpu_clocks *c);

/* CPU time of the job when the kernel has dropped some: the perf clock without the job's part of
 * the stolen time. Never below ledger_ns, and ledger_ns where the stolen time is unknown. */
uint64_t trk__cpu_clocks_estimate(const struct trk_cpu_clocks *c);

/* Add an interval. `unseen`: processes may have started and ended in it unseen. */
void trk__cpu_clocks_step(struct trk_cpu_clocks *c, bool unseen);

/* Is it proven that the first process never had a descendant? */
bool trk__cpu_clocks_childless(const struct trk_cpu_clocks *c);

/* True if dropped children may have gone unseen: the surplus exceeds the difference of two clocks
 * that are read one after the other. */
bool trk__cpu_clocks_disagree(const struct trk_cpu_clocks *c);

#endif
