#include "probe/linux/block.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"

enum { NAME_SIZE = 96 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Memory, files and mappings: "loop0", "dm-0", "md127", also "md_home" and "md_d0". */
static bool is_stacked_name(const char *name)
{
	static const char *const prefixes[] = {"loop", "ram",  "zram",   "dm-",
					       "md",   "drbd", "bcache", "zd"};

	if (starts_with(name, "md_"))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts_with(name, prefixes[i]) && is_digit(name[strlen(prefixes[i])]))
			return true;
	return false;
}

/* The head of a path of a multipath NVMe disk: nvme0c1n2 is a path to nvme0n2. */
static bool nvme_head(const char *name, char head[NAME_SIZE])
{
	const char *at, *path;
	uint64_t number;

	if (!starts_with(name, "nvme"))
		return false;
	at = name + strlen("nvme");
	if (!is_digit(*at) || !trk__scan_u64(&at, &number) || *at != 'c')
		return false;
	path = at++;
	if (!is_digit(*at) || !trk__scan_u64(&at, &number) || *at != 'n')
		return false;
	(void) snprintf(head, NAME_SIZE, "%.*s%s", (int) (path - name), name, at);
	return true;
}

/* By name alone: sda1, vda1, xvda1, hda1, dasda1 end in a digit after letters; nvme0n1p1,
 * mmcblk0p1, nbd0p1, cciss/c0d0p1 have a p between two digits. */
static enum trk_block_kind kind_by_name(const char *name)
{
	static const char *const lettered[] = {"sd", "vd", "xvd", "hd", "dasd", "ubd"};
	size_t len = strlen(name), stem = len;
	char head[NAME_SIZE];

	if (is_stacked_name(name))
		return TRK_BLOCK_STACKED;
	while (stem > 0 && is_digit(name[stem - 1]))
		stem--;
	if (stem == 0 || stem == len)
		return TRK_BLOCK_DISK;
	for (size_t i = 0; i < sizeof(lettered) / sizeof(lettered[0]); i++)
		if (starts_with(name, lettered[i]))
			return TRK_BLOCK_PARTITION;
	if (stem > 1 && name[stem - 1] == 'p' && is_digit(name[stem - 2]))
		return TRK_BLOCK_PARTITION;
	return nvme_head(name, head) ? TRK_BLOCK_HIDDEN : TRK_BLOCK_DISK;
}

static bool exists(int dirfd, const char *base, const char *what)
{
	return faccessat(dirfd, TRK_PATH("%s/%s", base, what), F_OK, 0) == 0;
}

static bool has_entries(int dirfd, const char *base, const char *what)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(dirfd, TRK_PATH("%s/%s", base, what));

	return trk__next_entry(dir) != NULL;
}

/* True for one path of a multipath disk whose head is counted. On older kernels the counters of a
 * head are all 0, while a counting head has at least the reads of its partition table; then the
 * paths are counted. */
static bool is_hidden_path(int sys_fd, const char *base, const char *name)
{
	char text[512], head[NAME_SIZE];

	if (trk__read_at(sys_fd, TRK_PATH("%s/hidden", base), text, sizeof(text)) <= 0 ||
	    text[0] != '1')
		return false;
	if (!nvme_head(name, head))
		return true;
	return trk__read_at(sys_fd, TRK_PATH("block/%s/stat", head), text, sizeof(text)) <= 0 ||
	       strpbrk(text, "123456789");
}

enum trk_block_kind trk__block_kind(int sys_fd, const char *name)
{
	char sys_name[NAME_SIZE], base[NAME_SIZE + 32];

	if (sys_fd < 0)
		return kind_by_name(name);
	/* A slash in a device's name (cciss/c0d0) is a '!' in sysfs. */
	(void) snprintf(sys_name, sizeof(sys_name), "%s", name);
	for (char *c = sys_name; *c; c++)
		if (*c == '/')
			*c = '!';
	/* /sys/block lists whole devices only. If sysfs lacks the name, a sandbox shows only part
	 * of it: classify by name. */
	(void) snprintf(base, sizeof(base), "block/%s", sys_name);
	if (faccessat(sys_fd, base, F_OK, 0) < 0) {
		(void) snprintf(base, sizeof(base), "class/block/%s", sys_name);
		if (faccessat(sys_fd, base, F_OK, 0) < 0)
			return kind_by_name(name);
		if (exists(sys_fd, base, "partition"))
			return TRK_BLOCK_PARTITION;
	}
	if (is_stacked_name(name) || has_entries(sys_fd, base, "slaves"))
		return TRK_BLOCK_STACKED;
	return is_hidden_path(sys_fd, base, name) ? TRK_BLOCK_HIDDEN : TRK_BLOCK_DISK;
}
