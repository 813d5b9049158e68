#include "probe/linux/meminfo.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
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

static int read_count(int dir_fd, const char *size, const char *file, uint64_t *ret)
{
	char text[32];
	ssize_t len = trk__read_once_at(dir_fd, TRK_PATH("%s/%s", size, file), text, sizeof(text));
	const char *at = text;

	if (len < 0)
		return (int) len;
	return trk__scan_u64(&at, ret) ? 0 : -EBADMSG;
}

static int read_pools(int sys_fd, uint64_t *ret)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(sys_fd, "kernel/mm/hugepages");
	struct dirent *entry;
	uint64_t sum = 0;

	if (!dir)
		return -ENOENT;
	while ((entry = trk__next_entry(dir))) {
		const char *size = trk__skip_prefix(entry->d_name, "hugepages-");
		uint64_t kib, all, unused, bytes;
		int r;

		if (!size || !trk__scan_u64(&size, &kib))
			continue;
		r = read_count(dirfd(dir), entry->d_name, "nr_hugepages", &all);
		if (r == 0)
			r = read_count(dirfd(dir), entry->d_name, "free_hugepages", &unused);
		if (r < 0)
			return r;
		if (__builtin_mul_overflow(all > unused ? all - unused : 0, kib << 10, &bytes) ||
		    __builtin_add_overflow(sum, bytes, &sum))
			return -EBADMSG;
	}
	*ret = sum;
	return 0;
}

void trk__meminfo_add_huge_pages(int sys_fd, struct trk_meminfo *m)
{
	if (m->has_other_huge_pages)
		m->has_other_huge_pages = read_pools(sys_fd, &m->huge_pages) < 0;
}

uint64_t trk__meminfo_used(const struct trk_meminfo *m)
{
	/* The sum cannot overflow: the parser limits each value to 1/8 of the range. */
	uint64_t rest =
		m->has_available ? m->available : m->free + m->buffers + m->cached + m->reclaimable;

	return m->total > rest ? m->total - rest : 0;
}
