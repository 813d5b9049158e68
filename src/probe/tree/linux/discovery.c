/* Finds new members of the tree. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/loadavg.h"
#include "probe/helper_process.h"
#include "probe/tree/private.h"

enum {
	/* The kernel's directory position of process PID in /proc is PID + 257. */
	PROC_PID_POSITION = 257,
	CHILDREN_SIZE = 4096,
	FDS_RESERVED = 64,
	FDS_MAX = 6000,
	PID_LIMIT = 1 << 22, /* the largest kernel.pid_max */
	/* Parts of a core that sweeps may use: 1/2000, or 1/200 if only sweeps find all members. */
	SWEEP_COST = 2000,
	SWEEP_COST_ALONE = 200,
};

#define SWEEP_INTERVAL_NS (30 * TRK_NS_PER_S)
#define RANGE_INTERVAL_NS (5 * TRK_NS_PER_S)
/* A process gets its pid before its start time; a fork may be delayed between the two. */
#define FORK_DELAY_NS (200 * TRK_NS_PER_MS)

/* ---- open files, and the root ---- */

/* True if delay accounting is on. Old kernels have no switch for it. */
static bool has_delays(int proc_fd)
{
	char text[8];

	return trk__read_at(proc_fd, "sys/kernel/task_delayacct", text, sizeof(text)) <= 0 ||
	       text[0] != '0';
}

uint64_t trk__tree_now_ticks(const struct trk_tree *t)
{
	return trk__clock_boot_ns() / t->tick_ns;
}

static bool is_procfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* From now on every update sweeps. */
static void distrust_counter(struct trk_tree *t)
{
	trk__close(t->loadavg_fd);
	t->loadavg_fd = -1;
	t->next_sweep_ns = 0;
	t->state.pids_unproven = true;
}

int trk__tree_open(struct trk_tree *t)
{
	struct rlimit files;

	t->tick_ns = TRK_NS_PER_S / (uint64_t) sysconf(_SC_CLK_TCK);
	t->start_ticks = trk__tree_now_ticks(t);
	t->dir_fd = trk__open_dir_at(t->env.proc_fd, ".");
	if (t->dir_fd < 0)
		return t->dir_fd;
	t->loadavg_fd = -1;
	/* Only a real /proc has directory positions by pid. Another file may be mounted over its
	 * loadavg: that of lxcfs has the load of a container, and no last pid. */
	if (is_procfs(t->dir_fd))
		t->loadavg_fd = openat(t->env.proc_fd, "loadavg", O_RDONLY | O_CLOEXEC);
	if (t->loadavg_fd < 0 || !is_procfs(t->loadavg_fd))
		distrust_counter(t);
	t->has_delays = has_delays(t->env.proc_fd);
	t->fds_left = FDS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FDS_MAX + FDS_RESERVED)
		t->fds_left = (int) files.rlim_cur - FDS_RESERVED;
	if (t->options.figures_only)
		t->fds_left = t->options.kept_fds;
	return 0;
}

static struct process *add(struct trk_tree *t, const struct trk_pid_stat *stat)
{
	return trk__tree_add(t, stat->pid, stat->ppid, stat->start_ticks, (uint32_t) stat->threads);
}

int trk__tree_find_root(struct trk_tree *t)
{
	struct trk_pid_stat stat;
	int r = trk__pid_stat_read(t->env.proc_fd, t->options.root, &stat);

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	if (!add(t, &stat))
		return -ENOMEM;
	t->newest_pid = t->explained_pid = t->options.subreaper ? stat.pid : -1;
	t->early_pids = 0;
	/* The caller has just started it: no older process belongs to the tree. */
	if (t->options.subreaper && t->loadavg_fd >= 0) {
		t->last_pid = t->gate_pid = stat.pid;
		t->next_range_ns = t->env.monotonic_ns() + RANGE_INTERVAL_NS;
		t->next_sweep_ns = t->env.monotonic_ns() + SWEEP_INTERVAL_NS;
	}
	return 0;
}

/* ---- the counter of pids ---- */

/* Pids are assigned in ascending order; the largest is followed by the lowest free one. */
static uint32_t pids_between(pid_t from, pid_t to)
{
	return (uint32_t) (to - from) + (to < from ? PID_LIMIT : 0);
}

/* A process was found. If it started after the counter was read, the counter has reached its pid. */
static void note_start(struct trk_tree *t, const struct trk_pid_stat *stat)
{
	uint32_t reach = pids_between(t->counter_pid, stat->pid);

	if (stat->start_ticks > t->counter_ticks + FORK_DELAY_NS / t->tick_ns &&
	    reach > t->counter_reach)
		t->counter_reach = reach;
}

pid_t trk__tree_newest_pid(struct trk_tree *t)
{
	char text[128];
	struct trk_loadavg load;
	uint64_t now_ticks;
	pid_t newest;

	if (t->loadavg_fd < 0 || trk__read_once_fd(t->loadavg_fd, text, sizeof(text)) < 0 ||
	    trk__loadavg_parse(text, &load) < 0)
		return -1;
	newest = (pid_t) load.last_pid;
	if (newest == 0 || pids_between(t->counter_pid, newest) < t->counter_reach) {
		distrust_counter(t);
		return -1;
	}
	now_ticks = trk__tree_now_ticks(t);
	if (now_ticks >= t->counter_ticks + RANGE_INTERVAL_NS / t->tick_ns) {
		t->counter_pid = newest;
		t->counter_ticks = now_ticks;
		t->counter_reach = 0;
	}
	return newest;
}

/* ---- new members ---- */

/* Unknown while a helper is being started: the process is examined again. */
static bool is_helper(struct trk_tree *t, pid_t pid)
{
	int r = trk__helper_process_is(pid);

	if (r < 0)
		t->next_sweep_ns = 0;
	return r != 0;
}

static bool belongs(struct trk_tree *t, const struct trk_pid_stat *stat)
{
	if (stat->pid == t->options.self)
		return false;
	if (trk__tree_find(t, stat->ppid))
		return true;
	if (stat->start_ticks < t->start_ticks) /* or unknown */
		return false;
	if (t->options.subreaper)
		return stat->ppid == t->options.self && !is_helper(t, stat->pid);
	/* Attached: an orphan in a member's process group belongs to the tree. The root's group may
	 * hold other commands as well, such as those of a shell's pipeline, and their orphans. */
	if (stat->pgrp == t->options.root)
		return !t->shares_group;
	return trk__tree_find(t, stat->pgrp) != NULL;
}

/* A process that does not belong to the tree was found. */
static void note_stranger(struct trk_tree *t, const struct trk_pid_stat *stat)
{
	if (stat->pid > t->explained_pid && stat->pid <= t->newest_pid)
		trk__peaks_explain(t, stat->pid, false);
	t->shares_group |= stat->pgrp == t->options.root && stat->pid != t->options.self &&
			   stat->ppid != t->options.self;
}

/* Examine the process directories from the directory position of `from` on. */
static bool examine(struct trk_tree *t, pid_t from)
{
	bool found = false;
	long n;

	if (lseek(t->dir_fd, from > 0 ? from + PROC_PID_POSITION : 0, SEEK_SET) < 0)
		return false;
	while ((n = syscall(SYS_getdents64, t->dir_fd, t->entries, TRK_ENTRIES_SIZE)) > 0) {
		for (long at = 0; at < n;) {
			const struct linux_dirent64 *entry =
				(const struct linux_dirent64 *) (const void *) (t->entries + at);
			struct trk_pid_stat stat;
			uint64_t pid;

			at += entry->d_reclen;
			if (trk__parse_u64(entry->d_name, &pid) < 0 || pid > INT32_MAX ||
			    trk__tree_find(t, (pid_t) pid))
				continue;
			if (trk__pid_stat_read(t->env.proc_fd, (pid_t) pid, &stat) < 0)
				continue;
			note_start(t, &stat);
			if (belongs(t, &stat))
				found |= add(t, &stat) != NULL;
			else
				note_stranger(t, &stat);
		}
	}
	if (t->newest_pid > t->explained_pid)
		t->explained_pid = t->newest_pid;
	return found;
}

/* Scan the whole of /proc until nothing more is found: after the pid counter has wrapped, children
 * may precede their parents. */
static bool sweep(struct trk_tree *t)
{
	bool is_alone = t->loadavg_fd < 0;
	uint64_t start = t->env.thread_cpu_ns();
	uint64_t wait_ns;
	bool found = false;

	while (examine(t, 0))
		found = true;
	/* However many processes the machine has. */
	wait_ns = (t->env.thread_cpu_ns() - start) * (is_alone ? SWEEP_COST_ALONE : SWEEP_COST);
	if (!is_alone && wait_ns < SWEEP_INTERVAL_NS)
		wait_ns = SWEEP_INTERVAL_NS;
	t->next_sweep_ns = t->env.monotonic_ns() + wait_ns;
	return found;
}

/* Examine all new processes up to `newest`. */
static bool examine_all(struct trk_tree *t, pid_t newest)
{
	pid_t last = t->last_pid;
	uint64_t now_ns = t->env.monotonic_ns();

	if (newest < 0)
		return sweep(t);
	t->last_pid = t->gate_pid = newest;
	t->next_range_ns = now_ns + RANGE_INTERVAL_NS;
	if (newest < last || now_ns >= t->next_sweep_ns)
		return sweep(t);
	if (newest == last)
		return false;
	return examine(t, last + 1);
}

bool trk__tree_discover(struct trk_tree *t)
{
	return !t->options.one_process && examine_all(t, trk__tree_newest_pid(t));
}

/* Add the children of one thread of a process. False when the kernel does not list them. */
static bool take_children(struct trk_tree *t, pid_t pid)
{
	TRK_FD_CLEANUP int fd =
		openat(t->env.proc_fd, TRK_PATH("%d/task/%d/children", (int) pid, (int) pid),
		       O_RDONLY | O_CLOEXEC);
	char text[CHILDREN_SIZE];
	const char *at = text;
	struct trk_pid_stat stat;
	uint64_t child;
	ssize_t len;

	if (fd < 0)
		return false;
	len = trk__read_lines_fd(fd, text, sizeof(text));
	if (len < 0)
		return len == -ESRCH;
	for (; trk__scan_u64(&at, &child); at = trk__skip_blanks(at))
		if (child <= INT32_MAX && !trk__tree_find(t, (pid_t) child) &&
		    trk__pid_stat_read(t->env.proc_fd, (pid_t) child, &stat) == 0) {
			note_start(t, &stat);
			if (belongs(t, &stat))
				(void) add(t, &stat);
		}
	return true;
}

/* Only a process that ran can have forked, and one file lists all children of a process with one
 * thread. The children of new members are listed when these are added. Returns false when the
 * kernel does not list children. */
static bool take_children_of_active(struct trk_tree *t)
{
	if (t->options.subreaper && !take_children(t, t->options.self))
		return false;
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if ((!p->looked && !p->fresh) || p->zombie || p->vanished)
			continue;
		if (p->threads != 1 || p->live_thread || !take_children(t, p->pid))
			return false;
	}
	return true;
}

/* Called after the members were read, with the newest pid from before, as a member that forks after
 * it was read creates a newer one. On a busy machine most new processes belong to other jobs: if
 * active members are fewer, only their children are listed at once. All other new processes, some
 * of which may have joined the tree in other ways, are examined every few seconds; most have ended
 * by then. */
void trk__tree_newcomers(struct trk_tree *t, pid_t newest)
{
	uint64_t now_ns = t->updated_ns;

	if (newest < 0 && now_ns < t->next_sweep_ns) {
		(void) take_children_of_active(t);
		return;
	}
	if (newest == t->gate_pid && newest == t->last_pid && now_ns < t->next_sweep_ns)
		return;
	if (newest < t->last_pid || now_ns >= t->next_sweep_ns || now_ns >= t->next_range_ns) {
		(void) examine_all(t, newest);
		return;
	}
	if (newest == t->gate_pid)
		return;
	/* Many of the new pids are of threads or of ended processes, so examining one costs less
	 * than listing the children of a member. */
	if (t->looks * 4 < (size_t) (newest - t->gate_pid) && take_children_of_active(t))
		t->gate_pid = newest;
	else
		(void) examine_all(t, newest);
}
