/* Members of the tree on Windows: finding and reading them, and the sums of memory.
 *
 * One call lists all processes. The processes of a job that the tracker started are in a job
 * object, which also keeps totals of ended members; the descendants of an attached process are
 * found by their parents, and so is a child that Windows starts outside of the job object, such as
 * one that runs as administrator. No process inherits the usage of another: without the totals of a
 * job object, a process is read after its end through a kept handle, and one that no update found
 * is missing. Wine has no such handles, and its totals are 0 although members have used CPU time:
 * they are then ignored, and the label of the total says so. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/windows/command_line.h"
#include "probe/tree/private.h"
#include "probe/windows/nt.h"

enum { MEMBERS_MAX = 16384, TICK_NS = 100 };

/* CPU time of the members after which a job object with total 0 is regarded as not counting; clock
 * interrupts are 15.6 ms apart. */
#define PROOF_NS UINT64_C(50000000)

struct windows_tree {
	struct trk_nt_list list; /* of this update */
	int read_error;
	/* CPU time of members that the job object does not have, also of those that have ended. */
	uint64_t outside_ns, outside_system_ns;
	pid_t pid[MEMBERS_MAX];
};

const struct trk_tree_sources trk__tree_sources = {
	.cpu = "job object, list of processes",
	.memory = "private working set",
	.memory_partly = "working set of processes that report no private one",
	.disk = "not known on Windows",
	.disk_total = "list of processes",
	.disk_partly = "not known on Windows",
	.faults_total = "list of processes",
	.waits = "not known on Windows",
	.sum = "sampled private working sets",
	.partly_sum = "sampled working sets",
	.sum_and_high = "sampled private working sets",
	.largest = "the largest sampled working set of one process",
	.own_disk_only = true,
};

static struct windows_tree *of(const struct trk_tree *t)
{
	return t->system;
}

/* ---- the tree as a whole ---- */

int trk__tree_open(struct trk_tree *t)
{
	t->system = calloc(1, sizeof(struct windows_tree));
	if (!t->system)
		return -ENOMEM;
	t->tick_ns = TICK_NS;
	t->start_ticks = trk__nt_now();
	t->state.totals = TRK_TOTALS_SAMPLED;
	t->state.queue_refused = true;
	for (int k = TRK_TREE_READ_BYTES; k < TRK_TREE_COUNTERS; k++)
		t->state.lacks[k] = true;
	return 0;
}

void trk__tree_close_system(struct trk_tree *t)
{
	if (t->system)
		trk__nt_list_release(&of(t)->list);
	free(t->system);
}

uint64_t trk__tree_now_ticks(const struct trk_tree *t)
{
	return trk__nt_now();
}

static bool uses_job(const struct trk_tree *t)
{
	return t->options.subreaper && !t->options.one_process && trk__nt_has_job();
}

/* Without a job object, which keeps totals of ended members, a handle is kept in stat_fd. */
static struct process *add(struct trk_tree *t, const struct trk_nt_process *n)
{
	struct process *p = trk__tree_add(t, n->pid, n->ppid, n->created, n->threads);

	if (p && (!uses_job(t) || t->state.totals == TRK_TOTALS_ZERO))
		p->stat_fd = trk__nt_keep(n);
	return p;
}

int trk__tree_find_root(struct trk_tree *t)
{
	const struct trk_nt_process *root;
	int r = trk__nt_list_read(&of(t)->list);

	if (r < 0)
		return r;
	root = trk__nt_list_find(&of(t)->list, t->options.root);
	if (!root)
		return -ESRCH;
	return add(t, root) ? 0 : -ENOMEM;
}

/* ---- totals of the job object ---- */

/* The job object is read before its members, so that their sum is not less than the total, except
 * for ended members. A total below half of the sum is invalid. */
static bool counts_nothing(const struct trk_tree *t, const struct trk_nt_totals *totals)
{
	uint64_t seen_ns = t->ledger[TRK_TREE_CPU];

	return seen_ns >= PROOF_NS && totals->user_ns + totals->system_ns < seen_ns / 2;
}

static void take_totals(struct trk_tree *t)
{
	struct trk_nt_totals totals;
	uint64_t cpu_ns;

	if (!uses_job(t) || t->state.totals == TRK_TOTALS_ZERO || trk__nt_job_totals(&totals) < 0)
		return;
	cpu_ns = totals.user_ns + totals.system_ns;
	if (counts_nothing(t, &totals)) {
		t->state.totals = TRK_TOTALS_ZERO;
		return;
	}
	if (cpu_ns > 0)
		t->state.totals = TRK_TOTALS_KEPT;
	t->at_least[TRK_TREE_CPU] = cpu_ns + of(t)->outside_ns;
	t->at_least[TRK_TREE_CPU_SYSTEM] = totals.system_ns + of(t)->outside_system_ns;
	t->at_least[TRK_TREE_READ_CHARS] = totals.read_bytes;
	t->at_least[TRK_TREE_WRITE_CHARS] = totals.write_bytes;
	t->state.peak_commit_bytes = totals.peak_commit_bytes;
}

void trk__tree_begin(struct trk_tree *t)
{
	take_totals(t);
	of(t)->read_error = trk__nt_list_read(&of(t)->list);
}

/* ---- new members ---- */

static bool add_member(struct trk_tree *t, const struct trk_nt_process *n)
{
	return n && n->pid != t->options.self && !trk__tree_find(t, n->pid) && add(t, n) != NULL;
}

static bool add_child(struct trk_tree *t, const struct trk_nt_process *n)
{
	if (!add_member(t, n))
		return false;
	t->process[t->count - 1].by_parent = uses_job(t);
	return true;
}

static void leave_job(struct trk_tree *t, struct process *p)
{
	p->outside = true;
	t->state.outside_of_job++;
	of(t)->outside_ns += p->own[TRK_TREE_CPU];
	of(t)->outside_system_ns += p->own[TRK_TREE_CPU_SYSTEM];
}

/* The job object is asked after the list was read: a member may have ended in between. So one that
 * the object does not list is outside of it only where the next update reads it again. */
static void tell_who_is_outside(struct trk_tree *t, int pids)
{
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		for (int k = 0; k < pids && p->by_parent; k++)
			p->by_parent = of(t)->pid[k] != p->pid;
		if (p->by_parent && p->looked && !p->outside)
			leave_job(t, p);
	}
}

static void add_members_of_job(struct trk_tree *t)
{
	int n = trk__nt_job_pids(of(t)->pid, MEMBERS_MAX);

	for (int i = 0; i < n && i < MEMBERS_MAX; i++)
		(void) add_member(t, trk__nt_list_find(&of(t)->list, of(t)->pid[i]));
	if (n > 0 && n <= MEMBERS_MAX)
		tell_who_is_outside(t, n);
}

/* Pids are reused soon: a parent must be older than its child. */
static bool is_child(struct trk_tree *t, const struct trk_nt_process *n)
{
	const struct process *parent = trk__tree_find(t, n->ppid);

	return parent && !parent->vanished && parent->start_ticks <= n->created;
}

void trk__tree_newcomers(struct trk_tree *t, pid_t newest)
{
	const struct trk_nt_list *l = &of(t)->list;
	bool found;

	if (uses_job(t))
		add_members_of_job(t);
	do {
		found = false;
		for (size_t i = 0; i < l->count; i++)
			found |= is_child(t, &l->process[i]) && add_child(t, &l->process[i]);
	} while (found);
}

/* ---- one member ---- */

/* Every process has page faults: if one shows none (Wine), its faults and transfers are unknown. */
static void take_what_is_told(struct trk_tree *t, const struct trk_nt_process *n)
{
	static const enum trk_tree_counter told[] = {TRK_TREE_READ_CHARS, TRK_TREE_WRITE_CHARS,
						     TRK_TREE_MAJOR_FAULTS, TRK_TREE_MINOR_FAULTS};

	for (size_t i = 0; n->faults > 0 && i < sizeof(told) / sizeof(told[0]); i++)
		t->state.lacks[told[i]] = false;
}

static void take_counters(struct trk_tree *t, struct process *p, const struct trk_nt_process *n)
{
	static const uint64_t none[TRK_TREE_COUNTERS];
	uint64_t own[TRK_TREE_COUNTERS] = {
		[TRK_TREE_CPU] = n->user_ns + n->system_ns,
		[TRK_TREE_CPU_SYSTEM] = n->system_ns,
		[TRK_TREE_READ_CHARS] = n->read_bytes,
		[TRK_TREE_WRITE_CHARS] = n->write_bytes,
		[TRK_TREE_MAJOR_FAULTS] = n->hard_faults,
		[TRK_TREE_MINOR_FAULTS] =
			n->faults > n->hard_faults ? n->faults - n->hard_faults : 0,
	};

	if (p->outside) {
		of(t)->outside_ns += own[TRK_TREE_CPU] - p->own[TRK_TREE_CPU];
		of(t)->outside_system_ns += n->system_ns - p->own[TRK_TREE_CPU_SYSTEM];
	}
	p->clock_ns = own[TRK_TREE_CPU];
	if (p->pid == t->options.root)
		t->state.root_cpu_ns = p->clock_ns;
	take_what_is_told(t, n);
	trk__ledger_read(t, p, own, none);
}

static void take_size(struct trk_tree *t, struct process *p, const struct trk_nt_process *n)
{
	p->rss_bytes = n->working_bytes;
	p->pss_denied = n->private_bytes == 0 && n->working_bytes > 0;
	p->pss_bytes = p->pss_denied ? n->working_bytes : n->private_bytes;
	p->threads = n->threads;
	p->statm_faults = 1; /* it was read */
	if (p->rss_bytes > p->most_rss_bytes)
		p->most_rss_bytes = p->rss_bytes;
	if (p->pss_bytes > p->hwm_bytes)
		p->hwm_bytes = p->pss_bytes;
	trk__peaks_largest(t, p->pss_bytes);
}

static void read_command(struct trk_tree *t, struct process *p)
{
	char line[TRK_CMDLINE_MAX], words[TRK_CMDLINE_MAX];
	ssize_t len = trk__nt_command(p->pid, line, sizeof(line));

	if (len > 0)
		trk__tree_take_command(t, p, words,
				       trk__command_line_split(line, words, sizeof(words)));
}

/* Count its usage after the last read, if a handle was kept. */
static void take_end(struct trk_tree *t, struct process *p)
{
	struct trk_nt_process end;

	if (p->stat_fd < 0 || trk__nt_kept_read(p->stat_fd, &end) < 0 ||
	    end.user_ns + end.system_ns < p->own[TRK_TREE_CPU])
		return;
	end.hard_faults = p->own[TRK_TREE_MAJOR_FAULTS];
	end.faults = end.hard_faults + p->own[TRK_TREE_MINOR_FAULTS];
	take_counters(t, p, &end);
}

/* No other process receives its usage. */
static bool is_gone(struct trk_tree *t, struct process *p)
{
	take_end(t, p);
	p->ppid = 0;
	p->reaped = false;
	return true;
}

bool trk__tree_read(struct trk_tree *t, struct process *p)
{
	const struct trk_nt_process *n = trk__nt_list_find(&of(t)->list, p->pid);
	bool fresh = p->fresh;

	if (of(t)->read_error) /* then no member is regarded as ended */
		return true;
	p->looked = false;
	if (!n || n->created != p->start_ticks)
		return !is_gone(t, p);
	t->looks++;
	p->looked = true;
	if (strcmp(p->name, n->name) != 0) {
		memcpy(p->name, n->name, sizeof(p->name));
		trk__programs_exec(t, p);
	}
	take_counters(t, p, n);
	take_size(t, p, n);
	if (p->command[0] == '\0' && !t->options.figures_only &&
	    (!fresh || p->pid == t->options.root || trk__programs_needs_command(t, p)))
		read_command(t, p);
	return true;
}

int trk__tree_resident(struct trk_tree *t, struct process *p, uint64_t *ret_bytes)
{
	const struct trk_nt_process *n = trk__nt_list_find(&of(t)->list, p->pid);

	if (!n || n->created != p->start_ticks)
		return -ESRCH;
	*ret_bytes = n->working_bytes;
	return 0;
}

void trk__tree_close(struct trk_tree *t, struct process *p)
{
	if (p->stat_fd >= 0)
		trk__nt_let_go(p->stat_fd);
	p->stat_fd = -1;
}

/* ---- functions that Windows does not need ---- */

void trk__tree_wake(struct trk_tree *t)
{
}

/* The tracker has no children before its job. */
int trk__tree_children_of(const struct trk_env *env, pid_t pid, pid_t *pids, int max)
{
	return 0;
}
