/* Shared by tree.c (table, update), tree_discovery.c (newcomers), tree_member.c (what is read of each),
 * tree_speaker.c (processes without a main thread), tree_ledger.c (counters), tree_memory.c (PSS, peaks),
 * tree_turns.c (sleepers) and tree_top.c (the table of top processes). */
#ifndef TRK_PROBE_TREE_PRIVATE_H
#define TRK_PROBE_TREE_PRIVATE_H

#include <stddef.h>

#include "base/hot.h"
#include "probe/linux/pid_stat.h"
#include "probe/linux/pid_statm.h"
#include "probe/tree.h"

#define TRK_COMMAND_SIZE 160

/* One member of the tree. Members stand in the table in the order of discovery, so a parent stands
 * before its children, and is read before them: see tree_ledger.c for why that matters. */
struct process {
	/* The first cache line is all that an update touches of a member that did nothing. */
	pid_t pid;
	pid_t ppid;
	uint64_t clock_ns; /* its CPU clock at the last full read */
	uint64_t rss_bytes;
	uint64_t pss_bytes;        /* read or inferred */
	uint64_t hwm_excess_bytes; /* VmHWM rose in this update to this much above the RSS now */
	uint32_t threads;
	uint32_t
		calm_epoch; /* its memory raised no doubt in this epoch, see tree_memory.c; 0 never */
	uint16_t idle_updates;
	bool dirty;    /* must be read although its CPU clock stands still */
	bool vanished; /* found gone in this update */
	bool reaped;   /* by the caller: its final usage is in the ledger's pool */
	bool zombie;   /* has ended; not one whose main thread alone has */
	bool fresh;    /* not yet counted once */
	bool looked;   /* read in full in this update */
	bool open;     /* the ledger has something to settle for it */
	bool io_denied;
	bool pss_denied;
	bool pss_estimated; /* pss_bytes is inferred */
	bool on_disk;       /* in an uninterruptible wait at the last look */
	bool io_waits;      /* its io was left for a later look, see io_can_wait in tree_member.c */
	bool asleep;        /* its clock has stood still for long, see tree_turns.c */
	bool skipped;       /* not looked at in the last update, as it was not its turn */

	uint64_t start_ticks;
	pid_t speaker; /* a living thread, where the main one has ended; else 0 */
	/* Kept open; -1 past the descriptor budget or unreadable. */
	int stat_fd, io_fd, statm_fd, schedstat_fd;
	uint64_t io_clock_ns; /* its CPU clock when io was read last */
	uint8_t io_phase;     /* in which of some updates io is read in any case */
	bool io_moved;        /* disk bytes moved at that reading */
	uint64_t queue_ns;    /* at the last reading of schedstat */
	uint64_t blocked_ns;  /* by block I/O, at the last reading of stat */
	bool queue_read;
	bool late; /* has used more than is counted in `own`: see tree_turns.c */

	/* Ledger. `seen` is own + inherited at the last read; `own` its certain part. */
	uint64_t own[TRK_TREE_COUNTERS];
	uint64_t inherited[TRK_TREE_COUNTERS];
	uint64_t gained[TRK_TREE_COUNTERS]; /* growth of `inherited` in this update */
	uint64_t lost[TRK_TREE_COUNTERS]; /* last `seen` of children that vanished in this update */
	uint64_t debt[TRK_TREE_COUNTERS]; /* the same of the update before, not yet arrived */

	/* Memory. */
	uint64_t shared_bytes;
	uint64_t statm_faults, stat_rss_pages; /* at the last look, see take_stat */
	uint64_t hwm_bytes;                    /* last VmHWM read */
	uint64_t faults_at_hwm;
	uint64_t read_rss_bytes, read_shared_bytes, read_pss_bytes; /* at the last smaps_rollup */
	uint64_t faults_at_read;
	float anon_factor, shared_factor;
	float read_ns_per_byte; /* cost of the last smaps_rollup */
	uint32_t family,
		family_at_read; /* forks and exits among children; ours + parent's at read */
	uint32_t brood_at_read; /* `family` at read: forks and exits among its own children */
	uint32_t read_update;   /* update number of the last smaps_rollup, 0 never */
	/* Of the children of this process: the shares that the latest reading of one of them gave. */
	float kin_anon_factor, kin_shared_factor;
	uint32_t kin_update, kin_family; /* when, and our family then */
	char kin_name[16];

	char name[TRK_COMM_SIZE];
	char command[TRK_COMMAND_SIZE];
};

_Static_assert(offsetof(struct process, start_ticks) <= 64, "what idle members need is one line");

enum {
	TOP_EXITED = 24,
	TRK_ENTRIES_SIZE = 32 * 1024, /* the buffer for directory entries */
	TRK_IO_UPDATES_MAX = 5,       /* between two looks at the io of a member that does little */
};

struct trk_tree {
	/* What every update touches stands together: after a second it is in no cache. */
	struct process *process; /* owned */
	size_t count, cap;
	uint32_t *slot; /* hash: pid -> index + 1 */
	size_t slots;   /* power of two */
	uint64_t page_bytes;
	uint64_t tick_ns;     /* ns in one USER_HZ tick */
	uint64_t start_ticks; /* boot clock at creation: older processes start from a baseline */
	uint64_t longest_block_ns; /* of a member in this update */
	uint32_t update;           /* number of updates so far */
	uint32_t epoch;       /* number of forks, exits and news of memory among members, from 1 */
	int queue_reads_left; /* of schedstat in this update */
	bool queue_answered;  /* some schedstat could be read */
	bool has_delays;      /* in PID/stat */
	bool smaps_missing;   /* the kernel has no smaps_rollup */

	/* Turns of sleepers, see tree_turns.c. */
	bool by_turns, again; /* this walk skips sleepers; is the second of this update */
	bool has_reaped;      /* some member, in this update */
	bool any_late, is_capped, is_last;
	int calm_updates; /* since something stirred */
	size_t looks;     /* members read in full in this update */
	uint64_t updated_ns,
		apart_ns;  /* when the last update began, and how long after the one before */
	uint64_t woken_ns; /* what sleepers were found to have used, in this update */
	uint64_t shown_ns, held_ns; /* CPU time of the ledger: told, and held back */

	/* PSS budget. */
	double credit_ns;
	uint64_t credit_at_ns;
	uint64_t calm_sum_bytes; /* largest sum of PSS of which some doubt was found small */

	uint64_t ledger[TRK_TREE_COUNTERS];   /* what was added up here */
	uint64_t at_least[TRK_TREE_COUNTERS]; /* what another source proves */
	struct trk_tree_options options;
	struct trk_tree_state state;
	char text[TRK_PID_STAT_SIZE]; /* of the file of a member that was read last */

	struct trk_env env;
	uint64_t cores;   /* of the machine; 0: not asked yet */
	size_t untracked; /* members that did not fit */
	int fds_left;
	int loadavg_fd;
	int dir_fd;     /* /proc, for getdents */
	char *entries;  /* getdents buffer, owned */
	pid_t last_pid; /* all newcomers up to here were examined */
	pid_t gate_pid; /* up to here those that active members have forked were looked for */
	uint64_t next_sweep_ns, next_range_ns;

	struct process pool; /* reaped by the caller: inherits like a parent */
	struct trk_process_info exited_cpu[TOP_EXITED];
	struct trk_process_info exited_memory[TOP_EXITED];
};

/* tree.c */
struct process *trk__tree_find(struct trk_tree *t, pid_t pid);
/* A new member, whose stat has been read once. NULL when there is no room. */
struct process *trk__tree_add(struct trk_tree *t, const struct trk_pid_stat *stat);

/* tree_discovery.c */
/* The pid that was given out last, or -1 where it is not told. */
pid_t trk__tree_newest_pid(struct trk_tree *t);
/* Examine all newcomers of the machine. True when new members were found. */
bool trk__tree_discover(struct trk_tree *t);
/* Take in the newcomers up to `newest`, after the members were read. */
void trk__tree_newcomers(struct trk_tree *t, pid_t newest);

/* tree_member.c */
/* Read the members from the given one on. True when one is found gone. */
bool trk__tree_walk(struct trk_tree *t, size_t from);
/* Resident bytes of a member now. 0 or a negative errno. */
int trk__tree_resident(struct trk_tree *t, struct process *p, uint64_t *ret_bytes);
/* Close what is kept open of it. */
void trk__tree_close(struct trk_tree *t, struct process *p);

/* tree_top.c */
/* It is gone: keep what the table of top processes may want of it. */
void trk__tree_remember(struct trk_tree *t, const struct process *p);

/* A relative of p's children came or went. */
static inline void trk__tree_new_family(struct trk_tree *t, struct process *p)
{
	p->family++;
	t->epoch++;
}

/* tree_turns.c */
/* Decide whether the update that begins goes by turns. */
void trk__turns_begin(struct trk_tree *t, uint64_t now_ns, pid_t newest);
/* After the members were read: must all be read once more, nobody skipped? */
bool trk__turns_stirred(struct trk_tree *t, bool any_vanished);
/* Count what members that were found late have used, before the ledger is settled. */
void trk__turns_count(struct trk_tree *t);
/* What of the settled ledger is held back: more than the machine can have done. */
void trk__turns_hold(struct trk_tree *t);
/* Read the clocks of those skipped after all: memory and number of those that moved or have gone. */
void trk__turns_doubt(struct trk_tree *t, uint64_t *ret_bytes, size_t *ret_processes);

/* Is it left out of this walk? */
static inline bool trk__turns_skips(const struct trk_tree *t, const struct process *p)
{
	return t->by_turns && p->asleep && !p->dirty &&
	       ((t->update ^ ((uint32_t) p->pid * 2654435761u >> 31)) & 1);
}

/* tree_ledger.c */
/* Take the counters of one read into the process's ledger entry. */
void trk__ledger_read(struct trk_tree *t, struct process *p, const uint64_t own[TRK_TREE_COUNTERS],
		      const uint64_t inherited[TRK_TREE_COUNTERS]);
/* After all members were read: settle what vanished against what arrived. */
void trk__ledger_settle(struct trk_tree *t);

/* tree_memory.c */
void trk__memory_init(struct trk_tree *t);
/* VmHWM of a process whose page faults moved. */
void trk__memory_high_water(struct trk_tree *t, struct process *p);
/* PSS within the budget, sums and peaks. */
void trk__memory_update(struct trk_tree *t);
/* Peak proven by the maxrss of a reaped process. */
void trk__memory_reaped(struct trk_tree *t, uint64_t maxrss_bytes);

/* tree_speaker.c */
/* Find a living thread of a member whose main one has ended; p->speaker then. False: none lives. */
bool trk__speaker_find(const struct trk_tree *t, struct process *p);
/* Its statm. -ESRCH when it has gone. */
int trk__speaker_statm(const struct trk_tree *t, const struct process *p,
		       struct trk_pid_statm *ret);
/* PID/task of a member: below it p->speaker is what below /proc a pid is. The caller closes. Negative
 * errno, -ESRCH when the member has gone. */
int trk__speaker_tasks(const struct trk_tree *t, const struct process *p);

#endif
