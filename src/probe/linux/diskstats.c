#include "probe/linux/diskstats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/linux/block.h"

enum {
	SECTOR_BYTES = 512, /* the unit of the file, also for disks with sectors of 4096 bytes */
	TEXT_SIZE = 128 * 1024, /* about 1000 devices */
	MAX_DEVICES = 1024,
};

int trk__diskstat_parse(const char **at, struct trk_diskstat *ret)
{
	const char *s = *at;
	struct trk_diskstat d = {0};
	uint64_t major, minor, value[11];
	int n = 0;

	if (*s == '\0')
		return 0;
	*at = trk__skip_line(s);
	if (!trk__scan_u64(&s, &major) || !trk__scan_u64(&s, &minor))
		return -EBADMSG;
	s = trk__skip_blanks(s);
	d.name = s;
	d.name_len = strcspn(s, " \t\n");
	s += d.name_len;
	while (n < 11 && trk__scan_u64(&s, &value[n]))
		n++;
	/* 11 numbers, or 15 since Linux 4.18 (discards), or 17 since 5.5 (flushes). Partitions of
	 * kernels before 2.6.25 have four. */
	if (d.name_len == 0 || n < 11 || value[2] > UINT64_MAX / SECTOR_BYTES ||
	    value[6] > UINT64_MAX / SECTOR_BYTES)
		return -EBADMSG;
	d.reads = value[0];
	d.read_bytes = value[2] * SECTOR_BYTES;
	d.writes = value[4];
	d.write_bytes = value[6] * SECTOR_BYTES;
	d.busy_ms = value[9];
	*ret = d;
	return 1;
}

int trk__disk_meter_init(struct trk_disk_meter *m, const struct trk_env *env)
{
	*m = (struct trk_disk_meter){.sys_fd = env->sys_fd};
	trk__meter_init(&m->meter, MAX_DEVICES);
	m->text = malloc(TEXT_SIZE);
	m->fd = openat(env->proc_fd, "diskstats", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	return m->text ? 0 : -ENOMEM;
}

void trk__disk_meter_release(struct trk_disk_meter *m)
{
	trk__meter_release(&m->meter);
	trk__close(m->fd);
	free(m->text);
	m->text = NULL;
	m->fd = -1;
}

int trk__disk_meter_update(struct trk_disk_meter *m, uint64_t *ret_read_bytes,
			   uint64_t *ret_write_bytes)
{
	struct trk_diskstat d;
	const char *at = m->text;
	ssize_t len;
	int r;

	if (m->fd < 0 || !m->text)
		return -ENODATA;
	len = trk__read_lines_fd(m->fd, m->text, TEXT_SIZE);
	/* Too long: what does not fit is left out. The line that is cut fails to parse, unless all the
	 * numbers that we use are whole. */
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
	}
	(void) trk__meter_end(&m->meter);
	*ret_read_bytes = m->meter.in;
	*ret_write_bytes = m->meter.out;
	return 0;
}
