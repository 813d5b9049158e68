/* macOS has no control groups and counts no kills: a recording without an end stays as it is. */
#include "probe/linux/cgroup.h"

#include <errno.h>

int trk__cgroup_keyed_parse(const char *text, const char *key, uint64_t *ret)
{
	(void) text;
	(void) key;
	(void) ret;
	return -EOPNOTSUPP;
}

int trk__vmstat_oom_kills(int proc_fd, uint64_t *ret)
{
	(void) proc_fd;
	(void) ret;
	return -EOPNOTSUPP;
}
