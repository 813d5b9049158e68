/* Shared by the files of the tree: tree.c (update), members.c (table), ledger.c (counters), peaks.c,
 * program_use.c and top.c (tables of programs and processes); and by
 * those in linux/: discovery.c (new members), member.c and member_files.c (reading a
 * member), memory.c (PSS). */
#ifndef TRK_PROBE_TREE_PRIVATE_H
#define TRK_PROBE_TREE_PRIVATE_H

#include <stddef.h>

#include "probe/linux/pid_smaps.h"
#include "probe/linux/pid_stat.h"
#include "probe/linux/pid_statm.h"
#include "probe/linux/pid_status.h"
#include "probe/tree/pss_budget.h"
#include "probe/tree/tree.h"

#define TRK_COMMAND_SIZE 160

/* Memory of the tree: an interval that contains the truth, and the best figure in it. */
struct amount {
	uint64_t least, best, most;
};

/* One member of the tree. The table is in the order of discovery, so a parent precedes its children
 * and is read before them; tree/ledger.c relies on this. */
struct process {
	/* An update touches only the first cache line of a member that did nothing. */
	pid_t pid;
	pid_t ppid;
	uint64_t clock_ns; /* its CPU clock at the last full read */
	uint64_t rss_bytes;
	uint64_t pss_bytes;        /* read or estimated: shared pages in parts */
	uint64_t hwm_excess_bytes; /* if VmHWM rose in this update: VmHWM - RSS */
	uint32_t threads;
	uint16_t idle_updates;
	uint8_t program; /* index into the tree's table of programs */
	bool dirty;      /* must be read even if its CPU clock did not advance */
	bool vanished;   /* found gone in this update */
	bool reaped;     /* by the caller: its final usage is in trk_tree.pool */
	bool zombie;     /* has ended; false if only its main thread has */
	bool fresh;      /* not yet counted once */
	bool looked;     /* read in full in this update */
	bool open;       /* the ledger must settle it */
	bool io_denied : 1;
	bool pss_denied : 1;
	bool has_moved : 1;   /* its mapped pages, in this update */
	bool is_counted : 1;  /* in the sums of memory: linux/memory.c */
	bool shares : 1;      /* anonymous pages, perhaps: it was forked, or has forked */
	bool has_outside : 1; /* swap_bytes and huge_bytes were read: linux/outside.c */
	bool has_swap_share : 1;
	bool has_executed : 1;  /* a program since it was forked */
	bool space_known : 1;   /* it has its own address space: linux/address_space.c */
	bool space_refused : 1; /* the kernel does not tell */
	bool is_stuck : 1;      /* listed in the state of the tree: linux/stuck.c */
	bool listed : 1;        /* as a long-lived process: tree/program_use.c */
	bool on_disk;           /* in an uninterruptible wait at the last read */
	bool io_waits;          /* its io is read later, see io_can_wait in linux/member.c */

	uint64_t start_ticks;
	uint64_t stuck_ns;      /* since when its readings block; 0: they do not */
	const char *stuck_file; /* the file that is being read then; static */
	pid_t space_of;    /* its memory counts in that member's address space; 0: in its own */
	pid_t live_thread; /* a live thread if the main one has ended; else 0 */
	/* Kept open; -1: beyond the descriptor budget, or unreadable. */
	int stat_fd, io_fd, statm_fd, schedstat_fd;
	uint64_t io_clock_ns; /* its CPU clock when io was read last */
	uint8_t io_phase;     /* selects the updates in which io is always read */
	bool io_moved;        /* its disk bytes had changed at that reading */
	/* At the last reading of schedstat: sums over the read threads, and their maximum
	 * number. */
	uint64_t queue_ns, queue_run_ns, queue_clock_ns, queue_at_ns;
	uint8_t queue_threads;
	uint64_t blocked_ns; /* waiting for block I/O, at the last reading of stat */
	bool queue_read;

	/* Counters at the last read: of the process itself, and of its reaped children. */
	uint64_t own[TRK_TREE_COUNTERS];
	uint64_t inherited[TRK_TREE_COUNTERS];
	uint64_t gained[TRK_TREE_COUNTERS]; /* growth of `inherited` in this update */
	uint64_t lost[TRK_TREE_COUNTERS];   /* own + inherited of children that vanished in it */
	uint64_t debt[TRK_TREE_COUNTERS];   /* part of earlier `lost`, not inherited yet */
	uint64_t start_ns, ended_ns;        /* monotonic; ended_ns 0: alive */
	uint32_t named_update;              /* the update in which it started its program */
	uint64_t named_cpu_ns;              /* its CPU time then */
	uint64_t tail_ns; /* CPU time after the last read, derived from its parent's counters */
	/* Of a member older than the tree: own CPU time and disk bytes before the first read. */
	uint64_t base_cpu_ns, base_read_bytes, base_write_bytes;

	/* Memory. */
	uint64_t shared_bytes;
	uint64_t statm_faults, stat_rss_pages; /* at the last read, see take_stat */
	uint64_t hwm_bytes;                    /* last VmHWM read */
	uint64_t most_rss_bytes;               /* at any read */
	uint64_t base_hwm_bytes; /* of a member older than the tree: VmHWM at the first read */
	uint64_t faults_at_hwm;
	uint64_t final_peak_bytes; /* ru_maxrss if the caller has reaped it; else 0 */
	uint64_t new_faults;       /* between its last two reads */
	/* As counted in the sums of the tree; of anon_bytes, what it does not share, estimated. */
	uint64_t anon_bytes, mapped_bytes, own_bytes;
	uint64_t counted_faults;
	uint64_t moved_at_join; /* trk_tree.moved */
	pid_t head;            /* of its family: the member that executed the program; 0: unknown */
	uint64_t family_bytes; /* of a head: anon_bytes of the largest of its family */
	/* At the last smaps_rollup: update number (0: never), its mapped pages, the part of them
	 * that counts for it; cost. */
	uint32_t read_update;
	uint64_t read_mapped_bytes;
	float share;
	uint64_t shmem_bytes; /* its proportional share of shared memory */
	uint64_t read_lost;   /* trk_tree.mapped_lost */
	float file_part; /* of the part that counts for it: clean pages of files; linux/files.c */
	float read_ns_per_byte;
	/* VmSwap and HugetlbPages, its CPU clock when they were read, and the part of the swap that
	 * counts for it by smaps_rollup. */
	uint64_t swap_bytes, huge_bytes, outside_clock_ns;
	float swap_share;
	/* The round in which it was read last, and its proportional shares then. */
	uint32_t round;
	uint64_t round_anon, round_mapped;

	char name[TRK_COMM_SIZE];
	char command[TRK_COMMAND_SIZE];
};

_Static_assert(offsetof(struct process, start_ticks) <= 64, "what idle members need is one line");

enum {
	TOP_EXITED = 24,
	TRK_ENTRIES_SIZE = 32 * 1024, /* buffer for directory entries */
	PEAK_BOUNDS = 20,             /* one per power of two of a number of processes */
	TRK_IO_UPDATES_MAX = 5,       /* between two readings of io of a member that does little */
};

/* Processes of the tree that ended since the last update. */
struct peak_gone {
	size_t seen; /* members at the last update */
	/* Upper bound: `pids`, and members that were found after they had ended. */
	size_t unseen;
	/* Pids allocated since for which no process was found; includes threads and other jobs. */
	size_t pids;
	uint64_t faults;    /* page faults of both since the last update */
	uint64_t pss_bytes; /* of `seen`, at the last update */
};

/* Bounds of the peak from all updates in which a similar number ended, see tree/peaks.c. */
struct peak_bound {
	uint64_t live_bytes; /* most that the live processes held */
	/* The same with what the ended processes held and may have added by page faults. */
	uint64_t sum_bytes;
	uint64_t ended; /* largest number of ended processes */
	/* The best estimate for members that ended together: bytes at the last update, bytes added
	 * since, number of members. */
	uint64_t together_bytes, grown_bytes, together;
};

/* A process outside the tree, and its anonymous memory. */
struct other {
	pid_t pid, ppid;
	bool is_fork; /* it has executed no program since it was forked */
	bool is_kin;  /* a fork or the parent of one: its page faults are read */
	uint64_t anon_bytes, faults;
};

/* The processes outside the tree: linux/others.c. */
struct others {
	bool is_open, has_base;
	int counter_fd;            /* memory.stat of a group, or meminfo */
	int group_fd;              /* -1: the counter is the machine's */
	char *dir;                 /* owned: path of the group, empty for the machine */
	size_t mount_len;          /* of dir: the root of the groups */
	const char *key, *threads; /* of a group: line of the counter, file with all threads */
	struct other *now, *base;  /* owned, one allocation; by pid */
	size_t count, base_count;
	/* At the last look at a group that had no ending process: the newest pid, all processes. */
	pid_t looked_pid;
	size_t looked_count;
	/* When the base was set. */
	uint64_t base_ns, base_counter, base_anon;
	struct amount base_tree;
	uint64_t cost_ns; /* of the last reading */
};

/* A member that ended in this update, and its possible CPU time since its last read. */
struct tail {
	const struct process *heir;
	struct process *member;
	uint64_t ns;
};

enum { TAILS_MAX = 128 };

/* Usage by program: tree/program_use.c. */
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

struct trk_tree {
	/* Members that every update touches are adjacent, as after 1 s they are in no cache. */
	struct process *process; /* owned */
	size_t count, cap;
	uint32_t *slot; /* hash: pid -> index + 1 */
	size_t slots;   /* power of two */
	uint64_t page_bytes;
	uint64_t tick_ns;     /* ns in one tick of times and of start_ticks */
	uint64_t start_ticks; /* boot clock at creation; older processes start from a baseline */
	uint64_t longest_block_ns; /* longest block I/O wait of a member in this update */
	uint32_t update;           /* number of updates so far */
	int queue_reads_left;      /* readings of schedstat left in this update */
	bool queue_answered;       /* some schedstat could be read */
	bool has_delays;           /* PID/stat has delays */
	bool smaps_missing;        /* the kernel has no smaps_rollup */

	bool is_last;        /* the update to come is the last one */
	size_t looks;        /* members read in full in this update */
	uint64_t updated_ns; /* when the last update began */
	uint64_t apart_ns;   /* interval between the starts of the last two updates */

	struct trk_pss_budget pss_budget;
	struct amount anon, mapped; /* memory of the tree: linux/memory.c */
	/* Of `mapped`: what some member holds for sure, and files that others map, too. */
	uint64_t mapped_sure, mapped_loose;
	/* Sums of all changes of both, monotone; the first also when members were found last. */
	uint64_t moved, mapped_moved, moved_before;
	/* By how much the shares of members can have risen as others unmapped pages, monotone. */
	uint64_t mapped_lost;
	uint64_t regrouped;      /* anonymous bytes of forks that joined or left, monotone */
	uint64_t added;          /* to the upper bounds in this update */
	uint64_t left;           /* anonymous bytes of members that ended in it */
	uint64_t measured_moved; /* `moved` when the counter was read last */
	/* A round of readings of all members: its number, readings so far, the sums at its start. */
	uint32_t round, round_reads;
	uint64_t round_moved, round_mapped_moved;
	struct others others;
	/* Of the machine, when the members' swap was read last; whether it has changed since; cost
	 * of a reading: linux/outside.c */
	uint64_t swap_in_use, outside_cost_ns;
	bool swap_moved;
	struct trk_pss_budget outside_budget; /* of its own: smaps_rollup cannot use it up */

	struct peak_gone gone; /* in this update */
	struct peak_bound bound[PEAK_BOUNDS];
	uint64_t largest_bytes; /* of one process, ever */
	uint64_t assumed_bytes; /* left out of that sum: trk__address_spaces_assumed */
	uint64_t last_bytes, last_most_bytes; /* of the state at the last update */
	uint64_t huge_page_bytes;             /* largest size of a page; 0: not read yet */
	/* Page faults of the machine that added one, at update `huge_update`, the new ones of them
	 * that no member is known to have had, and whether there were any since the start. */
	uint64_t huge_faults, huge_new;
	uint32_t huge_update;
	bool has_huge;
	pid_t newest_pid;    /* at the last update; -1: unknown */
	pid_t before_pid;    /* at the update before the last one */
	pid_t explained_pid; /* processes of other jobs were examined up to this pid */
	size_t early_pids;   /* members with a pid above newest_pid */

	uint64_t ledger[TRK_TREE_COUNTERS]; /* sums over the members */
	uint64_t cpu_at_least_ns;           /* from trk__tree_raise */
	struct trk_tree_options options;
	struct trk_tree_state state;
	/* Text of the last file of a member that was read, of TRK_PID_STAT_SIZE; owned. */
	char *text;

	struct trk_env env;
	int fds_left;
	int loadavg_fd; /* -1: the last pid is unknown, and updates sweep */
	int dir_fd;     /* /proc, for getdents */
	char *entries;  /* getdents buffer, owned */
	pid_t last_pid; /* all new processes up to this pid were examined */
	pid_t gate_pid; /* children of active members were searched for up to this pid */
	uint64_t next_sweep_ns, next_range_ns;
	/* A last pid that was read, when (as start_ticks), and how many pids beyond it a process
	 * has been found that started since. */
	pid_t counter_pid;
	uint64_t counter_ticks;
	uint32_t counter_reach;
	bool shares_group; /* processes outside the tree were seen in the root's process group */

	struct programs programs;
	struct process pool; /* inherits the usage of processes that the caller reaped */
	struct trk_process_info exited_cpu[TOP_EXITED];
	struct trk_process_info exited_memory[TOP_EXITED];
};

/* tree/members.c */
struct process *trk__tree_find(struct trk_tree *t, pid_t pid);
/* Enter the member of that index in the hash table. */
void trk__members_index(struct trk_tree *t, size_t index);
/* Enter all members anew, after some were removed. */
void trk__members_reindex(struct trk_tree *t);
/* Make room for more members, which may move the table. False: it is full, or out of memory. */
bool trk__members_grow(struct trk_tree *t);

/* tree/tree.c */
/* Add a member that started at `start_ticks` of trk__tree_now_ticks. NULL: the table is full. */
struct process *trk__tree_add(struct trk_tree *t, pid_t pid, pid_t ppid, uint64_t start_ticks,
			      uint32_t threads);

/* tree/command.c */
/* Store its command line with secrets masked. Each argument of `cmdline` ends with a NUL; with len
 * TRK_CMDLINE_MAX - 1 it was cut. */
enum { TRK_CMDLINE_MAX = 4096 };
void trk__tree_take_command(struct trk_tree *t, struct process *p, const char *cmdline, size_t len);

/* linux/discovery.c */
/* Open the tree's descriptors. 0 or a negative errno. */
int trk__tree_open(struct trk_tree *t);
/* The current time on the clock of start_ticks. */
uint64_t trk__tree_now_ticks(const struct trk_tree *t);
/* Add the root to the empty table. 0 or a negative errno; -ESRCH: no such process. */
int trk__tree_find_root(struct trk_tree *t);
/* The newest pid of the machine, or -1 if unknown. */
pid_t trk__tree_newest_pid(struct trk_tree *t);
/* Examine all new processes of the machine. True when new members were found. */
bool trk__tree_discover(struct trk_tree *t);
/* Add the new members up to pid `newest`, after the members were read. */
void trk__tree_newcomers(struct trk_tree *t, pid_t newest);

/* linux/member.c and linux/member_files.c */
void trk__tree_begin(struct trk_tree *t);
/* Read one member. False: it is gone. */
bool trk__tree_read(struct trk_tree *t, struct process *p);
/* Read the current size of a member, rss_bytes and shared_bytes. 0 or a negative errno. */
int trk__tree_read_size(struct trk_tree *t, struct process *p);
/* Close the descriptors of a member. */
void trk__tree_close(struct trk_tree *t, struct process *p);

/* linux/stuck.c */
/* Its directory below /proc: "4711", or "4711/task/4712" if its main thread has ended. */
struct trk_path trk__member_dir(const struct process *p);
/* Read a file of its directory below /proc, with a bounded wait. As trk__reader_read(). */
ssize_t trk__stuck_read(struct trk_tree *t, struct process *p, const char *file, char *text,
			size_t size);
/* Record whether a reading of it blocks (-EINPROGRESS). */
void trk__stuck_note(struct trk_tree *t, struct process *p, const char *file, ssize_t result);
/* True if it is in the middle of an execve, so that its files cannot be read; records that. */
bool trk__stuck_in_exec(struct trk_tree *t, struct process *p);
/* Read the members again whose readings block. */
void trk__stuck_update(struct trk_tree *t);
/* It can be read again, or has ended. */
void trk__stuck_end(struct trk_tree *t, struct process *p);

/* linux/member_files.c */
/* Open PID/task of a member, in which p->live_thread has a directory. The caller closes. Returns
 * the descriptor or a negative errno, -ESRCH when the member has gone. */
int trk__live_thread_tasks(const struct trk_tree *t, const struct process *p);
/* Set p->live_thread of a member whose main thread has ended. False if no thread lives. */
bool trk__live_thread_find(const struct trk_tree *t, struct process *p);
/* Read a file of the process into t->text through the kept *fd. Length or negative errno. */
ssize_t trk__tree_read_file(struct trk_tree *t, struct process *p, int *fd, const char *name);
int trk__tree_read_statm(struct trk_tree *t, struct process *p, struct trk_pid_statm *ret);
int trk__tree_read_status(const struct trk_tree *t, const struct process *p,
			  struct trk_pid_status *ret);

/* tree/program_use.c */
/* A member is new or executed another program: name it by the kernel's name (comm). */
void trk__programs_exec(struct trk_tree *t, struct process *p);
/* True if its command line should be read at the first read. */
bool trk__programs_needs_command(struct trk_tree *t, const struct process *p);
/* Its command line was read: args[0..len), each argument ended by a NUL. p->command is set. */
void trk__programs_command(struct trk_tree *t, struct process *p, const char *args, size_t len);
/* It has vanished; `heir` received its final usage. */
void trk__programs_vanished(struct trk_tree *t, struct process *p, const struct process *heir);
/* A parent received CPU time that was not counted while its children were alive. */
void trk__programs_arrived(struct trk_tree *t, const struct process *heir, uint64_t cpu_ns);
/* It has ended; its record is about to be removed. */
void trk__programs_remember(struct trk_tree *t, const struct process *p);

static inline void trk__programs_count(struct trk_tree *t, const struct process *p, uint64_t cpu_ns)
{
	t->programs.table[p->program].cpu_ns += cpu_ns;
}

/* tree/top.c */
/* The process has ended: keep it if it belongs to the top processes. */
void trk__tree_remember(struct trk_tree *t, const struct process *p);

/* tree/ledger.c */
/* Store the counters of one read in the process's ledger entry. */
void trk__ledger_read(struct trk_tree *t, struct process *p, const uint64_t own[TRK_TREE_COUNTERS],
		      const uint64_t inherited[TRK_TREE_COUNTERS]);
/* After all members were read: settle usage of vanished members with what parents received. */
void trk__ledger_settle(struct trk_tree *t);

static inline uint64_t trk__least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t trk__distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* An entry of getdents64(2). */
struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/* linux/memory.c */
void trk__memory_init(struct trk_tree *t);
/* A member has ended or executed a program. */
void trk__memory_left(struct trk_tree *t, struct process *p);
/* Read VmHWM of a process that had page faults. */
void trk__memory_high_water(struct trk_tree *t, struct process *p);
/* Read the sizes of all or active members again. Returns by how much they have changed. */
uint64_t trk__memory_recount(struct trk_tree *t, bool all);
/* Read smaps_rollup of a member. False: not now. */
bool trk__memory_read(struct trk_tree *t, struct process *p);
/* Narrow the bounds of the sums within the budget, then compute peaks. */
void trk__memory_update(struct trk_tree *t);

/* linux/others.c */
/* Narrow the interval of the tree's anonymous memory by the kernel's counter. False: unknown, not
 * within the budget, or so noisy that it is worth another look. */
bool trk__others_measure(struct trk_tree *t, struct amount *tree);
/* The anonymous memory of the tree is known now: later measurements start from here. */
void trk__others_set_base(struct trk_tree *t, const struct amount *tree);
void trk__others_release(struct trk_tree *t);

/* linux/outside.c */
/* The member's proportional share of its swap was read. */
void trk__outside_take_share(struct process *p, uint64_t swap_pss_bytes);

/* linux/files.c */
/* Its smaps_rollup was read, and its share of mapped pages is up to date. */
void trk__files_take(struct process *p, const struct trk_pid_smaps *s);

/* linux/address_space.c */
/* Find the members that run in the address space of another one. */
void trk__address_spaces_update(struct trk_tree *t);
/* True if it may share one with its parent, which the kernel does not tell: its smaps_rollup then
 * shows pages that the parent's shows, too. */
bool trk__address_space_is_unknown(struct trk_tree *t, struct process *p);

/* tree/peaks.c */
/* Call before the members are read; `newest` is the newest pid. */
void trk__peaks_begin(struct trk_tree *t, pid_t newest);
/* A process with this pid was found: a new member, or a newly examined process of another job. */
void trk__peaks_explain(struct trk_tree *t, pid_t pid, bool is_member);
/* Call after the new members were found. */
void trk__peaks_count_unseen(struct trk_tree *t);
/* A member has ended, as a zombie or gone, `faults` page faults after its last read. */
void trk__peaks_ended(struct trk_tree *t, const struct process *p, uint64_t faults);
/* The largest memory that a process is proven to have held. */
uint64_t trk__peaks_of(const struct process *p);
/* Page faults of the machine that added a huge page, since this was asked in an earlier update. */
uint64_t trk__peaks_huge(struct trk_tree *t);
/* Call after the sums were computed. */
void trk__peaks_update(struct trk_tree *t);
/* The resident pages of a member were read: the tree held as many. */
void trk__peaks_seen(struct trk_tree *t, const struct process *p);
/* The largest size that one process of the job has had. */
void trk__peaks_largest(struct trk_tree *t, uint64_t bytes);

#endif
