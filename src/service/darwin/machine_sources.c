/* The sources of macOS: each is tried as a run would use it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "probe/darwin/host.h"
#include "probe/darwin/process.h"
#include "probe/host.h"
#include "service/check.h"

static void check_processes(struct trk_check *f)
{
	struct trk_mac_usage u;
	struct trk_mac_brief b;
	bool can = trk__mac_brief(getpid(), &b) == 0 && trk__mac_usage(getpid(), &u) == 0;

	trk__check_set(f, "CPU time of a process and its children",
		       can ? TRK_CHECK_GOOD : TRK_CHECK_BAD, "proc_pid_rusage",
		       "libproc does not answer");
}

static void check_others(struct trk_check *f)
{
	struct trk_mac_usage u;
	bool can = trk__mac_usage(1, &u) == 0;

	trk__check_set(f, "processes of other users", can ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "proc_pid_rusage",
		       "set-user-id programs of the job, such as sudo, are seen and not measured: "
		       "run as root to measure them");
}

static void check_memory(struct trk_check *f)
{
	struct trk_mac_usage u;
	bool can = trk__mac_usage(getpid(), &u) == 0 && u.footprint_bytes > 0 && u.peak_bytes > 0;

	trk__check_set(f, "memory as footprint, and its peak", can ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
		       "ri_phys_footprint, ri_lifetime_max_phys_footprint",
		       "libproc does not answer");
}

static void check_clock(struct trk_check *f)
{
	char source[160];
	uint64_t hz = trk__mac_number("hw.tbfrequency");

	(void) snprintf(source, sizeof(source), "hw.tbfrequency: %llu Hz", (unsigned long long) hz);
	trk__check_set(f, "unit of times", hz ? TRK_CHECK_GOOD : TRK_CHECK_BAD, source,
		       "times are taken as nanoseconds");
}

static void check_machine(struct trk_check *list)
{
	struct trk_host *host = trk__host_new();
	struct trk_host_cpu cpu;
	struct trk_host_memory memory;
	struct trk_host_space space;
	uint64_t in, out;
	bool can = host && trk__host_cpu(host, &cpu) == 0 && trk__host_memory(&memory) == 0 &&
		   trk__host_net(&in, &out) == 0 && trk__host_space(&space) == 0;

	trk__check_set(&list[0], "the machine", can ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "host_statistics, NET_RT_IFLIST2, getfsstat", "some columns stay empty");
	trk__check_set(&list[1], "bytes of the machine's disks",
		       host && trk__host_disks(host, &in, &out) == 0 ? TRK_CHECK_GOOD
								     : TRK_CHECK_PART,
		       "IOBlockStorageDriver", "IOKit names no disk");
	trk__host_free(host);
}

static void check_orphans(struct trk_check *f)
{
	trk__check_set(f, "orphans and daemons of the job", TRK_CHECK_PART,
		       "followed while they live",
		       "macOS gives them to launchd: what they use after the last sample is "
		       "missing, and the total CPU time is a lower bound");
}

size_t trk__machine_sources(const struct trk_env *env, const struct trk_gpu_hints *hints,
			    struct trk_check *list)
{
	size_t n = 0;

	check_processes(&list[n++]);
	check_others(&list[n++]);
	check_orphans(&list[n++]);
	check_memory(&list[n++]);
	check_clock(&list[n++]);
	check_machine(&list[n]);
	n += 2;
	trk__check_set(&list[n++], "GPUs, pressure", TRK_CHECK_BAD, "not read on macOS", "");
	return n;
}
