/* Whose turn it is: in a large tree those that sleep are looked at in every second update.
 *
 * To ask the kernel for the CPU clock of a process that did nothing is most of what such a process
 * costs. A member whose clock has stood still for ASLEEP_UPDATES is asleep: in a tree of more than
 * TURNS_MEMBERS in which nothing stirs, half of the sleepers are skipped in one update and the other half
 * in the next. Which half a member belongs to is drawn from its pid, so that workers that were started
 * in a row do not all fall into one. Everybody else is looked at in each update. What this changes, and
 * what it must not change:
 *
 * - Totals. A clock is never reset, so nothing is lost: what a sleeper used unseen is found at its next
 *   look, one update later, or arrives with its end in the figures of who reaped it.
 * - The ledger must see a member that has gone in the update in which its parent shows what it used, or
 *   that would count twice. A parent that has reaped (its children's faults or times have grown), a
 *   member that has gone and one that the caller has reaped therefore make this update look at everybody:
 *   once more from the first, as a parent must be read before its children.
 * - Pools of workers that wake together. If sleepers are found to have used more than 1 % of a core since,
 *   all others are looked at in the same update: half a pool is never shown in one and the rest in another.
 * - Rates. A lone sleeper that woke unseen may have used two intervals' worth when it is found. It is
 *   shown no more than its threads can have used in one, and the tree as a whole no more than the
 *   machine's cores; the rest is shown as soon as there is room, at the latest with the last update.
 *   What a process has exited with is held to the cores alone.
 * - Newcomers. That only members that ran can have forked is of no use where it is not known who ran: in
 *   an update that skips somebody all newcomers are examined, and where those are many nobody is skipped.
 * - Peaks. Memory that a sleeper has freed unseen may be counted with what another has taken since. Before
 *   a sum becomes the peak the clocks of those skipped are read after all, and those that moved left out.
 * - Bytes, faults, memory, threads and the end of a lone sleeper are shown one update later than they
 *   might be, and what it moved then is not spread.
 *
 * After anything of this kind some updates look at everybody, so that a tree in which processes come and
 * go costs no more than without turns. Updates more than TURNS_APART_NS apart look at everybody too. */
#include <unistd.h>

#include "base/clock.h"
#include "probe/tree_private.h"

enum {
	TURNS_MEMBERS = 64,
	CALM_UPDATES = 4,     /* in which everybody was looked at and nothing stirred */
	NEWCOMER_CLOCKS = 64, /* of so many members cost more than a look at a newcomer */
	STIRRED_PART = 100,   /* of the time of a core */
};

#define TURNS_APART_NS (2 * TRK_NS_PER_S)

/* Examining newcomers must be what the update would do anyway, or be cheap. */
static bool has_few_newcomers(const struct trk_tree *t, pid_t newest)
{
	return newest >= t->gate_pid &&
	       (size_t) (newest - t->gate_pid) <= t->looks * 4 + t->count / NEWCOMER_CLOCKS;
}

TRK_HOT void trk__turns_begin(struct trk_tree *t, uint64_t now_ns, pid_t newest)
{
	t->apart_ns = now_ns - t->updated_ns;
	t->updated_ns = now_ns;
	t->is_capped = (t->state.unseen > 0 || t->held_ns > 0) && !t->is_last;
	t->by_turns = t->options.by_turns && !t->is_last && t->count > TURNS_MEMBERS &&
		      t->calm_updates >= CALM_UPDATES && t->apart_ns <= TURNS_APART_NS &&
		      has_few_newcomers(t, newest);
	t->again = t->has_reaped = false;
	t->woken_ns = t->state.late_cpu_ns = 0;
	t->state.unseen = t->looks = 0;
}

TRK_HOT bool trk__turns_stirred(struct trk_tree *t, bool any_vanished)
{
	bool stirred = any_vanished || t->has_reaped || t->woken_ns > t->apart_ns / STIRRED_PART;

	if (stirred)
		t->calm_updates = 0;
	else if (t->calm_updates < CALM_UPDATES)
		t->calm_updates++;
	if (!stirred || t->state.unseen == 0)
		return false;
	t->again = true;
	t->by_turns = false;
	t->state.unseen = 0;
	return true;
}

/* Those that were found late: what their threads can have used since the last update. */
static void count_late(struct trk_tree *t)
{
	t->any_late = false;
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint64_t due, most = t->apart_ns * (p->threads ? p->threads : 1);

		if (!p->late || p->vanished)
			continue;
		due = p->clock_ns - p->own[TRK_TREE_CPU];
		if (most > due || t->is_last)
			most = due;
		p->own[TRK_TREE_CPU] += most;
		t->ledger[TRK_TREE_CPU] += most;
		/* It is looked at in the next update even if it stands still. */
		p->late = p->dirty = due > most;
		t->any_late |= p->late;
		t->state.late_cpu_ns += due - most;
	}
}

TRK_HOT void trk__turns_count(struct trk_tree *t)
{
	if (t->any_late)
		count_late(t);
}

TRK_HOT void trk__turns_hold(struct trk_tree *t)
{
	uint64_t known = t->ledger[TRK_TREE_CPU], most = UINT64_MAX;

	if (t->is_capped) {
		if (t->cores == 0) {
			long online = sysconf(_SC_NPROCESSORS_ONLN);

			t->cores = online > 0 ? (uint64_t) online : 1;
		}
		most = t->shown_ns + t->cores * t->apart_ns;
	}
	t->shown_ns = known < most ? known : most;
	t->held_ns = known - t->shown_ns;
	t->state.late_cpu_ns += t->held_ns;
}

void trk__turns_doubt(struct trk_tree *t, uint64_t *ret_bytes, size_t *ret_processes)
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
		t->calm_updates = 0;
	}
	*ret_bytes = bytes;
	*ret_processes = processes;
}

void trk__tree_rouse(struct trk_tree *t)
{
	t->calm_updates = 0;
}

void trk__tree_close_accounts(struct trk_tree *t)
{
	t->is_last = true;
}
