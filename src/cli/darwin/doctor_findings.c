/* What of macOS can be read here: each source is tried as a run would use it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/doctor_findings.h"
#include "probe/darwin/host.h"
#include "probe/darwin/process.h"

static void check_processes(struct cli_finding *f)
{
	struct trk_mac_usage u;
	struct trk_mac_brief b;
	bool can = trk__mac_brief(getpid(), &b) == 0 && trk__mac_usage(getpid(), &u) == 0;

	cli_finding_set(f, "CPU time of a process and its children", can ? CLI_GOOD : CLI_MISSING,
			"proc_pid_rusage", "libproc does not answer");
}

static void check_others(struct cli_finding *f)
{
	struct trk_mac_usage u;
	bool can = trk__mac_usage(1, &u) == 0;

	cli_finding_set(f, "processes of other users", can ? CLI_GOOD : CLI_PART, "proc_pid_rusage",
			"set-user-id programs of the job, such as sudo, are seen and not measured: "
			"run as root to measure them");
}

static void check_memory(struct cli_finding *f)
{
	struct trk_mac_usage u;
	bool can = trk__mac_usage(getpid(), &u) == 0 && u.footprint_bytes > 0 && u.peak_bytes > 0;

	cli_finding_set(f, "memory as footprint, and its peak", can ? CLI_GOOD : CLI_MISSING,
			"ri_phys_footprint, ri_lifetime_max_phys_footprint",
			"libproc does not answer");
}

static void check_clock(struct cli_finding *f)
{
	char source[160];
	uint64_t hz = trk__mac_number("hw.tbfrequency");

	(void) snprintf(source, sizeof(source), "hw.tbfrequency: %llu Hz", (unsigned long long) hz);
	cli_finding_set(f, "unit of times", hz ? CLI_GOOD : CLI_MISSING, source,
			"times are taken as nanoseconds");
}

static void check_machine(struct cli_finding *f)
{
	struct trk_mac_cpu cpu = {0};
	struct trk_mac_memory memory;
	struct trk_mac_space space;
	uint64_t received, sent;
	bool can = trk__mac_cpu_read(&cpu) == 0 && trk__mac_memory_read(&memory) == 0 &&
		   trk__mac_net_read(&received, &sent) == 0 && trk__mac_space_read(&space) == 0;

	cli_finding_set(f, "the machine", can ? CLI_GOOD : CLI_PART,
			"host_statistics, NET_RT_IFLIST2, getfsstat", "some columns stay empty");
}

static void check_orphans(struct cli_finding *f)
{
	cli_finding_set(f, "orphans and daemons of the job", CLI_PART, "followed while they live",
			"macOS gives them to launchd: what they use after the last look is "
			"missing, and the total of CPU time is a floor");
}

size_t cli_find(struct cli_finding *list, const struct trk_env *env)
{
	size_t n = 0;

	(void) env;
	check_processes(&list[n++]);
	check_others(&list[n++]);
	check_orphans(&list[n++]);
	check_memory(&list[n++]);
	check_clock(&list[n++]);
	check_machine(&list[n++]);
	cli_finding_set(&list[n++], "bytes of the machine's disks, GPUs, pressure", CLI_MISSING,
			"not read on macOS", "");
	return n;
}
