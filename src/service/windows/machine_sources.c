/* The sources of Windows: each is tried as a run would use it. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "service/check.h"

#include <errno.h>

#include "base/file.h"
#include "base/os.h"
#include "base/windows/child.h"
#include "probe/host.h"
#include "probe/windows/nt.h"

/* Start a child that uses 25 ms of CPU time, in a job object, without an output. */
static int start_child(pid_t *ret_pid, bool *ret_in_job)
{
	char program[4096];
	const char *const v[] = {program, "doctor", "--work", "child", NULL};
	TRK_FD_CLEANUP int null_fd = open("/dev/null", O_WRONLY);
	HANDLE process, output = GetStdHandle(STD_OUTPUT_HANDLE);
	int r = trk__os_program(program, sizeof(program));

	if (r < 0 || null_fd < 0)
		return -EIO;
	(void) SetHandleInformation(trk__handle_of(null_fd), HANDLE_FLAG_INHERIT,
				    HANDLE_FLAG_INHERIT);
	(void) SetStdHandle(STD_OUTPUT_HANDLE, trk__handle_of(null_fd));
	r = trk__child_start((char *const *) (uintptr_t) v, NULL, trk__nt_job_make(), ret_pid,
			     &process, ret_in_job);
	(void) SetStdHandle(STD_OUTPUT_HANDLE, output);
	return r;
}

/* The totals of the job object, after the child has ended. */
static int try_job(struct trk_nt_totals *ret)
{
	bool in_job;
	pid_t pid;
	int status, r = start_child(&pid, &in_job);

	if (r < 0)
		return r;
	(void) waitpid(pid, &status, 0);
	if (!in_job)
		return -EPERM;
	trk__nt_job_begin();
	return trk__nt_job_totals(ret);
}

static void check_job(struct trk_check *list)
{
	struct trk_nt_totals totals = {0};
	int r = try_job(&totals);
	bool counts = totals.user_ns + totals.system_ns > 0;

	trk__check_set(&list[0], "descendants and orphans of the job",
		       r == 0 ? TRK_CHECK_GOOD : TRK_CHECK_PART, "job object",
		       "no job object can be used: found by their parents, while they live");
	trk__check_set(&list[1], "CPU time of all processes of the job",
		       r == 0 && counts ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "job object, charged at clock interrupts",
		       "job objects count no CPU time here (as under Wine): what processes use "
		       "after their last sample is missing, and the total is a lower bound");
	trk__check_set(&list[2], "peak of committed memory of the job",
		       r == 0 && totals.peak_commit_bytes ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
		       "PeakJobMemoryUsed", "job objects keep no peak here");
}

static void check_processes(struct trk_check *list)
{
	struct trk_nt_list l = {.process = NULL};
	const struct trk_nt_process *self =
		trk__nt_list_read(&l) == 0 ? trk__nt_list_find(&l, getpid()) : NULL;

	trk__check_set(&list[0], "processes, also of other users",
		       self ? TRK_CHECK_GOOD : TRK_CHECK_BAD, "NtQuerySystemInformation",
		       "it does not list this process");
	trk__check_set(
		&list[1], "memory of processes",
		self && self->private_bytes ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		"private working set",
		"not available here: the working set is used, which counts shared pages more "
		"than once");
	trk__nt_list_release(&l);
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
		       "GetSystemTimes, GlobalMemoryStatusEx, GetIfTable2, GetDiskFreeSpaceEx",
		       "some columns stay empty");
	trk__check_set(
		&list[1], "bytes of the machine's disks",
		host && trk__host_disks(host, &in, &out) == 0 ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
		"IOCTL_DISK_PERFORMANCE", "no disk reports its counters: these columns stay empty");
	trk__host_free(host);
}

size_t trk__machine_sources(const struct trk_env *env, const struct trk_gpu_hints *hints,
			    struct trk_check *list)
{
	size_t n = 0;

	check_job(&list[n]);
	n += 3;
	check_processes(&list[n]);
	n += 2;
	check_machine(&list[n]);
	n += 2;
	trk__check_set(&list[n++], "disk bytes of processes", TRK_CHECK_BAD,
		       "Windows counts transfers of files, pipes and the network together", "");
	trk__check_set(&list[n++], "GPUs",
		       trk__gpu_nvml.is_likely(env) ? TRK_CHECK_GOOD : TRK_CHECK_PART,
		       "NVML (nvml.dll)",
		       "no driver of NVIDIA is installed; GPUs of other vendors are not read");
	trk__check_set(&list[n++], "load, pressure", TRK_CHECK_BAD, "not read on Windows", "");
	return n;
}

#endif
