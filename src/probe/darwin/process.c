#include "probe/darwin/process.h"

#include <errno.h>
#include <libproc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t trk__mac_ticks_ns(uint64_t ticks, uint64_t hz)
{
	return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

static uint64_t ns(uint64_t ticks)
{
	static uint64_t hz;
	size_t size = sizeof(hz);

	/* Read once; concurrent threads read the same value. */
	if (hz == 0 && (sysctlbyname("hw.tbfrequency", &hz, &size, NULL, 0) < 0 || hz == 0))
		hz = NS_PER_S;
	return trk__mac_ticks_ns(ticks, hz);
}

uint64_t trk__mac_now_ns(void)
{
	/* mach_absolute_time() has other units under Rosetta than the figures of processes. */
	return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

int trk__mac_brief(pid_t pid, struct trk_mac_brief *ret)
{
	enum { ZOMBIES_TOO = 1 };
	struct proc_bsdshortinfo info;

	if (proc_pidinfo(pid, PROC_PIDT_SHORTBSDINFO, ZOMBIES_TOO, &info, sizeof(info)) !=
	    (int) sizeof(info))
		return -ESRCH;
	*ret = (struct trk_mac_brief){
		.ppid = (pid_t) info.pbsi_ppid,
		.has_ended = info.pbsi_status == SZOMB,
	};
	memcpy(ret->name, info.pbsi_comm, strnlen(info.pbsi_comm, sizeof(info.pbsi_comm)));
	return 0;
}

int trk__mac_usage(pid_t pid, struct trk_mac_usage *ret)
{
	struct rusage_info_v4 u;

	if (proc_pid_rusage(pid, RUSAGE_INFO_V4, (rusage_info_t *) (void *) &u) != 0)
		return errno == EPERM || errno == EACCES ? -EPERM : -ESRCH;
	*ret = (struct trk_mac_usage){
		.start_ns = ns(u.ri_proc_start_abstime),
		.user_ns = ns(u.ri_user_time),
		.system_ns = ns(u.ri_system_time),
		.child_user_ns = ns(u.ri_child_user_time),
		.child_system_ns = ns(u.ri_child_system_time),
		.page_ins = u.ri_pageins,
		.child_page_ins = u.ri_child_pageins,
		.footprint_bytes = u.ri_phys_footprint,
		.peak_bytes = u.ri_lifetime_max_phys_footprint,
		.resident_bytes = u.ri_resident_size,
		.read_bytes = u.ri_diskio_bytesread,
		.written_bytes = u.ri_diskio_byteswritten,
	};
	return 0;
}

int trk__mac_threads(pid_t pid)
{
	struct proc_taskinfo info;

	if (proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &info, sizeof(info)) != (int) sizeof(info))
		return -ESRCH;
	return info.pti_threadnum;
}

int trk__mac_children(pid_t pid, pid_t *pids, int max)
{
	int n = proc_listchildpids(pid, pids, max * (int) sizeof(*pids));

	return n < 0 ? -errno : n;
}

/* The kernel's buffer: number of arguments, path of the program, padding, arguments, and the
 * environment, which is ignored. */
ssize_t trk__mac_arguments(pid_t pid, char *text, size_t size)
{
	int name[] = {CTL_KERN, KERN_PROCARGS2, pid}, count;
	size_t len = 256 * 1024, at, from; /* ARG_MAX is 1 MiB; the rest is cut */
	char *all = malloc(len);
	ssize_t n = -ENOMEM;

	if (!all)
		return n;
	n = -ESRCH;
	if (sysctl(name, 3, all, &len, NULL, 0) < 0 || len < sizeof(count))
		goto end;
	memcpy(&count, all, sizeof(count));
	at = sizeof(count) + strnlen(all + sizeof(count), len - sizeof(count));
	while (at < len && all[at] == '\0')
		at++;
	for (from = at; count > 0 && at < len; count--)
		at += strnlen(all + at, len - at) + 1;
	if (at > len)
		at = len;
	if (at - from > size - 1)
		at = from + size - 1;
	memcpy(text, all + from, at - from);
	text[at - from] = '\0';
	n = (ssize_t) (at - from);
end:
	free(all);
	return n;
}
