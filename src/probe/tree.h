/* The tracked process tree: who belongs to it, what it has used, what it holds now.
 *
 * Discovery: /proc/loadavg names the last pid that was given out; only pids newer than the last
 * look are examined, so that an update costs O(new processes), not O(processes on the machine).
 * A full sweep of /proc runs now and then for what that gate may have missed.
 *
 * Accounting: every counter of the tree is monotone. What a live process uses itself is counted as
 * it grows. What its waited-for children used arrives in the process's own child fields when it
 * reaps them; of that, only what had not been counted while the children were alive is added
 * (tree_ledger.c). Children that live and die between two updates are thus counted, none twice.
 *
 * In a large tree, members that have slept long may be looked at in turns (tree_turns.c).
 *
 * Memory: RSS on every update, PSS from smaps_rollup within a CPU budget (tree_memory.c).
 *
 * Sources: /proc/PID/{stat,statm,io,status,smaps_rollup,cmdline}, the CPU clock of each pid, and
 * wait4(2) of what the caller reaps. */
#ifndef TRK_PROBE_TREE_H
#define TRK_PROBE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/env.h"

struct trk_tree; /* opaque */

/* Stands for arguments that are not kept. */
#define TRK_REDACTED "\u2026"

struct trk_tree_options {
	pid_t root;       /* first process of the tree */
	bool one_process; /* --no-children: the root alone */
	bool redact_args; /* keep of each command line the program only */
	/* The figures of this moment: no command lines, no peaks; files are opened anew, because
	 * descriptors would be the caller's, ... */
	bool figures_only;
	int kept_fds;         /* ... but for the stat of so many that are seen to move */
	bool by_turns;        /* sleepers of a large tree are looked at in every second update */
	bool subreaper;       /* orphans come to `self`, and belong to the tree */
	pid_t self;           /* the tracker: never part of the tree */
	double pss_share;     /* share of a core that smaps_rollup may cost; 0.005 by default */
	size_t max_processes; /* table size limit; 65,536 by default */
};

/* The counters, monotone since the tree was created. */
enum trk_tree_counter {
	TRK_TREE_CPU,        /* ns, user + system */
	TRK_TREE_CPU_SYSTEM, /* ns */
	TRK_TREE_READ_BYTES, /* at the storage layer */
	TRK_TREE_WRITE_BYTES,
	TRK_TREE_READ_CHARS, /* through system calls */
	TRK_TREE_WRITE_CHARS,
	TRK_TREE_MAJOR_FAULTS,
	TRK_TREE_MINOR_FAULTS,
	TRK_TREE_COUNTERS
};

/* What one update found. Byte and process figures are of the moment. */
struct trk_tree_state {
	uint64_t counter[TRK_TREE_COUNTERS];
	size_t processes; /* living, zombies not counted, the root included */
	size_t threads;
	uint64_t rss_bytes;           /* sum; shared pages counted once per process */
	uint64_t pss_bytes;           /* sum; shared pages counted once in all */
	uint64_t pss_estimated_bytes; /* the part of pss_bytes that was inferred, not read */
	size_t unreadable_memory; /* processes whose smaps_rollup we may not read: RSS stands in */
	size_t unreadable_io;     /* processes whose io file we may not read: not counted */
	/* CPU time of children that were seen, and that no parent received: the kernel drops what
	 * children of a parent that ignores SIGCHLD used. What they used unseen is lost as well. */
	uint64_t dropped_cpu_ns;
	/* Time that main threads of busy members could run and waited for a CPU, ns, monotone: at most
	 * four members an update are asked. Not known (refused) where PID/schedstat
	 * could never be read. */
	uint64_t queue_ns;
	bool queue_refused;
	/* Time in which some main thread waited for block I/O, at least, ns, monotone: in each update that of the
	 * one that waited longest. 0 where the kernel keeps no account of delays. */
	uint64_t blocked_ns;
	size_t unseen;           /* sleepers that this update has not looked at */
	uint64_t late_cpu_ns;    /* CPU time that is known and not told yet: tree_turns.c */
	size_t waiting_for_disk; /* members last seen in an uninterruptible wait */
	bool root_gone;          /* or has ended, and nobody has waited for it */
	/* Peaks so far. */
	size_t peak_processes;
	uint64_t peak_pss_bytes; /* largest consistent sum of PSS */
	uint64_t peak_bytes;     /* best figure: see peak_source */
	const char *peak_source; /* static text */
	bool peak_is_floor;      /* the true peak of the tree is at least this */
	/* What members older than the tree, with the children that they had waited for, had used
	 * when they were first read. */
	uint64_t base[TRK_TREE_COUNTERS];
};

/* What is known of one process, for the table of top processes. */
struct trk_process_info {
	pid_t pid;
	bool alive;
	char name[64];
	char command[160];   /* blanks between arguments, cut; empty when it was never read */
	uint64_t cpu_ns;     /* its own threads, without children */
	uint64_t peak_bytes; /* largest RSS seen (VmHWM) */
	uint64_t read_bytes, write_bytes; /* waited-for children included, as the kernel counts */
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

/* The next update looks at every member. */
void trk__tree_rouse(struct trk_tree *t);

/* All updates from now on look at every member and hold nothing back: the last one is exact. */
void trk__tree_close_accounts(struct trk_tree *t);

/* The caller has reaped `pid` with wait4(2): its final usage. Call before the next update. */
void trk__tree_reaped(struct trk_tree *t, pid_t pid, const struct rusage *usage);

/* A total that another source proves at least (perf counter, RUSAGE_CHILDREN): raises the CPU
 * counter, never lowers it. */
void trk__tree_raise(struct trk_tree *t, enum trk_tree_counter counter, uint64_t at_least);

/* The state after the last update, reap or raise; a view. */
const struct trk_tree_state *trk__tree_state(const struct trk_tree *t);

/* The processes that matter most, living or gone: at most `max` by CPU time and by memory, each
 * once. Returns how many were written. */
size_t trk__tree_top(struct trk_tree *t, struct trk_process_info *top, size_t max);

/* Pids of living members, for "what is left behind": returns how many there are. */
size_t trk__tree_pids(const struct trk_tree *t, pid_t *pids, size_t max);

#endif
