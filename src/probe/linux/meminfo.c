#include "probe/linux/meminfo.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

int trk__meminfo_parse(const char *text, struct trk_meminfo *ret)
{
	struct trk_meminfo m = {0};
	bool has_total = false;
	uint64_t pages = 0, free_pages = 0, page = 0, all_pools = 0, pool = 0;
	/* In the file's order, as the next line usually matches the next entry. */
	const struct trk_kib_line lines[] = {
		{"MemTotal:", &m.total, &has_total},
		{"MemFree:", &m.free, NULL},
		{"MemAvailable:", &m.available, &m.has_available},
		{"Buffers:", &m.buffers, NULL},
		{"Cached:", &m.cached, NULL},
		{"Active:", &m.active, NULL},
		{"Inactive:", &m.inactive, NULL},
		{"SwapTotal:", &m.swap_total, NULL},
		{"SwapFree:", &m.swap_free, NULL},
		{"Shmem:", &m.shmem, NULL},
		{"SReclaimable:", &m.reclaimable, NULL},
	};
	/* At the end of the file. The first two are numbers, which the parser takes for KiB. */
	const struct trk_kib_line huge_lines[] = {
		{"HugePages_Total:", &pages, NULL},
		{"HugePages_Free:", &free_pages, NULL},
		{"Hugepagesize:", &page, NULL},
		{"Hugetlb:", &all_pools, NULL}, /* Linux 4.19 */
	};
	const char *huge = strstr(text, "HugePages_Total:");
	int r = trk__kib_lines_parse(text, lines, sizeof(lines) / sizeof(lines[0]));

	if (r == 0 && huge)
		r = trk__kib_lines_parse(huge, huge_lines, 4);
	if (r < 0)
		return r;
	if (!has_total)
		return -EBADMSG;
	if (pages > free_pages && page <= m.total)
		m.huge_pages = (pages - free_pages) / 1024 * page;
	if (page <= m.total)
		pool = pages / 1024 * page;
	m.has_other_huge_pages = all_pools > pool;
	*ret = m;
	return 0;
}

uint64_t trk__meminfo_used(const struct trk_meminfo *m)
{
	/* The sum cannot overflow: the parser limits each value to 1/8 of the range. */
	uint64_t rest =
		m->has_available ? m->available : m->free + m->buffers + m->cached + m->reclaimable;

	return m->total > rest ? m->total - rest : 0;
}
