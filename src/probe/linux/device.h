/* Properties of a disk or a network interface: model, address, driver.
 *
 * Source: /sys/block, /sys/class/net. None of it changes while the device exists: read it once. */
#ifndef TRK_PROBE_LINUX_DEVICE_H
#define TRK_PROBE_LINUX_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_DEVICE_TEXT = 64, TRK_DEVICE_NAME = 64 };

/* Texts are empty where unknown. */
struct trk_disk_device {
	char model[TRK_DEVICE_TEXT], vendor[TRK_DEVICE_TEXT], serial[TRK_DEVICE_TEXT];
	const char *type;        /* "nvme", "ssd", "hdd"; NULL: unknown */
	uint64_t capacity_bytes; /* 0: unknown */
};

struct trk_net_device {
	char address[TRK_DEVICE_TEXT], driver[TRK_DEVICE_TEXT], operstate[TRK_DEVICE_TEXT];
	uint64_t speed_mbps; /* 0: unknown, as for virtual interfaces and without a link */
	uint64_t mtu;        /* 0: unknown */
};

/* sys_fd: directory descriptor of /sys (borrowed), or -1. `name` as in /proc/diskstats,
 * /proc/net/dev. Missing values stay unknown. */
void trk__disk_device_read(int sys_fd, const char *name, struct trk_disk_device *ret);
void trk__net_device_read(int sys_fd, const char *name, struct trk_net_device *ret);

/* Copy the printable characters of text[0..len), a line of sysfs or the text of a SCSI page,
 * without leading and trailing blanks. Pure. */
void trk__device_text(const char *text, size_t len, char ret[TRK_DEVICE_TEXT]);

/* The whole disk that the device `major`:`minor` finally lies on: the disk of a partition, the
 * first disk of a dm or md device. False when sysfs does not list the device. */
bool trk__disk_below(int sys_fd, unsigned int major, unsigned int minor, char ret[TRK_DEVICE_NAME]);
/* As above, for a device name such as "sda1". */
bool trk__disk_below_name(int sys_fd, const char *device, char ret[TRK_DEVICE_NAME]);

#endif
