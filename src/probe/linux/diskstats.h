/* Bytes that the machine's disks have read and written.
 *
 * Source: /proc/diskstats. Its sectors are 512 bytes whatever the device's sector size is
 * (Documentation/block/stat.rst). Only whole disks count: I/O to a partition, dm, md or loop device
 * also reaches the disk below and counts there; zram and ram are memory. */
#ifndef TRK_PROBE_LINUX_DISKSTATS_H
#define TRK_PROBE_LINUX_DISKSTATS_H

#include "probe/linux/meter.h"

extern const struct trk_meter_table trk__diskstats;

#endif
