/* What macOS and Windows have in common: pids are not allocated in sequence, and the sums of memory
 * on systems where no page counts for two members (footprints of macOS, private
 * working sets of Windows), so that no estimate is needed. */
#include "probe/tree/private.h"

pid_t trk__tree_newest_pid(struct trk_tree *t)
{
	return -1;
}

bool trk__tree_discover(struct trk_tree *t)
{
	size_t before = t->count;

	if (!t->options.one_process)
		trk__tree_newcomers(t, -1);
	return t->count > before;
}

uint64_t trk__tree_read_cancelled(const struct trk_tree *t, pid_t pid)
{
	return 0;
}

void trk__memory_init(struct trk_tree *t)
{
}

void trk__sharing_gone(struct trk_tree *t, struct process *p)
{
}

bool trk__tree_shmem(const struct trk_tree *t, uint64_t *ret_bytes)
{
	return false;
}

uint64_t trk__tree_rss_slack(const struct trk_tree *t)
{
	return 0;
}

void trk__memory_update(struct trk_tree *t)
{
	struct trk_tree_state *s = &t->state;

	s->rss_bytes = s->pss_bytes = 0;
	s->unreadable_memory = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		s->rss_bytes += p->rss_bytes;
		s->pss_bytes += p->pss_bytes;
		s->unreadable_memory += p->pss_denied && !p->zombie;
	}
	trk__peaks_update(t, true);
}
