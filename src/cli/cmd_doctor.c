/* resource-tracker doctor: what can be measured here, from which source, and how to allow the
 * rest. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/os.h"
#include "base/parse.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/selftest.h"
#include "probe/gpu/poller.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/cgroup_own.h"
#include "probe/perf.h"
#include "probe/stack/remote.h"
#include "recording/store.h"
#include "track/job.h"

enum { GPU_LOOKS = 30 };
#define GPU_LOOK_NS (100 * TRK_NS_PER_MS)

enum state { GOOD, PART, MISSING };

struct finding {
	const char *what; /* static */
	enum state state;
	char source[160];
	char hint[320]; /* how to allow it; empty when there is nothing to do */
};

struct settings {
	bool json, selftest;
	const char *dir, *work;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "as one JSON document", cli_set_flag, offsetof(struct settings, json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text,
	 offsetof(struct settings, dir)},
	{"selftest", 0, NULL, "track jobs that know what they use, and compare (15 s)",
	 cli_set_flag, offsetof(struct settings, selftest)},
	{"work", 0, "NAME", "do the work of one of these jobs and print what it used", cli_set_text,
	 offsetof(struct settings, work)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static void set(struct finding *f, const char *what, enum state state, const char *source,
		const char *hint)
{
	*f = (struct finding){.what = what, .state = state};
	(void) snprintf(f->source, sizeof(f->source), "%s", source);
	(void) snprintf(f->hint, sizeof(f->hint), "%s", state == GOOD ? "" : hint);
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

static void check_cpu(struct finding *f)
{
	uint64_t ns;
	bool own = trk__clock_pid_cpu_ns(getpid(), &ns) == 0;

	set(f, "CPU time of processes", own && try_file("/proc/self/stat") == 0 ? GOOD : MISSING,
	    "CPU clock of each pid, /proc/PID/stat, wait4", "mount /proc");
}

static void check_others(struct finding *f)
{
	int r = try_file("/proc/1/stat");

	set(f, "processes of other users", r == 0 ? GOOD : PART, "/proc/PID/stat",
	    "/proc is mounted with hidepid: processes of other users (and set-user-id children) "
	    "are "
	    "not seen; ask for membership in its gid= group");
}

static void check_perf(struct finding *f)
{
	int fd = trk__perf_open(0, TRK_PERF_DESCENDANTS);
	char hint[320];

	(void) snprintf(hint, sizeof(hint),
			"%s; matters only for children of a parent that ignores SIGCHLD: sysctl "
			"kernel.perf_event_paranoid=2 (now %ld), or CAP_PERFMON",
			fd < 0 ? trk__strerror(fd) : "",
			number_in("/proc/sys/kernel/perf_event_paranoid"));
	set(f, "children that nobody waits for", fd >= 0 ? GOOD : PART,
	    "perf task-clock, inherited", hint);
	trk__close(fd);
}

static void check_orphans(struct finding *f)
{
	bool can = trk__job_can_adopt();

	set(f, "orphans and daemons of the job", can ? GOOD : MISSING, "child subreaper",
	    "needs Linux 3.4");
}

static void check_pss(struct finding *f)
{
	int own = try_file("/proc/self/smaps_rollup"), other = try_file("/proc/1/smaps_rollup");
	bool root = geteuid() == 0;

	set(f, "memory as PSS",
	    own < 0              ? MISSING
	    : other == 0 || root ? GOOD
				 : PART,
	    "/proc/PID/smaps_rollup",
	    own < 0 ? "needs Linux 4.14; RSS stands in, which counts shared pages more than once"
		    : "for your own processes; RSS stands in for those of other users "
		      "(CAP_SYS_PTRACE would show them)");
}

static void check_io(struct finding *f)
{
	int own = try_file("/proc/self/io"), other = try_file("/proc/1/io");

	set(f, "disk bytes of processes",
	    own < 0      ? MISSING
	    : other == 0 ? GOOD
			 : PART,
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

static void check_stacks(struct finding *f)
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
	    r < 0                         ? MISSING
	    : yama >= 1 && geteuid() != 0 ? PART
					  : GOOD,
	    "memory of processes (process_vm_readv), CPython 3.9 to 3.14", hint);
}

static void check_pressure(struct finding *f)
{
	int r = try_file("/proc/pressure/cpu");

	set(f, "stalls (pressure)", r == 0 ? GOOD : MISSING, "/proc/pressure",
	    "boot with psi=1, or a kernel of 4.20 and later with CONFIG_PSI");
}

static void check_wait(struct finding *f)
{
	set(f, "waiting for a CPU", try_file("/proc/self/schedstat") == 0 ? GOOD : MISSING,
	    "/proc/PID/schedstat", "the kernel has no CONFIG_SCHED_INFO");
}

static void check_delay(struct finding *f)
{
	long on = number_in("/proc/sys/kernel/task_delayacct");

	set(f, "waiting for disks, per process", on == 1 ? GOOD : MISSING,
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
	if (trk__cgroup_usage_quick(group, &usage) < 0 || !(usage.known & TRK_CGROUP_KNOWS_MEMORY))
		return "the group's memory cannot be read: is the memory controller on for it?";
	return NULL;
}

static void check_cgroup(struct finding *f, const struct trk_env *env)
{
	static const char what[] = "limits and kills of the control group";
	struct trk_cgroup group;
	const struct trk_cgroup_place *place = &group.place[TRK_CGROUP_MEMORY];
	char source[160], path[TRK_CGROUP_TEXT_SIZE];
	const char *why;
	int r = trk__cgroup_open(&group, env, getpid());

	if (r < 0 || !place->version) {
		set(f, what, MISSING, "cgroup",
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
	set(f, what, why ? PART : GOOD, source, why ? why : "");
	trk__cgroup_release(&group);
}

/* Is there, or can there be, a control group that holds the job alone? */
static void check_own_group(struct finding *f, const struct trk_env *env)
{
	static const char what[] = "exact peak of the job's memory";
	char why[TRK_CGROUP_TEXT_SIZE];
	struct trk_cgroup group;
	pid_t self = getpid();
	bool alone =
		trk__cgroup_open(&group, env, self) == 0 && trk__cgroup_is_own(&group, &self, 1);

	trk__cgroup_release(&group);
	if (alone)
		set(f, what, GOOD, "the control group, which holds nothing else", "");
	else if (trk__cgroup_own_check(env, why) == 0)
		set(f, what, GOOD, "a control group of the job's own, with run --cgroup auto", "");
	else
		set(f, what, PART, "samples, VmHWM, ru_maxrss", why);
}

static void check_oom(struct finding *f)
{
	char *text = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, "/proc/vmstat", 1 << 16, &text);

	set(f, "out-of-memory kills of the machine",
	    len > 0 && strstr(text, "\noom_kill ") ? GOOD : MISSING, "oom_kill in /proc/vmstat",
	    "needs Linux 4.13; a kill is then told by the control group alone");
	free(text);
}

static void check_system(struct finding *f)
{
	static const char *const files[] = {"/proc/stat", "/proc/meminfo", "/proc/diskstats",
					    "/proc/self/net/dev"};
	char hint[320] = "not readable:";
	enum state state = GOOD;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t n = strlen(hint);

		if (try_file(files[i]) == 0)
			continue;
		state = PART;
		(void) snprintf(hint + n, sizeof(hint) - n, " %s", files[i]);
	}
	set(f, "the machine's CPU, memory, disks, network", state,
	    "/proc/stat, meminfo, diskstats, net/dev", hint);
}

static void check_descriptors(struct finding *f)
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
	set(f, "cheap reading of many processes", files.rlim_cur >= 1024 ? GOOD : PART, source,
	    hint);
}

/* Without a sign of a GPU no library is looked for. */
static void check_gpus(struct finding *f, const struct trk_env *env)
{
	struct trk_gpu_hints hints = cli_gpu_hints(false);
	struct trk_gpu_poller *poller = trk__gpu_poller_new(env, TRK_GPU_AUTO, &hints, NULL);
	const struct trk_gpu_reading *gpus = NULL;
	char source[160], hint[320];

	if (!poller) {
		set(f, "GPUs", MISSING, "none found",
		    "looked for: NVIDIA's driver (/dev/nvidiactl), amdgpu, i915 and xe "
		    "(/sys/class/drm)");
		return;
	}
	for (int i = 0; i < GPU_LOOKS && !(gpus && gpus->devices); i++) {
		if (trk__gpu_poller_is_useless(poller))
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
	(void) snprintf(hint, sizeof(hint), "utilisation: %s",
			gpus ? trk__gpu_why_text(gpus->sums.usage.why)
			     : "the driver gives nothing; docs/gpu.md has what each needs");
	set(f, "GPUs",
	    !gpus                                   ? MISSING
	    : gpus->sums.usage.why == TRK_GPU_KNOWN ? GOOD
						    : PART,
	    source, hint);
	trk__gpu_poller_free(poller);
}

static void check_store(struct finding *f, const char *dir)
{
	struct trk_error error = {.code = 0};
	int fd = trk__store_open(dir, true, &error);

	if (!*dir)
		set(f, "recordings", MISSING, "the state directory",
		    "another user owns it or may write to it. Try: --recording DIR");
	else
		set(f, "recordings", fd >= 0 ? GOOD : MISSING, dir, error.message);
	trk__close(fd);
}

enum { FINDINGS = 17 };

static size_t examine(struct finding *list, const struct trk_env *env, const char *dir)
{
	size_t n = 0;

	check_cpu(&list[n++]);
	check_others(&list[n++]);
	check_orphans(&list[n++]);
	check_perf(&list[n++]);
	check_stacks(&list[n++]);
	check_pss(&list[n++]);
	check_io(&list[n++]);
	check_system(&list[n++]);
	check_pressure(&list[n++]);
	check_wait(&list[n++]);
	check_delay(&list[n++]);
	check_cgroup(&list[n++], env);
	check_own_group(&list[n++], env);
	check_oom(&list[n++]);
	check_gpus(&list[n++], env);
	check_descriptors(&list[n++]);
	check_store(&list[n++], dir);
	return n;
}

static void print_text(struct trk_buf *b, const struct finding *list, size_t n)
{
	static const char *const words[] = {"yes", "partly", "no"};

	for (size_t i = 0; i < n; i++) {
		trk__buf_printf(b, "%-6s  %-42s %s\n", words[list[i].state], list[i].what,
				list[i].source);
		if (list[i].hint[0])
			trk__buf_printf(b, "        %s\n", list[i].hint);
	}
}

static void print_json(struct trk_buf *b, const struct finding *list, size_t n)
{
	static const char *const words[] = {"yes", "partly", "no"};
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.doctor/1");
	trk__json_key(&j, "checks");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "what", list[i].what);
		trk__json_key_text(&j, "available", words[list[i].state]);
		trk__json_key_text(&j, "source", list[i].source);
		trk__json_key_text(&j, "hint", list[i].hint[0] ? list[i].hint : NULL);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static int run(int argc, char **argv)
{
	struct settings settings = {0};
	struct finding list[FINDINGS];
	struct trk_env env;
	struct trk_buf b;
	size_t n;
	int at = cli_options(&cli_doctor, argc, argv, &settings), r;

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at != argc) {
		cli_complain("doctor: unexpected %s. Try: resource-tracker doctor --help",
			     argv[at]);
		return EXIT_USAGE;
	}
	if (settings.work)
		return cli_selftest_work(settings.work);
	if (settings.selftest)
		return cli_selftest(settings.json);
	r = trk__env_init(&env);
	if (r < 0) {
		cli_complain("/proc: %s: nothing can be measured", trk__strerror(r));
		return EXIT_ERROR;
	}
	n = examine(list, &env, cli_state_dir(settings.dir));
	trk__env_release(&env);
	trk__buf_init(&b, 1 << 20);
	if (settings.json)
		print_json(&b, list, n);
	else
		print_text(&b, list, n);
	r = cli_write(1, &b, "stdout");
	trk__buf_release(&b);
	return r;
}

const struct cli_command cli_doctor = {
	.name = "doctor",
	.usage = "doctor [--json] [--selftest]",
	.summary =
		"Report what can be measured here, from which source, and how to permit the rest.",
	.options = options,
	.run = run,
};
