/* Control groups: finding them, limits, usage, ownership, on trees written after the kernel's
 * documentation and on trees that the test creates. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/env.h"
#include "probe/linux/cgroup.h"
#include "skip.h"
#include "scratch.h"

#ifndef TRK_FIXTURES
#define TRK_FIXTURES "tests/fixtures"
#endif

#define MIB (UINT64_C(1) << 20)

/* The pid whose groups every fixture tells. */
enum { JOB = 42 };

/* ---- helpers ---- */

static struct trk_env env;
static struct trk_cgroup cg;

static void open_env(const char *fixture)
{
	const char *root = getenv("TRK_FIXTURES");
	char path[512];

	(void) snprintf(path, sizeof(path), "%s/%s", root ? root : TRK_FIXTURES, fixture);
	assert_int_equal(trk__env_init_at(&env, path), 0);
}

static void open_fixture(const char *fixture)
{
	open_env(fixture);
	assert_int_equal(trk__cgroup_open(&cg, &env, JOB), 0);
}

static int close_fixture(void **state)
{
	trk__cgroup_release(&cg);
	trk__env_release(&env);
	return 0;
}

static int begin(void **state)
{
	memset(&cg, 0, sizeof(cg));
	env = (struct trk_env){.proc_fd = -1, .sys_fd = -1, .cgroup_fd = -1};
	return 0;
}

static const char *path_of(enum trk_cgroup_part part)
{
	static char text[TRK_CGROUP_PATH_SIZE];

	trk__cgroup_path(&cg, part, text, sizeof(text));
	return text;
}

/* A tree of our own in a temporary directory: the fixtures cannot hold what git does not keep. */
static char scratch[64];

static void put(const char *path, const char *text)
{
	put_below(scratch, path, text);
}

static int begin_scratch(void **state)
{
	(void) snprintf(scratch, sizeof(scratch), "/tmp/test_cgroup.XXXXXX");
	if (!mkdtemp(scratch))
		return -1;
	return begin(state);
}

static int end_scratch(void **state)
{
	char command[128];

	(void) close_fixture(state);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

static void open_scratch(void)
{
	assert_int_equal(trk__env_init_at(&env, scratch), 0);
	assert_int_equal(trk__cgroup_open(&cg, &env, JOB), 0);
}

/* ---- finding the group ---- */

static void finds_each_part_on_a_hybrid_machine(void **state)
{
	open_fixture("cgroup-hybrid");
	assert_int_equal(cg.place[TRK_CGROUP_MEMORY].version, 1);
	assert_int_equal(cg.place[TRK_CGROUP_CPU].version, 1);
	assert_int_equal(cg.place[TRK_CGROUP_UNIFIED].version, 2);
	/* pids has no v1 hierarchy here. */
	assert_int_equal(cg.place[TRK_CGROUP_PIDS].version, 2);
	assert_string_equal(path_of(TRK_CGROUP_MEMORY), "/system.slice/batch.service");
	assert_string_equal(path_of(TRK_CGROUP_CPUSET), "/");
	assert_false(cg.place[TRK_CGROUP_MEMORY].machine_root);
	assert_true(cg.place[TRK_CGROUP_CPUSET].machine_root);
	assert_false(cg.place[TRK_CGROUP_MEMORY].fallback);
}

static void strips_the_host_path_in_a_container_on_v1(void **state)
{
	open_fixture("cgroup-v1-docker");
	assert_string_equal(cg.place[TRK_CGROUP_MEMORY].dir, "./memory");
	assert_string_equal(cg.place[TRK_CGROUP_CPUACCT].dir, "./cpu,cpuacct");
	assert_string_equal(path_of(TRK_CGROUP_MEMORY), "/docker/0123456789abcdef");
	assert_false(cg.place[TRK_CGROUP_MEMORY].fallback);
	assert_false(cg.place[TRK_CGROUP_MEMORY].machine_root);
	assert_int_equal(cg.place[TRK_CGROUP_UNIFIED].version, 0);
	assert_string_equal(path_of(TRK_CGROUP_UNIFIED), "");
}

static void remembers_that_a_group_outside_the_namespace_is_not_visible(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-v2-outside");
	assert_true(cg.place[TRK_CGROUP_MEMORY].fallback);
	assert_string_equal(cg.place[TRK_CGROUP_MEMORY].dir, ".");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	/* Not the 4096 of what lies at that path outside of the mount. */
	assert_int_equal(l.memory_bytes, 256 * MIB);
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

static void falls_back_to_the_root_of_the_mount_when_the_group_is_gone(void **state)
{
	put("proc/42/cgroup", "0::/gone/group (deleted)\n");
	put("proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 c rw\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.events", "populated 1\n");
	open_scratch();
	assert_true(cg.place[TRK_CGROUP_MEMORY].fallback);
	assert_string_equal(path_of(TRK_CGROUP_MEMORY), "/");
}

static void guesses_the_mounts_without_mountinfo(void **state)
{
	put("proc/42/cgroup", "4:memory:/job\n3:cpuacct,cpu:/job\n2:pids:/job\n0::/job\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/cpuacct,cpu/cgroup.procs", "");
	put("sys/fs/cgroup/cpuacct,cpu/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/unified/cgroup.procs", "");
	put("sys/fs/cgroup/unified/job/cgroup.procs", "42\n");
	open_scratch();
	assert_string_equal(cg.place[TRK_CGROUP_MEMORY].dir, "./memory/job");
	assert_string_equal(cg.place[TRK_CGROUP_CPU].dir, "./cpuacct,cpu/job");
	assert_string_equal(cg.place[TRK_CGROUP_UNIFIED].dir, "./unified/job");
	assert_int_equal(cg.place[TRK_CGROUP_PIDS].version, 0);
}

static void guesses_a_pure_v2_machine_without_mountinfo(void **state)
{
	put("proc/42/cgroup", "0::/job\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/job/cgroup.procs", "42\n");
	open_scratch();
	assert_string_equal(cg.place[TRK_CGROUP_MEMORY].dir, "./job");
}

static void finds_a_mount_outside_of_the_usual_place(void **state)
{
	put("proc/42/cgroup", "4:memory:/job\n");
	put("proc/self/mountinfo", "1 0 0:1 / /cgroup/memory rw - cgroup none rw,memory\n");
	put("sys/fs/cgroup/README", "");
	put("cgroup/memory/cgroup.procs", "");
	put("cgroup/memory/job/cgroup.procs", "42\n");
	put("cgroup/memory/job/memory.usage_in_bytes", "4096\n");
	open_scratch();
	assert_string_equal(path_of(TRK_CGROUP_MEMORY), "/job");
	assert_true(cg.fd[TRK_CGROUP_FILE_MEMORY] >= 0);
}

static void tells_a_gone_process_from_a_kernel_without_groups(void **state)
{
	struct trk_cgroup_limits l;
	struct trk_cgroup_usage u;

	open_env("cgroup-none");
	assert_int_equal(trk__cgroup_open(&cg, &env, JOB), -EOPNOTSUPP);
	assert_int_equal(trk__cgroup_open(&cg, &env, 43), -ESRCH);
	/* What failed to open has no groups, but is no trap. */
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_true(isnan(l.cpu_cores));
	assert_true(l.memory_bytes == TRK_NO_LIMIT);
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.known, 0);
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

static void a_zeroed_object_may_be_released(void **state)
{
	struct trk_cgroup zero = {0};

	trk__cgroup_release(&zero);
	trk__cgroup_release(&zero);
	assert_true(fcntl(0, F_GETFD) >= 0 || errno != EBADF);
}

/* ---- limits ---- */

static void takes_the_tightest_limit_of_all_ancestors(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-v2-nested");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_true(l.cpu_cores == 1.5);
	assert_string_equal(l.cpu_from, "cgroup v2 cpu.max of /batch.slice/job.scope");
	assert_int_equal(l.memory_bytes, 2048 * MIB);
	assert_string_equal(l.memory_from, "cgroup v2 memory.max of /batch.slice/job.scope");
	assert_int_equal(l.memory_high_bytes, 1932735283);
	assert_string_equal(l.memory_high_from, "cgroup v2 memory.high of /batch.slice/job.scope");
	assert_int_equal(l.swap_bytes, 0);
	assert_int_equal(l.pids, 512);
	assert_int_equal(l.cpuset_cpus, 5);
	assert_string_equal(l.cpuset_from,
			    "cgroup v2 cpuset.cpus.effective of /batch.slice/job.scope/step");
}

static void an_ancestor_may_be_tighter_than_the_group(void **state)
{
	struct trk_cgroup_limits l;

	put("proc/42/cgroup", "0::/a/b\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "cpu cpuset memory pids\n");
	put("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	put("sys/fs/cgroup/a/cpuset.cpus.effective", "0-1\n");
	put("sys/fs/cgroup/a/memory.max", "1048576\n");
	put("sys/fs/cgroup/a/pids.max", "10\n");
	put("sys/fs/cgroup/a/b/cgroup.procs", "42\n");
	put("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
	put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-3\n");
	put("sys/fs/cgroup/a/b/memory.max", "2097152\n");
	put("sys/fs/cgroup/a/b/pids.max", "20\n");
	open_scratch();
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_true(l.cpu_cores == 1.0);
	assert_string_equal(l.cpu_from, "cgroup v2 cpu.max of /a");
	assert_int_equal(l.cpuset_cpus, 2);
	assert_string_equal(l.cpuset_from, "cgroup v2 cpuset.cpus.effective of /a");
	assert_int_equal(l.memory_bytes, MIB);
	assert_int_equal(l.pids, 10);
	assert_string_equal(l.pids_from, "cgroup v2 pids.max of /a");
}

static void reads_the_limits_of_a_container_with_a_namespace(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-v2-container");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_true(l.cpu_cores == 0.5);
	assert_int_equal(l.memory_bytes, 512 * MIB);
	assert_string_equal(l.memory_from, "cgroup v2 memory.max of /");
	assert_int_equal(l.swap_bytes, 512 * MIB);
	assert_true(l.memory_high_bytes == TRK_NO_LIMIT);
	assert_string_equal(l.memory_high_from, "");
	assert_int_equal(l.cpuset_cpus, 2);
	assert_int_equal(l.pids, 100);
}

static void heeds_a_v1_limit_above_what_the_mount_shows(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-v1-docker");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_int_equal(l.memory_bytes, 768 * MIB);
	assert_string_equal(l.memory_from,
			    "cgroup v1 hierarchical_memory_limit of /docker/0123456789abcdef");
	assert_int_equal(l.swap_bytes, 512 * MIB);
	assert_true(l.cpu_cores == 2.0);
	assert_int_equal(l.cpuset_cpus, 32);
	assert_true(l.pids == TRK_NO_LIMIT);
}

static void finds_the_limit_of_a_slurm_job_above_its_task(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-v1-slurm");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_int_equal(l.memory_bytes, 4096 * MIB);
	assert_string_equal(l.memory_from,
			    "cgroup v1 memory.limit_in_bytes of /slurm/uid_1000/job_7");
	assert_int_equal(l.swap_bytes, 0);
	assert_int_equal(l.cpuset_cpus, 2);
	assert_true(isnan(l.cpu_cores));
	assert_string_equal(l.cpu_from, "");
}

static void ignores_v1_ancestors_that_leave_their_children_alone(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-hybrid");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_int_equal(l.memory_bytes, 128 * MIB);
	assert_true(l.cpu_cores == 0.5);
	assert_int_equal(l.cpuset_cpus, 2);
}

static void finds_the_limits_of_a_user_above_the_session(void **state)
{
	struct trk_cgroup_limits l;

	open_fixture("cgroup-user-slice");
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_int_equal(l.memory_bytes, 16384 * MIB);
	assert_true(l.cpu_cores == 6.0);
	assert_string_equal(l.cpu_from, "cgroup v2 cpu.max of /user.slice/user-1000.slice");
	assert_int_equal(l.pids, 10813);
	/* cpuset is not delegated: the root's CPUs remain. */
	assert_int_equal(l.cpuset_cpus, 16);
}

static void cuts_the_start_of_a_long_path_in_the_text(void **state)
{
	struct trk_cgroup_limits l;
	char name[201], path[512];

	memset(name, 'x', 200);
	name[200] = '\0';
	(void) snprintf(path, sizeof(path), "0::/%s/tail\n", name);
	put("proc/42/cgroup", path);
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	(void) snprintf(path, sizeof(path), "sys/fs/cgroup/%s/tail/cgroup.procs", name);
	put(path, "42\n");
	(void) snprintf(path, sizeof(path), "sys/fs/cgroup/%s/tail/memory.max", name);
	put(path, "4096\n");
	open_scratch();
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_int_equal(strlen(l.memory_from), TRK_CGROUP_TEXT_SIZE - 1);
	assert_memory_equal(l.memory_from, "cgroup v2 memory.max of ...xxx", 30);
	assert_string_equal(l.memory_from + TRK_CGROUP_TEXT_SIZE - 1 - 6, "x/tail");
}

/* ---- usage ---- */

static void reads_everything_of_v2(void **state)
{
	struct trk_cgroup_usage u;

	open_fixture("cgroup-v2-nested");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.known, TRK_CGROUP_KNOWS_ALL);
	assert_int_equal(u.cpu_ns, 5000000000);
	assert_int_equal(u.memory_bytes, 100 * MIB);
	assert_int_equal(u.memory_peak_bytes, 200 * MIB);
	assert_int_equal(u.memory_cache_bytes, 18 * MIB);
	assert_int_equal(u.memory_shmem_bytes, 12 * MIB);
	assert_int_equal(u.swap_bytes, 30 * MIB);
	assert_int_equal(u.swap_peak_bytes, 40 * MIB);
	assert_int_equal(u.pids, 7);
	assert_int_equal(u.oom_kill, 1);
	assert_int_equal(u.memory_pressure.some_ns, 2222000);
	assert_int_equal(u.memory_pressure.full_ns, 1222000);
	assert_int_equal(u.io_pressure.some_ns, 3333000);
	assert_int_equal(u.io_pressure.full_ns, 2333000);
}

static void reads_what_v1_has(void **state)
{
	struct trk_cgroup_usage u;

	open_fixture("cgroup-v1-docker");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.known, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_MEMORY |
					  TRK_CGROUP_KNOWS_PEAK | TRK_CGROUP_KNOWS_SHMEM |
					  TRK_CGROUP_KNOWS_PIDS | TRK_CGROUP_KNOWS_OOM_KILL);
	assert_int_equal(u.cpu_ns, 7000000000);
	assert_int_equal(u.memory_bytes, 60 * MIB);
	assert_int_equal(u.memory_peak_bytes, 80 * MIB);
	assert_int_equal(u.memory_cache_bytes, 15 * MIB);
	assert_int_equal(u.memory_shmem_bytes, 5 * MIB);
	assert_int_equal(u.pids, 3);
	assert_int_equal(u.oom_kill, 2);
}

static void leaves_unset_what_an_older_kernel_lacks(void **state)
{
	struct trk_cgroup_usage u;
	uint64_t kills = 99;

	open_fixture("cgroup-v2-no-pressure");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.known, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_MEMORY);
	assert_int_equal(trk__cgroup_oom_kills(&cg, &kills), -EOPNOTSUPP);
	assert_int_equal(trk__vmstat_oom_kills(env.proc_fd, &kills), -EOPNOTSUPP);
	assert_int_equal(kills, 99);
}

static void takes_pressure_from_v2_and_the_rest_from_v1_on_a_hybrid_machine(void **state)
{
	struct trk_cgroup_usage u;

	open_fixture("cgroup-hybrid");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.cpu_ns, 3000000000);
	assert_int_equal(u.memory_bytes, 8 * MIB);
	assert_int_equal(u.memory_pressure.full_ns, 5000);
	assert_false(u.known & TRK_CGROUP_KNOWS_PEAK);
}

static void reads_only_what_is_wanted(void **state)
{
	struct trk_cgroup_usage u;

	open_fixture("cgroup-v1-docker");
	assert_int_equal(
		trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_MEMORY, &u), 0);
	assert_int_equal(u.known, TRK_CGROUP_KNOWS_CPU | TRK_CGROUP_KNOWS_MEMORY);
	assert_int_equal(u.pids, 0);
}

static void sees_what_changed_between_two_reads(void **state)
{
	struct trk_cgroup_usage u;

	put("proc/42/cgroup", "0::/job\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/job/memory.current", "4096\n");
	open_scratch();
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.memory_bytes, 4096);
	put("sys/fs/cgroup/job/memory.current", "12288\n");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.memory_bytes, 12288);
}

static void memory_of_the_kernel_leaves_out_what_can_be_reclaimed(void **state)
{
	struct trk_cgroup_usage u;

	put("proc/42/cgroup", "0::/job\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/job/memory.stat",
	    "file 900\nkernel 500\nkernel_stack 100\nsock 30\nshmem 300\n"
	    "slab_reclaimable 200\nslab_unreclaimable 50\n");
	open_scratch();
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.memory_kernel_bytes, 330);
	/* Before Linux 5.18. */
	put("sys/fs/cgroup/job/memory.stat",
	    "file 900\nkernel_stack 100\npagetables 7\nsock 30\nshmem 300\n"
	    "slab_reclaimable 200\nslab_unreclaimable 50\n");
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	assert_int_equal(u.memory_kernel_bytes, 187);
	assert_int_equal(u.memory_cache_bytes, 600);
}

/* ---- out-of-memory kills ---- */

static void counts_the_kills_of_the_group_and_of_the_limiting_ancestor(void **state)
{
	char path[TRK_CGROUP_TEXT_SIZE] = "before";
	uint64_t kills = 99;

	open_fixture("cgroup-v2-nested");
	assert_int_equal(trk__cgroup_oom_kills(&cg, &kills), 0);
	assert_int_equal(kills, 1);
	assert_int_equal(trk__cgroup_oom_kills_above(&cg, &kills, path), 0);
	assert_int_equal(kills, 4);
	assert_string_equal(path, "/batch.slice");
	assert_int_equal(trk__vmstat_oom_kills(env.proc_fd, &kills), 0);
	assert_int_equal(kills, 5);
}

static void counts_the_hits_of_the_lowest_limit(void **state)
{
	uint64_t hits = 99;

	open_fixture("cgroup-v2-nested");
	assert_int_equal(trk__cgroup_limit_hits(&cg, &hits), 0);
	assert_int_equal(hits, 7); /* of job.scope: 2 GiB, of 8 GiB above it */
}

static void counts_the_hits_of_v1_and_none_without_a_limit(void **state)
{
	uint64_t hits = 99;

	put("proc/42/cgroup", "4:memory:/job\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576\n");
	put("sys/fs/cgroup/memory/job/memory.failcnt", "12\n");
	open_scratch();
	assert_int_equal(trk__cgroup_limit_hits(&cg, &hits), 0);
	assert_int_equal(hits, 12);
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(trk__cgroup_limit_hits(&cg, &hits), -ENOENT);
}

static void passes_over_ancestors_without_a_limit(void **state)
{
	char path[TRK_CGROUP_TEXT_SIZE] = "before";
	uint64_t kills = 99;

	open_fixture("cgroup-v1-slurm");
	assert_int_equal(trk__cgroup_oom_kills(&cg, &kills), 0);
	assert_int_equal(kills, 0);
	assert_int_equal(trk__cgroup_oom_kills_above(&cg, &kills, path), 0);
	assert_int_equal(kills, 1); /* not the 9 of the root */
	assert_string_equal(path, "/slurm/uid_1000/job_7");
}

static void knows_of_no_kills_above_a_container(void **state)
{
	char path[TRK_CGROUP_TEXT_SIZE] = "before";
	uint64_t kills = 99;

	open_fixture("cgroup-v2-container");
	assert_int_equal(trk__cgroup_oom_kills(&cg, &kills), 0);
	assert_int_equal(kills, 0);
	assert_int_equal(trk__cgroup_oom_kills_above(&cg, &kills, path), -ENOENT);
	assert_int_equal(kills, 0);
	assert_string_equal(path, "before");
}

/* ---- whose group is it ---- */

static void the_root_of_a_container_may_be_own(void **state)
{
	open_fixture("cgroup-v2-container");
	assert_false(cg.place[TRK_CGROUP_MEMORY].machine_root);
	close_fixture(state);
	open_fixture("cgroup-v1-docker");
	assert_false(cg.place[TRK_CGROUP_MEMORY].machine_root);
	assert_false(cg.place[TRK_CGROUP_CPUACCT].machine_root);
}

static void the_root_of_a_machine_is_nobodys(void **state)
{
	/* Memory has a group of its own there, CPU time is the machine's. */
	open_fixture("cgroup-v1-slurm");
	assert_false(cg.place[TRK_CGROUP_MEMORY].machine_root);
	assert_true(cg.place[TRK_CGROUP_CPUACCT].machine_root);
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_CPUACCT, JOB));
}

static void put_own_v2(void)
{
	put("proc/42/cgroup", "0::/job\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/job/cgroup.events", "populated 1\n");
}

static void a_group_is_own_when_it_holds_nobody_else(void **state)
{
	put_own_v2();
	open_scratch();
	assert_true(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB + 1));
	put("sys/fs/cgroup/job/cgroup.procs", "42\n7\n");
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

static void a_populated_child_group_makes_it_foreign(void **state)
{
	put_own_v2();
	open_scratch();
	assert_true(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
	put("sys/fs/cgroup/job/child/cgroup.events", "populated 0\nfrozen 0\n");
	assert_true(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
	put("sys/fs/cgroup/job/child/cgroup.events", "populated 1\nfrozen 0\n");
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

static void v1_child_groups_are_searched_at_every_level(void **state)
{
	put("proc/42/cgroup", "4:memory:/job\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/job/cgroup.procs", "42\n");
	put("sys/fs/cgroup/memory/job/a/cgroup.procs", "");
	put("sys/fs/cgroup/memory/job/a/b/cgroup.procs", "");
	open_scratch();
	assert_true(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
	put("sys/fs/cgroup/memory/job/a/b/cgroup.procs", "7\n");
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

static void an_empty_group_is_nobodys(void **state)
{
	put_own_v2();
	put("sys/fs/cgroup/job/cgroup.procs", "");
	open_scratch();
	assert_false(trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, JOB));
}

/* ---- this machine ---- */

static void reads_the_groups_of_this_very_process(void **state)
{
	struct trk_cgroup_limits l;
	struct trk_cgroup_usage u;
	int r;

	assert_int_equal(trk__env_init(&env), 0);
	r = trk__cgroup_open(&cg, &env, getpid());
	if (r == -EOPNOTSUPP)
		SKIP("this machine has no control groups");
	assert_int_equal(r, 0);
	assert_int_equal(trk__cgroup_limits(&cg, &l), 0);
	assert_true(isnan(l.cpu_cores) || l.cpu_cores > 0);
	assert_true(l.memory_bytes > 4096);
	assert_int_equal(trk__cgroup_usage_some(&cg, TRK_CGROUP_KNOWS_ALL, &u), 0);
	if (u.known & TRK_CGROUP_KNOWS_MEMORY)
		assert_true(u.memory_bytes > 0);
	if (u.known & TRK_CGROUP_KNOWS_MEMORY && u.known & TRK_CGROUP_KNOWS_PEAK)
		assert_true(u.memory_peak_bytes + 64 * MIB > u.memory_bytes);
	/* Whoever started us may be in the same group or not: only that it ends is sure. */
	(void) trk__cgroup_is_own(&cg, TRK_CGROUP_MEMORY, getpid());
}

#define FIXTURE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, close_fixture)
#define SCRATCH_TEST(f) cmocka_unit_test_setup_teardown(f, begin_scratch, end_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(finds_each_part_on_a_hybrid_machine),
		FIXTURE_TEST(strips_the_host_path_in_a_container_on_v1),
		FIXTURE_TEST(remembers_that_a_group_outside_the_namespace_is_not_visible),
		SCRATCH_TEST(falls_back_to_the_root_of_the_mount_when_the_group_is_gone),
		SCRATCH_TEST(guesses_the_mounts_without_mountinfo),
		SCRATCH_TEST(guesses_a_pure_v2_machine_without_mountinfo),
		SCRATCH_TEST(finds_a_mount_outside_of_the_usual_place),
		FIXTURE_TEST(tells_a_gone_process_from_a_kernel_without_groups),
		cmocka_unit_test(a_zeroed_object_may_be_released),
		FIXTURE_TEST(takes_the_tightest_limit_of_all_ancestors),
		SCRATCH_TEST(an_ancestor_may_be_tighter_than_the_group),
		FIXTURE_TEST(reads_the_limits_of_a_container_with_a_namespace),
		FIXTURE_TEST(heeds_a_v1_limit_above_what_the_mount_shows),
		FIXTURE_TEST(finds_the_limit_of_a_slurm_job_above_its_task),
		FIXTURE_TEST(ignores_v1_ancestors_that_leave_their_children_alone),
		FIXTURE_TEST(finds_the_limits_of_a_user_above_the_session),
		SCRATCH_TEST(cuts_the_start_of_a_long_path_in_the_text),
		FIXTURE_TEST(reads_everything_of_v2),
		FIXTURE_TEST(reads_what_v1_has),
		FIXTURE_TEST(leaves_unset_what_an_older_kernel_lacks),
		FIXTURE_TEST(takes_pressure_from_v2_and_the_rest_from_v1_on_a_hybrid_machine),
		FIXTURE_TEST(reads_only_what_is_wanted),
		SCRATCH_TEST(sees_what_changed_between_two_reads),
		SCRATCH_TEST(memory_of_the_kernel_leaves_out_what_can_be_reclaimed),
		FIXTURE_TEST(counts_the_kills_of_the_group_and_of_the_limiting_ancestor),
		FIXTURE_TEST(counts_the_hits_of_the_lowest_limit),
		SCRATCH_TEST(counts_the_hits_of_v1_and_none_without_a_limit),
		FIXTURE_TEST(passes_over_ancestors_without_a_limit),
		FIXTURE_TEST(knows_of_no_kills_above_a_container),
		SCRATCH_TEST(a_group_is_own_when_it_holds_nobody_else),
		FIXTURE_TEST(the_root_of_a_container_may_be_own),
		FIXTURE_TEST(the_root_of_a_machine_is_nobodys),
		SCRATCH_TEST(a_populated_child_group_makes_it_foreign),
		SCRATCH_TEST(v1_child_groups_are_searched_at_every_level),
		SCRATCH_TEST(an_empty_group_is_nobodys),
		FIXTURE_TEST(reads_the_groups_of_this_very_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
