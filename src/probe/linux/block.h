/* What kind of block device a name stands for: is its traffic to be counted?
 *
 * Source: /sys/block and /sys/class/block; where /sys is not there, the kernel's naming rules. */
#ifndef TRK_PROBE_LINUX_BLOCK_H
#define TRK_PROBE_LINUX_BLOCK_H

enum trk_block_kind {
	TRK_BLOCK_DISK,      /* a whole device at the bottom: counted */
	TRK_BLOCK_PARTITION, /* its disk is counted */
	TRK_BLOCK_STACKED,   /* dm, md, loop, zram, ram: what lies below is counted, or is memory */
	TRK_BLOCK_HIDDEN,    /* one path of a multipath NVMe disk whose head is counted */
};

/* sys_fd: directory descriptor of /sys (borrowed), or -1. `name` as in /proc/diskstats; a name that
 * sysfs does not know is judged by its form. A disk may be called like a partition (xvda1 without
 * xvda on EC2): sysfs decides. */
enum trk_block_kind trk__block_kind(int sys_fd, const char *name);

#endif
