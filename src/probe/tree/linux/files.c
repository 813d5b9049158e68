/* Pages of files that the tree maps and has not changed. The kernel can drop them and read them
 * again from the file. Whether that does harm is unknown: the kernel does not tell whether a process
 * reads a page again. So the tree may need none of them, or all.
 *
 * Source: smaps_rollup. Pages of files are Pss_File; of these, the changed ones are those that are
 * dirty and neither anonymous nor shared memory. */
#include "probe/tree/private.h"

void trk__files_take(struct process *p, const struct trk_pid_smaps *s)
{
	uint64_t kept = s->anon_bytes + s->pss_shmem_bytes, file = s->pss_file_bytes;

	file -= s->dirty_bytes > kept ? trk__least_of(s->dirty_bytes - kept, file) : 0;
	p->file_part = p->round_mapped ? (float) file / (float) p->round_mapped : 0;
	if (p->file_part > 1)
		p->file_part = 1;
}

uint64_t trk__tree_file_bytes(const struct trk_tree *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct process *p = &t->process[i];

		if (p->read_update)
			sum += (double) p->mapped_bytes * (double) p->share * (double) p->file_part;
	}
	return trk__least_of((uint64_t) sum, t->mapped.best);
}
