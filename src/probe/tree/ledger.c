/* The ledger: sums of each counter over the tree, without double counting.
 *
 * A process has counters of its own usage and of its reaped children (their whole subtrees). While
 * a child lives, its own usage counts. When the parent reaps it, the parent's child counters grow
 * by the child's final total; of that growth, the part that was counted while the child lived must
 * not count again. So for each parent
 *
 *     news = growth of its child counters - last known totals of its children that vanished
 *
 * where news is the usage of children after their last reading, and of children that were never
 * read.
 *
 * Reading is not atomic: a parent is read before its children (they are later in the table), so a
 * child may be gone although the parent's counters, read a moment earlier, do not contain it yet.
 * They will at the next update, so the missing part is carried as a debt for one update. What has
 * not arrived by then never will (if a parent ignores SIGCHLD, the kernel reaps its children and
 * drops their counters) and is written off, so that it cannot hide later changes.
 *
 * If the parent of a vanished child vanished too, the usage went to the process that reaped the
 * parent. Usage of processes that the caller reaps arrives in the pool, which represents the
 * caller. */
#include <string.h>

#include "probe/tree/private.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void trk__ledger_read(struct trk_tree *t, struct process *p, const uint64_t own[TRK_TREE_COUNTERS],
		      const uint64_t inherited[TRK_TREE_COUNTERS])
{
	/* The earlier usage of a process that is older than the tree (attach) does not count. */
	bool baseline = p->fresh && p->start_ticks < t->start_ticks;

	for (int k = 0; k < TRK_TREE_COUNTERS; k++) {
		if (!baseline) {
			uint64_t gained = minus(inherited[k], p->inherited[k]);

			t->ledger[k] += minus(own[k], p->own[k]);
			if (k == TRK_TREE_CPU)
				trk__programs_count(t, p, minus(own[k], p->own[k]));
			p->gained[k] += gained;
			p->open |= gained > 0;
		} else {
			t->state.base[k] += own[k] + inherited[k];
		}
		p->own[k] = own[k];
		p->inherited[k] = inherited[k];
	}
	if (baseline) {
		p->base_cpu_ns = own[TRK_TREE_CPU];
		p->base_read_bytes = inherited[TRK_TREE_READ_BYTES];
		p->base_write_bytes =
			minus(inherited[TRK_TREE_WRITE_BYTES], inherited[TRK_TREE_CANCELLED_BYTES]);
	}
	p->fresh = false;
}

/* The process that receives the final usage of a vanished one: a live member, the pool, or a
 * process outside the tree (NULL). */
static struct process *receiver_of(struct trk_tree *t, const struct process *p)
{
	int depth;

	for (depth = 0; depth < 64; depth++) {
		struct process *parent;

		if (p->reaped)
			return &t->pool;
		parent = trk__tree_find(t, p->ppid);
		if (!parent) /* trk__tree_reaped handles children of the caller */
			return NULL;
		if (!parent->vanished)
			return parent;
		p = parent;
	}
	return NULL;
}

static void hand_over(struct trk_tree *t, struct process *p)
{
	struct process *receiver = receiver_of(t, p);

	trk__programs_vanished(t, p, receiver);
	for (int k = 0; k < TRK_TREE_COUNTERS; k++) {
		/* The part of the receiver's gain that was already counted: own and inherited usage,
		 * without gains of this update, which are not settled; and the last figures of its
		 * children, which it received after the last reading. */
		uint64_t counted =
			p->own[k] + minus(p->inherited[k], p->gained[k]) + p->debt[k] + p->lost[k];

		if (receiver) {
			receiver->lost[k] += counted;
			receiver->open = true;
		}
		p->lost[k] = p->debt[k] = p->gained[k] = 0;
	}
}

/* Record evidence that the kernel dropped the usage of some child. Page faults are used because
 * times are rounded down to ticks. Usage from wait4(2) is complete, so a part that is missing in
 * the pool will not arrive. */
static void note_dropped(struct trk_tree *t, const struct process *p, uint64_t missing)
{
	bool is_final = t->is_last && p == &t->pool;

	t->state.dropped_faults += is_final ? missing : missing - p->debt[TRK_TREE_MINOR_FAULTS];
}

static void settle_one(struct trk_tree *t, struct process *p)
{
	p->open = false;
	for (int k = 0; k < TRK_TREE_COUNTERS; k++) {
		uint64_t due = p->debt[k] + p->lost[k];

		if (p->gained[k] >= due) {
			t->ledger[k] += p->gained[k] - due;
			if (k == TRK_TREE_CPU)
				trk__programs_arrived(t, p, p->gained[k] - due);
			if (k == TRK_TREE_MINOR_FAULTS || k == TRK_TREE_MAJOR_FAULTS)
				t->gone.faults += p->gained[k] - due;
			p->debt[k] = 0;
		} else {
			uint64_t missing = due - p->gained[k];
			/* Times of children are rounded down to ticks, so this much may seem to be
			 * missing. */
			uint64_t slack = k <= TRK_TREE_CPU_SYSTEM ? 2 * t->tick_ns : 0;
			uint64_t most = p->lost[k] + slack;

			p->debt[k] = missing < most ? missing : most;
			p->open |= p->debt[k] > 0;
			if (k == TRK_TREE_MINOR_FAULTS)
				note_dropped(t, p, missing);
		}
		p->gained[k] = p->lost[k] = 0;
	}
}

void trk__ledger_settle(struct trk_tree *t)
{
	size_t i;

	t->programs.tails = 0;
	for (i = 0; i < t->count; i++)
		if (t->process[i].vanished)
			hand_over(t, &t->process[i]);
	for (i = 0; i < t->count; i++)
		if (!t->process[i].vanished && t->process[i].open)
			settle_one(t, &t->process[i]);
	if (t->pool.open)
		settle_one(t, &t->pool);
}
