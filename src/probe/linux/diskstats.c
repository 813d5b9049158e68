#include "probe/linux/diskstats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/block.h"

enum {
	SECTOR_BYTES = 512, /* the unit of the file, also for disks with sectors of 4096 bytes */
	TEXT_SIZE = 128 * 1024, /* about 1000 devices */
	MAX_DEVICES = 1024,
};

#define TABLE_INTERVAL_NS (10 * TRK_NS_PER_S)

int trk__diskstat_counters_parse(const char *text, struct trk_diskstat *ret)
{
	uint64_t value[11];
	int n = 0;

	while (n < 11 && trk__scan_u64(&text, &value[n]))
		n++;
	/* 11 numbers, or 15 since Linux 4.18 (discards), or 17 since 5.5 (flushes). Partitions of
	 * kernels before 2.6.25 have four. */
	if (n < 11 || value[2] > UINT64_MAX / SECTOR_BYTES || value[6] > UINT64_MAX / SECTOR_BYTES)
		return -EBADMSG;
	ret->reads = value[0];
	ret->read_bytes = value[2] * SECTOR_BYTES;
	ret->writes = value[4];
	ret->write_bytes = value[6] * SECTOR_BYTES;
	return 0;
}

int trk__diskstat_parse(const char **at, struct trk_diskstat *ret)
{
	const char *s = *at;
	struct trk_diskstat d = {0};
	uint64_t major, minor;

	if (*s == '\0')
		return 0;
	*at = trk__skip_line(s);
	if (!trk__scan_u64(&s, &major) || !trk__scan_u64(&s, &minor))
		return -EBADMSG;
	s = trk__skip_blanks(s);
	d.name = s;
	d.name_len = strcspn(s, " \t\n");
	s += d.name_len;
	if (d.name_len == 0 || trk__diskstat_counters_parse(s, &d) < 0)
		return -EBADMSG;
	*ret = d;
	return 1;
}

int trk__disk_meter_init(struct trk_disk_meter *m, const struct trk_env *env)
{
	*m = (struct trk_disk_meter){.env = env, .sys_fd = env->sys_fd};
	trk__meter_init(&m->meter, MAX_DEVICES);
	m->text = malloc(TEXT_SIZE);
	m->fd = openat(env->proc_fd, "diskstats", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	return m->text ? 0 : -ENOMEM;
}

static void drop_quick(struct trk_disk_meter *m)
{
	for (size_t i = 0; i < m->quick_count; i++)
		trk__close(m->quick[i].fd);
	m->quick_count = 0;
}

void trk__disk_meter_release(struct trk_disk_meter *m)
{
	drop_quick(m);
	trk__meter_release(&m->meter);
	trk__close(m->fd);
	free(m->text);
	m->text = NULL;
	m->fd = -1;
}

/* Open the stat files of the counted disks; not in a captured /proc, as they would not match. */
static void open_quick(struct trk_disk_meter *m)
{
	struct statfs fs;

	drop_quick(m);
	if (m->sys_fd < 0 || fstatfs(m->sys_fd, &fs) < 0 || fs.f_type != SYSFS_MAGIC)
		return;
	for (size_t i = 0; i < m->meter.count; i++) {
		int fd;

		if (!m->meter.member[i].counted)
			continue;
		fd = m->quick_count == TRK_DISK_METER_QUICK
			     ? -1
			     : openat(m->sys_fd, TRK_PATH("block/%s/stat", m->meter.member[i].name),
				      O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			drop_quick(m);
			return;
		}
		m->quick[m->quick_count].member = i;
		m->quick[m->quick_count++].fd = fd;
	}
}

/* Returns false when a disk cannot be read: it may be gone. */
static bool update_quick(struct trk_disk_meter *m)
{
	for (size_t i = 0; i < m->quick_count; i++) {
		struct trk_diskstat d;

		if (trk__read_once_fd(m->quick[i].fd, m->text, TEXT_SIZE) < 0 ||
		    trk__diskstat_counters_parse(m->text, &d) < 0)
			return false;
		trk__meter_take(&m->meter, &m->meter.member[m->quick[i].member], false,
				d.read_bytes, d.write_bytes);
	}
	return true;
}

static int update_table(struct trk_disk_meter *m)
{
	struct trk_diskstat d;
	const char *at = m->text;
	bool changed = false;
	ssize_t len;
	int r;

	len = trk__read_lines_fd(m->fd, m->text, TEXT_SIZE);
	/* The rest of a longer text is ignored. A cut line fails to parse unless all used numbers
	 * are complete. */
	if (len < 0 && len != -EFBIG)
		return (int) len;
	trk__meter_begin(&m->meter);
	while ((r = trk__diskstat_parse(&at, &d)) != 0) {
		struct trk_meter_member *member;
		bool is_new;

		if (r < 0)
			continue;
		member = trk__meter_find(&m->meter, d.name, d.name_len, &is_new);
		if (!member)
			continue;
		if (is_new)
			member->counted =
				trk__block_kind(m->sys_fd, member->name) == TRK_BLOCK_DISK;
		trk__meter_take(&m->meter, member, is_new, d.read_bytes, d.write_bytes);
		changed |= is_new;
	}
	if (trk__meter_end(&m->meter) || changed)
		open_quick(m);
	return 0;
}

static bool is_table_fresh(const struct trk_disk_meter *m)
{
	return m->quick_count > 0 && m->env->monotonic_ns() < m->table_ns + TABLE_INTERVAL_NS;
}

int trk__disk_meter_update(struct trk_disk_meter *m, uint64_t *ret_read_bytes,
			   uint64_t *ret_write_bytes)
{
	int r;

	if (m->fd < 0 || !m->text)
		return -ENODATA;
	if (!is_table_fresh(m) || !update_quick(m)) {
		r = update_table(m);
		if (r < 0)
			return r;
		m->table_ns = m->quick_count ? m->env->monotonic_ns() : 0;
	}
	*ret_read_bytes = m->meter.in;
	*ret_write_bytes = m->meter.out;
	return 0;
}
