/* The control group of a process: its limits, its usage, and whether other processes are in it.
 *
 * Sources: /proc/PID/cgroup names the group in each hierarchy; /proc/self/mountinfo lists where the
 * hierarchies are mounted and which group each mount point shows; the files of the groups lie below
 * /sys/fs/cgroup (struct trk_env's cgroup_fd). Supports v1, v2 and hybrid machines, and containers
 * with and without a cgroup namespace; where mountinfo does not help, the usual places are tried.
 *
 * On v1 a process has a group per controller; these may differ. On v2 all parts are one group. */
#ifndef TRK_PROBE_LINUX_CGROUP_H
#define TRK_PROBE_LINUX_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "probe/linux/pressure.h"
#include "probe/linux/cgroup_files.h"

/* Room for a text such as "cgroup v2 memory.max of /a/b"; a longer path loses its start. */
#define TRK_CGROUP_TEXT_SIZE 192

#define TRK_NO_LIMIT UINT64_MAX

enum trk_cgroup_part {
	TRK_CGROUP_CPU,     /* quota and throttling */
	TRK_CGROUP_CPUACCT, /* CPU time */
	TRK_CGROUP_CPUSET,
	TRK_CGROUP_MEMORY,
	TRK_CGROUP_PIDS,
	TRK_CGROUP_DEVICES, /* v1 only */
	TRK_CGROUP_UNIFIED, /* the v2 group, also on a hybrid machine: pressure */
	TRK_CGROUP_PARTS
};

/* Where the group of one part lies. */
struct trk_cgroup_place {
	int version; /* 1 or 2; 0: not found */
	/* The group is not visible: this is the root of the mount, which may contain other
	 * processes, or not this one. */
	bool fallback;
	bool machine_root; /* the root group: its figures are the machine's; no limits */
	size_t mount_len;  /* of dir */
	char dir[TRK_CGROUP_PATH_SIZE];  /* below cgroup_fd: mount point, then the group */
	char root[TRK_CGROUP_PATH_SIZE]; /* the group that is mounted; empty for "/" */
};

/* Files that are kept open; some exist on v1 or v2 only. */
enum trk_cgroup_file {
	TRK_CGROUP_FILE_CPU_STAT,
	TRK_CGROUP_FILE_CPUACCT_USAGE,
	TRK_CGROUP_FILE_MEMORY,
	TRK_CGROUP_FILE_MEMORY_PEAK,
	TRK_CGROUP_FILE_MEMORY_STAT,
	TRK_CGROUP_FILE_MEMORY_EVENTS,
	TRK_CGROUP_FILE_SWAP,
	TRK_CGROUP_FILE_SWAP_PEAK,
	TRK_CGROUP_FILE_PIDS,
	TRK_CGROUP_FILE_MEMORY_PRESSURE,
	TRK_CGROUP_FILE_IO_PRESSURE,
	TRK_CGROUP_FILES
};

/* Zero-initialised: no groups, no limits, unknown usage. */
struct trk_cgroup {
	int cgroup_fd; /* borrowed until _release */
	bool open;     /* fd[] holds descriptors */
	struct trk_cgroup_place place[TRK_CGROUP_PARTS];
	int fd[TRK_CGROUP_FILES]; /* -1: no such file */
};

/* Find the groups of PID, for their limits and counts of kills. Returns 0; -ESRCH when there is no such process;
 * -EOPNOTSUPP when the kernel has no control groups or none is visible here. After a failure *cg
 * has no groups and may still be used and released. */
int trk__cgroup_find(struct trk_cgroup *cg, const struct trk_env *env, pid_t pid);
/* As above, and open the files of their usage. */
int trk__cgroup_open(struct trk_cgroup *cg, const struct trk_env *env, pid_t pid);
void trk__cgroup_release(struct trk_cgroup *cg);

/* Path of a part's group as far as it is visible ("/a/b"); a longer one loses its start. */
void trk__cgroup_path(const struct trk_cgroup *cg, enum trk_cgroup_part part, char *text,
		      size_t size);

struct trk_cgroup_limits {
	double cpu_cores;           /* quota / period; NaN: none */
	unsigned int cpuset_cpus;   /* 0: unknown */
	uint64_t memory_bytes;      /* this and the following: TRK_NO_LIMIT for none */
	uint64_t memory_high_bytes; /* v2: throttled and reclaimed above it, not killed */
	uint64_t swap_bytes;
	uint64_t pids;
	bool refused; /* some file was not readable: a limit may be unknown */
	/* File and group that each comes from; empty for none. */
	char cpu_from[TRK_CGROUP_TEXT_SIZE];
	char cpuset_from[TRK_CGROUP_TEXT_SIZE];
	char memory_from[TRK_CGROUP_TEXT_SIZE];
	char memory_high_from[TRK_CGROUP_TEXT_SIZE];
	char swap_from[TRK_CGROUP_TEXT_SIZE];
	char pids_from[TRK_CGROUP_TEXT_SIZE];
};

/* Set all members to "no limit", as without control groups. */
void trk__cgroup_limits_clear(struct trk_cgroup_limits *limits);

/* The lowest of each limit of the group and its ancestors up to the mount. Returns 0. */
int trk__cgroup_limits(const struct trk_cgroup *cg, struct trk_cgroup_limits *ret);

/* Why a limit of this part's group may be unknown, as static text; NULL: it is known. */
const char *trk__cgroup_limits_doubt(const struct trk_cgroup *cg, enum trk_cgroup_part part,
				     const struct trk_cgroup_limits *limits);

/* Bits of trk_cgroup_usage.known: which members are known. */
#define TRK_CGROUP_KNOWS_CPU             (1u << 0)
#define TRK_CGROUP_KNOWS_MEMORY          (1u << 1)
#define TRK_CGROUP_KNOWS_PEAK            (1u << 2)
#define TRK_CGROUP_KNOWS_PIDS            (1u << 3)
#define TRK_CGROUP_KNOWS_OOM_KILL        (1u << 4)
#define TRK_CGROUP_KNOWS_MEMORY_PRESSURE (1u << 5)
#define TRK_CGROUP_KNOWS_IO_PRESSURE     (1u << 6)
#define TRK_CGROUP_KNOWS_SHMEM           (1u << 7) /* memory_cache_bytes, _shmem_, _kernel_ */
#define TRK_CGROUP_KNOWS_SWAP            (1u << 8)
#define TRK_CGROUP_KNOWS_SWAP_PEAK       (1u << 9) /* v2, Linux 6.5+ */
#define TRK_CGROUP_KNOWS_ALL             ((1u << 10) - 1)

struct trk_cgroup_usage {
	unsigned int known; /* TRK_CGROUP_KNOWS_… */
	uint64_t cpu_ns;    /* monotonic: all processes that were ever in the group or below it */
	/* Current values. */
	uint64_t memory_bytes;       /* page cache and kernel memory included */
	uint64_t memory_peak_bytes;  /* of memory_bytes; v2: Linux 5.19+ */
	uint64_t memory_cache_bytes; /* page cache of files, without memory_shmem_bytes */
	uint64_t memory_shmem_bytes; /* tmpfs, /dev/shm, memfd, shared anonymous: v1 since 4.15 */
	/* Page tables, kernel stacks, unreclaimable caches, socket buffers; v2, else 0. */
	uint64_t memory_kernel_bytes;
	uint64_t swap_bytes, swap_peak_bytes; /* v1: only where swap is accounted for */
	uint64_t pids;                        /* tasks: threads count */
	uint64_t oom_kill; /* processes killed, v2: also below the group; Linux 4.13+ */
	struct trk_pressure memory_pressure, io_pressure; /* v2, Linux 4.20+ */
};

/* Read the members that `want` (TRK_CGROUP_KNOWS_…) selects. Returns 0 (the bits of a removed group
 * are unset in `known`), or -ENODEV when all groups were removed. */
int trk__cgroup_usage_some(const struct trk_cgroup *cg, unsigned int want,
			   struct trk_cgroup_usage *ret);

/* Processes that the OOM killer has killed in the group itself (v2: and below it). Returns 0; 1
 * where the memory controller is off for a v2 group and *ret is of the nearest ancestor where it is
 * on; -EOPNOTSUPP when unknown (the root group, Linux before 4.13). */
int trk__cgroup_oom_kills(const struct trk_cgroup *cg, uint64_t *ret);

/* As above, opening the files by path instead of reading those kept open. */
int trk__cgroup_oom_kills_at(const struct trk_cgroup *cg, uint64_t *ret);

/* The largest count of kills of an ancestor with a memory limit, and the path of that ancestor: it
 * includes kills of other groups in the same job. v1 counts a kill in the victim's own group only.
 * Returns 0, or -ENOENT when no ancestor has both a limit and a count. */
int trk__cgroup_oom_kills_above(const struct trk_cgroup *cg, uint64_t *ret,
				char path[TRK_CGROUP_TEXT_SIZE]);

/* How often the memory limit was reached in the group with the lowest limit, among the job's group
 * and its ancestors. The kernel then reclaims memory, page cache first. Returns 0 or -ENOENT.
 * Source: v2 memory.events, max; v1 memory.failcnt. */
int trk__cgroup_limit_hits(const struct trk_cgroup *cg, uint64_t *ret);

/* Forks that failed because of the limit of processes, in the group and in each ancestor. Linux 6.1
 * counts them in the group that forks, later kernels in the group whose limit was reached and its
 * ancestors. Source: pids.events, max (Linux 4.5+). */
enum { TRK_CGROUP_LEVELS_MAX = 16 };
struct trk_cgroup_forks {
	uint64_t refused[TRK_CGROUP_LEVELS_MAX]; /* from the group upwards; 0: unknown */
	bool known;
};
void trk__cgroup_forks(const struct trk_cgroup *cg, struct trk_cgroup_forks *ret);
/* Failed forks between two readings of the same group. */
uint64_t trk__cgroup_forks_since(const struct trk_cgroup_forks *now,
				 const struct trk_cgroup_forks *before);

/* Processes that the OOM killer has killed on the whole machine, also because of a group's limit.
 * Source: /proc/vmstat, oom_kill. Returns 0; -EOPNOTSUPP before Linux 4.13. */
int trk__vmstat_oom_kills(int proc_fd, uint64_t *ret);

/* True if a part's group contains only this process, so that its figures are those of the process.
 * False when in doubt: the root group of a machine, a group that is not visible or empty, populated
 * groups below it. */
bool trk__cgroup_is_own(const struct trk_cgroup *cg, enum trk_cgroup_part part, pid_t pid);

#endif
