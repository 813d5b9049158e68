/* Shared by the files of the tree: tree.c (table, update), ledger.c (counters), peaks.c,
 * idle_skip.c (idle members), program_use.c and top.c (tables of programs and processes); and of a
 * folder per system: discovery.c (new members), member.c (what is read of each), memory.c (PSS). */
#ifndef TRK_PROBE_TREE_PRIVATE_H
#define TRK_PROBE_TREE_PRIVATE_H

#include <stddef.h>

#include "probe/linux/pid_smaps.h"
#include "probe/linux/pid_stat.h"
#include "probe/linux/pid_statm.h"
#include "probe/tree/pss_budget.h"
#include "probe/tree/tree.h"

#define TRK_COMMAND_SIZE 160

/* What readings have shown of pages that members share, added up; tree/memory.c. */
struct sharing {
	uint64_t stirred_bytes; /* pages that members began or ceased to share; only grows */
	/* Shares that living members took of pages which others may have held before. */
	int64_t owed_bytes;
	/* The part of both that happened after the update had begun. */
	uint64_t late_stirred_bytes;
	int64_t late_owed_bytes;
};

/* One member of the tree. Members stand in the table in the order of discovery, so a parent stands
 * before its children, and is read before them: see tree/ledger.c for why that matters. */
struct process {
	/* The first cache line is all that an update touches of a member that did nothing. */
	pid_t pid;
	pid_t ppid;
	uint64_t clock_ns; /* its CPU clock at the last full read */
	uint64_t rss_bytes;
	uint64_t pss_bytes;        /* read or inferred */
	uint64_t hwm_excess_bytes; /* VmHWM rose in this update to this much above the RSS now */
	uint32_t threads;
	/* Its memory raised no doubt in this epoch, see tree/memory.c; 0: never. */
	uint32_t calm_epoch;
	uint16_t idle_updates;
	uint8_t program; /* index into the tree's table of programs */
	bool dirty;      /* must be read although its CPU clock stands still */
	bool vanished;   /* found gone in this update */
	bool reaped;     /* by the caller: its final usage is in the ledger's pool */
	bool zombie;     /* has ended; false where only its main thread has */
	bool fresh;      /* not yet counted once */
	bool looked;     /* read in full in this update */
	bool open;       /* the ledger has something to settle for it */
	bool io_denied : 1;
	bool pss_denied : 1;
	bool pss_estimated : 1; /* pss_bytes is inferred */
	bool listed : 1;        /* as a process that lasts: tree/program_use.c */
	bool on_disk;           /* in an uninterruptible wait at the last look */
	bool io_waits; /* its io was left for a later look, see io_can_wait in tree/member.c */
	bool asleep;   /* its clock has stood still for long, see tree/idle_skip.c */
	bool skipped;  /* not looked at in the last update, as it was not its turn */

	uint64_t start_ticks;
	pid_t live_thread; /* a living thread, where the main one has ended; else 0 */
	/* Kept open; -1 past the descriptor budget or unreadable. */
	int stat_fd, io_fd, statm_fd, schedstat_fd;
	uint64_t io_clock_ns; /* its CPU clock when io was read last */
	uint8_t io_phase;     /* in which of some updates io is read in any case */
	bool io_moved;        /* disk bytes moved at that reading */
	/* At the last reading of schedstat: sums over the threads that were read, and how many
	 * those are at most. */
	uint64_t queue_ns, queue_run_ns, queue_clock_ns, queue_at_ns;
	uint8_t queue_threads;
	uint64_t blocked_ns; /* by block I/O, at the last reading of stat */
	bool queue_read;
	bool late; /* has used more than is counted in `own`: see tree/idle_skip.c */

	/* Ledger. `seen` is own + inherited at the last read; `own` its certain part. */
	uint64_t own[TRK_TREE_COUNTERS];
	uint64_t inherited[TRK_TREE_COUNTERS];
	uint64_t gained[TRK_TREE_COUNTERS]; /* growth of `inherited` in this update */
	uint64_t lost[TRK_TREE_COUNTERS]; /* last `seen` of children that vanished in this update */
	uint64_t debt[TRK_TREE_COUNTERS]; /* as of the update before, not yet arrived */
	uint64_t start_ns, ended_ns;      /* monotonic; ended_ns 0: it lives */
	uint32_t named_update;            /* number of the update in which it got its program */
	uint64_t named_cpu_ns;            /* its CPU time then */
	uint64_t tail_ns; /* CPU time after the last look, as its parent's figure shows */
	/* A member older than the tree: own CPU time and disk bytes before the first look. */
	uint64_t base_cpu_ns, base_read_bytes, base_write_bytes;

	/* Memory. */
	uint64_t shared_bytes;
	uint64_t statm_faults, stat_rss_pages; /* at the last look, see take_stat */
	uint64_t hwm_bytes;                    /* last VmHWM read */
	uint64_t most_rss_bytes;               /* at any look */
	uint64_t base_hwm_bytes; /* of a member older than the tree: VmHWM at the first look */
	uint64_t faults_at_hwm;
	uint64_t final_peak_bytes; /* ru_maxrss, when the caller has reaped it; else 0 */
	uint64_t new_faults;       /* between its last two looks */
	/* At the first look, if it looks like a fork of its parent; else 0. */
	uint64_t forked_rss_bytes;
	uint64_t read_rss_bytes, read_shared_bytes; /* at the last smaps_rollup */
	uint64_t faults_at_read;
	float anon_factor, shared_factor;
	float read_ns_per_byte; /* cost of the last smaps_rollup */
	uint32_t family,
		family_at_read; /* forks and exits among children; own + parent's at read */
	uint32_t brood_at_read; /* `family` at read: forks and exits among its own children */
	uint32_t read_update;   /* update number of the last smaps_rollup, 0 never */
	/* At the last smaps_rollup: what others hold of its pages, its own share of such pages,
	 * how many these are, and where the tree's counts stood (tree/memory.c). */
	uint64_t lent_bytes, part_bytes, shared_at_read;
	struct sharing sharing_at_read;
	uint64_t fair_rss_bytes; /* RSS at the tree's last fair sum; 0: it was not there */
	int64_t owed_own;        /* what this member added to the tree's owed_bytes */
	uint64_t shmem_bytes;    /* its proportional share of shared memory then */
	/* Of the children of this process: the shares that the latest reading of one of them
	 * gave. */
	float kin_anon_factor, kin_shared_factor;
	uint64_t kin_shared_bytes; /* file and shared pages that it had resident */
	/* ... and the part that it held of anonymous pages which others held as well. */
	float kin_anon_part;
	uint32_t kin_update, kin_family; /* when, and the own family then */
	char kin_name[16];

	char name[TRK_COMM_SIZE];
	char command[TRK_COMMAND_SIZE];
};

_Static_assert(offsetof(struct process, start_ticks) <= 64, "what idle members need is one line");

enum {
	TOP_EXITED = 24,
	TRK_ENTRIES_SIZE = 32 * 1024, /* the buffer for directory entries */
	PEAK_BOUNDS = 20,             /* of a number of processes, by its logarithm */
	TRK_IO_UPDATES_MAX = 5,       /* between two looks at the io of a member that does little */
};

/* Members and others of the tree that ended since the last update. */
struct peak_gone {
	size_t seen; /* members at the last update */
	/* At most: those of `pids`, and members that were found after they had ended. */
	size_t unseen;
	/* Given out since, and not found on a process: of threads and strangers as well. */
	size_t pids;
	uint64_t faults;    /* page faults of both since the last update */
	uint64_t pss_bytes; /* of those seen, at the last update */
};

/* Of updates in which about as many ended: what bounds the peak, see tree/peaks.c. */
struct peak_bound {
	uint64_t live_bytes;  /* most that the others held */
	uint64_t fault_bytes; /* most that those that ended can have brought in */
	uint64_t ended;       /* largest number of these */
	/* The best estimate of a sum of members that ended together: held at the last update,
	 * brought in since, number of those that ended. */
	uint64_t together_bytes, grown_bytes, together;
};

/* A member that ended in this update, and what it may have used since its last look. */
struct tail {
	const struct process *heir;
	struct process *member;
	uint64_t ns;
};

enum { TAILS_MAX = 128 };

/* Use by program: tree/program_use.c. */
struct programs {
	struct trk_program table[TRK_PROGRAMS_MAX];
	size_t count;
	uint8_t unseen_of[TRK_PROGRAMS_MAX]; /* index of its TRK_PROGRAM_UNSEEN; 0: none yet */
	struct tail tail[TAILS_MAX];         /* of this update */
	size_t tails;
	struct trk_process_span *span; /* owned; waiting for trk__tree_programs */
	size_t spans;
	bool taken; /* the spans have been handed out */
	uint64_t unlisted, unseen_pids;
	uint64_t origin_ns; /* monotonic: the start of the run */
};

/* In a large tree members that have slept for long are read in every second update;
 * tree/idle_skip.c. */
struct idle_skip {
	bool is_on, again; /* this walk skips sleepers; is the second of this update */
	bool has_reaped;   /* some member reaped a child in this update */
	bool any_late, is_capped, is_last;
	int calm_updates;    /* since the last change */
	size_t looks;        /* members read in full in this update */
	uint64_t updated_ns; /* when the last update began */
	uint64_t apart_ns;   /* and how long after the one before */
	uint64_t woken_ns;   /* CPU time that sleepers were found to have used in this update */
	uint64_t shown_ns, held_ns; /* CPU time of the ledger: published, and held back */
};

struct trk_tree {
	/* What every update touches stands together: after a second it is in no cache. */
	struct process *process; /* owned */
	size_t count, cap;
	uint32_t *slot; /* hash: pid -> index + 1 */
	size_t slots;   /* power of two */
	uint64_t page_bytes;
	uint64_t tick_ns;     /* ns in one tick of times and of start_ticks */
	uint64_t start_ticks; /* boot clock at creation: older processes start from a baseline */
	uint64_t longest_block_ns; /* of a member in this update */
	uint32_t update;           /* number of updates so far */
	uint32_t epoch;       /* number of forks, exits and news of memory among members, from 1 */
	int queue_reads_left; /* of schedstat in this update */
	bool queue_answered;  /* some schedstat could be read */
	bool has_delays;      /* in PID/stat */
	bool smaps_missing;   /* the kernel has no smaps_rollup */

	struct idle_skip idle;

	struct trk_pss_budget pss_budget;
	uint64_t calm_sum_bytes; /* largest sum of PSS of which some doubt was found small */
	struct sharing sharing;
	uint64_t stirred_at_epoch; /* stirred_bytes when the epoch last changed for that */
	bool is_owed;              /* some of owed_bytes may be counted twice */

	struct peak_gone gone; /* in this update */
	struct peak_bound bound[PEAK_BOUNDS];
	uint64_t largest_bytes;  /* of one process, ever */
	uint64_t last_pss_bytes; /* sum of PSS at the last update */
	/* The last sum of PSS in which nothing moved, 0: none; and the tree's minor faults then. */
	uint64_t fair_bytes, fair_faults;
	uint64_t huge_page_bytes; /* that one page fault may bring in; 0: not read yet */
	pid_t newest_pid;         /* at the last update; -1: not known */
	pid_t before_pid;         /* as of the update before */
	pid_t explained_pid;      /* up to here strangers were looked at */
	size_t early_pids;        /* members with a pid above newest_pid */

	uint64_t ledger[TRK_TREE_COUNTERS];   /* what was added up here */
	uint64_t at_least[TRK_TREE_COUNTERS]; /* what another source proves */
	struct trk_tree_options options;
	struct trk_tree_state state;
	char text[TRK_PID_STAT_SIZE]; /* of the file of a member that was read last */

	void *system; /* owned by SYSTEM/member.c */
	struct trk_env env;
	uint64_t cores; /* of the machine; 0: not read yet */
	int fds_left;
	int loadavg_fd;
	int dir_fd;     /* /proc, for getdents */
	int wake_fd;    /* see trk__tree_wake_fd */
	int wakes_left; /* until the next update */
	char *entries;  /* getdents buffer, owned */
	pid_t last_pid; /* all newcomers up to here were examined */
	pid_t gate_pid; /* up to here those that active members have forked were looked for */
	uint64_t next_sweep_ns, next_range_ns;

	struct programs programs;
	struct process pool; /* reaped by the caller: inherits like a parent */
	struct trk_process_info exited_cpu[TOP_EXITED];
	struct trk_process_info exited_memory[TOP_EXITED];
};

/* tree.c */
struct process *trk__tree_find(struct trk_tree *t, pid_t pid);
/* A new member, which started at `start_ticks` of trk__tree_now_ticks. NULL when there is no
 * room. */
struct process *trk__tree_add(struct trk_tree *t, pid_t pid, pid_t ppid, uint64_t start_ticks,
			      uint32_t threads);

/* tree/command.c */
/* Keep its command line, of which each argument is ended by a NUL, with its secrets masked. The
 * text is longer than what is kept: one of TRK_CMDLINE_MAX - 1 bytes was cut. */
enum { TRK_CMDLINE_MAX = 4096 };
void trk__tree_take_command(struct trk_tree *t, struct process *p, const char *cmdline, size_t len);

/* SYSTEM/discovery.c */
/* Open what is kept open for the whole tree; trk__tree_close_system frees t->system. 0 or a negative errno. */
int trk__tree_open(struct trk_tree *t);
/* The clock of start_ticks, now. */
uint64_t trk__tree_now_ticks(const struct trk_tree *t);
/* Add the root to the empty table. 0 or a negative errno: -ESRCH, there is no such process. */
int trk__tree_find_root(struct trk_tree *t);
/* The newest pid of the machine, or -1 if unknown. */
pid_t trk__tree_newest_pid(struct trk_tree *t);
/* Examine all newcomers of the machine. True when new members were found. */
bool trk__tree_discover(struct trk_tree *t);
/* Take in the newcomers up to `newest`, after the members were read. */
void trk__tree_newcomers(struct trk_tree *t, pid_t newest);

/* SYSTEM/member.c */
/* An update begins. */
void trk__tree_begin(struct trk_tree *t);
/* Read the members from the given one on. True when one is found gone. */
bool trk__tree_walk(struct trk_tree *t, size_t from);
/* Resident bytes of a member now. 0 or a negative errno. */
int trk__tree_resident(struct trk_tree *t, struct process *p, uint64_t *ret_bytes);
void trk__tree_close_system(struct trk_tree *t);
/* Close what is kept open of it. */
void trk__tree_close(struct trk_tree *t, struct process *p);
/* Open PID/task of a member: in it p->live_thread is named as a pid is in /proc. The caller closes.
 * Negative errno, -ESRCH when the member has gone. */
int trk__live_thread_tasks(const struct trk_tree *t, const struct process *p);
/* Read a file of the process into t->text through its kept descriptor. Length or negative errno. */
ssize_t trk__tree_read_file(struct trk_tree *t, struct process *p, int *fd, const char *name);

/* tree/program_use.c */
/* A new member, or another program in it: name it by the kernel's name. */
void trk__programs_exec(struct trk_tree *t, struct process *p);
/* Is its command line worth reading at the first look? */
bool trk__programs_needs_command(struct trk_tree *t, const struct process *p);
/* Its command line was read, each argument ended by a NUL; p->command is set. */
void trk__programs_command(struct trk_tree *t, struct process *p, const char *args, size_t len);
/* It has vanished; `heir` has its final figures. */
void trk__programs_vanished(struct trk_tree *t, struct process *p, const struct process *heir);
/* CPU time that arrived at a parent and was not counted while its children lived. */
void trk__programs_arrived(struct trk_tree *t, const struct process *heir, uint64_t cpu_ns);
/* It is gone for good. */
void trk__programs_remember(struct trk_tree *t, const struct process *p);

static inline void trk__programs_count(struct trk_tree *t, const struct process *p, uint64_t cpu_ns)
{
	t->programs.table[p->program].cpu_ns += cpu_ns;
}

/* tree/top.c */
/* Largest memory that it is known to have held. */
uint64_t trk__tree_peak_of(const struct process *p);
/* The process has ended: keep what the table of top processes may need. */
void trk__tree_remember(struct trk_tree *t, const struct process *p);

/* A relative of p's children came or went. */
static inline void trk__tree_new_family(struct trk_tree *t, struct process *p)
{
	p->family++;
	t->epoch++;
}

/* tree/idle_skip.c */
/* Decide whether the update that begins skips idle members. */
void trk__idle_skip_begin(struct trk_tree *t, uint64_t now_ns, pid_t newest);
/* After the members were read: true if all must be read again, without skipping. */
bool trk__idle_skip_stirred(struct trk_tree *t, bool any_vanished);
/* Count what members that were found late have used, before the ledger is settled. */
void trk__idle_skip_count(struct trk_tree *t);
/* What of the settled ledger is held back: more than the machine can have done. */
void trk__idle_skip_hold(struct trk_tree *t);
/* Read the clocks of those skipped after all: memory and number of those that moved or have gone.
 */
void trk__idle_skip_doubt(struct trk_tree *t, uint64_t *ret_bytes, size_t *ret_processes);

/* Is it left out of this walk? */
static inline bool trk__idle_skip_skips(const struct trk_tree *t, const struct process *p)
{
	return t->idle.is_on && p->asleep && !p->dirty &&
	       ((t->update ^ ((uint32_t) p->pid * 2654435761u >> 31)) & 1);
}

/* tree/ledger.c */
/* Take the counters of one read into the process's ledger entry. */
void trk__ledger_read(struct trk_tree *t, struct process *p, const uint64_t own[TRK_TREE_COUNTERS],
		      const uint64_t inherited[TRK_TREE_COUNTERS]);
/* After all members were read: settle what vanished against what arrived. */
void trk__ledger_settle(struct trk_tree *t);

static inline uint64_t trk__least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t trk__distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* SYSTEM/memory.c */
void trk__memory_init(struct trk_tree *t);
/* A member has ended: those that shared pages with it hold larger shares now. */
void trk__sharing_gone(struct trk_tree *t, struct process *p);
/* VmHWM of a process whose page faults moved. */
void trk__memory_high_water(struct trk_tree *t, struct process *p);
/* PSS within the budget, sums and peaks. */
void trk__memory_update(struct trk_tree *t);

/* tree/peaks.c */
/* Before the members are read; `newest` is the newest pid. */
void trk__peaks_begin(struct trk_tree *t, pid_t newest);
/* The pid belongs to a process that was found: a new member, or a stranger that was looked at for
 * the first time. */
void trk__peaks_explain(struct trk_tree *t, pid_t pid, bool is_member);
/* After the newcomers were found. */
void trk__peaks_count_unseen(struct trk_tree *t);
/* A member was found to have ended, as a zombie or gone, `faults` page faults after its last
 * look. */
void trk__peaks_ended(struct trk_tree *t, const struct process *p, uint64_t faults);
/* After the sums were taken. */
void trk__peaks_update(struct trk_tree *t, bool consistent);
/* The largest size that one process of the job has had. */
void trk__peaks_largest(struct trk_tree *t, uint64_t bytes);

#endif
