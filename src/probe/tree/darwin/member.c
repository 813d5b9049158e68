/* Members of the tree on macOS: reading each one, its children, and the sums of memory.
 *
 * Every update reads each member, as no cheaper clock shows that one was idle. There is no
 * subreaper: launchd adopts orphans. An orphan that was seen before is read until its end; its
 * usage after the last read, and orphans that were never seen, are missing. A kqueue reports when a
 * member forks or ends, so that few are missed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <unistd.h>

#include "probe/darwin/process.h"
#include "probe/helper_process.h"
#include "probe/tree/private.h"

enum {
	CHILDREN_MAX = 4096,
	EVENTS = 32,
	WAKES = 200, /* events handled between two updates: about 5 ms of CPU time */
	ORPHANS_TIMER = 1,
	ORPHANS_MS = 50, /* between two readings of orphans */
};

const struct trk_tree_sources trk__tree_sources = {
	.cpu = "proc_pid_rusage, wait4",
	.memory = "ri_phys_footprint",
	.memory_partly = "ri_phys_footprint (unknown for processes of other users)",
	.disk = "proc_pid_rusage",
	.disk_total = "proc_pid_rusage",
	.disk_partly = "proc_pid_rusage (not readable for processes of other users)",
	.faults_total = "proc_pid_rusage and wait4",
	.waits = "not known on macOS",
	.sum = "sampled footprints",
	.partly_sum = "sampled footprints, without processes of other users",
	.sum_and_high = "sampled footprints, and the largest of one process's life",
	.largest = "the largest footprint of one process's life",
	.own_disk_only = true,
};

/* ---- the tree as a whole ---- */

int trk__tree_open(struct trk_tree *t)
{
	t->wake_fd = kqueue();
	if (t->wake_fd >= 0)
		(void) fcntl(t->wake_fd, F_SETFD, FD_CLOEXEC);
	t->tick_ns = 1; /* start_ticks are ns */
	t->start_ticks = trk__mac_now_ns();
	t->state.loses_orphans = true;
	for (int k = 0; k < TRK_TREE_COUNTERS; k++)
		t->state.lacks[k] = k == TRK_TREE_CANCELLED_BYTES || k == TRK_TREE_READ_CHARS ||
				    k == TRK_TREE_WRITE_CHARS || k == TRK_TREE_MINOR_FAULTS;
	return 0;
}

uint64_t trk__tree_now_ticks(const struct trk_tree *t)
{
	return trk__mac_now_ns();
}

static void change(const struct trk_tree *t, uintptr_t ident, int16_t filter, uint16_t flags,
		   uint32_t notes, intptr_t data)
{
	struct kevent event;

	EV_SET(&event, ident, filter, flags, notes, data, NULL);
	if (t->wake_fd >= 0)
		(void) kevent(t->wake_fd, &event, 1, NULL, 0, NULL);
}

/* The kernel removes it from the queue when it ends. */
static void watch(const struct trk_tree *t, pid_t pid)
{
	if (!t->options.one_process && !t->options.figures_only)
		change(t, (uintptr_t) pid, EVFILT_PROC, EV_ADD | EV_CLEAR, NOTE_FORK | NOTE_EXIT,
		       0);
}

static struct process *add(struct trk_tree *t, pid_t pid, pid_t parent)
{
	struct trk_mac_usage u;
	int r = trk__mac_usage(pid, &u);
	struct process *p;

	if (r == -ESRCH)
		return NULL;
	p = trk__tree_add(t, pid, parent, r == 0 ? u.start_ns : trk__mac_now_ns(), 1);
	if (p)
		watch(t, pid);
	if (p && r < 0) /* of another user: a set-user-ID program */
		p->io_denied = p->pss_denied = true;
	return p;
}

int trk__tree_find_root(struct trk_tree *t)
{
	struct trk_mac_brief b;
	int r = trk__mac_brief(t->options.root, &b);

	if (r < 0)
		return r;
	return add(t, t->options.root, b.ppid) ? 0 : -ESRCH;
}

void trk__tree_begin(struct trk_tree *t)
{
	t->wakes_left = WAKES;
}

void trk__tree_close_system(struct trk_tree *t)
{
}

void trk__tree_close(struct trk_tree *t, struct process *p)
{
}

/* ---- new members ---- */

static bool take_children(struct trk_tree *t, pid_t parent)
{
	pid_t pids[CHILDREN_MAX];
	int n = trk__mac_children(parent, pids, CHILDREN_MAX);
	bool found = false;

	for (int i = 0; i < n && i < CHILDREN_MAX; i++)
		if (pids[i] > 0 && pids[i] != t->options.self && !trk__tree_find(t, pids[i]) &&
		    !trk__helper_process_is(pids[i]))
			found |= add(t, pids[i], parent) != NULL;
	return found;
}

void trk__tree_newcomers(struct trk_tree *t, pid_t newest)
{
	/* The loop also reaches members that it adds. */
	for (size_t i = 0; i < t->count; i++)
		if (!t->process[i].zombie && !t->process[i].vanished)
			(void) take_children(t, t->process[i].pid);
}

/* ---- one member ---- */

static void note_exec(struct trk_tree *t, struct process *p, const char *name)
{
	memcpy(p->name, name, sizeof(p->name));
	p->command[0] = '\0';
	trk__programs_exec(t, p);
}

static void take_counters(struct trk_tree *t, struct process *p, const struct trk_mac_usage *u)
{
	uint64_t own[TRK_TREE_COUNTERS] = {
		[TRK_TREE_CPU] = u->user_ns + u->system_ns,
		[TRK_TREE_CPU_SYSTEM] = u->system_ns,
		[TRK_TREE_READ_BYTES] = u->read_bytes,
		[TRK_TREE_WRITE_BYTES] = u->written_bytes,
		[TRK_TREE_MAJOR_FAULTS] = u->page_ins,
	};
	uint64_t inherited[TRK_TREE_COUNTERS] = {
		[TRK_TREE_CPU] = u->child_user_ns + u->child_system_ns,
		[TRK_TREE_CPU_SYSTEM] = u->child_system_ns,
		[TRK_TREE_MAJOR_FAULTS] = u->child_page_ins,
	};

	if (inherited[TRK_TREE_CPU])
		t->state.alone = false;
	if (t->options.one_process)
		memset(inherited, 0, sizeof(inherited));
	p->clock_ns = own[TRK_TREE_CPU];
	if (p->pid == t->options.root)
		t->state.root_cpu_ns = p->clock_ns;
	trk__ledger_read(t, p, own, inherited);
}

static void take_peak(struct trk_tree *t, struct process *p, const struct trk_mac_usage *u)
{
	uint64_t before = p->hwm_bytes;

	if (before == 0) {
		p->base_hwm_bytes = u->peak_bytes;
		/* A peak from before this tree began is not the job's. */
		before = p->start_ticks < t->start_ticks ? u->peak_bytes : u->footprint_bytes;
	}
	p->hwm_bytes = u->peak_bytes;
	if (u->peak_bytes > before && u->peak_bytes > u->footprint_bytes)
		p->hwm_excess_bytes =
			u->peak_bytes - (before > u->footprint_bytes ? before : u->footprint_bytes);
	if (p->start_ticks >= t->start_ticks || p->hwm_bytes > p->base_hwm_bytes)
		trk__peaks_largest(t, p->hwm_bytes);
}

static void take_size(struct trk_tree *t, struct process *p, const struct trk_mac_usage *u,
		      bool has_ended)
{
	int threads;

	if (has_ended && !p->zombie) {
		p->ended_ns = t->updated_ns;
		p->zombie = true;
		trk__peaks_ended(t, p, 0);
	}
	take_peak(t, p, u);
	p->statm_faults = 1; /* it was read */
	if (p->zombie) {
		p->rss_bytes = p->pss_bytes = 0;
		p->threads = 0;
		return;
	}
	p->rss_bytes = u->resident_bytes;
	p->pss_bytes = u->footprint_bytes;
	if (p->rss_bytes > p->most_rss_bytes)
		p->most_rss_bytes = p->rss_bytes;
	threads = trk__mac_threads(p->pid);
	p->threads = threads > 0 ? (uint32_t) threads : 1;
}

static void read_command(struct trk_tree *t, struct process *p)
{
	char cmdline[TRK_CMDLINE_MAX];
	ssize_t len = trk__mac_arguments(p->pid, cmdline, sizeof(cmdline));

	if (len > 0)
		trk__tree_take_command(t, p, cmdline, (size_t) len);
}

/* Its parent has ended: no member will receive its usage. */
static void take_parent(struct trk_tree *t, struct process *p, pid_t parent)
{
	t->state.orphans += p->ppid != parent && p->pid != t->options.root;
	p->ppid = parent;
}

bool trk__tree_read(struct trk_tree *t, struct process *p)
{
	struct trk_mac_brief b;
	struct trk_mac_usage u;
	bool fresh = p->fresh;
	int r;

	p->looked = false;
	p->hwm_excess_bytes = 0;
	if (p->reaped || trk__mac_brief(p->pid, &b) < 0)
		return false;
	r = trk__mac_usage(p->pid, &u);
	if (r == -ESRCH || (r == 0 && !p->io_denied && u.start_ns != p->start_ticks))
		return false;
	t->looks++;
	p->looked = true;
	take_parent(t, p, b.ppid);
	if (strcmp(p->name, b.name) != 0)
		note_exec(t, p, b.name);
	p->io_denied = p->pss_denied = r < 0;
	if (r < 0) {
		p->zombie = b.has_ended;
		return true;
	}
	take_counters(t, p, &u);
	take_size(t, p, &u, b.has_ended);
	if (!p->zombie && p->command[0] == '\0' && !t->options.figures_only &&
	    (!fresh || p->pid == t->options.root || trk__programs_needs_command(t, p)))
		read_command(t, p);
	return true;
}

/* ---- between two updates ----
 *
 * Children are listed as soon as a member forks, because the parent of an orphan cannot be found
 * later. Orphans are read more often, because no member receives their usage. */

/* True if its parent has ended, so that no member receives its usage. */
static bool is_orphan(struct trk_tree *t, const struct process *p)
{
	const struct process *parent = trk__tree_find(t, p->ppid);

	return p->pid != t->options.root && !p->zombie && (!parent || parent->dirty);
}

static void look_at_orphans(struct trk_tree *t)
{
	struct trk_mac_usage u;
	bool any = false;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!is_orphan(t, p))
			continue;
		any = true;
		t->wakes_left--;
		if (trk__mac_usage(p->pid, &u) == 0 && u.start_ns == p->start_ticks)
			take_counters(t, p, &u);
	}
	if (any)
		change(t, ORPHANS_TIMER, EVFILT_TIMER, EV_ADD | EV_ONESHOT, 0, ORPHANS_MS);
}

void trk__tree_wake(struct trk_tree *t)
{
	static const struct timespec at_once = {0, 0};
	struct kevent events[EVENTS];
	int n = kevent(t->wake_fd, NULL, 0, events, EVENTS, &at_once);
	bool any_ended = false;

	for (int i = 0; i < n; i++) {
		struct process *p = trk__tree_find(t, (pid_t) events[i].ident);

		any_ended |= events[i].filter == EVFILT_TIMER;
		if (events[i].filter != EVFILT_PROC || !p)
			continue;
		t->wakes_left--;
		if (events[i].fflags & NOTE_FORK)
			(void) take_children(t, p->pid);
		p = trk__tree_find(t, (pid_t) events[i].ident); /* the table may have moved */
		if (p && events[i].fflags & NOTE_EXIT)
			any_ended = p->dirty = true;
	}
	if (any_ended)
		look_at_orphans(t);
}

int trk__tree_resident(struct trk_tree *t, struct process *p, uint64_t *ret_bytes)
{
	struct trk_mac_usage u;
	int r = trk__mac_usage(p->pid, &u);

	if (r == 0)
		*ret_bytes = u.footprint_bytes;
	return r;
}

int trk__tree_children_of(const struct trk_env *env, pid_t pid, pid_t *pids, int max)
{
	int n = trk__mac_children(pid, pids, max);

	return n < max ? n : max;
}
