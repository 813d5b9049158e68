/* A simulated kernel with processes whose use is known. A process uses CPU time at a constant rate
 * from its start to its end. Its parent waits for it, ignores it (SIGCHLD), or ends before it,
 * which makes it an orphan. Time only passes with sim_advance() and by the cost of each simulated
 * call, so that the tree changes while it is read.
 *
 * A personality presents the processes as one system does: as_darwin.c through libproc, as_linux.c
 * through files like those of /proc, as_nt.c through a list of processes and a job object. */
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
	uint64_t zombie_ns;                        /* between its end and its parent's wait */
	double rate;                               /* CPU seconds a second */
	uint64_t bytes;                            /* of memory while it lives, ... */
	uint64_t rise_bytes, rise_ns, rise_end_ns; /* ... and more for this time */
	bool ignores;                              /* SIGCHLD: its children's time is dropped */
	bool is_stranger; /* it and its descendants are no part of the job */
	bool is_outside;  /* it and its descendants are in no job object */
};

enum { SIM_MAX = 16384, SIM_TRACKER = 50, SIM_FIRST_PID = 100 };

extern struct sim_process sim[SIM_MAX];
extern size_t sim_count;
extern uint64_t sim_now_ns, sim_call_ns;
extern bool sim_adopts; /* orphans come to the tracker, which waits for them at once */

void sim_reset(uint64_t seed);
/* A number of 0 to 1. */
double sim_chance(void);
/* Returns the index of a new process. */
int sim_start(int parent, uint64_t born_ns, uint64_t end_ns, double rate);
/* The process gets the pid of another one, which ends before it is born. */
void sim_reuse_pid(int process, int of);
void sim_advance(uint64_t until_ns);
/* For a while it holds more memory. */
void sim_rise(int process, uint64_t bytes, uint64_t from_ns, uint64_t length_ns);
/* A call to the kernel takes time. */
void sim_call(void);

/* NULL: there is none of this pid now. */
const struct sim_process *sim_find(pid_t pid);
bool sim_is_zombie(const struct sim_process *p);
/* 1, or the tracker: its parent has ended. */
pid_t sim_parent_of(const struct sim_process *p);
uint64_t sim_own_ns(const struct sim_process *p, uint64_t at_ns);
uint64_t sim_inherited_ns(const struct sim_process *p, uint64_t at_ns);
uint64_t sim_bytes(const struct sim_process *p, uint64_t at_ns);
/* The largest size of its life up to then. */
uint64_t sim_peak_bytes(const struct sim_process *p, uint64_t at_ns);
bool sim_is_of_job(const struct sim_process *p);
bool sim_is_in_job_object(const struct sim_process *p);

/* CPU time of all that ever ran, without strangers, and the largest sum of their memory since
 * then. */
uint64_t sim_truth_ns(void);
uint64_t sim_truth_peak_bytes(uint64_t from_ns);
/* CPU time of orphans, after their parents had ended. */
uint64_t sim_orphaned_ns(void);

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

/* as_nt.c: are the processes in a job object, and does it count what they use? Wine's does not. */
enum { SIM_COMMIT_BYTES = 1 << 20, SIM_SHARED_BYTES = 5 << 20 };
extern bool sim_has_job, sim_job_counts;
/* Can a process be read after its end? Not under Wine. How many handles are open now? */
extern bool sim_keeps_handles;
extern int sim_handles;

/* as_darwin.c: when the kernel queue will be readable next; UINT64_MAX: never. */
uint64_t sim_next_event_ns(void);

#endif
