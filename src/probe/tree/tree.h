/* The tracked process tree: its members, what they have used, what they hold now.
 *
 * Discovery: /proc/loadavg names the last pid that was given out; only pids newer than the last
 * look are examined, so that an update costs O(new processes), not O(processes on the machine).
 * A full sweep of /proc runs now and then for what that gate may have missed.
 *
 * Accounting: every counter of the tree is monotone. What a live process uses itself is counted as
 * it grows. What its waited-for children used arrives in the process's own child fields when it
 * reaps them; of that, only what had not been counted while the children were alive is added
 * (tree/ledger.c). Children that live and die between two updates are thus counted, none twice.
 *
 * A large tree reads members that have slept long in every second update (tree/idle_skip.c).
 *
 * Memory: RSS on every update, PSS from smaps_rollup within a CPU budget (tree/memory.c).
 *
 * Sources: /proc/PID/{stat,statm,io,status,smaps_rollup,cmdline}, the CPU clock of each pid, and
 * wait4(2) of what the caller reaps. */
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
#include "probe/tree/usage.h"

struct trk_tree; /* opaque */

/* The default share of a core that readings of PSS may cost, on average over a run. */
#define TRK_TREE_PSS_SHARE 0.005

struct trk_tree_options {
	pid_t root;                   /* first process of the tree */
	bool one_process;             /* --no-children: the root alone */
	enum trk_redaction redaction; /* of command lines */
	/* Current figures only: no command lines, no peaks; files are opened for each reading,
	 * because descriptors would be the caller's, ... */
	bool figures_only;
	int kept_fds;         /* ... but for the stat of so many that are seen to move */
	bool skips_idle;      /* sleepers of a large tree are looked at in every second update */
	bool subreaper;       /* orphans come to `self`, and belong to the tree */
	pid_t self;           /* the tracker: never part of the tree */
	double pss_share;     /* share of a core that readings of smaps_rollup may cost */
	size_t max_processes; /* table size limit; 65,536 by default */
};

/* The counters, monotone since the tree was created. */
enum trk_tree_counter {
	TRK_TREE_CPU,        /* ns, user + system */
	TRK_TREE_CPU_SYSTEM, /* ns */
	TRK_TREE_READ_BYTES, /* at the storage layer */
	TRK_TREE_WRITE_BYTES,
	TRK_TREE_CANCELLED_BYTES, /* of these: removed or truncated before they reached a disk */
	TRK_TREE_READ_CHARS,      /* through system calls */
	TRK_TREE_WRITE_CHARS,
	TRK_TREE_MAJOR_FAULTS,
	TRK_TREE_MINOR_FAULTS,
	TRK_TREE_COUNTERS
};

/* Does the system keep totals of all processes of the job, of those as well that have ended? */
enum trk_tree_totals {
	TRK_TOTALS_NONE,    /* none; parents receive what their children used */
	TRK_TOTALS_KEPT,    /* a job object of Windows does */
	TRK_TOTALS_ZERO,    /* it should, and has less than its members: as under Wine */
	TRK_TOTALS_SAMPLED, /* none, and no parent receives anything: Windows without a job object */
};

/* What one update found. Byte and process figures are of the moment. */
struct trk_tree_state {
	uint64_t counter[TRK_TREE_COUNTERS];
	size_t processes; /* living, zombies not counted, the root included */
	size_t threads;
	uint64_t rss_bytes;           /* sum; shared pages counted once per process */
	uint64_t pss_bytes;           /* sum; shared pages counted once in all */
	uint64_t pss_estimated_bytes; /* the part of pss_bytes that was inferred, not read */
	/* processes whose smaps_rollup is not readable: RSS is used instead */
	size_t unreadable_memory;
	size_t unreadable_io; /* processes whose io file is not readable: not counted */
	/* Page faults of children that were seen and ended, and that no parent received: the
	 * kernel drops the counters of children that no parent waits for. */
	uint64_t dropped_faults;
	bool ignores_children; /* some member was seen to ignore SIGCHLD */
	bool lost_child;       /* set by trk__tree_lost */
	/* No process adopts orphans on this system: what they use after the last look, and those
	 * that were never seen, are missing. */
	bool loses_orphans;
	enum trk_tree_totals totals;
	uint64_t peak_commit_bytes; /* of all members together, by a job object; 0: not known */
	uint64_t orphans; /* members whose parent was seen to end before them, where that is so */
	bool lacks[TRK_TREE_COUNTERS]; /* counters that this system does not have */
	/* Pids that were given out since the start and on which no process was found, at most: of
	 * processes that came and went unseen, and of threads. UINT64_MAX: not known. */
	uint64_t unseen_pids;
	uint32_t unseen_updates; /* in which some of these were given out */
	size_t most_threads;     /* at one update, before the last one */
	uint64_t root_cpu_ns;    /* of the root itself, at the last look */
	bool io_was_denied;      /* of some member: it may not be traced */
	uint64_t
		raised_cpu_ns; /* part of counter[TRK_TREE_CPU] that trk__tree_raise alone proves */
	/* Sampled threads of busy members (at most four members an update): how long they were
	 * runnable and waited for a CPU, and how long they ran in the same time; ns, monotone sums
	 * over threads. Unknown (refused) where PID/schedstat could never be read. */
	uint64_t queue_ns, queue_run_ns;
	bool queue_refused;
	/* Time in which some main thread waited for block I/O, at least, ns, monotone: in each
	 * update that of the one that waited longest. 0 where the kernel keeps no account of
	 * delays. */
	uint64_t blocked_ns;
	uint64_t ended; /* members that were seen and have ended, monotone */
	size_t unseen;  /* sleepers that this update has not looked at */
	/* CPU time that is known and not yet published: tree/idle_skip.c */
	uint64_t late_cpu_ns;
	size_t waiting_for_disk; /* members last seen in an uninterruptible wait */
	bool root_gone;          /* or has ended and was not reaped */
	/* Peaks so far. */
	size_t peak_processes;
	uint64_t peak_pss_bytes; /* largest consistent sum of PSS */
	uint64_t peak_bytes;     /* best figure so far; trk__tree_peak has all that is known */
	const char *peak_source; /* static text */
	bool peak_is_floor;      /* the true peak of the tree is at least this */
	uint64_t floor_bytes;    /* that the tree has held for certain */
	/* No process but the root was ever seen, and the root has waited for none. */
	bool alone;
	/* What members older than the tree, with the children that they had waited for, had used
	 * when they were first read. */
	uint64_t base[TRK_TREE_COUNTERS];
};

/* Where the figures of this system come from: static texts. */
struct trk_tree_sources {
	const char *cpu, *cpu_and_perf;
	const char *memory, *memory_partly; /* partly: of processes of other users less is known */
	const char *disk, *disk_partly;
	const char *disk_total, *faults_total; /* of a whole run */
	const char *waits;                     /* NULL: they are estimated (sample/sampler.c) */
	const char *sum, *partly_sum, *sum_and_high, *largest; /* of a peak of memory */
	bool own_disk_only; /* no process receives the disk bytes of its children */
};
extern const struct trk_tree_sources trk__tree_sources;

/* The children that a process has now: at most `max` of them. Their number or a negative errno. */
int trk__tree_children_of(const struct trk_env *env, pid_t pid, pid_t *pids, int max);

/* The peak of the tree's memory: the best figure, and the interval that it lies in. */
struct trk_tree_peak {
	uint64_t bytes;
	const char *source;   /* static text */
	bool is_floor;        /* `bytes` is proven, and the true peak may be larger */
	uint64_t floor_bytes; /* the tree held at least this */
	/* The tree's processes held no more than this, if each process that was not seen has been
	 * waited for by its parent or the caller. */
	uint64_t most_bytes;
};

/* Returns the tree (the caller frees with _free) or NULL with *reterr a negative errno: -ESRCH when
 * there is no such process. `env` is borrowed until _free. */
struct trk_tree *trk__tree_new(const struct trk_env *env, const struct trk_tree_options *options,
			       int *reterr);
void trk__tree_free(struct trk_tree *t);

/* Look at every process once. *ret is a view of the tree's own state until the next update. */
void trk__tree_update(struct trk_tree *t, const struct trk_tree_state **ret);
/* The same for a caller that has just read the monotonic clock. */
void trk__tree_update_at(struct trk_tree *t, uint64_t now_ns, const struct trk_tree_state **ret);

/* A descriptor that is readable when members have forked or ended, where the system reports it:
 * then call _wake before the next update, so that processes are seen which their parents leave
 * behind between two updates. -1: there is none, or it has cost enough until the next update. */
int trk__tree_wake_fd(const struct trk_tree *t);
void trk__tree_wake(struct trk_tree *t);

/* The next update looks at every member. */
void trk__tree_force_full(struct trk_tree *t);

/* All updates from now on look at every member and hold nothing back: the last one is exact. */
void trk__tree_close_accounts(struct trk_tree *t);

/* The caller has reaped `pid` with wait4(2): its final usage. Call before the next update. */
void trk__tree_reaped(struct trk_tree *t, pid_t pid, const struct trk_usage *usage);

/* What wait4(2) does not report: the cancelled bytes of a child that ended and was not reaped yet;
 * counted once it was. */
uint64_t trk__tree_read_cancelled(const struct trk_tree *t, pid_t pid);
void trk__tree_add_cancelled(struct trk_tree *t, uint64_t bytes);

/* Bytes written to storage, without those that were cancelled. */
uint64_t trk__tree_written(const struct trk_tree_state *state);

/* A child of the caller has ended, and its usage went to something else. */
void trk__tree_lost(struct trk_tree *t);

/* Is there evidence that the kernel dropped what some child used? NULL, or why as static text. */
const char *trk__tree_dropped(const struct trk_tree_state *state);

/* Can processes of the job have come and gone unseen? */
bool trk__tree_has_unseen(const struct trk_tree_state *state);

/* A total from another source (perf clock, control group): raises the CPU counter, never
 * lowers it. The system time grows in proportion. */
void trk__tree_raise(struct trk_tree *t, enum trk_tree_counter counter, uint64_t at_least);

/* The state after the last update, reap or raise; a view. */
const struct trk_tree_state *trk__tree_state(const struct trk_tree *t);

/* Shared memory (tmpfs, memfd, shared anonymous) that members map, inferred from their last
 * readings of smaps_rollup. False while a member is ending: its memory is on its way back to the
 * machine. */
bool trk__tree_shmem(const struct trk_tree *t, uint64_t *ret_bytes);

/* What is known of the peak of memory after the last update or reap. */
void trk__tree_peak(const struct trk_tree *t, struct trk_tree_peak *ret);

/* The processes that matter most, living or gone: at most `max` by CPU time and by memory, each
 * once. Returns how many were written. */
size_t trk__tree_top(struct trk_tree *t, struct trk_process_info *top, size_t max);

/* Use by program, and the processes that ended or were found to last since the last call. *ret is a
 * view until the next update or call. `is_last`: the run is over, and what lives is listed too. */
void trk__tree_programs(struct trk_tree *t, bool is_last, struct trk_programs_now *ret);
/* When the run began, on the monotonic clock: spans count from there. Else the tree's creation. */
void trk__tree_set_origin(struct trk_tree *t, uint64_t origin_ns);

/* The live member that was found last; 0: none. */
pid_t trk__tree_newest(const struct trk_tree *t);

/* Pids of living members, for "what is left behind": returns how many there are. */
size_t trk__tree_pids(const struct trk_tree *t, pid_t *pids, size_t max);

#endif
