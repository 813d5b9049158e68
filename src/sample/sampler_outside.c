/* Memory of the tree that no size of a process contains: what is swapped out, and huge pages of
 * hugetlbfs. The machine's counters tell whether the processes must be read at all
 * (probe/tree/linux/outside.c). If a control group holds only the job, the swap is that of the group,
 * which includes shared memory and counts each page once. */
#include <math.h>

#include "base/clock.h"
#include "base/file.h"
#include "sample/sampler_private.h"

/* Between two ticks, --limit needs a newer figure after this time. */
#define FRESH_NS (TRK_NS_PER_S / 2)

static uint64_t swap_in_use(const struct trk_meminfo *m)
{
	return m->swap_total > m->swap_free ? m->swap_total - m->swap_free : 0;
}

static void look(struct trk_sampler *s, const struct trk_meminfo *m)
{
	uint64_t huge = m->has_other_huge_pages ? UINT64_MAX : m->huge_pages;

	if (huge < s->least_huge_bytes)
		s->least_huge_bytes = huge;
	s->huge_growth_bytes = huge - s->least_huge_bytes;
	s->outside_ns = s->env.monotonic_ns();
	trk__tree_look_outside(s->tree, swap_in_use(m), huge);
}

void trk__sampler_outside_baseline(struct trk_sampler *s)
{
	s->least_huge_bytes = s->now.has_memory ? s->now.memory.huge_pages : UINT64_MAX;
}

void trk__sampler_look_outside(struct trk_sampler *s)
{
	if (s->tree && !s->options.no_system && s->now.has_memory)
		look(s, &s->now.memory);
}

void trk__sampler_refresh_outside(struct trk_sampler *s)
{
	struct trk_meminfo m;

	if (s->env.monotonic_ns() < s->outside_ns + FRESH_NS)
		return;
	if (trk__read_at(s->env.proc_fd, "meminfo", s->text, SAMPLER_TEXT_SIZE) > 0 &&
	    trk__meminfo_parse(s->text, &m) == 0) {
		trk__meminfo_add_huge_pages(s->env.sys_fd, &m);
		look(s, &m);
	}
}

/* The growth of the machine's huge pages decides between the bounds. */
static double best_huge(const struct trk_sampler *s, const struct trk_tree_outside *huge)
{
	uint64_t best = huge->best;

	if (s->options.tree->subreaper && s->huge_growth_bytes < best)
		best = s->huge_growth_bytes > huge->least ? s->huge_growth_bytes : huge->least;
	return (double) best;
}

void trk__sampler_outside(const struct trk_sampler *s, const struct trk_cgroup_usage *usage,
			  struct outside *ret)
{
	const struct trk_tree_state *state = trk__tree_state(s->tree);

	*ret = (struct outside){NAN, NAN, NAN, NAN};
	if (state->swap.is_known) {
		ret->swap_bytes = (double) state->swap.best;
		ret->swap_least_bytes = (double) state->swap.least;
	}
	if (s->options.group_is_own && usage->known & TRK_CGROUP_KNOWS_SWAP)
		ret->swap_bytes = ret->swap_least_bytes =
			usage->swap_bytes > s->least_swap_bytes
				? (double) (usage->swap_bytes - s->least_swap_bytes)
				: 0;
	if (state->huge.is_known) {
		ret->huge_bytes = best_huge(s, &state->huge);
		ret->huge_least_bytes = (double) state->huge.least;
	}
}
