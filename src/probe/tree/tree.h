/* The tracked process tree: its members, their total usage and their current memory.
 *
 * Discovery: /proc/loadavg has the last pid that was allocated; only pids allocated since the last
 * update are examined, so that an update costs O(new processes), not O(processes on the machine). A
 * full scan of /proc runs now and then, to find what this misses. If loadavg is not that of the
 * kernel, or does not explain the pids of new processes, every update scans within a CPU budget.
 *
 * Accounting: every counter of the tree is monotone. The usage of a live process is counted as it
 * grows. When it reaps a child, the kernel adds the child's usage to the child fields of the
 * parent; of that, only the part that was not counted while the child was alive is added
 * (tree/ledger.c). So children that start and end between two updates count, and none counts twice.
 *
 * Memory: sizes of the members on every update; sources that count shared pages once within a CPU
 * budget (linux/memory.c).
 *
 * Sources: /proc/PID/{stat,statm,io,status,smaps_rollup,cmdline}, the CPU clock of each pid, and
 * wait4(2) for children of the caller. */
#ifndef TRK_PROBE_TREE_TREE_H
#define TRK_PROBE_TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "base/mask.h"
#include "model/process.h"
#include "model/programs.h"
#include "probe/reader.h"
#include "probe/tree/usage.h"

struct trk_tree; /* opaque */

struct trk_tree_options {
	pid_t root;                   /* root process of the tree */
	bool one_process;             /* --no-children: the root alone */
	enum trk_redaction redaction; /* of command lines */
	/* Current figures only: no command lines, no peaks. Files are opened for each reading,
	 * because the descriptors count against the caller's limit, ... */
	bool figures_only;
	int kept_fds;   /* ... except the stat files of this many active members */
	bool subreaper; /* `self` is the subreaper: it adopts orphans, which belong to the tree */
	pid_t self;     /* the tracker: never part of the tree */
	struct trk_reader *reader; /* borrowed; NULL: readings may block */
	double pss_share;          /* share of a core for reading smaps_rollup */
	size_t max_processes;      /* table size limit; 65,536 by default */
};

/* The counters, monotone since the tree was created. */
enum trk_tree_counter {
	TRK_TREE_CPU,        /* ns, user + system */
	TRK_TREE_CPU_SYSTEM, /* ns */
	TRK_TREE_READ_BYTES, /* at the storage layer */
	TRK_TREE_WRITE_BYTES,
	TRK_TREE_CANCELLED_BYTES, /* of the written: truncated before they reached a disk */
	TRK_TREE_READ_CHARS,      /* through system calls */
	TRK_TREE_WRITE_CHARS,
	TRK_TREE_MAJOR_FAULTS,
	TRK_TREE_MINOR_FAULTS,
	TRK_TREE_COUNTERS
};

/* Memory of the tree that no size of a process contains, in bytes: the best figure and its bounds. */
struct trk_tree_outside {
	bool is_known;
	uint64_t least, best, most;
};

/* Result of an update. Figures of bytes and processes are current values. */
struct trk_tree_state {
	uint64_t counter[TRK_TREE_COUNTERS];
	size_t processes; /* live, without zombies, with the root */
	size_t threads;
	uint64_t rss_bytes; /* sum of RSS: a shared page counts once per process */
	uint64_t pss_bytes; /* of the tree: a shared page counts once; the best figure */
	uint64_t least_bytes, most_bytes; /* bounds of pss_bytes */
	/* Set by trk__tree_look_outside: what is swapped out, huge pages of hugetlbfs. */
	struct trk_tree_outside swap, huge;
	/* Processes whose smaps_rollup is not readable: RSS is used instead. */
	size_t unreadable_memory;
	/* Processes that were stuck in the kernel before their first reading: no sum contains them. */
	size_t unread;
	bool has_unread_child; /* in some update; the root's own size is known when it ends */
	struct trk_stuck_process stuck[TRK_STUCK_MAX]; /* the first ones */
	size_t stuck_count;                            /* of all so far */
	size_t unreadable_io; /* processes whose io file is not readable: not counted */
	/* Page faults of ended children that no parent received: the kernel drops the counters of
	 * children for which no parent waits. */
	uint64_t dropped_faults;
	bool ignores_children; /* some member was seen to ignore SIGCHLD */
	bool lost_child;       /* set by trk__tree_lost */
	/* Pids allocated since the start for which no process was found, at most: of short-lived
	 * processes and of threads. UINT64_MAX: unknown. */
	uint64_t unseen_pids;
	uint32_t unseen_updates; /* updates in which some of these were allocated */
	bool pids_unproven;      /* the last pid is unknown: all of /proc is searched for members */
	size_t most_threads;     /* largest number of threads, before the last update */
	uint64_t root_cpu_ns;    /* of the root process alone, at the last update */
	bool io_was_denied;      /* for some member, which may not be traced */
	uint64_t raised_cpu_ns;  /* part of counter[TRK_TREE_CPU] from trk__tree_raise */
	/* Sampled threads of busy members (at most four members per update): time runnable but
	 * waiting for a CPU, and time running in the same period; ns, monotone sums over threads.
	 * queue_refused: PID/schedstat could never be read, so both are unknown. */
	uint64_t queue_ns, queue_run_ns;
	bool queue_refused;
	/* Lower bound of the time in which some main thread waited for block I/O, ns, monotone: the
	 * sum over updates of the longest wait of one member. 0 without delay accounting. */
	uint64_t blocked_ns;
	uint64_t ended;          /* members that have ended, monotone */
	size_t waiting_for_disk; /* members in an uninterruptible wait when last read */
	bool root_gone;          /* it is gone or a zombie */
	/* Peaks so far. */
	size_t peak_processes;
	uint64_t peak_bytes;     /* best figure so far; trk__tree_peak has the details */
	const char *peak_source; /* static text */
	bool peak_is_floor;      /* the true peak may be larger than peak_bytes */
	uint64_t floor_bytes;    /* the tree held at least this */
	/* The root was the only process ever seen, and it has reaped no child. */
	bool alone;
	/* Usage of members older than the tree, and of their reaped children, at the first read. */
	uint64_t base[TRK_TREE_COUNTERS];
};

/* Sources of the figures: static texts. */
struct trk_tree_sources {
	const char *disk_total, *faults_total;                 /* of a whole run */
	const char *sum, *partly_sum, *sum_and_high, *largest; /* of a peak of memory */
};
extern const struct trk_tree_sources trk__tree_sources;

/* Linux: a reading of this member's memory blocks; find out whether all of them do. */
void trk__tree_suspect(struct trk_tree *t, pid_t pid);

/* The peak of the tree's memory: the best figure and an interval that contains the true peak. */
struct trk_tree_peak {
	uint64_t bytes;
	const char *source;   /* static text */
	bool is_floor;        /* the true peak is at least `bytes` */
	uint64_t floor_bytes; /* the tree held at least this */
	/* The tree held at most this, if all unseen processes were reaped by parents or the
	 * caller. */
	uint64_t most_bytes;
};

/* Returns the tree (the caller frees with _free) or NULL with *reterr a negative errno: -ESRCH when
 * there is no such process. `env` is borrowed until _free. */
struct trk_tree *trk__tree_new(const struct trk_env *env, const struct trk_tree_options *options,
			       int *reterr);
void trk__tree_free(struct trk_tree *t);

/* Read every member once. *ret points to the state of the tree until the next update. */
void trk__tree_update(struct trk_tree *t, const struct trk_tree_state **ret);
/* As above, for a caller that has just read the monotonic clock. */
void trk__tree_update_at(struct trk_tree *t, uint64_t now_ns, const struct trk_tree_state **ret);

/* After an update: set the swap and the huge pages of the tree. swap_in_use, huge_in_use: of the
 * machine, in bytes; UINT64_MAX: not known. Reads no file if the machine uses neither. */
void trk__tree_look_outside(struct trk_tree *t, uint64_t swap_in_use, uint64_t huge_in_use);

/* An update has blocked, and the thread that made it was abandoned (base/blocking.h): the next one starts
 * anew. False: no memory; the tree must not be used. */
bool trk__tree_interrupted(struct trk_tree *t);

/* The next update is the last one. */
void trk__tree_close_accounts(struct trk_tree *t);

/* The caller has reaped `pid` with wait4(2): its final usage. Call before the next update. */
void trk__tree_reaped(struct trk_tree *t, pid_t pid, const struct trk_usage *usage);

/* wait4(2) does not report cancelled bytes: read those of a zombie, add them once it is reaped. */
uint64_t trk__tree_read_cancelled(const struct trk_tree *t, pid_t pid);
void trk__tree_add_cancelled(struct trk_tree *t, uint64_t bytes);

/* Bytes written to storage, less cancelled bytes. */
uint64_t trk__tree_written(const struct trk_tree_state *state);

/* Record that other code reaped a child of the caller, so that its usage is unknown. */
void trk__tree_lost(struct trk_tree *t);

/* Evidence that the kernel dropped the usage of some child, as static text; NULL: none. */
const char *trk__tree_dropped(const struct trk_tree_state *state);

/* True if some processes of the job may have started and ended unseen. */
bool trk__tree_has_unseen(const struct trk_tree_state *state);

/* A CPU time from another source (perf clock, control group): raises the CPU counter, never
 * lowers it. The system time grows in proportion. */
void trk__tree_raise(struct trk_tree *t, uint64_t cpu_ns);

/* The state after the last update, reap or raise; points into the tree. */
const struct trk_tree_state *trk__tree_state(const struct trk_tree *t);

/* Shared memory (tmpfs, memfd, shared anonymous) that members map, inferred from their last
 * readings of smaps_rollup. False while a member is ending, as its memory is being freed. */
bool trk__tree_shmem(const struct trk_tree *t, uint64_t *ret_bytes);

/* Pages of files that members map and have not changed, as far as smaps_rollup was read: the kernel
 * can drop them and read them again. Part of pss_bytes. */
uint64_t trk__tree_file_bytes(const struct trk_tree *t);

/* By how much the kernel's sizes of a process (RSS, VmHWM, ru_maxrss) may be off, as it counts
 * pages in batches. Sums of PSS are not affected. */
uint64_t trk__tree_rss_slack(const struct trk_tree *t);

/* The peak of memory as of the last update or reap. */
void trk__tree_peak(const struct trk_tree *t, struct trk_tree_peak *ret);

/* The processes with the largest share of the tree's CPU time or memory, live or ended, none twice.
 * Returns the number of entries in top[0..max). */
size_t trk__tree_top(struct trk_tree *t, struct trk_process_info *top, size_t max);

/* Usage by program, and the processes that ended or became long-lived since the last call. *ret is
 * valid until the next update or call. `is_last`: the run is over; also list live processes. */
void trk__tree_programs(struct trk_tree *t, bool is_last, struct trk_programs_now *ret);
/* Set the start of the run, from which spans count; monotonic. Default: the tree's creation. */
void trk__tree_set_origin(struct trk_tree *t, uint64_t origin_ns);

/* The live member that was found most recently; 0: none. */
pid_t trk__tree_newest(const struct trk_tree *t);

/* Pids of live members into pids[0..max). Returns their number, which may exceed `max`. */
size_t trk__tree_pids(const struct trk_tree *t, pid_t *pids, size_t max);

#endif
