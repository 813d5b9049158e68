#include "probe/linux/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"

enum {
	PATH_SIZE = 256,
	LEVELS_MAX = 16,    /* limit of nesting such as dm over md over partitions */
	PAGE_HEAD_SIZE = 4, /* of a SCSI vital product data page */
	SECTOR_BYTES = 512, /* of /sys/block/NAME/size, whatever the device's own sector is */
};

void trk__device_text(const char *text, size_t len, char ret[TRK_DEVICE_TEXT])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < TRK_DEVICE_TEXT - 1; i++) {
		unsigned char c = (unsigned char) text[i];

		if (c == '\n' || c == '\0')
			break;
		if (c < 0x20 || c > 0x7e || (c == ' ' && n == 0))
			continue;
		ret[n++] = (char) c;
	}
	while (n > 0 && ret[n - 1] == ' ')
		n--;
	ret[n] = '\0';
}

/* Read the file `what` of `base`, without its first `skip` bytes. */
static bool read_text(int sys_fd, const char *base, const char *what, size_t skip,
		      char ret[TRK_DEVICE_TEXT])
{
	char text[256];
	ssize_t len = trk__read_at(sys_fd, TRK_PATH("%s/%s", base, what), text, sizeof(text));

	ret[0] = '\0';
	if (len > (ssize_t) skip)
		trk__device_text(text + skip, (size_t) len - skip, ret);
	return ret[0] != '\0';
}

static uint64_t read_number(int sys_fd, const char *base, const char *what)
{
	char text[TRK_DEVICE_TEXT];
	const char *at = text;
	uint64_t value;

	return read_text(sys_fd, base, what, 0, text) && trk__scan_u64(&at, &value) ? value : 0;
}

/* A slash in a device's name (cciss/c0d0) is a '!' in sysfs. */
static void base_of(const char *folder, const char *name, char base[PATH_SIZE])
{
	(void) snprintf(base, PATH_SIZE, "%s/%s", folder, name);
	for (char *c = base + strlen(folder) + 1; *c; c++)
		if (*c == '/')
			*c = '!';
}

void trk__disk_device_read(int sys_fd, const char *name, struct trk_disk_device *ret)
{
	char base[PATH_SIZE], rotates[TRK_DEVICE_TEXT];
	uint64_t sectors;

	*ret = (struct trk_disk_device){.type = NULL};
	if (sys_fd < 0)
		return;
	base_of("block", name, base);
	if (!read_text(sys_fd, base, "device/model", 0, ret->model))
		(void) read_text(sys_fd, base, "device/name", 0, ret->model); /* of an SD card */
	(void) read_text(sys_fd, base, "device/vendor", 0, ret->vendor);
	if (!read_text(sys_fd, base, "serial", 0, ret->serial) && /* virtio */
	    !read_text(sys_fd, base, "device/serial", 0, ret->serial))
		(void) read_text(sys_fd, base, "device/vpd_pg80", PAGE_HEAD_SIZE, ret->serial);
	if (read_text(sys_fd, base, "queue/rotational", 0, rotates))
		ret->type = rotates[0] == '1' ? "hdd" : "ssd";
	if (!strncmp(name, "nvme", 4))
		ret->type = "nvme";
	sectors = read_number(sys_fd, base, "size");
	ret->capacity_bytes = sectors <= UINT64_MAX / SECTOR_BYTES ? sectors * SECTOR_BYTES : 0;
}

/* The last two components of the target of a link in sysfs. */
static bool read_link(int sys_fd, const char *path, char last[TRK_DEVICE_NAME],
		      char before[TRK_DEVICE_NAME])
{
	char target[1024], *slash;

	(void) trk__read_link_at(sys_fd, path, target, sizeof(target));
	slash = strrchr(target, '/');
	if (!slash || strlen(slash + 1) >= TRK_DEVICE_NAME)
		return false;
	(void) snprintf(last, TRK_DEVICE_NAME, "%s", slash + 1);
	*slash = '\0';
	slash = strrchr(target, '/');
	if (before && strlen(slash ? slash + 1 : target) < TRK_DEVICE_NAME)
		(void) snprintf(before, TRK_DEVICE_NAME, "%s", slash ? slash + 1 : target);
	return last[0] != '\0';
}

void trk__net_device_read(int sys_fd, const char *name, struct trk_net_device *ret)
{
	char base[PATH_SIZE];

	memset(ret, 0, sizeof(*ret));
	if (sys_fd < 0)
		return;
	base_of("class/net", name, base);
	(void) read_text(sys_fd, base, "address", 0, ret->address);
	(void) read_text(sys_fd, base, "operstate", 0, ret->operstate);
	if (!read_link(sys_fd, TRK_PATH("%s/device/driver", base), ret->driver, NULL))
		ret->driver[0] = '\0';
	ret->speed_mbps = read_number(sys_fd, base, "speed"); /* -1 or an error without a link */
	if (ret->speed_mbps >= UINT32_MAX)
		ret->speed_mbps = 0;
	ret->mtu = read_number(sys_fd, base, "mtu");
}

/* ---- the disk below a device ---- */

static bool first_slave(int sys_fd, const char *name, char ret[TRK_DEVICE_NAME])
{
	TRK_DIR_CLEANUP DIR *dir =
		trk__list_dir_at(sys_fd, TRK_PATH("class/block/%s/slaves", name));
	struct dirent *entry;
	bool found = false;

	/* Directory entries are unordered: take the first by name, so that the result is stable. */
	while ((entry = trk__next_entry(dir))) {
		if (strlen(entry->d_name) >= TRK_DEVICE_NAME)
			continue;
		if (!found || strcmp(entry->d_name, ret) < 0)
			(void) snprintf(ret, TRK_DEVICE_NAME, "%s", entry->d_name);
		found = true;
	}
	return found;
}

bool trk__disk_below_name(int sys_fd, const char *device, char ret[TRK_DEVICE_NAME])
{
	char name[TRK_DEVICE_NAME], next[TRK_DEVICE_NAME];

	if (sys_fd < 0 || strlen(device) >= sizeof(name) || strchr(device, '/'))
		return false;
	(void) snprintf(name, sizeof(name), "%s", device);
	for (int level = 0; level < LEVELS_MAX; level++) {
		if (faccessat(sys_fd, TRK_PATH("class/block/%s/partition", name), F_OK, 0) == 0) {
			if (!read_link(sys_fd, TRK_PATH("class/block/%s", name), name, next))
				return false;
		} else if (!first_slave(sys_fd, name, next)) {
			if (faccessat(sys_fd, TRK_PATH("class/block/%s", name), F_OK, 0) < 0)
				return false;
			for (size_t i = 0; name[i]; i++)
				if (name[i] == '!')
					name[i] = '/';
			memcpy(ret, name, sizeof(name));
			return true;
		}
		memcpy(name, next, sizeof(name));
	}
	return false;
}

bool trk__disk_below(int sys_fd, unsigned int major, unsigned int minor, char ret[TRK_DEVICE_NAME])
{
	char name[TRK_DEVICE_NAME];

	return read_link(sys_fd, TRK_PATH("dev/block/%u:%u", major, minor), name, NULL) &&
	       trk__disk_below_name(sys_fd, name, ret);
}
