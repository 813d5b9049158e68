/* Space on the machine's local storage, counted as `df -l --total` does.
 *
 * Source: /proc/self/mountinfo and statvfs(3). used = f_blocks - f_bfree and free = f_bavail, so
 * used + free is less than total by the reserve for root.
 *
 * Counted: file systems on storage, each once however often it is mounted (bind mounts, btrfs
 * subvolumes). ZFS shows each data set as a separate file system with the pool's free space: the
 * used space of the mounted data sets is added up, the free space counts once per pool. An overlay
 * counts only if nothing else does (the root of a container). Not counted: pseudo file systems,
 * tmpfs, read-only images (squashfs, iso9660, erofs); and network and FUSE file systems and all
 * mounts below them, because statvfs and even a path lookup may wait for a dead server for ever. */
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
	uint64_t free_bytes; /* of the pool, set in the leader during an update */
	/* At the last update, as df shows them; total 0: statvfs failed. */
	uint64_t total_bytes, used_bytes, available_bytes;
};

enum { TRK_SPACE_MEMBERS = 1024 };

/* No descriptor on a mount is kept, as that would prevent unmounting it. */
struct trk_space_meter {
	struct trk_space_member *member; /* owned */
	size_t count, cap;
	int fd;     /* mountinfo, kept open: poll(2) reports a change of the table */
	bool stale; /* the table must be read */
	int (*statvfs)(const char *path, struct statvfs *buf); /* statvfs(3), or of a test */
};

/* Returns 0 or a negative errno; call _release in both cases. */
int trk__space_meter_init(struct trk_space_meter *m, const struct trk_env *env);
void trk__space_meter_release(struct trk_space_meter *m);

/* Sums in bytes. Reads the mount table if it has changed, and calls statvfs for each member.
 * Returns 0; -ENODATA when no file system counts; else a negative errno. */
int trk__space_meter_update(struct trk_space_meter *m, uint64_t *ret_total, uint64_t *ret_used,
			    uint64_t *ret_free);

#endif
