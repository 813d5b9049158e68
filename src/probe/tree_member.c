/* One member of the tree, and the walk over all: what is read of a process, and when it need not be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_io.h"
#include "probe/linux/pid_schedstat.h"
#include "probe/tree_private.h"

enum {
	/* A member whose CPU clock stands still is read all the same every so many updates: its
	 * memory may have been swapped out or shared with somebody new. */
	IDLE_UPDATES_MAX = 30,
	ASLEEP_UPDATES = 8, /* it is asleep after so many, see tree_turns.c */
	FDS_PER_PROCESS = 4,
	AHEAD = 3, /* members, in the walk */
};

/* A member that used less since its last look does not ask for a CPU in earnest. */
#define QUEUE_CPU_MIN_NS (2 * TRK_NS_PER_MS)
/* A member that used less since io was read cannot have moved much. */
#define IO_CPU_MIN_NS (TRK_NS_PER_MS)

void trk__tree_close(struct trk_tree *t, struct process *p)
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

static bool may_keep(const struct trk_tree *t, const struct process *p, const int *fd)
{
	return t->fds_left > 0 && (!t->options.figures_only || (fd == &p->stat_fd && !p->fresh));
}

/* Read a file of the process into t->text through its kept descriptor, opening that first if the budget has
 * room, or by path past the budget. The kernel answers -ESRCH on a kept descriptor once the process
 * is reaped, also when its pid was given out again. */
TRK_HOT static ssize_t read_file(struct trk_tree *t, struct process *p, int *fd, const char *name)
{
	char path[40];

	if (*fd < 0) {
		(void) snprintf(path, sizeof(path), "%d/%s", (int) p->pid, name);
		if (!may_keep(t, p, fd))
			return trk__read_once_at(t->env.proc_fd, path, t->text, sizeof(t->text));
		*fd = openat(t->env.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0) {
			if (errno != EMFILE && errno != ENFILE)
				return -errno;
			t->fds_left = 0;
			return trk__read_once_at(t->env.proc_fd, path, t->text, sizeof(t->text));
		}
		t->fds_left--;
	}
	return trk__read_once_fd(*fd, t->text, sizeof(t->text));
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
	len = read_file(t, p, &p->io_fd, "io");
	if (len == -EACCES || len == -EPERM || (len == -ENOENT && p->fresh)) {
		p->io_denied = true;
		return;
	}
	if (len < 0 || trk__pid_io_parse(t->text, (size_t) len, &io) < 0)
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
	ssize_t len;

	if (p->speaker)
		return trk__speaker_statm(t, p, ret);
	len = read_file(t, p, &p->statm_fd, "statm");
	return len < 0 ? (int) len : trk__pid_statm_parse(t->text, (size_t) len, ret);
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
	ssize_t len = read_file(t, p, &p->schedstat_fd, "schedstat");

	t->queue_reads_left--;
	if (len < 0 || trk__pid_schedstat_parse(t->text, (size_t) len, &s) < 0) {
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

/* Block I/O that its main thread waited for, where the kernel keeps account of delays. Of several members the
 * one that waited longest counts: they may have waited at the same time. */
static void take_delay(struct trk_tree *t, struct process *p)
{
	uint64_t ns = trk__pid_stat_block_delay(t->text) * t->tick_ns;

	if (ns > p->blocked_ns + t->longest_block_ns &&
	    (!p->fresh || p->start_ticks >= t->start_ticks))
		t->longest_block_ns = ns - p->blocked_ns;
	p->blocked_ns = ns;
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

/* Its state, threads and memory. */
static void take_size(struct trk_tree *t, struct process *p, const struct trk_pid_stat *stat,
		      bool forced)
{
	uint64_t faults = stat->minor_faults + stat->major_faults;

	p->on_disk = stat->state == 'D';
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
	if (!t->options.figures_only &&
	    (faults - p->faults_at_hwm >= 64 || p->rss_bytes > p->hwm_bytes)) {
		p->faults_at_hwm = faults;
		trk__memory_high_water(t, p);
	}
}

/* Take one reading of stat with its CPU clock. */
TRK_HOT static void take_stat(struct trk_tree *t, struct process *p, uint64_t clock_ns,
			      const struct trk_pid_stat *stat)
{
	bool forced = p->fresh || clock_ns == p->clock_ns;
	bool io_waits = io_can_wait(t, p, clock_ns, stat);
	uint64_t own[TRK_TREE_COUNTERS] = {0};
	uint64_t inherited[TRK_TREE_COUNTERS];

	if (clock_ns - p->clock_ns >= QUEUE_CPU_MIN_NS && t->queue_reads_left > 0 &&
	    !t->options.figures_only)
		read_queue(t, p);
	p->clock_ns = clock_ns;
	memcpy(inherited, p->inherited, sizeof(inherited));
	own[TRK_TREE_CPU] = p->late ? p->own[TRK_TREE_CPU] : clock_ns; /* counted by tree_turns.c */
	own[TRK_TREE_CPU_SYSTEM] = stat->system_ticks * t->tick_ns;
	own[TRK_TREE_MAJOR_FAULTS] = stat->major_faults;
	own[TRK_TREE_MINOR_FAULTS] = stat->minor_faults;
	inherited[TRK_TREE_CPU] = (stat->child_user_ticks + stat->child_system_ticks) * t->tick_ns;
	inherited[TRK_TREE_CPU_SYSTEM] = stat->child_system_ticks * t->tick_ns;
	inherited[TRK_TREE_MAJOR_FAULTS] = stat->child_major_faults;
	inherited[TRK_TREE_MINOR_FAULTS] = stat->child_minor_faults;
	t->has_reaped |= inherited[TRK_TREE_MINOR_FAULTS] != p->inherited[TRK_TREE_MINOR_FAULTS] ||
			 inherited[TRK_TREE_CPU] != p->inherited[TRK_TREE_CPU];
	p->io_waits = io_waits;
	if (!io_waits) {
		read_io(t, p, inherited);
		p->io_clock_ns = clock_ns;
	}
	if (t->options.one_process) /* what its children used is not its own */
		inherited[TRK_TREE_CPU] = inherited[TRK_TREE_CPU_SYSTEM] =
			inherited[TRK_TREE_MAJOR_FAULTS] = inherited[TRK_TREE_MINOR_FAULTS] = 0;
	trk__ledger_read(t, p, own, inherited);
	take_size(t, p, stat, forced);
}

/* It stands still: is what was read of it good for this update as well? */
static bool may_rest(const struct trk_tree *t, struct process *p)
{
	if (p->dirty)
		return false;
	p->idle_updates++;
	if (p->idle_updates == ASLEEP_UPDATES && p->pid != t->options.root)
		p->asleep = true;
	return p->idle_updates < (p->io_waits ? TRK_IO_UPDATES_MAX : IDLE_UPDATES_MAX);
}

/* It ran. */
static void wake(struct trk_tree *t, struct process *p, uint64_t clock_ns, bool overslept)
{
	if (p->asleep)
		t->woken_ns += clock_ns - p->clock_ns;
	p->asleep = false;
	p->late |= overslept;
	t->any_late |= overslept;
}

enum sight { GONE, RESTS, STIRS };

/* What its full look needs comes while the kernel writes the first file. */
static void prefetch(const struct process *p)
{
	for (size_t at = 64; at < offsetof(struct process, lost); at += 64)
		__builtin_prefetch((const char *) p + at, 1);
	__builtin_prefetch(&p->shared_bytes, 1);
	__builtin_prefetch(&p->family, 1);
	__builtin_prefetch(p->name);
}

/* Look at its clock, if it has its turn: need more be read? */
static enum sight glance(struct trk_tree *t, struct process *p, uint64_t *ret_clock_ns)
{
	bool overslept;

	if (!t->again) {
		p->looked = false;
		p->hwm_excess_bytes = 0;
	}
	if (p->reaped)
		return GONE;
	if (trk__turns_skips(t, p)) {
		p->idle_updates++;
		p->skipped = true;
		t->state.unseen++;
		return RESTS;
	}
	overslept = p->skipped && !t->again;
	p->skipped = false;
	if (trk__clock_pid_cpu_ns(p->pid, ret_clock_ns) < 0)
		return GONE;
	if (!p->fresh && *ret_clock_ns == p->clock_ns && may_rest(t, p))
		return RESTS;
	if (*ret_clock_ns != p->clock_ns)
		wake(t, p, *ret_clock_ns, overslept);
	return STIRS;
}

/* By hand: the C library's own is on a page that is cold after a second. */
static bool has_name(const struct process *p, const char *name)
{
	size_t i = 0;

	while (name[i] && name[i] == p->name[i])
		i++;
	return name[i] == p->name[i];
}

/* Returns false when the process is gone. */
TRK_HOT static bool read_process(struct trk_tree *t, struct process *p)
{
	struct trk_pid_stat stat;
	bool fresh = p->fresh;
	uint64_t clock_ns = 0;
	enum sight sight = glance(t, p, &clock_ns);
	ssize_t len;

	if (sight != STIRS)
		return sight == RESTS;
	t->looks += !p->looked;
	p->looked = true;
	p->calm_epoch = 0;
	p->idle_updates = 0;
	p->dirty = false;
	prefetch(p);
	len = read_file(t, p, &p->stat_fd, "stat");
	if (len < 0)
		/* Trouble of ours, such as a lack of descriptors, is no sign of its end. */
		return !is_gone(len);
	if (trk__pid_stat_parse(t->text, (size_t) len, &stat) < 0)
		return true;
	if (stat.start_ticks != p->start_ticks)
		return false;
	p->ppid = stat.ppid;
	if (!has_name(p, stat.comm))
		note_exec(p, &stat);
	if (t->has_delays)
		take_delay(t, p);
	take_stat(t, p, clock_ns, &stat);
	/* A process seen a second time is worth its command line; the root at once. */
	if (!p->zombie && p->command[0] == '\0' && !t->options.figures_only &&
	    (!fresh || p->pid == t->options.root))
		read_command(t, p);
	return true;
}

/* Read the members from the given one on. Returns true when one is found gone. */
TRK_HOT bool trk__tree_walk(struct trk_tree *t, size_t from)
{
	bool any_vanished = false;

	for (size_t i = from; i < t->count; i++) {
		struct process *p = &t->process[i];

		/* After a second in which others ran the table is in no cache. */
		if (i + AHEAD < t->count)
			__builtin_prefetch(p + AHEAD, 1);
		if (!read_process(t, p))
			any_vanished = p->vanished = true;
	}
	return any_vanished;
}
