/* Bytes that the machine's disks have read and written.
 *
 * Source: /proc/diskstats. Its sectors are 512 bytes whatever the device's sector size is
 * (Documentation/block/stat.rst). */
#ifndef TRK_PROBE_LINUX_DISKSTATS_H
#define TRK_PROBE_LINUX_DISKSTATS_H

#include "base/env.h"
#include "probe/linux/meter.h"

struct trk_diskstat {
	const char *name; /* points into the text, no NUL */
	size_t name_len;
	uint64_t reads, writes; /* completed requests */
	uint64_t read_bytes, write_bytes;
};

/* Parse the line at *at and advance to the next one. Pure. Returns 1; 0 at the end of the text;
 * -EBADMSG for a malformed line (*at advances, too). */
int trk__diskstat_parse(const char **at, struct trk_diskstat *ret);

/* Parse the counters after the name, the content of /sys/block/NAME/stat. Pure. 0 or -EBADMSG. */
int trk__diskstat_counters_parse(const char *text, struct trk_diskstat *ret);

enum { TRK_DISK_METER_QUICK = 3 };

/* Totals of the machine's whole disks. I/O to a partition, dm, md or loop device also reaches the
 * disk below and counts only there; zram and ram are memory. At most 1024 devices; an update
 * allocates only for new devices.
 *
 * If at most TRK_DISK_METER_QUICK disks count, the table is read only every 10 s, to find new
 * devices. Other updates read each disk's own stat file, which has the same counters. */
struct trk_disk_meter {
	struct trk_meter meter;
	const struct trk_env *env; /* borrowed */
	int fd;                    /* /proc/diskstats, kept open */
	int sys_fd;                /* borrowed */
	char *text;                /* owned */
	uint64_t table_ns;         /* when the table was read last */
	/* The counted disks, if they are few: index in the meter, and stat, kept open. */
	size_t quick_count;
	struct {
		size_t member;
		int fd;
	} quick[TRK_DISK_METER_QUICK];
};

/* Returns 0 or a negative errno; call _release in both cases. env is borrowed until _release. */
int trk__disk_meter_init(struct trk_disk_meter *m, const struct trk_env *env);
void trk__disk_meter_release(struct trk_disk_meter *m);
/* Monotone totals since the first update, which returns 0 and 0. Returns 0 or a negative errno. */
int trk__disk_meter_update(struct trk_disk_meter *m, uint64_t *ret_read_bytes,
			   uint64_t *ret_write_bytes);

#endif
