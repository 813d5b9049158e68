/* The table of top processes, live and ended. */
#include <string.h>

#include "probe/tree/private.h"

static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

static void describe(const struct process *p, struct trk_process_info *info)
{
	*info = (struct trk_process_info){
		.pid = p->pid,
		.alive = !p->vanished,
		.cpu_ns = since(p->own[TRK_TREE_CPU], p->base_cpu_ns),
		.peak_bytes = trk__peaks_of(p),
		.read_bytes = since(p->inherited[TRK_TREE_READ_BYTES], p->base_read_bytes),
		.write_bytes = since(since(p->inherited[TRK_TREE_WRITE_BYTES],
					   p->inherited[TRK_TREE_CANCELLED_BYTES]),
				     p->base_write_bytes),
	};
	memcpy(info->name, p->name, sizeof(info->name));
	memcpy(info->command, p->command, sizeof(info->command));
}

/* Keep the top ended processes: replace the smallest entry of a small board. */
static void board_offer(struct trk_process_info board[TOP_EXITED],
			const struct trk_process_info *info, bool by_memory)
{
	struct trk_process_info *least = board;

	for (int i = 1; i < TOP_EXITED; i++)
		if (by_memory ? board[i].peak_bytes < least->peak_bytes
			      : board[i].cpu_ns < least->cpu_ns)
			least = &board[i];
	if (by_memory ? info->peak_bytes > least->peak_bytes : info->cpu_ns > least->cpu_ns)
		*least = *info;
}

void trk__tree_remember(struct trk_tree *t, const struct process *p)
{
	struct trk_process_info info;

	describe(p, &info);
	board_offer(t->exited_cpu, &info, false);
	board_offer(t->exited_memory, &info, true);
}

/* Insert into top[0..*n), ordered by the larger of two scores: CPU and memory relative to the
 * tree's own totals, so that both kinds of heavy process are found. */
static double score(const struct trk_tree *t, const struct trk_process_info *info)
{
	double cpu = (double) info->cpu_ns / (double) (t->state.counter[TRK_TREE_CPU] + 1);
	double memory = (double) info->peak_bytes / (double) (t->state.peak_bytes + 1);

	return cpu > memory ? cpu : memory;
}

static void top_offer(const struct trk_tree *t, struct trk_process_info *top, size_t *n, size_t max,
		      const struct trk_process_info *info)
{
	size_t at;

	if (info->pid == 0)
		return;
	for (at = 0; at < *n; at++)
		if (top[at].pid == info->pid && top[at].cpu_ns == info->cpu_ns)
			return; /* it is on both boards */
	for (at = *n; at > 0 && score(t, &top[at - 1]) < score(t, info); at--)
		if (at < max)
			top[at] = top[at - 1];
	if (at == max)
		return;
	top[at] = *info;
	if (*n < max)
		++*n;
}

size_t trk__tree_top(struct trk_tree *t, struct trk_process_info *top, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct trk_process_info info;

		describe(&t->process[i], &info);
		top_offer(t, top, &n, max, &info);
	}
	for (int i = 0; i < TOP_EXITED; i++) {
		top_offer(t, top, &n, max, &t->exited_cpu[i]);
		top_offer(t, top, &n, max, &t->exited_memory[i]);
	}
	return n;
}
