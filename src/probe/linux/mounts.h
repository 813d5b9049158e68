/* One mount of the mount table.
 *
 * Source: /proc/self/mountinfo (proc_pid_mountinfo(5)). The lines are in no order that may be
 * relied on: a mount can stand before its parent. */
#ifndef TRK_PROBE_LINUX_MOUNTS_H
#define TRK_PROBE_LINUX_MOUNTS_H

/* Octal escapes of the text fields are undone. root, point and source are empty when they do not
 * fit or are empty in the file: a path is never cut into another one. */
struct trk_mount {
	int id, parent;
	unsigned int major, minor;
	char root[256];   /* which part of the file system is mounted */
	char point[1024]; /* where */
	char type[32];    /* cut to fit: "fuse." and what follows may be long */
	char source[256]; /* device, export, data set, or any text */
};

/* Parse the line at *at and advance to the next one. Pure. Returns 1; 0 at the end of the text;
 * -EBADMSG for a line that is no mount (then *at has advanced too). */
int trk__mount_parse(const char **at, struct trk_mount *ret);

#endif
