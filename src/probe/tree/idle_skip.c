/* Skipping idle members: in a large tree, sleeping members are read in every second update.
 *
 * Most of the cost of an idle process is the system call that reads its CPU clock. A member whose
 * clock did not change for ASLEEP_UPDATES is asleep. In a tree of more than SKIP_MEMBERS members
 * without a recent change, one half of the sleepers is skipped in one update and the other half in
 * the next. A hash of the pid selects the half, so that workers that were started in sequence are
 * spread over both. All other members are read in each update.
 *
 * - Totals are exact: a clock is never reset, so the usage of a skipped sleeper is found one update
 *   later, or in the counters of the process that reaped it.
 * - The ledger must find that a member has gone in the same update in which its parent shows its
 *   usage, or that would count twice. If a member reaped a child, has gone, or was reaped by the
 *   caller, the update reads all members again from the first, as a parent must be read before its
 *   children.
 * - Pools of workers wake together: if sleepers used more than 1 % of a core, all others are read
 *   in the same update.
 * - Rates: a sleeper that woke while it was skipped may show the usage of two intervals. It is
 *   credited with at most what its threads can have used in one, and the tree with at most what the
 *   machine's cores can; the rest is published as soon as possible, at the latest in the last
 *   update.
 * - New members: an update that skips members examines all new processes, because it cannot
 *   determine which members ran and may have forked. With many of them no member is skipped.
 * - Peaks: before a sum becomes the peak the clocks of skipped members are read, and members whose
 *   clock changed are subtracted.
 * - Bytes, faults, memory, threads and the end of a single sleeper are shown one update later.
 *
 * After any of these events some updates read all members, so that a tree with frequent forks and
 * exits costs no more than without skipping. Updates more than SKIP_APART_NS apart read all
 * members. */
#include <unistd.h>

#include "base/clock.h"
#include "probe/tree/private.h"

enum {
	SKIP_MEMBERS = 64,
	CALM_UPDATES = 4,     /* updates that read all members and found no change */
	NEWCOMER_CLOCKS = 64, /* reading so many clocks costs more than a new process */
	STIRRED_PART = 100,   /* part of the time of a core */
};

#define SKIP_APART_NS (2 * TRK_NS_PER_S)

/* True if examining all new processes is cheap, or would happen anyway. */
static bool has_few_newcomers(const struct trk_tree *t, pid_t newest)
{
	return newest >= t->gate_pid &&
	       (size_t) (newest - t->gate_pid) <= t->idle.looks * 4 + t->count / NEWCOMER_CLOCKS;
}

void trk__idle_skip_begin(struct trk_tree *t, uint64_t now_ns, pid_t newest)
{
	t->idle.apart_ns = now_ns - t->idle.updated_ns;
	t->idle.updated_ns = now_ns;
	t->idle.is_capped = (t->state.unseen > 0 || t->idle.held_ns > 0) && !t->idle.is_last;
	t->idle.is_on = t->options.skips_idle && !t->idle.is_last && t->count > SKIP_MEMBERS &&
			t->idle.calm_updates >= CALM_UPDATES && t->idle.apart_ns <= SKIP_APART_NS &&
			has_few_newcomers(t, newest);
	t->idle.again = t->idle.has_reaped = false;
	t->idle.woken_ns = t->state.late_cpu_ns = 0;
	t->state.unseen = t->idle.looks = 0;
}

bool trk__idle_skip_stirred(struct trk_tree *t, bool any_vanished)
{
	bool stirred = any_vanished || t->idle.has_reaped ||
		       t->idle.woken_ns > t->idle.apart_ns / STIRRED_PART;

	if (stirred)
		t->idle.calm_updates = 0;
	else if (t->idle.calm_updates < CALM_UPDATES)
		t->idle.calm_updates++;
	if (!stirred || t->state.unseen == 0)
		return false;
	t->idle.again = true;
	t->idle.is_on = false;
	t->state.unseen = 0;
	return true;
}

/* Count usage of members with `late`: at most what their threads can use in one interval. */
static void count_late(struct trk_tree *t)
{
	t->idle.any_late = false;
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint64_t due, most = t->idle.apart_ns * (p->threads ? p->threads : 1);

		if (!p->late || p->vanished)
			continue;
		due = p->clock_ns - p->own[TRK_TREE_CPU];
		if (most > due || t->idle.is_last)
			most = due;
		p->own[TRK_TREE_CPU] += most;
		t->ledger[TRK_TREE_CPU] += most;
		trk__programs_count(t, p, most);
		/* Read it in the next update even if it is idle. */
		p->late = p->dirty = due > most;
		t->idle.any_late |= p->late;
		t->state.late_cpu_ns += due - most;
	}
}

void trk__idle_skip_count(struct trk_tree *t)
{
	if (t->idle.any_late)
		count_late(t);
}

void trk__idle_skip_hold(struct trk_tree *t)
{
	uint64_t known = t->ledger[TRK_TREE_CPU], most = UINT64_MAX;

	if (t->idle.is_capped) {
		if (t->cores == 0) {
			long online = sysconf(_SC_NPROCESSORS_ONLN);

			t->cores = online > 0 ? (uint64_t) online : 1;
		}
		most = t->idle.shown_ns + t->cores * t->idle.apart_ns;
	}
	t->idle.shown_ns = known < most ? known : most;
	t->idle.held_ns = known - t->idle.shown_ns;
	t->state.late_cpu_ns += t->idle.held_ns;
}

void trk__idle_skip_doubt(struct trk_tree *t, uint64_t *ret_bytes, size_t *ret_processes)
{
	uint64_t bytes = 0, clock_ns;
	size_t processes = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];
		int r;

		if (!p->skipped)
			continue;
		r = trk__clock_pid_cpu_ns(p->pid, &clock_ns);
		if (r == 0 && clock_ns == p->clock_ns)
			continue;
		bytes += p->pss_bytes;
		processes += !p->zombie;
		t->idle.calm_updates = 0;
	}
	*ret_bytes = bytes;
	*ret_processes = processes;
}

void trk__tree_force_full(struct trk_tree *t)
{
	t->idle.calm_updates = 0;
}

void trk__tree_close_accounts(struct trk_tree *t)
{
	t->idle.is_last = true;
}
