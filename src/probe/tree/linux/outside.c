/* Memory of the tree that no size of a process contains: what is swapped out, and huge pages of
 * hugetlbfs.
 *
 * Source: VmSwap and HugetlbPages in PID/status. They are read only while the machine uses swap or
 * huge pages, within half the budget of smaps_rollup: of members that ran since their last reading,
 * and of all members if the machine's swap has changed, because the kernel also swaps out processes
 * that sleep. Both figures count what members share once for each of them. So there are bounds:
 *
 * - Only forks share swapped pages. The tree holds at least what the members hold that neither were
 *   forked nor have forked, and the largest of the others.
 * - Any processes can map the same huge pages. The tree holds at least those of one member.
 * - The tree holds at most the sum, and at most what the machine has in use. */
#include "probe/linux/pid_status.h"
#include "probe/tree/private.h"

static const uint64_t COST_UNKNOWN_NS = 15000;          /* of one reading */
static const uint64_t LITTLE_BYTES = UINT64_C(1) << 20; /* less in use is not looked at */
static const uint64_t MOVED_BYTES = UINT64_C(256) << 10;

/* The kernel counts resident pages in batches: one that shows none can hold huge pages. */
static bool holds(const struct process *p)
{
	return !p->zombie && !p->space_of;
}

static bool is_due(const struct trk_tree *t, const struct process *p)
{
	return holds(p) && (!p->has_outside || t->swap_moved || p->clock_ns != p->outside_clock_ns);
}

/* Read the members that are due. False: the budget does not allow it now. */
static bool read_members(struct trk_tree *t)
{
	uint64_t start_ns = t->env.thread_cpu_ns(), count = 0;

	if (t->outside_cost_ns == 0)
		t->outside_cost_ns = COST_UNKNOWN_NS;
	for (size_t i = 0; i < t->count; i++)
		count += is_due(t, &t->process[i]);
	if (count == 0)
		return true;
	if (!trk__pss_budget_allows(&t->outside_budget, (double) (count * t->outside_cost_ns)))
		return false;
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];
		struct trk_pid_status status;

		if (!is_due(t, p) || trk__tree_read_status(t, p, &status) < 0)
			continue;
		p->has_outside = true;
		p->outside_clock_ns = p->clock_ns;
		p->swap_bytes = status.swap_bytes;
		p->huge_bytes = status.huge_bytes;
	}
	start_ns = t->env.thread_cpu_ns() - start_ns;
	t->outside_cost_ns = (t->outside_cost_ns + start_ns / count) / 2;
	trk__pss_budget_charge(&t->outside_budget, start_ns);
	return true;
}

void trk__outside_take_share(struct process *p, uint64_t swap_pss_bytes)
{
	p->has_swap_share = p->swap_bytes > 0;
	if (p->has_swap_share)
		p->swap_share = swap_pss_bytes < p->swap_bytes
					? (float) swap_pss_bytes / (float) p->swap_bytes
					: 1;
}

/* From the sum, what is certain of it, and what it is by the shares that were read. */
static void bound(uint64_t all, uint64_t sure, uint64_t best, uint64_t in_use,
		  struct trk_tree_outside *ret)
{
	ret->is_known = true;
	ret->most = trk__least_of(all, in_use);
	ret->least = trk__least_of(sure, ret->most);
	ret->best = trk__least_of(best > ret->least ? best : ret->least, ret->most);
}

static void add_up(struct trk_tree *t, uint64_t swap_in_use, uint64_t huge_in_use)
{
	uint64_t swap = 0, sure = 0, largest = 0, best = 0, huge = 0, largest_huge = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (!holds(p))
			continue;
		swap += p->swap_bytes;
		sure += p->shares ? 0 : p->swap_bytes;
		if (p->shares && p->swap_bytes > largest)
			largest = p->swap_bytes;
		best += p->shares && p->has_swap_share
				? (uint64_t) ((double) p->swap_bytes * (double) p->swap_share)
				: p->swap_bytes;
		huge += p->huge_bytes;
		if (p->huge_bytes > largest_huge)
			largest_huge = p->huge_bytes;
	}
	bound(swap, sure + largest, best, swap_in_use, &t->state.swap);
	bound(huge, largest_huge, huge, huge_in_use, &t->state.huge);
}

void trk__tree_look_outside(struct trk_tree *t, uint64_t swap_in_use, uint64_t huge_in_use)
{
	const struct trk_tree_outside none = {.is_known = true};

	if (swap_in_use < LITTLE_BYTES && huge_in_use < LITTLE_BYTES) {
		t->state.swap = t->state.huge = none;
		return;
	}
	trk__pss_budget_refill(&t->outside_budget, t->updated_ns);
	t->swap_moved = trk__distance(swap_in_use, t->swap_in_use) > MOVED_BYTES;
	if (!read_members(t))
		return;
	t->swap_in_use = swap_in_use;
	add_up(t, swap_in_use, huge_in_use);
}
