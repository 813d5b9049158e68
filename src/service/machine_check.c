/* Check the sources of figures on this machine, each as a run would use it, and the directory of
 * recordings, with hints for what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"
#include "probe/gpu/poller.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cgroup_own.h"
#include "probe/linux/perf_sampler.h"
#include "probe/perf.h"
#include "probe/stack/remote.h"
#include "recording/store.h"
#include "service/check.h"
#include "track/job.h"

enum { GPU_LOOKS = 30 };
#define GPU_LOOK_NS (100 * TRK_NS_PER_MS)

/* The hint is left out if the state is good. */
static void set(struct trk_check *f, const char *what, enum trk_check_state state,
		const char *source, const char *hint)
{
	*f = (struct trk_check){.what = what, .state = state};
	(void) snprintf(f->text, sizeof(f->text), "%.159s", source); /* one line of a table */
	(void) snprintf(f->hint, sizeof(f->hint), "%s", state == TRK_CHECK_GOOD ? "" : hint);
}

/* 0 or a negative errno of reading the start of a file. */
static int try_file(const char *path)
{
	char text[256];
	ssize_t len = trk__read_at(AT_FDCWD, path, text, sizeof(text));

	return len >= 0 || len == -EFBIG ? 0 : (int) len;
}

/* The first number of a file, or -1. */
static long number_in(const char *path)
{
	char text[64];
	const char *at = text;
	int64_t value;

	if (trk__read_at(AT_FDCWD, path, text, sizeof(text)) < 0 || !trk__scan_i64(&at, &value))
		return -1;
	return (long) value;
}

/* A source that is one file. */
static void check_file(struct trk_check *f, const char *what, const char *path,
		       enum trk_check_state without, const char *source, const char *hint)
{
	set(f, what, try_file(path) == 0 ? TRK_CHECK_GOOD : without, source, hint);
}

static void check_cpu(struct trk_check *f)
{
	uint64_t ns;
	bool own = trk__clock_pid_cpu_ns(getpid(), &ns) == 0;

	set(f, "CPU time of processes",
	    own && try_file("/proc/self/stat") == 0 ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
	    "CPU clock of each pid, /proc/PID/stat, wait4", "mount /proc");
}

static void check_perf(struct trk_check *f)
{
	int fd = trk__perf_open(0, TRK_PERF_DESCENDANTS);
	char hint[320];

	(void) snprintf(hint, sizeof(hint),
			"%s; matters only for children of a parent that ignores SIGCHLD: sysctl "
			"kernel.perf_event_paranoid=2 (now %ld), or CAP_PERFMON",
			fd < 0 ? trk__strerror(fd) : "",
			number_in("/proc/sys/kernel/perf_event_paranoid"));
	set(f, "children that are not waited for", fd >= 0 ? TRK_CHECK_GOOD : TRK_CHECK_PART,
	    "perf task-clock, inherited", hint);
	trk__close(fd);
}

static void check_orphans(struct trk_check *f)
{
	bool can = trk__job_can_adopt();

	set(f, "orphans and daemons of the job", can ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
	    "child subreaper", "needs Linux 3.4");
}

static void check_pss(struct trk_check *f)
{
	int own = try_file("/proc/self/smaps_rollup"), other = try_file("/proc/1/smaps_rollup");
	bool root = geteuid() == 0;

	set(f, "memory as PSS",
	    own < 0              ? TRK_CHECK_BAD
	    : other == 0 || root ? TRK_CHECK_GOOD
				 : TRK_CHECK_PART,
	    "/proc/PID/smaps_rollup",
	    own < 0 ? "needs Linux 4.14; RSS is used, which counts shared pages more "
		      "than once"
		    : "for your own processes; RSS is used for those of other users "
		      "(CAP_SYS_PTRACE would show them)");
}

static void check_io(struct trk_check *f)
{
	int own = try_file("/proc/self/io"), other = try_file("/proc/1/io");

	set(f, "disk bytes of processes",
	    own < 0      ? TRK_CHECK_BAD
	    : other == 0 ? TRK_CHECK_GOOD
			 : TRK_CHECK_PART,
	    "/proc/PID/io",
	    own < 0 ? "the kernel has no CONFIG_TASK_IO_ACCOUNTING"
		    : "for your own processes; those of other users are not counted");
}

/* 0 if the memory of a child can be read, as --lines does; else a negative errno. */
static int read_a_child(void)
{
	int mark = 4711, seen = 0, line[2], r = trk__os_pipe(line);
	pid_t pid;

	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0) { /* until this process closes the pipe, or ends */
		(void) close(line[1]);
		(void) !read(line[0], &seen, 1);
		_exit(0);
	}
	(void) close(line[0]);
	if (pid < 0) {
		r = -errno;
		(void) close(line[1]);
		return r;
	}
	r = trk__remote_process(&pid, (uint64_t) (uintptr_t) &mark, &seen, sizeof(seen));
	(void) close(line[1]);
	(void) waitpid(pid, NULL, 0);
	return r < 0 ? r : seen == mark ? 0 : -EFAULT;
}

static void check_stacks(struct trk_check *f)
{
	long yama = number_in("/proc/sys/kernel/yama/ptrace_scope");
	int r = read_a_child();
	char hint[320];

	if (r < 0)
		(void) snprintf(
			hint, sizeof(hint),
			"%s; --lines needs process_vm_readv: sysctl kernel.yama.ptrace_scope=1 or "
			"lower (now %ld), or a seccomp filter that allows it",
			trk__strerror(r), yama);
	else
		(void) snprintf(hint, sizeof(hint), "%s",
				"of jobs that run starts; attach to others needs sysctl "
				"kernel.yama.ptrace_scope=0 or CAP_SYS_PTRACE");
	set(f, "lines of Python programs",
	    r < 0                         ? TRK_CHECK_BAD
	    : yama >= 1 && geteuid() != 0 ? TRK_CHECK_PART
					  : TRK_CHECK_GOOD,
	    "memory of processes (process_vm_readv), CPython 3.9 to 3.14", hint);
}

static void check_native(struct trk_check *f)
{
	struct trk_perf_sampler own;
	char hint[320];
	int r = trk__perf_sampler_open(&own, 0, 49);

	if (r == 0)
		trk__perf_sampler_close(&own);
	(void) snprintf(hint, sizeof(hint),
			"%s; lines of Python are read all the same: sysctl "
			"kernel.perf_event_paranoid=2 (now %ld), CAP_PERFMON, or a seccomp filter "
			"that allows perf_event_open",
			r < 0 ? trk__strerror(r) : "",
			number_in("/proc/sys/kernel/perf_event_paranoid"));
	set(f, "lines of native code", r == 0 ? TRK_CHECK_GOOD : TRK_CHECK_PART,
	    "call chains in user space (perf_event_open, 49 Hz)", hint);
}

static void check_delay(struct trk_check *f)
{
	long on = number_in("/proc/sys/kernel/task_delayacct");

	set(f, "waiting for disks, per process", on == 1 ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
	    "delay accounting in /proc/PID/stat",
	    "sysctl kernel.task_delayacct=1, or boot with delayacct");
}

/* Why limits of the control group may be unknown; NULL: they are known. */
static const char *limits_unknown(const struct trk_cgroup *group)
{
	struct trk_cgroup_limits limits;
	struct trk_cgroup_usage usage;
	const char *doubt;

	(void) trk__cgroup_limits(group, &limits);
	doubt = trk__cgroup_limits_doubt(group, TRK_CGROUP_MEMORY, &limits);
	if (doubt || group->place[TRK_CGROUP_MEMORY].machine_root)
		return doubt;
	if (trk__cgroup_usage_some(group, TRK_CGROUP_KNOWS_MEMORY, &usage) < 0 ||
	    !(usage.known & TRK_CGROUP_KNOWS_MEMORY))
		return "the group's memory cannot be read: is the memory controller on for it?";
	return NULL;
}

static void check_cgroup(struct trk_check *f, const struct trk_env *env)
{
	static const char what[] = "limits and kills of the control group";
	struct trk_cgroup group;
	const struct trk_cgroup_place *place = &group.place[TRK_CGROUP_MEMORY];
	char source[160], path[TRK_CGROUP_TEXT_SIZE];
	const char *why;
	int r = trk__cgroup_open(&group, env, getpid());

	if (r < 0 || !place->version) {
		set(f, what, TRK_CHECK_BAD, "cgroup",
		    "no memory controller is found; limits are those of the machine");
		trk__cgroup_release(&group);
		return;
	}
	trk__cgroup_path(&group, TRK_CGROUP_MEMORY, path, sizeof(path));
	why = limits_unknown(&group);
	(void) snprintf(source, sizeof(source), "cgroup v%d %.100s%s", place->version, path,
			place->fallback       ? " instead of the group"
			: place->machine_root ? ", the machine: no limits"
			: strlen(place->dir) == place->mount_len
				? ", all that is visible here: limits above it are unknown"
				: "");
	set(f, what, why ? TRK_CHECK_PART : TRK_CHECK_GOOD, source, why ? why : "");
	trk__cgroup_release(&group);
}

/* Is there, or can there be, a control group that holds the job alone? */
static void check_own_group(struct trk_check *f, const struct trk_env *env)
{
	static const char what[] = "exact peak of the job's memory";
	char why[TRK_CGROUP_TEXT_SIZE], no_sibling[TRK_CGROUP_TEXT_SIZE];
	struct trk_cgroup group;
	pid_t self = getpid();
	bool alone = trk__cgroup_open(&group, env, self) == 0 &&
		     trk__cgroup_is_own(&group, TRK_CGROUP_MEMORY, self);

	if (alone)
		set(f, what, TRK_CHECK_GOOD, "the control group, which holds nothing else", "");
	else if (trk__cgroup_own_make(NULL, env, &group, "", true, why) == 0)
		set(f, what, TRK_CHECK_GOOD,
		    "a control group of the job's own, with run --cgroup below or auto", "");
	else if (trk__cgroup_own_make(NULL, env, &group, "", false, no_sibling) == 0)
		set(f, what, TRK_CHECK_GOOD,
		    TRK_PATH("a control group of the job's own, with run --cgroup auto; not below: "
			     "%s",
			     why),
		    "");
	else
		set(f, what, TRK_CHECK_PART, "samples, VmHWM, ru_maxrss", why);
	trk__cgroup_release(&group);
}

static void check_oom(struct trk_check *f)
{
	char *text = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, "/proc/vmstat", 1 << 16, &text);

	set(f, "out-of-memory kills of the machine",
	    len > 0 && strstr(text, "\noom_kill ") ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
	    "oom_kill in /proc/vmstat",
	    "needs Linux 4.13; kills are then known from the control group only");
	free(text);
}

static void check_system(struct trk_check *f)
{
	static const char *const files[] = {"/proc/stat", "/proc/meminfo", "/proc/diskstats",
					    "/proc/self/net/dev"};
	char hint[320] = "not readable:";
	enum trk_check_state state = TRK_CHECK_GOOD;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t n = strlen(hint);

		if (try_file(files[i]) == 0)
			continue;
		state = TRK_CHECK_PART;
		(void) snprintf(hint + n, sizeof(hint) - n, " %s", files[i]);
	}
	set(f, "the machine's CPU, memory, disks, network", state,
	    "/proc/stat, meminfo, diskstats, net/dev", hint);
}

static void check_descriptors(struct trk_check *f)
{
	struct rlimit files = {0, 0};
	char source[160], hint[320];

	(void) getrlimit(RLIMIT_NOFILE, &files);
	(void) snprintf(source, sizeof(source), "limit of %llu descriptors",
			(unsigned long long) files.rlim_cur);
	(void) snprintf(
		hint, sizeof(hint),
		"three are kept for each of %llu processes, further ones are read at a higher "
		"cost: ulimit -n 4096",
		(unsigned long long) (files.rlim_cur > 64 ? (files.rlim_cur - 64) / 3 : 0));
	set(f, "cheap reading of many processes",
	    files.rlim_cur >= 1024 ? TRK_CHECK_GOOD : TRK_CHECK_PART, source, hint);
}

/* GPU libraries are loaded only if there is a sign of a GPU. */
static void check_gpus(struct trk_check *f, const struct trk_env *env,
		       const struct trk_gpu_hints *hints)
{
	struct trk_gpu_poller *poller = trk__gpu_poller_new(env, TRK_GPU_AUTO, hints, NULL);
	const struct trk_gpu_reading *gpus = NULL;
	char source[160], hint[320];

	if (!poller) {
		set(f, "GPUs", TRK_CHECK_BAD, "none found",
		    "looked for: NVIDIA's driver (/dev/nvidiactl), amdgpu, i915 and xe "
		    "(/sys/class/drm)");
		return;
	}
	for (int i = 0; i < GPU_LOOKS && !(gpus && gpus->devices); i++) {
		if (trk__gpu_poller_state(poller) == TRK_GPU_USELESS)
			break;
		trk__gpu_poller_ask(poller, NULL, 0);
		gpus = trk__gpu_poller_take(poller, GPU_LOOK_NS, GPU_LOOKS * GPU_LOOK_NS);
		if (!gpus || !gpus->devices)
			(void) poll(NULL, 0, GPU_LOOK_NS / TRK_NS_PER_MS);
	}
	if (gpus && !gpus->devices)
		gpus = NULL;
	(void) snprintf(source, sizeof(source), "%s", trk__gpu_poller_text(poller));
	if (gpus)
		(void) snprintf(source, sizeof(source), "%s: %zu GPU%s, %.60s",
				trk__gpu_poller_text(poller), gpus->sums.gpus,
				gpus->sums.gpus == 1 ? "" : "s", gpus->device[0].name);
	(void) snprintf(
		hint, sizeof(hint), "utilisation: %s",
		gpus ? trk__gpu_why_text(gpus->sums.usage.why)
		     : "the driver reports nothing; docs/gpu.md lists what each driver needs");
	set(f, "GPUs",
	    !gpus                                   ? TRK_CHECK_BAD
	    : gpus->sums.usage.why == TRK_GPU_KNOWN ? TRK_CHECK_GOOD
						    : TRK_CHECK_PART,
	    source, hint);
	trk__gpu_poller_free(poller);
}

static void check_store(struct trk_check *f, const char *dir)
{
	struct trk_error error = {.code = 0};
	int fd = trk__store_open(dir, true, &error);

	if (!*dir)
		set(f, "recordings", TRK_CHECK_BAD, "the state directory",
		    "another user owns it or may write to it. Try: --recording DIR");
	else
		set(f, "recordings", fd >= 0 ? TRK_CHECK_GOOD : TRK_CHECK_BAD, dir, error.message);
	trk__close(fd);
}

int trk__machine_check(const char *dir, const struct trk_gpu_hints *hints,
		       struct trk_check list[TRK_CHECKS_MAX])
{
	struct trk_env env;
	int r = trk__env_init(&env);
	size_t n = 0;

	if (r < 0)
		return r;
	check_cpu(&list[n++]);
	check_file(&list[n++], "processes of other users", "/proc/1/stat", TRK_CHECK_PART,
		   "/proc/PID/stat",
		   "/proc is mounted with hidepid: processes of other users (and set-user-id "
		   "children) are not seen; ask for membership in its gid= group");
	check_orphans(&list[n++]);
	check_perf(&list[n++]);
	check_stacks(&list[n++]);
	check_native(&list[n++]);
	check_pss(&list[n++]);
	check_io(&list[n++]);
	check_system(&list[n++]);
	check_file(&list[n++], "stalls (pressure)", "/proc/pressure/cpu", TRK_CHECK_BAD,
		   "/proc/pressure",
		   "boot with psi=1, or a kernel of 4.20 and later with CONFIG_PSI");
	check_file(&list[n++], "waiting for a CPU", "/proc/self/schedstat", TRK_CHECK_BAD,
		   "/proc/PID/schedstat", "the kernel has no CONFIG_SCHED_INFO");
	check_delay(&list[n++]);
	check_cgroup(&list[n++], &env);
	check_own_group(&list[n++], &env);
	check_oom(&list[n++]);
	check_gpus(&list[n++], &env, hints);
	check_descriptors(&list[n++]);
	check_store(&list[n++], dir);
	trk__env_release(&env);
	return (int) n;
}
