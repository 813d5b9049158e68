/* The control group of a job during its run: quotas of ancestors, moves, changing limits, kills in
 * groups that the job entered late. The trees have the files of Linux 6.1. */
#include <errno.h>
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

#include "base/clock.h"
#include "base/env.h"
#include "probe/linux/cgroup_throttle.h"
#include "model/capacity.h"
#include "recording/format.h"
#include "track/group_log.h"
#include "track/limits.h"
#include "sample/sampler.h"
#include "scratch.h"

#define S   TRK_NS_PER_S
#define MIB (UINT64_C(1) << 20)

/* ---- a tree of files ---- */

static char root[64];
static struct trk_env env;
static struct trk_sampler *sampler;
static const struct trk_sample *row;
static uint64_t now_ns;

static uint64_t read_now(void)
{
	return now_ns;
}

static void put(const char *path, const char *text)
{
	put_below(root, path, text);
}

static void put_in_group(const char *group, const char *file, const char *text)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", group, file);
	put(path, text);
}

static void put_group(const char *group)
{
	put_in_group(group, "cgroup.procs", "");
	put_in_group(group, "cgroup.events", "populated 1\nfrozen 0\n");
	put_in_group(group, "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
	put_in_group(group, "memory.max", "max\n");
	put_in_group(group, "memory.high", "max\n");
	put_in_group(group, "cpu.max", "max 100000\n");
}

static void put_quota(const char *group, unsigned long periods, unsigned long throttled_us)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"usage_usec 5500000\nuser_usec 5400000\nsystem_usec 100000\n"
			"nr_periods %lu\nnr_throttled %lu\nthrottled_usec %lu\n",
			periods, periods / 2, throttled_us);
	put_in_group(group, "cpu.stat", text);
}

/* This process is in the group. */
static void enter(const char *group)
{
	char path[64], text[128];

	(void) snprintf(path, sizeof(path), "proc/%d/cgroup", (int) getpid());
	(void) snprintf(text, sizeof(text), "0::/%s\n", group);
	put(path, text);
}

static int begin(void **state)
{
	(void) snprintf(root, sizeof(root), "/tmp/trk-group.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	put("proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("proc/meminfo", "MemTotal: 2097152 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n"
			    "Buffers: 0 kB\nCached: 0 kB\n");
	put("proc/vmstat", "nr_free_pages 1\noom_kill 0\n");
	put_in_group(".", "cgroup.procs", "");
	put_in_group(".", "cgroup.controllers", "cpu io memory pids\n");
	put_group("a");
	put_group("a/b");
	put_group("c");
	enter("a/b");
	if (trk__env_init_at(&env, root) < 0)
		return -1;
	env.monotonic_ns = read_now;
	now_ns = 1000 * S;
	sampler = NULL;
	return 0;
}

static int end(void **state)
{
	char command[96];

	trk__sampler_free(sampler);
	trk__env_release(&env);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void start(void)
{
	struct trk_sampler_options options = {.perf_fd = -1, .no_system = true};
	int error = 0;

	sampler = trk__sampler_new(&env, &options, &error);
	assert_non_null(sampler);
}

static void tick_after(uint64_t ns)
{
	now_ns += ns;
	trk__sampler_tick(sampler, 0, &row);
}

static double value_of(int column)
{
	assert_true(trk__sample_knows(row, column));
	return trk__sample_get(row, column);
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 0.001 * fabs(expected) + 1e-9))
		fail_msg("%g is not %g", value, expected);
}

/* ---- quotas ---- */

static void quotas_of_ancestors_count(void **state)
{
	put_quota("a/b", 0, 0); /* without a quota of its own */
	put_quota("a", 10, 4000000);
	start();
	put_quota("a", 120, 20600000);
	tick_after(11 * S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 16.6);
}

static void a_group_without_the_controller_has_its_parent_s_quota(void **state)
{
	put_in_group("a/b", "cpu.stat", "usage_usec 5\nuser_usec 5\nsystem_usec 0\n");
	put_quota("a", 10, 0);
	start();
	put_quota("a", 20, 1000000);
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 1);
}

static void quotas_of_two_levels_add_up(void **state)
{
	put_quota("a/b", 5, 0);
	put_quota("a", 5, 0);
	start();
	put_quota("a/b", 9, 300000);
	put_quota("a", 9, 200000);
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 0.5);
}

static void a_quota_that_is_set_later_counts_in_full(void **state)
{
	put_quota("a/b", 0, 0);
	put_quota("a", 0, 0);
	start();
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 0);
	put_quota("a", 30, 2500000);
	tick_after(5 * S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 2.5);
}

static void what_a_group_did_before_the_job_came_does_not_count(void **state)
{
	put_quota("a/b", 9, 1000000);
	put_quota("a", 0, 0);
	put_quota("c", 99, 77000000);
	start();
	put_quota("a/b", 12, 1400000);
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 0.4);
	enter("c");
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 0);
	put_quota("a/b", 20, 9000000); /* where it is no more */
	put_quota("c", 109, 77600000);
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_THROTTLED), 0.6);
}

/* Two threads at half a core: 5.5 s of CPU and 16.5 s of throttling in 11 s on two CPUs. */
static void held_back_is_a_part_of_the_time(void **state)
{
	struct trk_record record;
	struct trk_sample s = {0};

	assert_int_equal(trk__record_init(&record), 0);
	trk__sample_set(&s, TRK_INTERVAL, 11000000);
	trk__sample_set(&s, TRK_PROCESS_UTIME, 5500000);
	trk__sample_set(&s, TRK_PROCESS_STIME, 0);
	trk__record_add(&record, 1, &s, &s, &s);
	assert_true(isnan(record.held_back_s));
	trk__sample_set(&s, TRK_CGROUP_THROTTLED, 16500000);
	trk__record_add(&record, 1, &s, &s, &s);
	assert_near(record.held_back_s, 8.25);
	/* A thread that seldom wants to run. */
	trk__sample_set(&s, TRK_PROCESS_UTIME, 1000000);
	trk__sample_set(&s, TRK_CGROUP_THROTTLED, 2000000);
	trk__record_add(&record, 1, &s, &s, &s);
	assert_near(record.held_back_s, 10.25);
	trk__record_release(&record);
}

/* ---- moves and limits ---- */

static void a_move_is_followed(void **state)
{
	unsigned int changes;

	put_in_group("a/b", "memory.current", "104857600\n");
	put_in_group("c", "memory.current", "52428800\n");
	put_in_group("c", "memory.max", "209715200\n");
	start();
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_MEMORY_COLUMN), 100);
	assert_int_equal(trk__sampler_group_moves(sampler), 0);
	enter("c");
	tick_after(S);
	assert_near(value_of(TRK_CGROUP_MEMORY_COLUMN), 50);
	assert_int_equal(trk__sampler_group_moves(sampler), 1);
	assert_int_equal(trk__sampler_limits(sampler, &changes)->memory_bytes, 200 * MIB);
	assert_string_equal(trk__sampler_limits(sampler, &changes)->memory_from,
			    "cgroup v2 memory.max of /c");
	assert_int_equal(changes, 1);
}

/* v1: a process that ends shows the root groups for a moment. */
static void the_root_groups_of_an_ending_process_are_no_move(void **state)
{
	char path[64], stat[64];

	put("proc/self/mountinfo",
	    "25 20 0:22 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/g/cgroup.procs", "");
	(void) snprintf(path, sizeof(path), "proc/%d/cgroup", (int) getpid());
	put(path, "4:memory:/g\n");
	(void) snprintf(stat, sizeof(stat), "proc/%d/stat", (int) getpid());
	start();
	put(path, "4:memory:/\n");
	/* PF_EXITING */
	put(stat, "7 (a) b) R 1 7 7 0 -1 4194308 9 0 0 0 1 1 0 0 20 0 1 0 5 0 0\n");
	for (int i = 0; i < 3; i++)
		tick_after(S);
	assert_int_equal(trk__sampler_group_moves(sampler), 0);
	/* It lives: it was moved. */
	put(stat, "7 (a) b) R 1 7 7 0 -1 4194304 9 0 0 0 1 1 0 0 20 0 1 0 5 0 0\n");
	tick_after(S);
	assert_int_equal(trk__sampler_group_moves(sampler), 1);
}

static struct trk_sample row_with_memory(double elapsed_s, double mib)
{
	struct trk_sample s = *row;

	trk__sample_set(&s, TRK_ELAPSED, (int64_t) (elapsed_s * 1e6));
	trk__sample_set(&s, TRK_PROCESS_MEMORY, (int64_t) (mib * 1048576));
	return s;
}

static bool follow(struct trk_limits *l, double elapsed_s, double mib, struct trk_run *run)
{
	struct trk_sample s;

	tick_after(5 * S);
	s = row_with_memory(elapsed_s, mib);
	return trk__limits_follow(l, &env, sampler, &s, run);
}

/* 100 MiB, then 300 MiB, of which 200 are used: 67 %, not 200 %. */
static void use_is_compared_with_the_limit_of_its_time(void **state)
{
	struct trk_record record;
	struct trk_limits l;

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "run");
	put_in_group("a", "memory.max", "104857600\n");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 100);
	assert_near(record.run.request[TRK_REQUEST_MEMORY_MIB].value, 100);
	assert_false(follow(&l, 5, 20, &record.run));
	put_in_group("a", "memory.max", "314572800\n");
	assert_true(follow(&l, 10, 200, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 300);
	assert_near(record.run.request[TRK_REQUEST_MEMORY_MIB].value, 300);
	assert_int_equal(trk__capacity(&record, TRK_RESOURCE_MEMORY_MIB).kind, TRK_CAPACITY_LIMIT);
	assert_string_equal(record.run.limit[TRK_LIMIT_MEMORY_MIB].reason,
			    "changed during the run: 100 MiB until 10.0 s, 300 MiB at the end");
	/* Tightened after the peak, it is 300 MiB that the peak had. */
	put_in_group("a", "memory.max", "209715200\n");
	assert_true(follow(&l, 15, 40, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 300);
	assert_true(trk__limits_end(&l, &record.outcome, NULL, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 300);
	record.outcome.end = TRK_END_OUT_OF_MEMORY;
	assert_true(trk__limits_end(&l, &record.outcome, NULL, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 200);
	trk__record_release(&record);
}

/* Half a core, then a tenth: a use of a half is 100 %, not 500 %. */
static void of_changed_cpu_limits_the_largest_counts(void **state)
{
	struct trk_record record;
	struct trk_limits l;

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "run");
	put_in_group("a/b", "cpu.max", "50000 100000\n");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_near(record.run.limit[TRK_LIMIT_CPU].value, 0.5);
	assert_false(follow(&l, 10, 1, &record.run));
	put_in_group("a", "cpu.max", "10000 100000\n");
	assert_true(follow(&l, 20, 1, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_CPU].value, 0.5);
	assert_string_equal(record.run.limit[TRK_LIMIT_CPU].reason,
			    "changed during the run: 0.5 cores until 20.0 s, 0.1 cores at the end");
	put_in_group("a", "cpu.max", "70000 100000\n");
	put_in_group("a/b", "cpu.max", "90000 100000\n");
	assert_true(follow(&l, 30, 1, &record.run));
	assert_near(record.run.limit[TRK_LIMIT_CPU].value, 0.7);
	assert_int_equal(record.run.limit[TRK_LIMIT_CPU].quality, TRK_QUALITY_ESTIMATED);
	trk__record_release(&record);
}

static void memory_high_is_a_limit(void **state)
{
	struct trk_record record;
	struct trk_limits l;

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "run");
	put_in_group("a/b", "memory.high", "104857600\n");
	put_in_group("a", "memory.max", "209715200\n");
	put_in_group("a", "memory.swap.max", "1048576\n");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 100);
	assert_string_equal(record.run.limit[TRK_LIMIT_MEMORY_MIB].source,
			    "cgroup v2 memory.high of /a/b");
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_HIGH_MIB].value, 100);
	assert_near(record.run.limit[TRK_LIMIT_SWAP_MIB].value, 1);
	trk__record_release(&record);
}

/* The machine's use is compared with the machine. */
static void the_group_does_not_limit_the_machine(void **state)
{
	struct trk_record record;
	struct trk_limits l;

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "system");
	put_in_group("a/b", "memory.max", "104857600\n");
	put_in_group("a/b", "cpu.max", "1000 100000\n");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_near(record.run.limit[TRK_LIMIT_MEMORY_MIB].value, 2048);
	assert_true(record.run.limit[TRK_LIMIT_CPU].value >= 1);
	assert_string_equal(record.run.limit[TRK_LIMIT_CPU].source, TRK_SOURCE_ALL_CPUS);
	trk__record_release(&record);
}

/* A /proc that shows processes alone (subset=pid) has no meminfo; the kernel answers all the
 * same. */
static void without_meminfo_the_size_of_the_machine_is_known(void **state)
{
	struct trk_record record;
	struct trk_limits l;
	char path[128];

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "run");
	record.run.pid = getpid();
	(void) snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	assert_int_equal(unlink(path), 0);
	(void) snprintf(path, sizeof(path), "proc/%d/limits", (int) getpid());
	put(path,
	    "Limit                     Soft Limit           Hard Limit           Units     \n"
	    "Max cpu time              unlimited            unlimited            seconds   \n"
	    "Max processes             100                  100                  processes \n"
	    "Max open files            1024                 4096                 files     \n"
	    "Max address space         unlimited            unlimited            bytes     \n");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_string_equal(record.run.limit[TRK_LIMIT_MEMORY_MIB].source, TRK_SOURCE_ALL_MEMORY);
	assert_true(record.run.limit[TRK_LIMIT_MEMORY_MIB].value > 16 &&
		    record.run.limit[TRK_LIMIT_MEMORY_MIB].value < 1e9);
	trk__record_release(&record);
}

static void limits_of_a_group_that_is_not_visible_are_bounds(void **state)
{
	struct trk_record record;
	struct trk_limits l;

	assert_int_equal(trk__record_init(&record), 0);
	(void) snprintf(record.run.kind, sizeof(record.run.kind), "run");
	enter("gone/from/here");
	start();
	trk__limits_begin(&l, &env, sampler, 0, &record.run);
	assert_int_equal(record.run.limit[TRK_LIMIT_MEMORY_MIB].quality, TRK_QUALITY_AT_MOST);
	assert_non_null(strstr(record.run.limit[TRK_LIMIT_CPU].reason, "not visible"));
	assert_non_null(trk__cgroup_limits_doubt(trk__sampler_cgroup(sampler), TRK_CGROUP_MEMORY,
						 trk__sampler_limits(sampler, &(unsigned int){0})));
	trk__record_release(&record);
}

static void changed_limits_are_recorded(void **state)
{
	struct trk_run run = {.id = "1"}, read = {.id = "2"};
	struct trk_buf b;

	trk__quantities_clear(run.limit, TRK_LIMITS);
	trk__quantities_clear(run.request, TRK_REQUESTS);
	trk__quantity_set(&run.limit[TRK_LIMIT_SWAP_MIB], 7, TRK_QUALITY_EXACT, "s", NULL);
	trk__quantity_set(&run.request[TRK_REQUEST_CPU], 2, TRK_QUALITY_ESTIMATED, "c", "why");
	trk__buf_init(&b, 1 << 20);
	trk__format_limits(&b, &run);
	assert_int_equal(trk__parse_limits(b.data, b.len, &read), 0);
	assert_near(read.limit[TRK_LIMIT_SWAP_MIB].value, 7);
	assert_true(isnan(read.limit[TRK_LIMIT_CPU].value));
	assert_near(read.request[TRK_REQUEST_CPU].value, 2);
	assert_string_equal(read.request[TRK_REQUEST_CPU].reason, "why");
	assert_int_equal(trk__parse_limits(b.data, b.len - 1, &read), -EBADMSG);
	trk__buf_release(&b);
}

/* ---- swap and forks ---- */

static double swapped_mib(void)
{
	struct trk_sampler_memory m;

	trk__sampler_memory(sampler, &m);
	return m.group_swap_bytes / (double) MIB;
}

static void the_most_that_was_swapped_out_is_kept(void **state)
{
	struct trk_sampler_memory m;

	put_in_group("a/b", "memory.swap.current", "1048576\n");
	put_in_group("a/b", "memory.swap.peak", "1048576\n");
	start();
	tick_after(S);
	assert_near(swapped_mib(), 0);
	put_in_group("a/b", "memory.swap.current", "269484032\n");
	tick_after(S);
	assert_near(swapped_mib(), 256);
	put_in_group("a/b", "memory.swap.current", "0\n");
	put_in_group("a/b", "memory.swap.peak", "315621376\n"); /* between two ticks */
	tick_after(S);
	assert_near(swapped_mib(), 256);
	trk__sampler_memory(sampler, &m);
	assert_false(m.swap_is_peak);
	trk__sampler_force_full(sampler);
	tick_after(S);
	assert_near(swapped_mib(), 301); /* the 1 MiB from before had gone */
	trk__sampler_memory(sampler, &m);
	assert_true(m.swap_is_peak);
}

static void what_is_swapped_in_does_not_hide_what_is_swapped_out_later(void **state)
{
	put_in_group("a/b", "memory.swap.current", "269484032\n");
	start();
	put_in_group("a/b", "memory.swap.current", "1048576\n");
	tick_after(S);
	assert_near(swapped_mib(), 0);
	put_in_group("a/b", "memory.swap.current", "269484032\n");
	tick_after(S);
	assert_near(swapped_mib(), 256);
}

static void without_a_group_s_word_swap_is_unknown(void **state)
{
	start();
	tick_after(S);
	assert_true(isnan(swapped_mib()));
}

static void put_outside(unsigned long swap_free_kib, unsigned long huge_free)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"MemTotal: 2097152 kB\nSwapTotal: 1048576 kB\nSwapFree: %lu kB\n"
			"HugePages_Total: 100\nHugePages_Free: %lu\nHugepagesize: 2048 kB\n",
			swap_free_kib, huge_free);
	put("proc/meminfo", text);
}

static double outside_mib(void)
{
	struct trk_sampler_memory m;

	trk__sampler_memory(sampler, &m);
	return m.outside_growth_bytes / (double) MIB;
}

static void growth_of_swap_and_huge_pages_of_the_machine_is_kept(void **state)
{
	struct trk_sampler_options options = {.perf_fd = -1};
	int error = 0;

	put_outside(1000000, 90);
	sampler = trk__sampler_new(&env, &options, &error);
	assert_non_null(sampler);
	put_outside(1000000, 100); /* others gave 10 back */
	tick_after(S);
	assert_near(outside_mib(), 0);
	put_outside(1000000 - 1024, 60);
	tick_after(S);
	assert_near(outside_mib(), 81);
	put_outside(1000000, 100);
	tick_after(S);
	assert_near(outside_mib(), 81);
	put("proc/meminfo", "MemTotal: 2097152 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n"
			    "Hugetlb: 1048576 kB\n");
	tick_after(S);
	assert_true(isnan(outside_mib()));
}

/* Linux 6.1 counts in the group that forks, 6.12 in the one whose limit was hit and above it. */
static void refused_forks_are_counted_where_the_kernel_does(void **state)
{
	struct trk_cgroup_forks before, now;
	struct trk_cgroup cg;

	put_in_group("a/b", "pids.events", "max 3\n");
	put_in_group("a", "pids.events", "max 0\n");
	assert_int_equal(trk__cgroup_open(&cg, &env, getpid()), 0);
	trk__cgroup_forks(&cg, &before);
	assert_true(before.known);
	trk__cgroup_forks(&cg, &now);
	assert_int_equal(trk__cgroup_forks_since(&now, &before), 0);
	put_in_group("a/b", "pids.events", "max 34\n");
	trk__cgroup_forks(&cg, &now);
	assert_int_equal(trk__cgroup_forks_since(&now, &before), 31);
	put_in_group("a/b", "pids.events", "max 3\n");
	put_in_group("a", "pids.events", "max 39\n");
	trk__cgroup_forks(&cg, &now);
	assert_int_equal(trk__cgroup_forks_since(&now, &before), 39);
	trk__cgroup_release(&cg);
}

static void limits_are_read_less_often_later_but_for_a_sign(void **state)
{
	unsigned int changes;

	put_quota("a", 0, 0);
	start();
	put_in_group("a", "memory.max", "104857600\n");
	tick_after(5 * S);
	assert_int_equal(trk__sampler_limits(sampler, &changes)->memory_bytes, 100 * MIB);
	tick_after(60 * S);
	put_in_group("a", "memory.max", "209715200\n");
	tick_after(5 * S);
	assert_int_equal(trk__sampler_limits(sampler, &changes)->memory_bytes, 100 * MIB);
	tick_after(25 * S);
	assert_int_equal(trk__sampler_limits(sampler, &changes)->memory_bytes, 200 * MIB);
	/* A quota that throttles is new. */
	put_in_group("a", "cpu.max", "50000 100000\n");
	put_quota("a", 5, 1000);
	tick_after(5 * S);
	tick_after(S);
	assert_near(trk__sampler_limits(sampler, &changes)->cpu_cores, 0.5);
	/* So is a limit at the end. */
	put_in_group("a", "memory.max", "max\n");
	trk__sampler_force_full(sampler);
	tick_after(S);
	assert_true(trk__sampler_limits(sampler, &changes)->memory_bytes == TRK_NO_LIMIT);
}

/* ---- kills ---- */

static struct trk_quantity killed_limit;
static const char killed[] = "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n";

static uint64_t kills(const struct trk_group_log *log, bool machine, char *where, size_t size)
{
	where[0] = '\0';
	trk__quantities_clear(&killed_limit, 1);
	return trk__group_log_kills(log, &env, machine, &killed_limit, where, size);
}

static void kills_in_a_group_that_was_entered_count(void **state)
{
	struct trk_group_log log;
	char where[192];

	trk__group_log_begin(&log, &env, getpid());
	trk__group_log_note(&log, &env, getpid(), false);
	assert_int_equal(log.count, 0); /* the caller looks at that one */
	put_in_group("c", "memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 4\n");
	enter("c");
	trk__group_log_note(&log, &env, getpid(), false);
	trk__group_log_note(&log, &env, getpid(), false);
	assert_int_equal(log.count, 1);
	assert_int_equal(kills(&log, true, where, sizeof(where)), 0);
	put_in_group("c", "memory.events", "low 0\nhigh 0\nmax 9\noom 5\noom_kill 5\n");
	assert_int_equal(kills(&log, false, where, sizeof(where)), 1);
	assert_string_equal(where,
			    "oom_kill of control group /c, which the job entered, rose by 1");
}

/* Seen for the first time as a zombie: how many of the kills are older is not known. */
static void a_group_that_was_seen_too_late_needs_a_kill_on_the_machine(void **state)
{
	struct trk_group_log log;
	char where[192];

	trk__group_log_begin(&log, &env, getpid());
	put_in_group("c", "memory.events", killed);
	enter("c");
	trk__group_log_note(&log, &env, getpid(), true);
	assert_int_equal(log.count, 1);
	assert_int_equal(kills(&log, false, where, sizeof(where)), 0);
	assert_int_equal(kills(&log, true, where, sizeof(where)), 1);
	assert_string_equal(where, "oom_kill of control group /c, which the job entered, is 1");
}

/* A victim in the group counts there as well; where the group has no memory controller the one
 * above tells. */
static void kills_of_an_ancestor_count_where_the_group_has_no_count(void **state)
{
	struct trk_group_log log;
	char where[192], path[128];

	put_group("d/e");
	put_group("d");
	put_in_group("d", "memory.max", "104857600\n");
	trk__group_log_begin(&log, &env, getpid());
	enter("d/e");
	trk__group_log_note(&log, &env, getpid(), false);
	put_in_group("d", "memory.events", killed);
	assert_int_equal(kills(&log, true, where, sizeof(where)), 0);
	put_in_group("d", "memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n");
	(void) snprintf(path, sizeof(path), "%s/sys/fs/cgroup/d/e/memory.events", root);
	assert_int_equal(unlink(path), 0);
	trk__group_log_begin(&log, &env, 1);
	trk__group_log_note(&log, &env, getpid(), false);
	put_in_group("d", "memory.events", killed);
	assert_int_equal(kills(&log, true, where, sizeof(where)), 1);
	assert_non_null(strstr(where, "control group /d, which"));
	assert_near(killed_limit.value, 100);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(quotas_of_ancestors_count),
		CASE(a_group_without_the_controller_has_its_parent_s_quota),
		CASE(quotas_of_two_levels_add_up),
		CASE(a_quota_that_is_set_later_counts_in_full),
		CASE(what_a_group_did_before_the_job_came_does_not_count),
		CASE(held_back_is_a_part_of_the_time),
		CASE(a_move_is_followed),
		CASE(the_root_groups_of_an_ending_process_are_no_move),
		CASE(use_is_compared_with_the_limit_of_its_time),
		CASE(of_changed_cpu_limits_the_largest_counts),
		CASE(memory_high_is_a_limit),
		CASE(the_group_does_not_limit_the_machine),
		CASE(without_meminfo_the_size_of_the_machine_is_known),
		CASE(limits_of_a_group_that_is_not_visible_are_bounds),
		CASE(changed_limits_are_recorded),
		CASE(limits_are_read_less_often_later_but_for_a_sign),
		CASE(the_most_that_was_swapped_out_is_kept),
		CASE(what_is_swapped_in_does_not_hide_what_is_swapped_out_later),
		CASE(without_a_group_s_word_swap_is_unknown),
		CASE(growth_of_swap_and_huge_pages_of_the_machine_is_kept),
		CASE(refused_forks_are_counted_where_the_kernel_does),
		CASE(kills_in_a_group_that_was_entered_count),
		CASE(a_group_that_was_seen_too_late_needs_a_kill_on_the_machine),
		CASE(kills_of_an_ancestor_count_where_the_group_has_no_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
