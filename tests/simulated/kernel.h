/* A simulated kernel with processes whose use is known. A process uses CPU time at a constant rate
 * from its start to its end. Its parent waits for it, or ends before it, which makes it an
 * orphan. Time only passes with sim_advance() and by the cost of each simulated
 * call, so that the tree changes while it is read.
 *
 * as_linux.c presents the processes through files like those of /proc. */
#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sim_process {
	pid_t pid;
	int parent; /* index; -1: the tracker */
	uint64_t born_ns, end_ns;
	double rate;    /* CPU seconds a second */
	uint64_t bytes; /* of memory while it lives */
};

enum { SIM_MAX = 16384, SIM_TRACKER = 50, SIM_FIRST_PID = 100 };

extern struct sim_process sim[SIM_MAX];
extern size_t sim_count;
extern uint64_t sim_now_ns, sim_call_ns;

void sim_reset(uint64_t seed);
/* A number of 0 to 1. */
double sim_chance(void);
/* Returns the index of a new process. */
int sim_start(int parent, uint64_t born_ns, uint64_t end_ns, double rate);
void sim_advance(uint64_t until_ns);
/* A call to the kernel takes time. */
void sim_call(void);

/* NULL: there is none of this pid now. */
const struct sim_process *sim_find(pid_t pid);
bool sim_is_zombie(const struct sim_process *p);
/* The tracker, if its parent has ended. */
pid_t sim_parent_of(const struct sim_process *p);
uint64_t sim_own_ns(const struct sim_process *p, uint64_t at_ns);
uint64_t sim_inherited_ns(const struct sim_process *p, uint64_t at_ns);
uint64_t sim_bytes(const struct sim_process *p, uint64_t at_ns);

/* CPU time of all that ever ran. */
uint64_t sim_truth_ns(void);

/* A build: workers start tasks one after another and wait for them; a share of the tasks leaves an
 * orphan behind. Returns when it ends. */
uint64_t sim_build(uint64_t median_ns, uint64_t length_ns, double orphan_share);

/* as_linux.c: a folder of files, and the processes that the tracker has to wait for: one that has
 * ended since the last call; NULL: none. */
int sim_files_open(void);
void sim_files_close(void);
void sim_files_write(void);
const struct sim_process *sim_next_ended(void);
uint64_t sim_faults(uint64_t cpu_ns);

#endif
