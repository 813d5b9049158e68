/* Memory of the whole machine.
 *
 * Source: /proc/meminfo. All in bytes. */
#ifndef TRK_PROBE_LINUX_MEMINFO_H
#define TRK_PROBE_LINUX_MEMINFO_H

#include <stdbool.h>
#include <stdint.h>

struct trk_meminfo {
	uint64_t total, free;
	uint64_t available; /* Linux 3.14+; see has_available */
	bool has_available;
	uint64_t buffers;
	uint64_t cached;      /* page cache, shmem included */
	uint64_t reclaimable; /* SReclaimable */
	uint64_t active, inactive;
	uint64_t shmem;
	uint64_t swap_total, swap_free;
	uint64_t huge_pages;       /* in use, of hugetlbfs and of the default size */
	bool has_other_huge_pages; /* of another size */
};

/* Parse the text of the file. Pure. Returns 0, or -EBADMSG (no MemTotal) and leaves *ret
 * untouched. */
int trk__meminfo_parse(const char *text, struct trk_meminfo *ret);

/* If there are huge pages of another size, count those of all sizes; m->has_other_huge_pages stays
 * set if that fails. Source: nr_hugepages and free_hugepages in
 * /sys/kernel/mm/hugepages/hugepages-SIZE. */
void trk__meminfo_add_huge_pages(int sys_fd, struct trk_meminfo *m);

/* total - available; on older kernels total less free, buffers, cache and reclaimable slab. At
 * least 0: the figures of lxcfs may be inconsistent. */
uint64_t trk__meminfo_used(const struct trk_meminfo *m);

#endif
