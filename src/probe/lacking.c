/* Stubs of what is read on Linux only: perf clocks, CPU affinity, single disks and interfaces,
 * control groups of the job. */
#include <errno.h>
#include <stdio.h>

#include "probe/linux/affinity.h"
#include "probe/linux/cgroup_own.h"
#include "probe/linux/diskstats.h"
#include "probe/linux/netdev.h"
#include "probe/linux/pid_stat.h"
#include "probe/perf.h"

/* ---- single disks and interfaces, and /proc/PID/stat ---- */

int trk__disk_meter_init(struct trk_disk_meter *m, const struct trk_env *env)
{
	return -EOPNOTSUPP;
}

int trk__disk_meter_update(struct trk_disk_meter *m, uint64_t *ret_read, uint64_t *ret_written)
{
	return -EOPNOTSUPP;
}

void trk__disk_meter_release(struct trk_disk_meter *m)
{
}

int trk__net_meter_init(struct trk_net_meter *m, const struct trk_env *env)
{
	return -EOPNOTSUPP;
}

int trk__net_meter_update(struct trk_net_meter *m, uint64_t *ret_received, uint64_t *ret_sent)
{
	return -EOPNOTSUPP;
}

void trk__net_meter_release(struct trk_net_meter *m)
{
}

int trk__pid_stat_read(int proc_fd, pid_t pid, struct trk_pid_stat *ret)
{
	return -EOPNOTSUPP;
}

/* ---- perf clocks ---- */

int trk__perf_open(pid_t pid, enum trk_perf_scope scope)
{
	return -EOPNOTSUPP;
}

int trk__perf_read(int fd, uint64_t *ret_ns)
{
	return -EOPNOTSUPP;
}

/* ---- CPUs and control groups ---- */

int trk__affinity_count(pid_t pid)
{
	return -EOPNOTSUPP;
}

int trk__cgroup_own_make(struct trk_cgroup_own *own, const struct trk_env *env, const char *id,
			 char why[TRK_CGROUP_TEXT_SIZE])
{
	return trk__cgroup_own_check(env, why);
}

int trk__cgroup_own_check(const struct trk_env *env, char why[TRK_CGROUP_TEXT_SIZE])
{
	(void) snprintf(why, TRK_CGROUP_TEXT_SIZE, "this system has no control groups");
	return -EOPNOTSUPP;
}

void trk__cgroup_own_open(const struct trk_cgroup_own *own, struct trk_cgroup *cg)
{
}

void trk__cgroup_own_kill(const struct trk_cgroup_own *own)
{
}

void trk__cgroup_own_remove(struct trk_cgroup_own *own)
{
}
