/* The table of members, discovery, and the walk over all of them. */
#include "probe/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/tool.h"
#include "probe/linux/loadavg.h"
#include "probe/linux/pid_io.h"
#include "probe/linux/pid_schedstat.h"
#include "probe/tree_private.h"

enum {
	ENTRIES_SIZE = 32 * 1024,
	/* The kernel's directory position of process PID in /proc is PID + 257. */
	PROC_PID_POSITION = 257,
	/* A member whose CPU clock stands still is read all the same every so many updates: its
	 * memory may have been swapped out or shared with somebody new. */
	IDLE_UPDATES_MAX = 30,
	FDS_PER_PROCESS = 4,
	CHILDREN_SIZE = 4096,
	IO_UPDATES_MAX = 5, /* between two looks at the io of a member that does little */
	QUEUE_READS = 4,    /* of schedstat, in an update */
	FDS_RESERVED = 64,
	FDS_MAX = 6000,
	MAX_PROCESSES_DEFAULT = 65536,
};

#define SWEEP_INTERVAL_NS (30 * TRK_NS_PER_S)
#define RANGE_INTERVAL_NS (5 * TRK_NS_PER_S)
/* A member that used less since its last look does not ask for a CPU in earnest. */
#define QUEUE_CPU_MIN_NS (2 * TRK_NS_PER_MS)
/* A member that used less since io was read cannot have moved much. */
#define IO_CPU_MIN_NS (TRK_NS_PER_MS)

/* ---- table ---- */

static size_t slot_of(const struct trk_tree *t, pid_t pid)
{
	return ((size_t) pid * 2654435761u) & (t->slots - 1);
}

struct process *trk__tree_find(struct trk_tree *t, pid_t pid)
{
	size_t i = slot_of(t, pid);

	for (; t->slot[i]; i = (i + 1) & (t->slots - 1))
		if (t->process[t->slot[i] - 1].pid == pid)
			return &t->process[t->slot[i] - 1];
	return NULL;
}

static void hash_insert(struct trk_tree *t, size_t index)
{
	size_t i = slot_of(t, t->process[index].pid);

	while (t->slot[i])
		i = (i + 1) & (t->slots - 1);
	t->slot[i] = (uint32_t) index + 1;
}

static void rehash(struct trk_tree *t)
{
	memset(t->slot, 0, t->slots * sizeof(*t->slot));
	for (size_t i = 0; i < t->count; i++)
		hash_insert(t, i);
}

static bool grow(struct trk_tree *t)
{
	size_t cap = t->cap ? t->cap * 2 : 64;
	struct process *process;
	uint32_t *slot;

	if (cap > t->options.max_processes)
		return false;
	process = realloc(t->process, cap * sizeof(*process));
	if (!process)
		return false;
	t->process = process;
	slot = calloc(cap * 4, sizeof(*slot)); /* cap is a power of two, see trk__tree_new */
	if (!slot)
		return false;
	free(t->slot);
	t->slot = slot;
	t->slots = cap * 4;
	t->cap = cap;
	rehash(t);
	return true;
}

/* A new member, whose stat has been read once. */
static struct process *add(struct trk_tree *t, const struct trk_pid_stat *stat)
{
	struct process *p, *parent;

	if (t->count == t->cap && !grow(t)) {
		t->untracked++;
		return NULL;
	}
	p = &t->process[t->count++];
	*p = (struct process){
		.pid = stat->pid,
		.ppid = stat->ppid,
		.start_ticks = stat->start_ticks,
		.stat_fd = -1,
		.io_fd = -1,
		.statm_fd = -1,
		.schedstat_fd = -1,
		.io_phase = (uint8_t) ((unsigned int) stat->pid % IO_UPDATES_MAX),
		.threads = (uint32_t) stat->threads,
		.fresh = true,
		.anon_factor = 1,
		.shared_factor = 1,
	};
	hash_insert(t, t->count - 1);
	parent = trk__tree_find(t, stat->ppid);
	if (parent)
		trk__tree_new_family(t, parent);
	return p;
}

static void drop_fds(struct trk_tree *t, struct process *p)
{
	int *fds[FDS_PER_PROCESS] = {&p->stat_fd, &p->io_fd, &p->statm_fd, &p->schedstat_fd};

	for (int i = 0; i < FDS_PER_PROCESS; i++) {
		if (*fds[i] < 0)
			continue;
		(void) close(*fds[i]);
		*fds[i] = -1;
		t->fds_left++;
	}
}

/* ---- reading one member ---- */

/* Read a file of the process through its kept descriptor, opening that first if the budget has
 * room, or by path past the budget. The kernel answers -ESRCH on a kept descriptor once the process
 * is reaped, also when its pid was given out again. */
static ssize_t read_file(struct trk_tree *t, struct process *p, int *fd, const char *name,
			 char *text, size_t size)
{
	char path[40];

	if (*fd < 0) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) p->pid, name);
		if (t->fds_left <= 0)
			return trk__read_once_at(t->env.proc_fd, path, text, size);
		*fd = openat(t->env.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0) {
			if (errno != EMFILE && errno != ENFILE)
				return -errno;
			t->fds_left = 0;
			return trk__read_once_at(t->env.proc_fd, path, text, size);
		}
		t->fds_left--;
	}
	return trk__read_once_fd(*fd, text, size);
}

static bool is_gone(ssize_t error)
{
	return error == -ESRCH || error == -ENOENT;
}

/* Cut at the first argument. A process that writes its own title has blanks there instead. */
static void redact(char *command, size_t size)
{
	size_t n = strcspn(command, " ");

	if (n + sizeof(" " TRK_REDACTED) > size)
		n = size - sizeof(" " TRK_REDACTED);
	(void) snprintf(command + n, size - n, " " TRK_REDACTED);
}

static void read_command(struct trk_tree *t, struct process *p)
{
	char path[40];
	ssize_t len;

	if (p->speaker)
		(void) snprintf(path, sizeof(path), "%d/task/%d/cmdline", (int) p->pid,
				(int) p->speaker);
	else
		(void) snprintf(path, sizeof(path), "%d/cmdline", (int) p->pid);
	len = trk__read_at(t->env.proc_fd, path, p->command, sizeof(p->command));
	if (len == -EFBIG)
		len = sizeof(p->command) - 1;
	for (ssize_t i = 0; i < len - 1; i++)
		if (p->command[i] == '\0')
			p->command[i] = ' ';
	if (t->options.redact_args && len > 0 && strchr(p->command, ' '))
		redact(p->command, sizeof(p->command));
}

/* A new name means a new program: what was known of the old address space is void. */
static void note_exec(struct process *p, const struct trk_pid_stat *stat)
{
	memcpy(p->name, stat->comm, sizeof(p->name));
	p->command[0] = '\0';
	p->hwm_bytes = 0;
	p->read_update = 0;
	p->anon_factor = p->shared_factor = 1;
}

/* May io be read a few looks later? For a member that moved no byte of a disk lately, waits for
 * none and hardly ran. Nothing is lost: what it moves meanwhile is found then, or, if it ends
 * before, in the figures of who reaped it. Who reaped a child is read at once, as the ledger needs
 * its gain now. */
static bool io_can_wait(const struct trk_tree *t, const struct process *p, uint64_t clock_ns,
			const struct trk_pid_stat *stat)
{
	return !p->fresh && !p->io_moved && t->update % IO_UPDATES_MAX != p->io_phase &&
	       clock_ns - p->io_clock_ns < IO_CPU_MIN_NS && clock_ns != p->clock_ns &&
	       (stat->state == 'S' || stat->state == 'R') &&
	       stat->child_minor_faults == p->inherited[TRK_TREE_MINOR_FAULTS] &&
	       stat->child_major_faults == p->inherited[TRK_TREE_MAJOR_FAULTS];
}

static void read_io(struct trk_tree *t, struct process *p, uint64_t inherited[TRK_TREE_COUNTERS])
{
	char text[512];
	struct trk_pid_io io;
	ssize_t len;

	if (p->io_denied)
		return;
	len = read_file(t, p, &p->io_fd, "io", text, sizeof(text));
	if (len == -EACCES || len == -EPERM || (len == -ENOENT && p->fresh)) {
		p->io_denied = true;
		return;
	}
	if (len < 0 || trk__pid_io_parse(text, &io) < 0)
		return;
	p->io_moved = io.read_bytes != inherited[TRK_TREE_READ_BYTES] ||
		      io.write_bytes != inherited[TRK_TREE_WRITE_BYTES];
	inherited[TRK_TREE_READ_BYTES] = io.read_bytes;
	inherited[TRK_TREE_WRITE_BYTES] = io.write_bytes;
	inherited[TRK_TREE_READ_CHARS] = io.read_chars;
	inherited[TRK_TREE_WRITE_CHARS] = io.write_chars;
}

static int read_statm(struct trk_tree *t, struct process *p, struct trk_pid_statm *ret)
{
	char text[128];
	ssize_t len;

	if (p->speaker)
		return trk__speaker_statm(t, p, ret);
	len = read_file(t, p, &p->statm_fd, "statm", text, sizeof(text));
	return len < 0 ? (int) len : trk__pid_statm_parse(text, ret);
}

static void read_memory(struct trk_tree *t, struct process *p)
{
	struct trk_pid_statm m;

	if (read_statm(t, p, &m) < 0)
		return;
	p->rss_bytes = m.resident_pages * t->page_bytes;
	p->shared_bytes = m.shared_pages * t->page_bytes;
	if (p->shared_bytes > p->rss_bytes) /* the two are not read at one instant */
		p->shared_bytes = p->rss_bytes;
}

int trk__tree_resident(struct trk_tree *t, struct process *p, uint64_t *ret_bytes)
{
	struct trk_pid_statm m;
	int r = read_statm(t, p, &m);

	if (r < 0)
		return r;
	*ret_bytes = m.resident_pages * t->page_bytes;
	return 0;
}

/* How long its main thread waited for a CPU. A member that is older than the tree brings its past
 * along, which is not counted. */
static void read_queue(struct trk_tree *t, struct process *p)
{
	struct trk_pid_schedstat s;
	char text[128];
	ssize_t len = read_file(t, p, &p->schedstat_fd, "schedstat", text, sizeof(text));

	t->queue_reads_left--;
	if (len < 0 || trk__pid_schedstat_parse(text, &s) < 0) {
		t->state.queue_refused = !t->queue_answered;
		return;
	}
	t->queue_answered = true;
	t->state.queue_refused = false;
	if (s.wait_ns > p->queue_ns && (p->queue_read || p->start_ticks >= t->start_ticks))
		t->state.queue_ns += s.wait_ns - p->queue_ns;
	p->queue_ns = s.wait_ns;
	p->queue_read = true;
}

/* Does it live? Its main thread may end before the others. */
static void take_life(struct trk_tree *t, struct process *p, const struct trk_pid_stat *stat)
{
	bool is_ended = stat->state == 'Z' || stat->state == 'X';

	p->zombie = is_ended && (stat->threads <= 1 || !trk__speaker_find(t, p));
	if (!is_ended || p->zombie)
		p->speaker = 0;
	if (is_ended && stat->threads <= 1 && p->pid == t->options.root)
		t->state.root_gone = true;
}

/* Take one reading of stat with its CPU clock. */
static void take_stat(struct trk_tree *t, struct process *p, uint64_t clock_ns,
		      const struct trk_pid_stat *stat)
{
	bool forced = p->fresh || clock_ns == p->clock_ns;
	bool io_waits = io_can_wait(t, p, clock_ns, stat);
	uint64_t own[TRK_TREE_COUNTERS] = {0};
	uint64_t inherited[TRK_TREE_COUNTERS];
	uint64_t faults = stat->minor_faults + stat->major_faults;

	if (clock_ns - p->clock_ns >= QUEUE_CPU_MIN_NS && t->queue_reads_left > 0)
		read_queue(t, p);
	p->on_disk = stat->state == 'D';
	p->clock_ns = clock_ns;
	memcpy(inherited, p->inherited, sizeof(inherited));
	own[TRK_TREE_CPU] = clock_ns;
	own[TRK_TREE_CPU_SYSTEM] = stat->system_ticks * t->tick_ns;
	own[TRK_TREE_MAJOR_FAULTS] = stat->major_faults;
	own[TRK_TREE_MINOR_FAULTS] = stat->minor_faults;
	inherited[TRK_TREE_CPU] = (stat->child_user_ticks + stat->child_system_ticks) * t->tick_ns;
	inherited[TRK_TREE_CPU_SYSTEM] = stat->child_system_ticks * t->tick_ns;
	inherited[TRK_TREE_MAJOR_FAULTS] = stat->child_major_faults;
	inherited[TRK_TREE_MINOR_FAULTS] = stat->child_minor_faults;
	p->io_waits = io_waits;
	if (!io_waits) {
		read_io(t, p, inherited);
		p->io_clock_ns = clock_ns;
	}
	if (t->options.one_process) /* what its children used is not its own */
		inherited[TRK_TREE_CPU] = inherited[TRK_TREE_CPU_SYSTEM] =
			inherited[TRK_TREE_MAJOR_FAULTS] = inherited[TRK_TREE_MINOR_FAULTS] = 0;
	trk__ledger_read(t, p, own, inherited);

	take_life(t, p, stat);
	if (p->zombie) {
		p->rss_bytes = p->shared_bytes = p->pss_bytes = 0;
		p->threads = 0;
		return;
	}
	p->threads = (uint32_t) stat->threads - (p->speaker != 0);
	/* Without a fault and with as many pages, the split that statm adds is what it was. */
	if (forced || p->speaker || faults != p->statm_faults ||
	    stat->rss_pages != p->stat_rss_pages)
		read_memory(t, p);
	p->statm_faults = faults;
	p->stat_rss_pages = stat->rss_pages;
	if (faults - p->faults_at_hwm >= 64 || p->rss_bytes > p->hwm_bytes) {
		p->faults_at_hwm = faults;
		trk__memory_high_water(t, p);
	}
}

/* It stands still: is what was read of it good for this update as well? */
static bool may_rest(struct process *p)
{
	return !p->dirty && ++p->idle_updates < (p->io_waits ? IO_UPDATES_MAX : IDLE_UPDATES_MAX);
}

/* Returns false when the process is gone. */
static bool read_process(struct trk_tree *t, struct process *p)
{
	char text[TRK_PID_STAT_SIZE];
	struct trk_pid_stat stat;
	bool fresh = p->fresh;
	uint64_t clock_ns;
	ssize_t len;

	p->looked = false;
	p->hwm_excess_bytes = 0;
	if (p->reaped)
		return false;
	if (trk__clock_pid_cpu_ns(p->pid, &clock_ns) < 0)
		return false;
	if (!fresh && clock_ns == p->clock_ns && may_rest(p))
		return true;
	p->looked = true;
	p->calm_epoch = 0;
	p->idle_updates = 0;
	p->dirty = false;
	len = read_file(t, p, &p->stat_fd, "stat", text, sizeof(text));
	if (len < 0)
		/* Trouble of ours, such as a lack of descriptors, is no sign of its end. */
		return !is_gone(len);
	if (trk__pid_stat_parse(text, &stat) < 0)
		return true;
	if (stat.start_ticks != p->start_ticks)
		return false;
	p->ppid = stat.ppid;
	if (strcmp(p->name, stat.comm) != 0)
		note_exec(p, &stat);
	take_stat(t, p, clock_ns, &stat);
	/* A process seen a second time is worth its command line; the root at once. */
	if (!p->zombie && p->command[0] == '\0' && (!fresh || p->pid == t->options.root))
		read_command(t, p);
	return true;
}

/* ---- discovery ---- */

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/* Nobody can tell while one is being started: then it is looked at again. */
static bool is_tool(struct trk_tree *t, pid_t pid)
{
	int r = trk__tool_is(pid);

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
	if (stat->start_ticks < t->start_ticks)
		return false;
	if (t->options.subreaper)
		return stat->ppid == t->options.self && !is_tool(t, stat->pid);
	/* Attached: an orphan that stayed in a member's process group is the tree's. */
	return stat->pgrp == t->options.root || trk__tree_find(t, stat->pgrp) != NULL;
}

/* Examine the process directories from the directory position of `from` on. */
static bool examine(struct trk_tree *t, pid_t from)
{
	bool found = false;
	long n;

	if (lseek(t->dir_fd, from > 0 ? from + PROC_PID_POSITION : 0, SEEK_SET) < 0)
		return false;
	while ((n = syscall(SYS_getdents64, t->dir_fd, t->entries, ENTRIES_SIZE)) > 0) {
		for (long at = 0; at < n;) {
			const struct linux_dirent64 *entry =
				(const struct linux_dirent64 *) (const void *) (t->entries + at);
			struct trk_pid_stat stat;
			uint64_t pid;

			at += entry->d_reclen;
			if (trk__parse_u64(entry->d_name, &pid) < 0 || pid > INT32_MAX ||
			    trk__tree_find(t, (pid_t) pid))
				continue;
			if (trk__pid_stat_read(t->env.proc_fd, (pid_t) pid, &stat) < 0 ||
			    !belongs(t, &stat))
				continue;
			found |= add(t, &stat) != NULL;
		}
	}
	return found;
}

/* The whole of /proc, until nothing more is found: after the pid counter has wrapped, children may
 * stand before their parents. */
static bool sweep(struct trk_tree *t)
{
	uint64_t start = trk__clock_thread_cpu_ns();
	uint64_t cost;
	bool found = false;

	while (examine(t, 0))
		found = true;
	/* At most 0.05 % of a core for sweeps, however many processes the machine has. */
	cost = (trk__clock_thread_cpu_ns() - start) * 2000;
	t->next_sweep_ns =
		t->env.monotonic_ns() + (cost > SWEEP_INTERVAL_NS ? cost : SWEEP_INTERVAL_NS);
	return found;
}

/* The pid that was given out last, or -1 where it is not told. */
static pid_t newest_pid(struct trk_tree *t)
{
	char text[128];
	struct trk_loadavg load;

	if (t->loadavg_fd < 0 || trk__read_once_fd(t->loadavg_fd, text, sizeof(text)) < 0 ||
	    trk__loadavg_parse(text, &load) < 0)
		return -1;
	return (pid_t) load.last_pid;
}

/* Examine all that came up to `newest`. */
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
	return !t->options.one_process && examine_all(t, newest_pid(t));
}

/* Take in the children of one thread of a process. Returns false when they are not told. */
static bool take_children(struct trk_tree *t, pid_t pid)
{
	char path[64], text[CHILDREN_SIZE];
	const char *at = text;
	struct trk_pid_stat stat;
	uint64_t child;
	ssize_t len;

	(void) snprintf(path, sizeof(path), "%d/task/%d/children", (int) pid, (int) pid);
	TRK_FD_CLEANUP int fd = openat(t->env.proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = trk__read_lines_fd(fd, text, sizeof(text));
	if (len < 0)
		return len == -ESRCH;
	for (; trk__scan_u64(&at, &child); at = trk__skip_blanks(at))
		if (child <= INT32_MAX && !trk__tree_find(t, (pid_t) child) &&
		    trk__pid_stat_read(t->env.proc_fd, (pid_t) child, &stat) == 0 &&
		    belongs(t, &stat))
			(void) add(t, &stat);
	return true;
}

/* Only a process that ran can have forked, and with one thread its children stand in one file.
 * Those of newcomers are looked for as they are added. Returns false when it cannot be done so. */
static bool take_children_of_active(struct trk_tree *t)
{
	if (t->options.subreaper && !take_children(t, t->options.self))
		return false;
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if ((!p->looked && !p->fresh) || p->zombie || p->vanished)
			continue;
		if (p->threads != 1 || p->speaker || !take_children(t, p->pid))
			return false;
	}
	return true;
}

/* After the members were read, with the newest pid from before that: a member that forks after it
 * was read makes a newer one. On a busy machine most newcomers are strangers: those that active
 * members have forked are looked for at once if these are fewer. All the others, of whom some may
 * have come to us in other ways, have their turn every few seconds; most have gone by then. */
static void discover(struct trk_tree *t, pid_t newest)
{
	uint64_t now_ns = t->env.monotonic_ns();
	size_t active = 0;

	if (newest == t->gate_pid && newest == t->last_pid && now_ns < t->next_sweep_ns)
		return;
	if (newest < t->last_pid || now_ns >= t->next_sweep_ns || now_ns >= t->next_range_ns) {
		(void) examine_all(t, newest);
		return;
	}
	if (newest == t->gate_pid)
		return;
	for (size_t i = 0; i < t->count; i++)
		active += t->process[i].looked;
	/* Of the pids given out many were threads, or have gone; all of a file is more than a look. */
	if (active * 4 < (size_t) (newest - t->gate_pid) && take_children_of_active(t))
		t->gate_pid = newest;
	else
		(void) examine_all(t, newest);
}

/* ---- life and update ---- */

static int open_roots(struct trk_tree *t)
{
	struct statfs fs;
	struct rlimit files;

	t->dir_fd = trk__open_dir_at(t->env.proc_fd, ".");
	if (t->dir_fd < 0)
		return t->dir_fd;
	t->loadavg_fd = -1;
	/* Directory positions mean pids in a real /proc only; elsewhere every update sweeps. */
	if (fstatfs(t->dir_fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		t->loadavg_fd = openat(t->env.proc_fd, "loadavg", O_RDONLY | O_CLOEXEC);
	t->fds_left = FDS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FDS_MAX + FDS_RESERVED)
		t->fds_left = (int) files.rlim_cur - FDS_RESERVED;
	if (t->options.no_kept_fds)
		t->fds_left = 0;
	return 0;
}

static int find_root(struct trk_tree *t)
{
	struct trk_pid_stat stat;
	int r = trk__pid_stat_read(t->env.proc_fd, t->options.root, &stat);

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	if (!add(t, &stat))
		return -ENOMEM;
	/* A job that the caller has just started is no older than the tree, whatever the rounding. */
	if (t->options.subreaper && stat.start_ticks < t->start_ticks)
		t->start_ticks = stat.start_ticks;
	return 0;
}

struct trk_tree *trk__tree_new(const struct trk_env *env, const struct trk_tree_options *options,
			       int *reterr)
{
	struct trk_tree *t = calloc(1, sizeof(*t));
	int r = -ENOMEM;

	if (!t)
		goto fail;
	t->env = *env;
	t->options = *options;
	t->dir_fd = t->loadavg_fd = -1;
	t->epoch = 1;
	t->page_bytes = (uint64_t) sysconf(_SC_PAGESIZE);
	t->tick_ns = TRK_NS_PER_S / (uint64_t) sysconf(_SC_CLK_TCK);
	t->start_ticks = trk__clock_boot_ns() / t->tick_ns;
	if (t->options.max_processes < 64)
		t->options.max_processes = MAX_PROCESSES_DEFAULT;
	t->entries = malloc(ENTRIES_SIZE);
	if (!t->entries || !grow(t))
		goto fail;
	r = open_roots(t);
	if (r < 0)
		goto fail;
	r = find_root(t);
	if (r < 0)
		goto fail;
	trk__memory_init(t);
	return t;
fail:
	trk__tree_free(t);
	*reterr = r;
	return NULL;
}

void trk__tree_free(struct trk_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		drop_fds(t, &t->process[i]);
	trk__close(t->dir_fd);
	trk__close(t->loadavg_fd);
	free(t->entries);
	free(t->process);
	free(t->slot);
	free(t);
}

static void describe(const struct process *p, struct trk_process_info *info)
{
	*info = (struct trk_process_info){
		.pid = p->pid,
		.alive = !p->vanished,
		.cpu_ns = p->own[TRK_TREE_CPU],
		.peak_bytes = p->hwm_bytes,
		.read_bytes = p->inherited[TRK_TREE_READ_BYTES],
		.write_bytes = p->inherited[TRK_TREE_WRITE_BYTES],
	};
	memcpy(info->name, p->name, sizeof(info->name));
	memcpy(info->command, p->command, sizeof(info->command));
}

/* Keep the best of what is gone: replace the least entry of a small board. */
static void board_offer(struct trk_process_info board[TOP_EXITED],
			const struct trk_process_info *info, bool by_memory)
{
	struct trk_process_info *least = board;

	for (int i = 1; i < TOP_EXITED; i++)
		if (by_memory ? board[i].peak_bytes < least->peak_bytes
			      : board[i].cpu_ns < least->cpu_ns)
			least = &board[i];
	if (by_memory ? info->peak_bytes > least->peak_bytes : info->cpu_ns > least->cpu_ns)
		*least = *info;
}

static void remember_exited(struct trk_tree *t, const struct process *p)
{
	struct trk_process_info info;

	describe(p, &info);
	board_offer(t->exited_cpu, &info, false);
	board_offer(t->exited_memory, &info, true);
}

/* Members whose parent is gone have a new one: their stat tells which. */
static void note_vanished(struct trk_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		struct process *parent = trk__tree_find(t, p->ppid);

		if (!parent)
			continue;
		if (p->vanished)
			trk__tree_new_family(t, parent);
		else if (parent->vanished)
			p->dirty = true;
	}
}

static void remove_vanished(struct trk_tree *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (p->vanished) {
			remember_exited(t, p);
			drop_fds(t, p);
			if (p->pid == t->options.root)
				t->state.root_gone = true;
			continue;
		}
		if (kept != i)
			t->process[kept] = *p;
		kept++;
	}
	t->count = kept;
	rehash(t);
}

static void count_members(struct trk_tree *t)
{
	struct trk_tree_state *s = &t->state;

	s->processes = s->threads = s->unreadable_io = s->waiting_for_disk = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (p->zombie)
			continue;
		s->processes++;
		s->threads += p->threads;
		s->unreadable_io += p->io_denied;
		s->waiting_for_disk += p->on_disk;
	}
	if (s->processes > s->peak_processes)
		s->peak_processes = s->processes;
}

/* The larger of the ledger and what other sources prove; both are monotone. */
static void publish_counters(struct trk_tree *t)
{
	for (int k = 0; k < TRK_TREE_COUNTERS; k++)
		t->state.counter[k] = t->ledger[k] > t->at_least[k] ? t->ledger[k] : t->at_least[k];
}

/* Read the members from the given one on. Returns true when one is found gone. */
static bool walk(struct trk_tree *t, size_t from)
{
	bool any_vanished = false;

	for (size_t i = from; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!read_process(t, p))
			any_vanished = p->vanished = true;
	}
	return any_vanished;
}

void trk__tree_update(struct trk_tree *t, const struct trk_tree_state **ret)
{
	bool any_vanished;
	size_t known = t->count;
	pid_t newest = t->options.one_process ? -1 : newest_pid(t);

	t->update++;
	t->queue_reads_left = QUEUE_READS;
	any_vanished = walk(t, 0);
	if (!t->options.one_process)
		discover(t, newest);
	any_vanished |= walk(t, known);
	trk__ledger_settle(t);
	publish_counters(t);
	if (any_vanished) {
		note_vanished(t);
		remove_vanished(t);
	}
	trk__memory_update(t);
	count_members(t);
	*ret = &t->state;
}

void trk__tree_reaped(struct trk_tree *t, pid_t pid, const struct rusage *usage)
{
	struct process *p = trk__tree_find(t, pid);
	uint64_t *gained = t->pool.gained;
	uint64_t system_ns = (uint64_t) usage->ru_stime.tv_sec * TRK_NS_PER_S +
			     (uint64_t) usage->ru_stime.tv_usec * 1000;
	uint64_t user_ns = (uint64_t) usage->ru_utime.tv_sec * TRK_NS_PER_S +
			   (uint64_t) usage->ru_utime.tv_usec * 1000;

	if (p)
		p->reaped = true;
	if (t->options.one_process) /* the kernel's figure holds its children as well */
		return;
	gained[TRK_TREE_CPU] += user_ns + system_ns;
	gained[TRK_TREE_CPU_SYSTEM] += system_ns;
	/* The kernel counts the blocks of rusage in 512 bytes, from the same counters as PID/io. */
	gained[TRK_TREE_READ_BYTES] += (uint64_t) usage->ru_inblock * 512;
	gained[TRK_TREE_WRITE_BYTES] += (uint64_t) usage->ru_oublock * 512;
	gained[TRK_TREE_MAJOR_FAULTS] += (uint64_t) usage->ru_majflt;
	gained[TRK_TREE_MINOR_FAULTS] += (uint64_t) usage->ru_minflt;
	trk__memory_reaped(t, (uint64_t) usage->ru_maxrss * 1024);
}

void trk__tree_raise(struct trk_tree *t, enum trk_tree_counter counter, uint64_t at_least)
{
	if (t->at_least[counter] < at_least)
		t->at_least[counter] = at_least;
	publish_counters(t);
}

const struct trk_tree_state *trk__tree_state(const struct trk_tree *t)
{
	return &t->state;
}

/* Insert into top[0..*n), ordered by the larger of two scores: CPU and memory relative to the
 * tree's own totals, so that both kinds of heavy process are found. */
static double score(const struct trk_tree *t, const struct trk_process_info *info)
{
	double cpu = (double) info->cpu_ns / (double) (t->state.counter[TRK_TREE_CPU] + 1);
	double memory = (double) info->peak_bytes / (double) (t->state.peak_bytes + 1);

	return cpu > memory ? cpu : memory;
}

static void top_offer(const struct trk_tree *t, struct trk_process_info *top, size_t *n, size_t max,
		      const struct trk_process_info *info)
{
	size_t at;

	if (info->pid == 0)
		return;
	for (at = 0; at < *n; at++)
		if (top[at].pid == info->pid && top[at].cpu_ns == info->cpu_ns)
			return; /* stands on both boards */
	for (at = *n; at > 0 && score(t, &top[at - 1]) < score(t, info); at--)
		if (at < max)
			top[at] = top[at - 1];
	if (at == max)
		return;
	top[at] = *info;
	if (*n < max)
		++*n;
}

size_t trk__tree_top(struct trk_tree *t, struct trk_process_info *top, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct trk_process_info info;

		describe(&t->process[i], &info);
		top_offer(t, top, &n, max, &info);
	}
	for (int i = 0; i < TOP_EXITED; i++) {
		top_offer(t, top, &n, max, &t->exited_cpu[i]);
		top_offer(t, top, &n, max, &t->exited_memory[i]);
	}
	return n;
}

size_t trk__tree_pids(const struct trk_tree *t, pid_t *pids, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		if (t->process[i].zombie || t->process[i].vanished || t->process[i].reaped)
			continue;
		if (n < max)
			pids[n] = t->process[i].pid;
		n++;
	}
	return n;
}
