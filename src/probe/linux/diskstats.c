/* Bytes that the machine's disks have read and written.
 *
 * Source: /proc/diskstats. Its sectors are 512 bytes whatever the device's sector size is
 * (Documentation/block/stat.rst). Only whole disks count: I/O to a partition, dm, md or loop device
 * also reaches the disk below and counts there; zram and ram are memory. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "probe/linux/block.h"
#include "probe/linux/meter.h"

enum {
	SECTOR_BYTES = 512, /* the unit of the file, also for disks with sectors of 4096 bytes */
	NUMBERS = 11,       /* of a line; 15 since Linux 4.18 (discards), 17 since 5.5 (flushes) */
	READ = 2,           /* sectors */
	WRITTEN = 6,
};

static int parse(const char **at, struct trk_meter_line *ret)
{
	const char *s = *at;
	uint64_t major, minor, value[NUMBERS];
	struct trk_meter_line d;
	int n = 0;

	if (*s == '\0')
		return 0;
	*at = trk__skip_line(s);
	if (!trk__scan_u64(&s, &major) || !trk__scan_u64(&s, &minor))
		return -EBADMSG;
	d.name = s = trk__skip_blanks(s);
	d.name_len = strcspn(s, " \t\n");
	s += d.name_len;
	while (n < NUMBERS && trk__scan_u64(&s, &value[n]))
		n++;
	/* Partitions of kernels before 2.6.25 have four numbers. */
	if (d.name_len == 0 || n < NUMBERS ||
	    __builtin_mul_overflow(value[READ], SECTOR_BYTES, &d.in) ||
	    __builtin_mul_overflow(value[WRITTEN], SECTOR_BYTES, &d.out))
		return -EBADMSG;
	*ret = d;
	return 1;
}

static void classify(struct trk_meter_member *member, size_t count, int sys_fd)
{
	for (size_t i = 0; i < count; i++)
		if (member[i].is_new)
			member[i].counted =
				trk__block_kind(sys_fd, member[i].name) == TRK_BLOCK_DISK;
}

const struct trk_meter_table trk__diskstats = {"diskstats", parse, classify};
