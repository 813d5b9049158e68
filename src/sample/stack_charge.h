/* A process whose stacks are sampled, and which of its threads the CPU time and the growth of
 * memory between two samples are charged to. */
#ifndef TRK_SAMPLE_STACK_CHARGE_H
#define TRK_SAMPLE_STACK_CHARGE_H

#include "model/lines.h"
#include "probe/stack/cpython.h"
#include "sample/native.h"
#include "sample/stack_growth.h"

enum { TRK_SAMPLED_PROCESSES = 128 };

/* How likely a thread used the CPU time around a sample. In state R it may have run or, on a busy
 * machine, waited for a CPU, most often after a system call in which it was preempted. A late
 * sample was taken when the kernel switched threads, most often at the same place. */
enum trk_sampled_score { TRK_SCORE_WAITS, TRK_SCORE_LATE, TRK_SCORE_COULD_RUN, TRK_SCORE_HAS_CPU };

struct trk_sampled_thread {
	uint64_t pthread;
	pid_t tid;
	int stat_fd; /* -1: not open */
	uint32_t lane, node, node_before, probed_node;
	enum trk_sampled_score score, score_before;
	bool seen;
	/* Its minor page faults: twice before the stacks were read, and twice after that. */
	uint64_t faults[4];
	bool has_faults;
	bool ran;        /* before and after its line was read */
	bool is_instant; /* and the second and third reading were nearly simultaneous */
	/* At the previous probe: its line (TRK_LINES_ROOT: it slept) and its faults. */
	uint32_t looked_node;
	uint64_t looked_faults;
};

/* A process of the job. Its place in the table of processes stays the same. */
struct trk_sampled_process {
	pid_t pid; /* 0: the place is free */
	enum trk_stack_why why;
	struct trk_cpython *python; /* owned; NULL: not read */
	uint64_t exe;               /* of the link to its executable, to notice an exec */
	bool has_changed;           /* it was not looked at since the exec */
	uint64_t look_ns, wait_ns;
	unsigned int cuts; /* looks whose budget was spent (probe/stack/remote.h) */
	int statm_fd;
	char name[TRK_LINES_NAME_SIZE];
	bool seen, is_fresh;
	uint64_t cpu_ns;  /* its CPU clock at the last sample */
	uint64_t owed_ns; /* CPU time not charged to a thread yet */
	/* At the last probe: page faults, CPU clock, time. */
	uint64_t looked_faults, looked_cpu_ns, looked_ns;
	bool wants_pair; /* another probe soon: the last one found the process stopped */
	uint64_t sampled_ns, sampled_before_ns;
	struct trk_growth growth;
	int stat_fd; /* -1: not open */
	uint32_t oldest_lane;
	struct trk_sampled_thread thread[TRK_STACK_THREADS];
	size_t threads;
	/* Since the last settling; CPU time is in ns, not in us. */
	struct trk_lines_sums second;
	struct trk_native_process native;
};

/* Charge the CPU time of a process between its last two samples, in ns, to lines of w->second;
 * wall_ns: the time between them. */
void trk__charge_interval(struct trk_sampled_process *w, uint64_t ns, uint64_t wall_ns);
/* Charge it to the line of the oldest thread. */
void trk__charge_oldest(struct trk_sampled_process *w, uint64_t ns);

/* The line of Python that a thread was on at this time; of a thread without Python, the line of the
 * oldest one. False where the process is not read as Python. */
bool trk__charge_line_at(const struct trk_sampled_process *w, pid_t tid, uint64_t time_ns,
			 uint32_t *ret_lane, uint32_t *ret_node);

/* How clearly the thread was seen allocating memory: 0, or a weight. If page faults occurred both
 * right before and right after its stack was read, the frame that was read caused them. */
unsigned int trk__charge_sign(const struct trk_sampled_thread *t);
/* The thread to charge memory to: the one that was seen allocating most, else a running one, else
 * the oldest. *ret_alone: no other thread can have allocated memory. */
const struct trk_sampled_thread *trk__charge_memory_thread(const struct trk_sampled_process *w,
							   bool *ret_alone);

/* A process that shares its CPU with the tracker is stopped at each look. Two looks with mostly its
 * own running in between show page faults on an unchanged line. */
unsigned int trk__sign_of_pair(const struct trk_lines *lines, const struct trk_sampled_thread *t);

#endif
