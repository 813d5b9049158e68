/* The kind of a block device, which decides whether its traffic counts.
 *
 * Source: /sys/block and /sys/class/block; without /sys, the kernel's naming rules. */
#ifndef TRK_PROBE_LINUX_BLOCK_H
#define TRK_PROBE_LINUX_BLOCK_H

enum trk_block_kind {
	TRK_BLOCK_DISK,      /* a whole device that lies on no other: counted */
	TRK_BLOCK_PARTITION, /* its disk is counted */
	TRK_BLOCK_STACKED,   /* dm, md, loop (the disks below are counted); zram, ram (memory) */
	TRK_BLOCK_HIDDEN,    /* one path of a multipath NVMe disk whose head is counted */
};

/* sys_fd: directory descriptor of /sys (borrowed), or -1. `name` as in /proc/diskstats; a name that
 * sysfs does not list is classified by its form. A disk may be named like a partition (xvda1
 * without xvda on EC2): sysfs decides. */
enum trk_block_kind trk__block_kind(int sys_fd, const char *name);

#endif
