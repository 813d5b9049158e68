/* What the files of the sampler share: sampler.c (the tree, its group, the life of it), sampler_system.c
 * (the machine), sampler_gpus.c and sampler_sources.c (where the columns come from). */
#ifndef TRK_SAMPLE_SAMPLER_PRIVATE_H
#define TRK_SAMPLE_SAMPLER_PRIVATE_H

#include "probe/linux/diskstats.h"
#include "probe/linux/netdev.h"
#include "probe/linux/process_count.h"
#include "probe/linux/space.h"
#include "sample/cpu_split.h"
#include "sample/sampler.h"

enum {
	SAMPLER_TEXT_SIZE = 64 * 1024, /* /proc/stat of a machine with many hundred interrupts */
	GPU_PIDS_MAX = 8192,           /* of the tree, that GPU processes are compared with */
};

enum pressure_file { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURE_FILES };

/* What the files of every tick tell of the figures that are read less often: without a fork and with
 * as many threads there are as many processes; what fills a disk is dirty or written first; nobody is
 * held up where processors stand idle, no disk moves, and nobody waits for one or for a swapped page; and
 * what came over the network or from a disk, the kernel took in a softirq. */
struct signs {
	uint64_t forks, threads;
	uint64_t dirty_bytes, written_bytes;
	uint64_t swapped_bytes;
	uint64_t net_softirqs, block_softirqs; /* 0: unknown */
	bool crowded;
};

/* Counters of bytes that stand still while their softirqs do. That holds for most devices and not for
 * all (an NVMe disk with a queue for each processor needs none), so that it is believed where there is
 * reason to, and never again once the counters have moved without. */
struct quiet {
	uint64_t softirqs; /* when the counters were read last */
	uint64_t read_ns;
	bool believed;
};

/* What waits are made of beside the row itself, as totals in µs. */
struct stall {
	int64_t disk_us, memory_us, queue_us; /* or TRK_WAIT_UNKNOWN */
	int64_t blocked_us;
};

/* A monotone total at the last tick, and when it was read. */
struct counter {
	bool valid;
	uint64_t value;
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
	int64_t perf_ns;
	struct trk_cpu_split tree_cpu_us;
	int stat_fd, meminfo_fd, loadavg_fd;
	int pressure_fd[PRESSURE_FILES];
	struct trk_disk_meter disk;
	struct trk_net_meter net;
	struct trk_space_meter space;
	int disk_error, net_error, space_error;
	struct signs signs, processes_signs, space_signs, pressure_signs; /* now, and then */
	uint64_t processes_ns, space_ns, load_ns, pressure_ns; /* when each was read last */
	struct quiet disk_quiet, net_quiet;
	bool stalled;           /* by the pressure that was read last */
	uint64_t throttling_ns; /* when throttling was last found to be off; 0: it is on */
	struct stall stall, stall_before;
	struct trk_process_count process_count;
	struct trk_gpu_poller *gpu;         /* owned; NULL: no sign of a GPU */
	const struct trk_gpu_reading *gpus; /* of this row; NULL: none */
	pid_t *gpu_pid;                     /* owned: the tree when it had processes last */
	size_t gpu_pids;
	bool started;
	struct counter last[TRK_COLUMNS];
};

/* Set a DELTA column from a monotone total, both in stored units. */
void trk__sampler_set_delta(struct trk_sampler *s, int column, uint64_t total);
/* cores = µs of CPU / µs of time, in 1/10000. */
void trk__sampler_set_rate(struct trk_sampler *s, int column, int64_t cpu_us, uint64_t over_ns);
void trk__sampler_set_bytes(struct trk_sampler *s, int column, uint64_t bytes);
/* Is a figure that was read at `at_ns` good for this tick as well? A tick that is early by a hair
 * counts as one interval. */
bool trk__sampler_is_good_still(uint64_t now_ns, uint64_t at_ns, bool moved);
bool trk__sampler_has_group_pressure(const struct trk_sampler *s);

void trk__sampler_open_system(struct trk_sampler *s);
void trk__sampler_system_baseline(struct trk_sampler *s);
/* before: the row of the last tick, of which figures that are read less often are repeated. */
void trk__sampler_read_system(struct trk_sampler *s, uint64_t now_ns,
			      const struct trk_sample *before);
/* Have the next tick read what is read less often, too. */
void trk__sampler_rouse_system(struct trk_sampler *s);
void trk__sampler_close_system(struct trk_sampler *s);

/* Have the GPUs looked at, and take the last answer into the row. */
void trk__sampler_ask_gpus(struct trk_sampler *s);
void trk__sampler_read_gpus(struct trk_sampler *s);

#endif
