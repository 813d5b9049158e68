/* Shared by the files of the sampler. */
#ifndef TRK_SAMPLE_SAMPLER_PRIVATE_H
#define TRK_SAMPLE_SAMPLER_PRIVATE_H

#include "probe/linux/cgroup_throttle.h"
#include "sample/cpu_split.h"
#include "sample/sampler.h"

enum {
	SAMPLER_TEXT_SIZE = 64 * 1024,
	GPU_PIDS_MAX = 8192, /* processes of the tree that GPU processes are compared with */
};

enum pressure_file { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURE_FILES };

/* Totals in µs, outside of the row, from which waits are computed. */
struct stall {
	int64_t disk_us, memory_us; /* or TRK_WAIT_UNKNOWN */
	int64_t high_us;            /* as above; memory, all tasks of a group above memory.high */
	int64_t blocked_us;
};

/* Times of the whole machine from /proc/stat, µs. */
struct machine_times {
	bool known;
	uint64_t busy_us;   /* steal and interrupts included */
	uint64_t stolen_us; /* these alone */
};

/* Wait and run time of the sampled threads, older readings with half the weight; and the totals at
 * the last reading. */
struct cpu_queue {
	double wait_us, run_us;
	uint64_t wait_ns, run_ns;
};

/* A monotone total at the last tick, and when it was read. */
struct counter {
	bool valid;
	uint64_t value;
};

/* The group of the job and its limits; sampler_group.c. */
struct group_watch {
	int fd;              /* of /proc/PID/cgroup, or -1 */
	uint64_t membership; /* hash of its text when the followed groups were found */
	uint64_t looked_ns, limits_ns;
	struct trk_cgroup_limits limits;
	unsigned int moves, limit_changes; /* since the start */
};

struct trk_sampler {
	struct trk_env env;
	struct trk_sampler_options options;
	struct trk_tree_options tree_options; /* what options.tree points to */
	struct trk_tree *tree;                /* owned */
	struct trk_cgroup cgroup;
	struct trk_sample row;
	char *text; /* owned scratch */
	uint64_t start_ns, last_ns;
	uint64_t system_ns; /* when /proc/stat was read last */
	uint64_t tree_ns;   /* when the tree was walked last */
	uint64_t cgroup_ns;
	uint64_t tick_us; /* µs in a USER_HZ tick */
	bool has_perf;
	bool is_last;            /* the next row is the last one */
	uint32_t unseen_updates; /* of the tree, at the last tick */
	struct trk_cpu_clocks clocks;
	struct machine_times machine, machine_at_start;
	struct trk_sampler_memory memory;
	/* The least since the start, from which growth counts: what others free must not hide
	 * it. */
	uint64_t least_shmem_bytes, least_outside_bytes;
	double least_kernel_bytes; /* of the job's own group; NaN: not read yet */
	uint64_t least_swap_bytes; /* of the group */
	uint64_t swap_peak_at_start_bytes;
	double mapped_shmem_bytes;    /* by the tree at the last tick; 0: not read */
	double machine_cores;         /* that can be busy at once */
	double held_cores;            /* the same for the tree; 0: the machine's */
	int64_t owed_us[TRK_COLUMNS]; /* CPU time that is moved to the next interval */
	struct cpu_queue queue;
	struct trk_cpu_split tree_cpu_us;
	struct trk_machine_now now;
	int loadavg_fd;
	int pressure_fd[PRESSURE_FILES];
	bool knows_shmem;
	/* Of the machine; outside: in swap and in huge pages of hugetlbfs. */
	uint64_t shmem_bytes, outside_bytes;
	bool has_unread_huge_pages; /* of another size than outside_bytes counts */
	uint64_t outside_ns; /* when the swap and the huge pages of the tree were looked at */
	uint64_t least_huge_bytes, huge_growth_bytes; /* of the machine, since the start */
	struct group_watch group;
	struct trk_throttle throttle;
	bool has_quota; /* some group does */
	struct stall stall, stall_before;
	struct trk_gpu_poller *gpu;         /* owned; NULL: no sign of a GPU */
	const struct trk_gpu_reading *gpus; /* of this row; NULL: none */
	struct counter gpu_millijoules[TRK_GPUS_MAX];
	pid_t *gpu_pid; /* owned: the tree when it had processes last */
	size_t gpu_pids;
	bool started;
	struct counter last[TRK_COLUMNS];
};

/* sampler_row.c */
/* Set a DELTA column from a monotone total, both in stored units. */
void trk__sampler_set_delta(struct trk_sampler *s, int column, uint64_t total);
/* cores = µs of CPU / µs of time, in 1/10000. */
void trk__sampler_set_rate(struct trk_sampler *s, int column, int64_t cpu_us, uint64_t over_ns,
			   double cores);
void trk__sampler_set_bytes(struct trk_sampler *s, int column, uint64_t bytes);
void trk__sampler_add_source(struct trk_source *list, size_t *n, const char *name,
			     const char *text);

/* sampler_group.c */
bool trk__sampler_has_group_pressure(const struct trk_sampler *s);
void trk__sampler_memory_baseline(struct trk_sampler *s);
/* Read the group's usage and pressure, and the memory of the tree and its group, into the row. */
void trk__sampler_read_group(struct trk_sampler *s);
void trk__sampler_take_group_memory(struct trk_sampler *s, const struct trk_cgroup_usage *usage);
/* sampler_outside.c */
/* The least of the machine's huge pages counts from here. */
void trk__sampler_outside_baseline(struct trk_sampler *s);
/* Swap and huge pages of the tree, after the tree and the system were read. */
void trk__sampler_look_outside(struct trk_sampler *s);
/* The same between two ticks, if the last look is old. */
void trk__sampler_refresh_outside(struct trk_sampler *s);
/* What is outside the processes' sizes: swap of the tree, or of the job's own group, and huge pages.
 * Unknown amounts are NaN. */
struct outside {
	double swap_bytes, swap_least_bytes, huge_bytes, huge_least_bytes;
};
void trk__sampler_outside(const struct trk_sampler *s, const struct trk_cgroup_usage *usage,
			  struct outside *ret);

/* sampler_group.c */
/* Growth of the machine's shared memory, after the tree and the system were read. */
void trk__sampler_take_shmem(struct trk_sampler *s);

void trk__sampler_open_group(struct trk_sampler *s);
void trk__sampler_close_group(struct trk_sampler *s);
/* Check for a move to another group or changed limits, when due. */
void trk__sampler_follow_group(struct trk_sampler *s, uint64_t now_ns);

/* linux/sampler_system.c */
void trk__sampler_system_sources(const struct trk_sampler *s, struct trk_source *list, size_t *n);
/* 0 or -ENOMEM. */
int trk__sampler_open_system(struct trk_sampler *s);
void trk__sampler_system_baseline(struct trk_sampler *s);
void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns);
void trk__sampler_close_system(struct trk_sampler *s);
/* Bring s->machine up to date where the ticks do not. */
void trk__sampler_read_machine(struct trk_sampler *s);

#endif
