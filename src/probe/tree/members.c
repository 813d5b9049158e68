/* The table of members in the order of discovery, and the hash table that finds them by pid. */
#include <stdlib.h>
#include <string.h>

#include "probe/tree/private.h"

static size_t slot_of(const struct trk_tree *t, pid_t pid)
{
	return ((size_t) pid * 2654435761u) & (t->slots - 1);
}

struct process *trk__tree_find(struct trk_tree *t, pid_t pid)
{
	size_t i = slot_of(t, pid);

	for (; t->slot[i]; i = (i + 1) & (t->slots - 1))
		if (t->process[t->slot[i] - 1].pid == pid)
			return &t->process[t->slot[i] - 1];
	return NULL;
}

void trk__members_index(struct trk_tree *t, size_t index)
{
	size_t i = slot_of(t, t->process[index].pid);

	while (t->slot[i])
		i = (i + 1) & (t->slots - 1);
	t->slot[i] = (uint32_t) index + 1;
}

void trk__members_reindex(struct trk_tree *t)
{
	memset(t->slot, 0, t->slots * sizeof(*t->slot));
	for (size_t i = 0; i < t->count; i++)
		trk__members_index(t, i);
}

bool trk__members_grow(struct trk_tree *t)
{
	size_t cap = t->cap ? t->cap * 2 : 64;
	struct process *process;
	uint32_t *slot;

	if (cap > t->options.max_processes)
		return false;
	process = realloc(t->process, cap * sizeof(*process));
	if (!process)
		return false;
	t->process = process;
	slot = calloc(cap * 4, sizeof(*slot)); /* cap is a power of two */
	if (!slot)
		return false;
	free(t->slot);
	t->slot = slot;
	t->slots = cap * 4;
	t->cap = cap;
	trk__members_reindex(t);
	return true;
}
