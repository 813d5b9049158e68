/* Space on the machine's local storage, each file system once, as `df -l --total` counts.
 *
 * Source: /proc/self/mountinfo and statvfs(3). used = f_blocks - f_bfree and free = f_bavail, so
 * used + free is less than total by the reserve for root.
 *
 * Counted: file systems on storage, each once however often it is mounted (bind mounts, btrfs
 * subvolumes). ZFS shows each data set as a file system of its own with the pool's free space: the
 * used space is the sum of the mounted ones, the free space counts once a pool. An overlay counts
 * where nothing else does (the root of a container). Left out: pseudo file systems, tmpfs,
 * read-only images (squashfs, iso9660, erofs); and network and FUSE file systems with whatever is
 * mounted below them, because statvfs and even the walk along a path waits for ever for a dead
 * server. */
#ifndef TRK_PROBE_LINUX_SPACE_H
#define TRK_PROBE_LINUX_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "base/env.h"

/* One counted file system (or one data set of a ZFS pool). */
struct trk_space_member {
	unsigned int major, minor;
	char *source;        /* owned */
	char *point;         /* owned; a mount point from which it can be reached */
	char type[32];       /* of the file system */
	bool pooled;         /* shares the free space of its pool */
	size_t leader;       /* index of the pool's first member, else its own */
	uint64_t free_bytes; /* of the pool, gathered in the leader during an update */
	/* Of the last update, as df shows them; total 0: it did not answer. */
	uint64_t total_bytes, used_bytes, available_bytes;
};

/* No descriptor on a mount is kept: that would keep it from being unmounted. */
struct trk_space_meter {
	struct trk_space_member *member; /* owned; at most 1024 */
	size_t count, cap;
	int fd;     /* mountinfo, kept open: poll(2) reports a change of the table */
	bool stale; /* the table must be read */
	int (*statvfs)(const char *path, struct statvfs *buf); /* statvfs(3); a test's own */
};

/* Returns 0 or a negative errno; _release is due either way. */
int trk__space_meter_init(struct trk_space_meter *m, const struct trk_env *env);
void trk__space_meter_release(struct trk_space_meter *m);

/* Bytes. Reads the mount table at first and when it has changed, then each member's statvfs.
 * Returns 0; -ENODATA when no file system counts; else a negative errno. */
int trk__space_meter_update(struct trk_space_meter *m, uint64_t *ret_total, uint64_t *ret_used,
			    uint64_t *ret_free);

#endif
