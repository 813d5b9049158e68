/* One mount of the mount table.
 *
 * Source: /proc/self/mountinfo (proc_pid_mountinfo(5)). The order of the lines is unspecified: a
 * mount may precede its parent. */
#ifndef TRK_PROBE_LINUX_MOUNTS_H
#define TRK_PROBE_LINUX_MOUNTS_H

#include <stddef.h>

/* Octal escapes are decoded. root, point and source are empty, not cut, when they do not fit. */
struct trk_mount {
	int id, parent;
	unsigned int major, minor;
	char root[1024];   /* directory of the file system that is mounted */
	char point[1024];  /* mount point */
	char type[32];     /* cut to fit: "fuse.NAME" may be long */
	char source[256];  /* device, export, data set, or any text */
	const char *super; /* options of the file system, in the text: no NUL */
	size_t super_len;
};

/* Parse the line at *at and advance to the next one. Pure. Returns 1; 0 at the end of the text;
 * -EBADMSG for a malformed line (*at advances, too). */
int trk__mount_parse(const char **at, struct trk_mount *ret);

#endif
