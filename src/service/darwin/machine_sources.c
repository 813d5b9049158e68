/* The sources of macOS: each is tried as a run would use it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "probe/darwin/disks.h"
#include "probe/darwin/host.h"
#include "probe/darwin/process.h"
#include "service/machine_sources.h"

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

static void check_machine(struct trk_check *f)
{
	struct trk_mac_cpu cpu = {0};
	struct trk_mac_memory memory;
	struct trk_mac_space space;
	uint64_t received, sent;
	bool can = trk__mac_cpu_read(&cpu) == 0 && trk__mac_memory_read(&memory) == 0 &&
		   trk__mac_net_read(&received, &sent) == 0 && trk__mac_space_read(&space) == 0;

	trk__check_set(f, "the machine", can ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "host_statistics, NET_RT_IFLIST2, getfsstat", "some columns stay empty");
}

static void check_disks(struct trk_check *f)
{
	struct trk_mac_disks disks;
	uint64_t in, out;
	bool can = trk__mac_disks_init(&disks, NULL) == 0 &&
		   trk__mac_disks_update(&disks, &in, &out) == 0;

	trk__mac_disks_release(&disks);
	trk__check_set(f, "bytes of the machine's disks", can ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "IOBlockStorageDriver", "IOKit names no disk");
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
	check_machine(&list[n++]);
	check_disks(&list[n++]);
	trk__check_set(&list[n++], "GPUs, pressure", TRK_CHECK_BAD, "not read on macOS", "");
	return n;
}
