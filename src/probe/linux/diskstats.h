/* Bytes that the machine's disks have read and written.
 *
 * Source: /proc/diskstats. Its sector is 512 bytes whatever the device's own sector size is
 * (Documentation/block/stat.rst). */
#ifndef TRK_PROBE_LINUX_DISKSTATS_H
#define TRK_PROBE_LINUX_DISKSTATS_H

#include "base/env.h"
#include "probe/linux/meter.h"

struct trk_diskstat {
	const char *name; /* view into the text, not terminated */
	size_t name_len;
	uint64_t reads, writes; /* completed requests */
	uint64_t read_bytes, write_bytes;
};

/* Parse the line at *at and advance to the next one. Pure. Returns 1; 0 at the end of the text;
 * -EBADMSG for a malformed line (*at has advanced then, too). */
int trk__diskstat_parse(const char **at, struct trk_diskstat *ret);

/* The counters that follow the name, which are all of /sys/block/NAME/stat. Pure. 0 or -EBADMSG. */
int trk__diskstat_counters_parse(const char *text, struct trk_diskstat *ret);

enum { TRK_DISK_METER_QUICK = 3 };

/* Totals over the whole disks of the machine: what goes through a partition, dm, md or loop device
 * also goes through the disk below and counts there once; zram and ram are memory. At most 1024
 * devices; no allocation in an update once every device has been seen.
 *
 * Where few disks count, the table with all its partitions and loop devices is read every ten
 * seconds only, which finds new devices, and between that each disk's own file, which the kernel
 * makes from the same counters. */
struct trk_disk_meter {
	struct trk_meter meter;
	const struct trk_env *env; /* borrowed */
	int fd;                    /* /proc/diskstats, kept open */
	int sys_fd;                /* borrowed */
	char *text;                /* owned */
	uint64_t table_ns;         /* when the table was read last */
	uint64_t requests;         /* that the disks that count had completed by then, since boot */
	/* The disks that count, if they are few: their place in the meter, and stat kept open. */
	size_t quick_count;
	struct {
		size_t member;
		int fd;
	} quick[TRK_DISK_METER_QUICK];
};

/* Returns 0 or a negative errno; _release is due either way. env is borrowed until _release. */
int trk__disk_meter_init(struct trk_disk_meter *m, const struct trk_env *env);
void trk__disk_meter_release(struct trk_disk_meter *m);
/* Monotone totals since the first update, which gives 0 and 0. Returns 0 or a negative errno. */
int trk__disk_meter_update(struct trk_disk_meter *m, uint64_t *ret_read_bytes,
			   uint64_t *ret_write_bytes);

#endif
