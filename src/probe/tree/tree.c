/* The tree: its start, and the update. */
#include "probe/tree/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "probe/tree/private.h"

enum {
	FORKED_BYTES = 8 * 1024 * 1024, /* a child that this program forks is smaller at first */
	MAX_PROCESSES_DEFAULT = 65536,
	DROPPED_MIN_FAULTS = 16, /* fewer than any forked child has before it ends */
};

/* ---- a new member ---- */

/* Start time of a process on the monotonic clock. */
static uint64_t start_of(const struct trk_tree *t, uint64_t start_ticks)
{
	uint64_t now_ns = t->env.monotonic_ns(), now_ticks = trk__tree_now_ticks(t);
	uint64_t age_ns = now_ticks > start_ticks ? (now_ticks - start_ticks) * t->tick_ns : 0;

	return age_ns < now_ns ? now_ns - age_ns : 0;
}

struct process *trk__tree_add(struct trk_tree *t, pid_t pid, pid_t ppid, uint64_t start_ticks,
			      uint32_t threads)
{
	struct process *p;

	if (t->count == t->cap && !trk__members_grow(t))
		return NULL;
	p = &t->process[t->count++];
	*p = (struct process){
		.pid = pid,
		.ppid = ppid,
		.start_ticks = start_ticks,
		.stat_fd = -1,
		.io_fd = -1,
		.statm_fd = -1,
		.schedstat_fd = -1,
		.io_phase = (uint8_t) ((unsigned int) pid % TRK_IO_UPDATES_MAX),
		.threads = threads,
		.fresh = true,
	};
	p->start_ns = start_ticks ? start_of(t, start_ticks) : t->updated_ns;
	trk__members_index(t, t->count - 1);
	if (t->count > 1)
		t->state.alone = false;
	trk__peaks_explain(t, pid, true);
	return p;
}

/* ---- creation and update ---- */

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
	t->round = 1;
	t->page_bytes = (uint64_t) sysconf(_SC_PAGESIZE);
	t->programs.origin_ns = env->monotonic_ns();
	if (t->options.max_processes < 64)
		t->options.max_processes = MAX_PROCESSES_DEFAULT;
	t->entries = malloc(TRK_ENTRIES_SIZE);
	t->text = malloc(TRK_PID_STAT_SIZE);
	if (!t->entries || !t->text || !trk__members_grow(t))
		goto fail;
	r = trk__tree_open(t);
	if (r < 0)
		goto fail;
	r = trk__tree_find_root(t);
	if (r < 0)
		goto fail;
	t->state.alone = true;
	/* A job that the caller has just started is not older than the tree, despite rounding. */
	if (t->options.subreaper && t->process[0].start_ticks < t->start_ticks)
		t->start_ticks = t->process[0].start_ticks;
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
		trk__tree_close(t, &t->process[i]);
	trk__close(t->dir_fd);
	trk__close(t->loadavg_fd);
	trk__others_release(t);
	free(t->programs.span);
	free(t->entries);
	free(t->text);
	free(t->process);
	free(t->slot);
	free(t);
}

/* Read the members from this index on. True if any is gone. */
static bool read_members(struct trk_tree *t, size_t from)
{
	bool any_vanished = false;

	for (size_t i = from; i < t->count; i++)
		if (!trk__tree_read(t, &t->process[i]))
			any_vanished = t->process[i].vanished = true;
	return any_vanished;
}

/* Members whose parent ended have a new parent, which their stat file shows. */
static void note_vanished(struct trk_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		struct process *parent = trk__tree_find(t, p->ppid);

		if (!parent)
			continue;
		if (!p->vanished && parent->vanished)
			p->dirty = true;
	}
}

static void remove_vanished(struct trk_tree *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (p->vanished) {
			if (!p->zombie)
				trk__peaks_ended(t, p, 0);
			trk__memory_left(t, p);
			trk__programs_remember(t, p);
			trk__tree_remember(t, p);
			trk__tree_close(t, p);
			if (p->pid == t->options.root)
				t->state.root_gone = true;
			continue;
		}
		if (kept != i)
			t->process[kept] = *p;
		kept++;
	}
	t->count = kept;
	trk__members_reindex(t);
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

/* Publish the ledger, and the larger one of two CPU times; both are monotone. Additional CPU time is
 * split into user and system time like the rest. */
static void publish_counters(struct trk_tree *t)
{
	uint64_t *cpu_ns = &t->state.counter[TRK_TREE_CPU];
	uint64_t *system_ns = &t->state.counter[TRK_TREE_CPU_SYSTEM], before_ns = *system_ns;
	uint64_t known_ns = t->ledger[TRK_TREE_CPU], in_proportion_ns;

	memcpy(t->state.counter, t->ledger, sizeof(t->state.counter));
	if (*cpu_ns < t->cpu_at_least_ns)
		*cpu_ns = t->cpu_at_least_ns;
	t->state.raised_cpu_ns = *cpu_ns - known_ns;
	if (*system_ns < before_ns) /* keep it monotone */
		*system_ns = before_ns;
	in_proportion_ns = (uint64_t) ((double) t->ledger[TRK_TREE_CPU_SYSTEM] *
				       (known_ns ? (double) *cpu_ns / (double) known_ns : 1));
	if (in_proportion_ns > *system_ns)
		*system_ns = in_proportion_ns < *cpu_ns ? in_proportion_ns : *cpu_ns;
}

void trk__tree_update_at(struct trk_tree *t, uint64_t now_ns, const struct trk_tree_state **ret)
{
	bool any_vanished;
	size_t known = t->count;
	pid_t newest = t->options.one_process ? -1 : trk__tree_newest_pid(t);

	t->update++;
	trk__tree_begin(t);
	t->longest_block_ns = 0;
	t->apart_ns = now_ns - t->updated_ns;
	t->updated_ns = now_ns;
	t->looks = 0;
	trk__peaks_begin(t, newest);
	any_vanished = read_members(t, 0);
	if (!t->options.one_process)
		trk__tree_newcomers(t, newest);
	trk__peaks_count_unseen(t);
	any_vanished |= read_members(t, known);
	t->state.blocked_ns += t->longest_block_ns;
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

void trk__tree_update(struct trk_tree *t, const struct trk_tree_state **ret)
{
	trk__tree_update_at(t, t->env.monotonic_ns(), ret);
}

bool trk__tree_interrupted(struct trk_tree *t)
{
	char *text = malloc(TRK_PID_STAT_SIZE);

	if (!text)
		return false;
	t->text = text;
	t->newest_pid = -1;   /* processes that it has not seen cannot be counted */
	t->next_sweep_ns = 0; /* look at all of them */
	return true;
}

void trk__tree_close_accounts(struct trk_tree *t)
{
	t->is_last = true;
}

/* The peak that wait4(2) reports is that of the process or of a reaped child. It is attributed to
 * the process if it reaped none, or was seen to hold half as much; VmHWM misses growth after the
 * last read. A small peak may be inherited by fork. */
static void take_own_peak(struct process *p, uint64_t maxrss_bytes)
{
	bool is_own = p->inherited[TRK_TREE_MINOR_FAULTS] == 0 || p->hwm_bytes >= maxrss_bytes / 2;

	if (is_own && maxrss_bytes >= FORKED_BYTES)
		p->final_peak_bytes = maxrss_bytes;
}

void trk__tree_reaped(struct trk_tree *t, pid_t pid, const struct trk_usage *usage)
{
	struct process *p = trk__tree_find(t, pid);
	uint64_t *gained = t->pool.gained;

	if (p)
		p->reaped = true;
	if (t->options.one_process) /* the kernel's figure includes its children */
		return;
	t->pool.open = true;
	gained[TRK_TREE_CPU] += usage->user_ns + usage->system_ns;
	gained[TRK_TREE_CPU_SYSTEM] += usage->system_ns;
	gained[TRK_TREE_READ_BYTES] += usage->read_bytes;
	gained[TRK_TREE_WRITE_BYTES] += usage->write_bytes;
	gained[TRK_TREE_MAJOR_FAULTS] += usage->major_faults;
	gained[TRK_TREE_MINOR_FAULTS] += usage->minor_faults;
	trk__peaks_largest(t, usage->peak_bytes);
	if (p)
		take_own_peak(p, usage->peak_bytes);
}

void trk__tree_add_cancelled(struct trk_tree *t, uint64_t bytes)
{
	if (!t->options.one_process)
		t->pool.gained[TRK_TREE_CANCELLED_BYTES] += bytes;
}

uint64_t trk__tree_written(const struct trk_tree_state *state)
{
	uint64_t written = state->counter[TRK_TREE_WRITE_BYTES];
	uint64_t cancelled = state->counter[TRK_TREE_CANCELLED_BYTES];

	return written > cancelled ? written - cancelled : 0;
}

void trk__tree_lost(struct trk_tree *t)
{
	t->state.lost_child = true;
}

const char *trk__tree_dropped(const struct trk_tree_state *state)
{
	if (state->dropped_faults >= DROPPED_MIN_FAULTS)
		return "children ended that no parent waited for";
	if (state->ignores_children)
		return "a process of the job ignores SIGCHLD";
	return state->lost_child ? "another part of the tracker's process reaped the job" : NULL;
}

/* Pids of a lone root's threads are not unseen processes; its main thread has the root's pid. */
bool trk__tree_has_unseen(const struct trk_tree_state *state)
{
	uint64_t threads = state->alone && state->most_threads ? state->most_threads - 1 : 0;

	return state->unseen_pids > threads;
}

void trk__tree_raise(struct trk_tree *t, uint64_t cpu_ns)
{
	if (t->cpu_at_least_ns < cpu_ns)
		t->cpu_at_least_ns = cpu_ns;
	publish_counters(t);
}

const struct trk_tree_state *trk__tree_state(const struct trk_tree *t)
{
	return &t->state;
}

pid_t trk__tree_newest(const struct trk_tree *t)
{
	for (size_t i = t->count; i > 0; i--) {
		const struct process *p = &t->process[i - 1];

		if (!p->zombie && !p->vanished && !p->reaped)
			return p->pid;
	}
	return 0;
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
