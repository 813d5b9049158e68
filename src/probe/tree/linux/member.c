/* Reads one member of the tree, decides when it need not be read, and walks over all members. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_io.h"
#include "probe/linux/pid_schedstat.h"
#include "probe/tree/private.h"

enum {
	/* A member whose CPU clock does not change is still read after so many updates, as its
	 * memory may have been swapped out or shared with a new process. */
	IDLE_UPDATES_MAX = 30,
	QUEUE_READS = 4, /* readings of schedstat per update */
};

/* The queue time of a member that used less since its last read is not read. */
#define QUEUE_CPU_MIN_NS (2 * TRK_NS_PER_MS)
/* A member that used less since io was read has done little I/O. */
#define IO_CPU_MIN_NS (TRK_NS_PER_MS)

/* ---- time that the threads of a member waited for a CPU ----
 *
 * PID/schedstat covers the main thread only. If that thread uses little of a member's CPU time,
 * threads in PID/task are read instead, first a few, then more, until those that are read use 1/8
 * of the CPU time: their ratio of waiting to running time is then applied to all threads. The
 * kernel counts a wait when it ends. Time in which a CPU quota throttled a thread is included. */

enum {
	THREADS_MAX = 32,  /* read per member */
	THREADS_STEP = 4,  /* factor of further threads if the first used too little */
	COVERED_PART = 8,  /* they must use 1/8 of a member's CPU time */
	TASKS_SIZE = 2048, /* for THREADS_MAX entries of PID/task at least */
};

/* Minimum time between two readings of the threads of a member; each costs a few system calls. */
#define THREADS_APART_NS (400 * TRK_NS_PER_MS)

static void add_schedstat(struct trk_pid_schedstat *sum, const struct trk_pid_schedstat *one)
{
	sum->run_ns += one->run_ns;
	sum->wait_ns += one->wait_ns;
}

static bool read_thread(int tasks_fd, const char *tid, struct trk_pid_schedstat *sum)
{
	struct trk_pid_schedstat one;
	char text[128];
	ssize_t len =
		trk__read_once_at(tasks_fd, TRK_PATH("%s/schedstat", tid), text, sizeof(text));

	if (len < 0 || trk__pid_schedstat_parse(text, (size_t) len, &one) < 0)
		return false;
	add_schedstat(sum, &one);
	return true;
}

/* Read the first `most` threads, which are the oldest. */
static bool read_threads(const struct trk_tree *t, const struct process *p, int most,
			 struct trk_pid_schedstat *sum)
{
	TRK_FD_CLEANUP int tasks = trk__live_thread_tasks(t, p);
	_Alignas(struct linux_dirent64) char text[TASKS_SIZE];
	long n = tasks < 0 ? 0 : syscall(SYS_getdents64, tasks, text, sizeof(text));
	bool any = false;

	for (long at = 0; at < n && most > 0;) {
		const struct linux_dirent64 *e =
			(const struct linux_dirent64 *) (const void *) (text + at);

		at += e->d_reclen;
		if (e->d_name[0] == '.')
			continue;
		any |= read_thread(tasks, e->d_name, sum);
		most--;
	}
	return any;
}

static bool read_main(struct trk_tree *t, struct process *p, struct trk_pid_schedstat *sum)
{
	ssize_t len = trk__tree_read_file(t, p, &p->schedstat_fd, "schedstat");
	struct trk_pid_schedstat one;

	if (len < 0 || trk__pid_schedstat_parse(t->text, (size_t) len, &one) < 0)
		return false;
	add_schedstat(sum, &one);
	return true;
}

/* Count the growth since the last reading. A sum that has decreased is from other threads. */
static void count(struct trk_tree *t, struct process *p, const struct trk_pid_schedstat *sum,
		  uint64_t clock_ns)
{
	uint64_t worked_ns = clock_ns - p->queue_clock_ns;
	bool counts = p->queue_read || p->start_ticks >= t->start_ticks;

	if (counts && sum->wait_ns >= p->queue_ns && sum->run_ns >= p->queue_run_ns) {
		uint64_t ran_ns = sum->run_ns - p->queue_run_ns;

		if (ran_ns >= worked_ns / COVERED_PART) {
			t->state.queue_ns += sum->wait_ns - p->queue_ns;
			t->state.queue_run_ns += ran_ns;
		} else if (p->queue_threads < THREADS_MAX) {
			p->queue_threads =
				p->queue_threads ? p->queue_threads * THREADS_STEP : THREADS_STEP;
			if (p->queue_threads > THREADS_MAX)
				p->queue_threads = THREADS_MAX;
			p->queue_read = false; /* the next reading is of other threads */
			p->queue_at_ns = 0;
			return;
		}
	}
	p->queue_read = true;
}

static void read_queue(struct trk_tree *t, struct process *p, uint64_t clock_ns)
{
	struct trk_pid_schedstat sum = {0};
	bool by_threads = p->queue_threads > 1;

	if (by_threads && p->queue_at_ns && t->updated_ns - p->queue_at_ns < THREADS_APART_NS)
		return;
	t->queue_reads_left--;
	if (by_threads ? !read_threads(t, p, p->queue_threads, &sum) : !read_main(t, p, &sum)) {
		t->state.queue_refused = !t->queue_answered;
		return;
	}
	t->queue_answered = true;
	t->state.queue_refused = false;
	p->queue_at_ns = t->updated_ns;
	count(t, p, &sum, clock_ns);
	p->queue_ns = sum.wait_ns;
	p->queue_run_ns = sum.run_ns;
	p->queue_clock_ns = clock_ns;
}

const struct trk_tree_sources trk__tree_sources = {
	.disk_total = "PID/io and wait4",
	.faults_total = "PID/stat and wait4",
	.sum = "sampled PSS",
	.partly_sum = "sampled RSS and PSS",
	.sum_and_high = "sampled PSS and VmHWM",
	.largest = "ru_maxrss of the largest process",
};

/* ---- reading a member ---- */

static bool is_gone(ssize_t error)
{
	return error == -ESRCH || error == -ENOENT;
}

static void read_command(struct trk_tree *t, struct process *p)
{
	char cmdline[TRK_CMDLINE_MAX];
	ssize_t len = trk__stuck_read(t, p, "cmdline", cmdline, sizeof(cmdline));

	if (len == -EFBIG)
		len = sizeof(cmdline) - 1;
	if (len > 0)
		trk__tree_take_command(t, p, cmdline, (size_t) len);
}

/* A new name means a new program, so all figures of the old address space are invalid. */
static void note_exec(struct trk_tree *t, struct process *p, const struct trk_pid_stat *stat)
{
	trk__memory_left(t, p);
	memcpy(p->name, stat->comm, sizeof(p->name));
	p->command[0] = '\0';
	p->hwm_bytes = p->base_hwm_bytes = 0;
	trk__programs_exec(t, p);
}

/* True if PID/io may be read a few updates later: the member did no disk I/O lately, does not wait
 * for a disk and hardly ran. No bytes are lost: they are read later or, if it ends before, found in
 * the counters of the process that reaps it. A process that reaped a child is read at once, as the
 * ledger needs its inherited counters now. */
static bool io_can_wait(const struct trk_tree *t, const struct process *p, uint64_t clock_ns,
			const struct trk_pid_stat *stat)
{
	return !p->fresh && !p->io_moved && t->update % TRK_IO_UPDATES_MAX != p->io_phase &&
	       clock_ns - p->io_clock_ns < IO_CPU_MIN_NS && clock_ns != p->clock_ns &&
	       (stat->state == 'S' || stat->state == 'R') &&
	       stat->child_minor_faults == p->inherited[TRK_TREE_MINOR_FAULTS] &&
	       stat->child_major_faults == p->inherited[TRK_TREE_MAJOR_FAULTS];
}

static void read_io(struct trk_tree *t, struct process *p, uint64_t inherited[TRK_TREE_COUNTERS])
{
	struct trk_pid_io io;
	ssize_t len;

	if (p->io_denied)
		return;
	if (p->stuck_ns)
		return;
	/* Before its first exec, the lock of its parent's memory map may block it. */
	if (!p->has_executed)
		len = trk__stuck_read(t, p, "io", t->text, TRK_PID_STAT_SIZE);
	else
		len = trk__tree_read_file(t, p, &p->io_fd, "io");
	if (len == -EACCES || len == -EPERM || (len == -ENOENT && p->fresh)) {
		p->io_denied = true;
		t->state.io_was_denied |= len != -ENOENT;
		return;
	}
	if (len < 0 || trk__pid_io_parse(t->text, (size_t) len, &io) < 0)
		return;
	p->io_moved = io.read_bytes != inherited[TRK_TREE_READ_BYTES] ||
		      io.write_bytes != inherited[TRK_TREE_WRITE_BYTES] ||
		      io.cancelled_write_bytes != inherited[TRK_TREE_CANCELLED_BYTES];
	inherited[TRK_TREE_READ_BYTES] = io.read_bytes;
	inherited[TRK_TREE_WRITE_BYTES] = io.write_bytes;
	inherited[TRK_TREE_CANCELLED_BYTES] = io.cancelled_write_bytes;
	inherited[TRK_TREE_READ_CHARS] = io.read_chars;
	inherited[TRK_TREE_WRITE_CHARS] = io.write_chars;
}

int trk__tree_read_size(struct trk_tree *t, struct process *p)
{
	struct trk_pid_statm m;
	int r = trk__tree_read_statm(t, p, &m);

	if (r < 0)
		return r;
	p->rss_bytes = m.resident_pages * t->page_bytes;
	p->shared_bytes = m.shared_pages * t->page_bytes;
	if (p->shared_bytes > p->rss_bytes) /* they are read at different moments */
		p->shared_bytes = p->rss_bytes;
	return 0;
}

/* Time in which its main thread waited for block I/O, with the kernel's delay accounting. Of
 * several members only the longest wait counts, as they may have waited at the same time. */
static void take_delay(struct trk_tree *t, struct process *p)
{
	uint64_t ns = trk__pid_stat_block_delay(t->text) * t->tick_ns;

	if (ns > p->blocked_ns + t->longest_block_ns &&
	    (!p->fresh || p->start_ticks >= t->start_ticks))
		t->longest_block_ns = ns - p->blocked_ns;
	p->blocked_ns = ns;
}

/* Set zombie and live_thread: the main thread may end before the others. */
static void take_life(struct trk_tree *t, struct process *p, const struct trk_pid_stat *stat)
{
	bool is_ended = stat->state == 'Z' || stat->state == 'X';

	p->zombie = is_ended && (stat->threads <= 1 || !trk__live_thread_find(t, p));
	if (!is_ended || p->zombie)
		p->live_thread = 0;
	if (is_ended && stat->threads <= 1 && p->pid == t->options.root)
		t->state.root_gone = true;
}

/* Record whether it ignores SIGCHLD, so that the kernel drops the usage of its children. Checked
 * only sometimes, as the field is far behind the others. SA_NOCLDWAIT has the same effect, but the
 * kernel does not show it. */
static void note_ignored(struct trk_tree *t, const struct process *p, char state)
{
	if (t->state.ignores_children || t->options.figures_only || t->options.one_process)
		return;
	if (p->fresh || state == 'Z' || t->update % TRK_IO_UPDATES_MAX == p->io_phase)
		t->state.ignores_children = trk__pid_stat_ignores(t->text, SIGCHLD);
}

/* Store its state, number of threads and memory. */
static void take_size(struct trk_tree *t, struct process *p, const struct trk_pid_stat *stat,
		      bool forced)
{
	uint64_t faults = stat->minor_faults + stat->major_faults;
	bool is_first = p->most_rss_bytes == 0, was_zombie = p->zombie;

	p->on_disk = stat->state == 'D';
	p->new_faults = faults - p->statm_faults;
	take_life(t, p, stat);
	if (p->zombie) {
		if (!was_zombie) {
			p->ended_ns = t->updated_ns;
			trk__peaks_ended(t, p, p->new_faults);
		}
		p->rss_bytes = p->shared_bytes = p->pss_bytes = 0;
		p->threads = 0;
		return;
	}
	p->threads = (uint32_t) stat->threads - (p->live_thread != 0);
	/* Without a fault and with an equal number of pages, the split in statm is unchanged. */
	if (forced || p->live_thread || faults != p->statm_faults ||
	    stat->rss_pages != p->stat_rss_pages)
		(void) trk__tree_read_size(t, p);
	p->statm_faults = faults;
	p->stat_rss_pages = stat->rss_pages;
	if (!t->options.figures_only &&
	    (faults - p->faults_at_hwm >= 64 || p->rss_bytes > p->hwm_bytes)) {
		p->faults_at_hwm = faults;
		trk__memory_high_water(t, p);
		if (is_first && p->start_ticks < t->start_ticks)
			p->base_hwm_bytes = p->hwm_bytes;
	}
	if (p->rss_bytes > p->most_rss_bytes)
		p->most_rss_bytes = p->rss_bytes;
}

/* Store one reading of stat and of the CPU clock. */
static void take_stat(struct trk_tree *t, struct process *p, uint64_t clock_ns,
		      const struct trk_pid_stat *stat)
{
	bool forced = p->fresh || clock_ns == p->clock_ns;
	bool io_waits = io_can_wait(t, p, clock_ns, stat);
	uint64_t own[TRK_TREE_COUNTERS] = {0};
	uint64_t inherited[TRK_TREE_COUNTERS];

	if (clock_ns - p->clock_ns >= QUEUE_CPU_MIN_NS && t->queue_reads_left > 0 &&
	    !t->options.figures_only)
		read_queue(t, p, clock_ns);
	p->clock_ns = clock_ns;
	memcpy(inherited, p->inherited, sizeof(inherited));
	own[TRK_TREE_CPU] = clock_ns;
	if (p->pid == t->options.root)
		t->state.root_cpu_ns = clock_ns;
	own[TRK_TREE_CPU_SYSTEM] = stat->system_ticks * t->tick_ns;
	own[TRK_TREE_MAJOR_FAULTS] = stat->major_faults;
	own[TRK_TREE_MINOR_FAULTS] = stat->minor_faults;
	inherited[TRK_TREE_CPU] = (stat->child_user_ticks + stat->child_system_ticks) * t->tick_ns;
	inherited[TRK_TREE_CPU_SYSTEM] = stat->child_system_ticks * t->tick_ns;
	inherited[TRK_TREE_MAJOR_FAULTS] = stat->child_major_faults;
	inherited[TRK_TREE_MINOR_FAULTS] = stat->child_minor_faults;
	if (inherited[TRK_TREE_MINOR_FAULTS] || inherited[TRK_TREE_CPU])
		t->state.alone = false;
	p->io_waits = io_waits;
	if (!io_waits) {
		read_io(t, p, inherited);
		p->io_clock_ns = clock_ns;
	}
	if (t->options.one_process) /* without the usage of its children */
		inherited[TRK_TREE_CPU] = inherited[TRK_TREE_CPU_SYSTEM] =
			inherited[TRK_TREE_MAJOR_FAULTS] = inherited[TRK_TREE_MINOR_FAULTS] = 0;
	trk__ledger_read(t, p, own, inherited);
	take_size(t, p, stat, forced);
}

/* Its clock did not advance: true if the last reading is valid for this update, too. */
static bool may_rest(struct process *p)
{
	if (p->dirty)
		return false;
	p->idle_updates++;
	return p->idle_updates < (p->io_waits ? TRK_IO_UPDATES_MAX : IDLE_UPDATES_MAX);
}

enum sight { GONE, RESTS, STIRS };

/* Read its clock, and decide whether to read more. */
static enum sight look(struct process *p, uint64_t *ret_clock_ns)
{
	p->looked = false;
	p->hwm_excess_bytes = 0;
	if (p->reaped || trk__clock_pid_cpu_ns(p->pid, ret_clock_ns) < 0)
		return GONE;
	return !p->fresh && *ret_clock_ns == p->clock_ns && may_rest(p) ? RESTS : STIRS;
}

bool trk__tree_read(struct trk_tree *t, struct process *p)
{
	struct trk_pid_stat stat;
	bool fresh = p->fresh;
	uint64_t clock_ns = 0;
	enum sight sight = look(p, &clock_ns);
	ssize_t len;

	if (sight != STIRS)
		return sight == RESTS;
	t->looks++;
	p->looked = true;
	p->idle_updates = 0;
	p->dirty = false;
	if (trk__stuck_in_exec(t, p))
		return true;
	len = trk__tree_read_file(t, p, &p->stat_fd, "stat");
	if (len < 0)
		/* An error of the tracker, such as EMFILE, does not mean that the process ended. */
		return !is_gone(len);
	if (trk__pid_stat_parse(t->text, (size_t) len, &stat) < 0)
		return true;
	if (!p->start_ticks) /* it could not be read until now */
		p->start_ticks = stat.start_ticks;
	if (stat.start_ticks != p->start_ticks)
		return false;
	p->ppid = stat.ppid;
	p->has_executed = stat.has_executed;
	if (strcmp(p->name, stat.comm) != 0)
		note_exec(t, p, &stat);
	if (t->has_delays)
		take_delay(t, p);
	note_ignored(t, p, stat.state);
	take_stat(t, p, clock_ns, &stat);
	/* The command line is read when a process is seen for the second time; at once for the root
	 * and for a program run by an interpreter. */
	if (!p->zombie && p->command[0] == '\0' && !t->options.figures_only &&
	    (!fresh || p->pid == t->options.root || trk__programs_needs_command(t, p)))
		read_command(t, p);
	return true;
}

void trk__tree_begin(struct trk_tree *t)
{
	t->queue_reads_left = QUEUE_READS;
}

uint64_t trk__tree_read_cancelled(const struct trk_tree *t, pid_t pid)
{
	char text[512];
	struct trk_pid_io io;
	ssize_t len =
		trk__read_at(t->env.proc_fd, TRK_PATH("%d/io", (int) pid), text, sizeof(text));

	return len > 0 && trk__pid_io_parse(text, (size_t) len, &io) == 0 ? io.cancelled_write_bytes
									  : 0;
}
