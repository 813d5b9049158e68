/* Pure parsers of control group files, without I/O and without allocation.
 *
 * Sources: /proc/PID/cgroup (cgroups(7)), /proc/PID/mountinfo (proc_pid_mountinfo(5)), and the
 * files of a group as described in the kernel's Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/{memory,cpuacct,cpusets,pids}.rst, scheduler/sched-bwc.rst.
 * All return 0 (or a count) and leave *ret untouched on failure. */
#ifndef TRK_PROBE_LINUX_CGROUP_FILES_H
#define TRK_PROBE_LINUX_CGROUP_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "probe/linux/mounts.h"

#define TRK_CGROUP_PATH_SIZE 1024

/* One line of /proc/PID/cgroup. */
struct trk_cgroup_member {
	char controllers[64];            /* "cpu,cpuacct"; empty for v2 */
	char path[TRK_CGROUP_PATH_SIZE]; /* "/a/b", as the reader's cgroup namespace shows it */
};

/* Find the line of a v1 controller ("memory", "name=systemd"), or of v2 with NULL. The suffix "
 * (deleted)" of a removed group is cut. Returns 0, -ENOENT when there is no such line, -EBADMSG,
 * -ENAMETOOLONG. */
int trk__cgroup_member_parse(const char *text, const char *controller,
			     struct trk_cgroup_member *ret);

/* A hash of a text, such as that of /proc/PID/cgroup; never 0. */
uint64_t trk__text_hash(const char *text);

/* Find the mount of a v1 controller, or of v2 with NULL, in the text of a mountinfo file. Of
 * several, the one whose root is the longest prefix of `path` is used; among equals one at
 * /sys/fs/cgroup, then the last. A mount that is hidden by a later mount is ignored, as are
 * malformed lines. Returns 0 or -ENOENT. */
int trk__cgroup_mount_parse(const char *text, const char *controller, const char *path,
			    struct trk_mount *ret);

/* `path` relative to a mount whose root is `root`: "" for the root itself, or "/a/b"; points into
 * `path`. NULL when it does not lie below, or contains "..". */
const char *trk__cgroup_path_below(const char *path, const char *root);

/* A limit in bytes or processes: a number or "max". UINT64_MAX for none, which v1 writes as 2^63
 * rounded down to pages. Returns 0, or -EBADMSG. */
int trk__cgroup_limit_parse(const char *text, uint64_t *ret);

/* v2 cpu.max, "50000 100000" or "max 100000", as CPUs; NaN for none. Returns 0, or -EBADMSG. */
int trk__cgroup_cpu_max_parse(const char *text, double *ret);

/* v1 cpu.cfs_quota_us and cpu.cfs_period_us, as CPUs; NaN for none (-1). Returns 0, or -EBADMSG. */
int trk__cgroup_cfs_parse(const char *quota, const char *period, double *ret);

/* Number of CPUs in a list such as "0-3,8"; an empty list is 0. Returns 0, or -EBADMSG. */
int trk__cgroup_cpu_list_parse(const char *text, unsigned int *ret);

/* A single number. Returns 0, or -EBADMSG. */
int trk__cgroup_number_parse(const char *text, uint64_t *ret);

/* The value of one line "key value" of memory.stat, memory.events, cpu.stat, cgroup.events,
 * memory.oom_control, /proc/vmstat. Returns 0, -ENOENT when there is no such line, or -EBADMSG. */
int trk__cgroup_keyed_parse(const char *text, const char *key, uint64_t *ret);

#endif
