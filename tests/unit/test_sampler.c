/* The sampler on a small machine made of files, with clocks that the test sets. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "machine.h"
#include "sample/sampler_private.h"
#include "probe/tree/private.h"

/* ---- the system ---- */

static void amounts_count_from_the_start_and_rates_over_the_interval(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 100, 0, 50, 7);
	machine_start(&m, 0);
	set_cpu(&m, 101.5, 0.5, 51, 7.25);
	tick_after(&m, 2 * S);
	assert_value(&m, TRK_SYSTEM_UTIME, 2);
	assert_value(&m, TRK_SYSTEM_STIME, 1);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 1.5);
	assert_value(&m, TRK_SYSTEM_IOWAIT, 0.25);
	assert_value(&m, TRK_SYSTEM_STEAL, 0);
	assert_value(&m, TRK_SYSTEM_CONTEXT_SWITCHES, 1500);
	assert_value(&m, TRK_SYSTEM_FORKS, 15);
	assert_value(&m, TRK_ELAPSED, 2);
	assert_value(&m, TRK_INTERVAL, 2);
	assert_value(&m, TRK_TIMESTAMP, 1700000002);
	set_cpu(&m, 102.5, 0.5, 51, 7.25);
	tick_after(&m, 500 * MS);
	assert_value(&m, TRK_SYSTEM_UTIME, 1);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 2);
	assert_value(&m, TRK_ELAPSED, 2.5);
	assert_value(&m, TRK_INTERVAL, 0.5);
	machine_release(&m);
}

static void a_row_at_the_start_has_no_rate(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 100, 0, 50, 0);
	machine_start(&m, 2 * MS);
	tick_after(&m, 0);
	assert_unknown(&m, TRK_SYSTEM_CPU_USAGE);
	assert_value(&m, TRK_SYSTEM_UTIME, 0);
	assert_value(&m, TRK_ELAPSED, 0);
	tick_after(&m, 2 * MS - 1);
	assert_unknown(&m, TRK_SYSTEM_CPU_USAGE);
	tick_after(&m, 2 * MS);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 0);
	machine_release(&m);
}

static void a_late_row_is_over_the_time_that_has_passed(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 0, 0, 0, 0);
	machine_start(&m, 0);
	set_cpu(&m, 7, 0, 0, 0);
	machine_monotonic_ns += 3500 * MS;
	trk__sampler_tick(m.sampler, 2500 * MS, &m.row);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 2);
	assert_value(&m, TRK_INTERVAL, 3.5);
	assert_value(&m, TRK_TRACKER_LATE, 2.5);
	machine_release(&m);
}

/* The monotonic clock stands still while the machine sleeps, the wall clock does not, and somebody
 * may set it. */
static void a_sleep_of_the_machine_and_a_set_clock_change_the_stamp_alone(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 0, 0, 0, 0);
	machine_start(&m, 0);
	set_cpu(&m, 1, 0, 0, 0);
	machine_wall_ns += 7200 * S;
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 1);
	assert_value(&m, TRK_INTERVAL, 1);
	assert_value(&m, TRK_TIMESTAMP, 1700007201);
	set_cpu(&m, 2, 0, 0, 0);
	machine_wall_ns -= 10000 * S;
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 1);
	assert_value(&m, TRK_ELAPSED, 2);
	assert_value(&m, TRK_TIMESTAMP, 1699997202);
	machine_release(&m);
}

static void a_counter_that_steps_back_adds_nothing_twice(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 10, 0, 0, 100);
	machine_start(&m, 0);
	set_cpu(&m, 8, 0, 0, 90);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_UTIME, 0);
	assert_value(&m, TRK_SYSTEM_IOWAIT, 0);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 0);
	set_cpu(&m, 11, 0, 0, 104);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_UTIME, 1);
	assert_value(&m, TRK_SYSTEM_IOWAIT, 4);
	machine_release(&m);
}

static void a_source_that_failed_once_is_made_up_for_over_its_own_time(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 0, 0, 0, 0);
	machine_start(&m, 0);
	live_write(&m.live, "stat", "no such thing\n");
	tick_after(&m, S);
	assert_unknown(&m, TRK_SYSTEM_UTIME);
	assert_unknown(&m, TRK_SYSTEM_CPU_USAGE);
	set_cpu(&m, 6, 0, 0, 0);
	tick_after(&m, 3 * S);
	assert_value(&m, TRK_SYSTEM_UTIME, 6);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 1.5);
	assert_value(&m, TRK_INTERVAL, 3);
	machine_release(&m);
}

/* Four cores: what is found above them in one second was used in another one. */
static void no_more_than_all_cores_are_busy(void **state)
{
	struct machine m;

	machine_init(&m);
	set_cpu(&m, 0, 0, 0, 0);
	machine_start(&m, 0);
	set_cpu(&m, 4.5, 0, 0, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_UTIME, 4.5);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 4);
	set_cpu(&m, 7, 0, 0, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 3);
	set_cpu(&m, 8, 0, 0, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_CPU_USAGE, 1);
	machine_release(&m);
}

static void what_a_machine_lacks_is_unknown_and_not_zero(void **state)
{
	static const enum trk_column known[] = {TRK_TIMESTAMP, TRK_ELAPSED, TRK_INTERVAL,
						TRK_TRACKER_CPU, TRK_TRACKER_LATE};
	struct trk_source list[TRK_SOURCES_MAX];
	struct machine m;
	size_t n;

	machine_init(&m);
	machine_start(&m, 0);
	for (int turn = 0; turn < 2; turn++) {
		tick_after(&m, S);
		for (int i = 0; i < TRK_COLUMNS; i++) {
			bool is_known = false;

			for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
				is_known |= i == (int) known[k];
			assert_int_equal(trk__sample_knows(m.row, i), is_known);
		}
	}
	n = trk__sampler_sources(m.sampler, list);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i].name, "system_cpu") || !strcmp(list[i].name, "system_memory"))
			assert_string_equal(list[i].text, "not readable");
		if (!strcmp(list[i].name, "system_pressure"))
			assert_string_equal(list[i].text, "off or not in this kernel (PSI)");
		if (!strcmp(list[i].name, "cgroup"))
			assert_string_equal(list[i].text, "no control group found");
	}
	assert_true(n >= 8);
	machine_release(&m);
}

static void memory_and_load_are_of_the_moment(void **state)
{
	struct machine m;

	machine_init(&m);
	live_write(&m.live, "meminfo",
		   "MemTotal: 4096 kB\nMemFree: 1024 kB\nMemAvailable: 2048 kB\n"
		   "Buffers: 512 kB\nCached: 256 kB\nSReclaimable: 256 kB\nActive: 128 kB\n"
		   "Inactive: 64 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n");
	live_write(&m.live, "loadavg", "1.25 0.50 0.10 2/321 4242\n");
	machine_start(&m, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_MEMORY_FREE, 1);
	assert_value(&m, TRK_SYSTEM_MEMORY_USED, 2);
	assert_value(&m, TRK_SYSTEM_MEMORY_BUFFERS, 0.5);
	assert_value(&m, TRK_SYSTEM_MEMORY_CACHED, 0.5);
	assert_value(&m, TRK_SYSTEM_MEMORY_ACTIVE, 0.125);
	assert_value(&m, TRK_SYSTEM_MEMORY_INACTIVE, 0.0625);
	assert_value(&m, TRK_SYSTEM_SWAP_USED, 1);
	assert_value(&m, TRK_SYSTEM_LOAD_1M, 1.25);
	live_write(&m.live, "loadavg", "");
	tick_after(&m, 5 * S);
	assert_unknown(&m, TRK_SYSTEM_LOAD_1M);
	assert_value(&m, TRK_SYSTEM_MEMORY_FREE, 1);
	machine_release(&m);
}

static void bytes_of_disk_and_net_are_amounts(void **state)
{
	static const char net[] = "Inter-|   Receive\n face |bytes\n"
				  "  eth0: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\n";
	struct machine m;
	char text[256];

	machine_init(&m);
	set_disk(&m, 1000, 2000);
	(void) snprintf(text, sizeof(text), net, 5000, 600);
	live_write(&m.live, "self/net/dev", text);
	machine_start(&m, 0);
	set_disk(&m, 1010, 2003);
	(void) snprintf(text, sizeof(text), net, 5100, 607);
	live_write(&m.live, "self/net/dev", text);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_DISK_READ, 5120);
	assert_value(&m, TRK_SYSTEM_DISK_WRITE, 1536);
	assert_value(&m, TRK_SYSTEM_NET_RECV, 100);
	assert_value(&m, TRK_SYSTEM_NET_SENT, 7);
	set_disk(&m, 5, 5); /* the device was replaced */
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_DISK_READ, 0);
	set_disk(&m, 6, 5);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_DISK_READ, 512);
	machine_release(&m);
}

static void pressure_is_the_time_lost_in_the_interval(void **state)
{
	struct machine m;

	machine_init(&m);
	set_pressure(&m, "pressure/cpu", 1000000, 0);
	set_pressure(&m, "pressure/io", 500, 100);
	machine_start(&m, 0);
	set_pressure(&m, "pressure/cpu", 1250000, 0);
	set_pressure(&m, "pressure/io", 700500, 300100);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_PRESSURE_CPU_SOME, 0.25);
	assert_value(&m, TRK_SYSTEM_PRESSURE_IO_SOME, 0.7);
	assert_value(&m, TRK_SYSTEM_PRESSURE_IO_FULL, 0.3);
	assert_unknown(&m, TRK_SYSTEM_PRESSURE_MEMORY_SOME);
	machine_release(&m);
}

/* Where a folder's link count tells its folders; elsewhere (btrfs, overlay) it does not. */
static void processes_are_counted(void **state)
{
	struct machine m;
	struct stat st;

	machine_init(&m);
	assert_int_equal(mkdirat(m.live.env.proc_fd, "1", 0700), 0);
	assert_int_equal(mkdirat(m.live.env.proc_fd, "20", 0700), 0);
	assert_int_equal(fstat(m.live.env.proc_fd, &st), 0);
	machine_start(&m, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_PROCESSES, 2);
	assert_int_equal(mkdirat(m.live.env.proc_fd, "300", 0700), 0);
	tick_after(&m, S);
	if (st.st_nlink > 4)
		assert_value(&m, TRK_SYSTEM_PROCESSES, 3);
	tick_after(&m, 60 * S); /* counted anew */
	assert_value(&m, TRK_SYSTEM_PROCESSES, 3);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "1", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "20", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "300", AT_REMOVEDIR), 0);
	machine_release(&m);
}

static void space_is_in_every_row(void **state)
{
	struct machine m;
	struct statvfs fs;
	char text[512];
	double total;

	machine_init(&m);
	assert_int_equal(statvfs(m.live.path, &fs), 0);
	(void) snprintf(text, sizeof(text), "30 1 8:1 / %s rw - ext4 /dev/sda1 rw\n", m.live.path);
	live_write(&m.live, "self/mountinfo", text);
	machine_start(&m, 0);
	tick_after(&m, S);
	total = (double) fs.f_blocks * (double) fs.f_frsize / 1e9;
	assert_value(&m, TRK_SYSTEM_SPACE_TOTAL, total);
	assert_true(value(&m, TRK_SYSTEM_SPACE_USED) <= total);
	tick_after(&m, 100 * MS);
	assert_value(&m, TRK_SYSTEM_SPACE_TOTAL, total);
	machine_release(&m);
}

/* ---- the control group ---- */

static void set_group(struct machine *m, uint64_t cpu_us, const char *memory)
{
	char text[128];

	(void) snprintf(text, sizeof(text),
			"usage_usec %llu\nuser_usec 0\nsystem_usec 0\n"
			"nr_periods 10\nnr_throttled 1\nthrottled_usec %llu\n",
			(unsigned long long) cpu_us, (unsigned long long) cpu_us / 10);
	live_write(&m->live, "group/cpu.stat", text);
	live_write(&m->live, "group/memory.current", memory);
}

/* What says so of this process, in /proc's own words. */
static void enter_group(struct machine *m, const char *member, const char *mount)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%d", (int) getpid());
	assert_int_equal(mkdirat(m->live.env.proc_fd, path, 0700), 0);
	(void) snprintf(path, sizeof(path), "%d/cgroup", (int) getpid());
	live_write(&m->live, path, member);
	live_write(&m->live, "self/mountinfo", mount);
	m->live.env.cgroup_fd = trk__open_dir_at(AT_FDCWD, m->live.path);
}

static void enter_v2_group(struct machine *m)
{
	enter_group(m, "0::/group\n", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	live_write(&m->live, "cgroup.procs", "");
	live_write(&m->live, "group/cgroup.procs", "");
}

static void leave_group(struct machine *m)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "%d/cgroup", (int) getpid());
	assert_int_equal(unlinkat(m->live.env.proc_fd, path, 0), 0);
	(void) snprintf(path, sizeof(path), "%d", (int) getpid());
	assert_int_equal(unlinkat(m->live.env.proc_fd, path, AT_REMOVEDIR), 0);
}

static void the_control_group_has_a_rate_and_a_gauge(void **state)
{
	struct machine m;

	machine_init(&m);
	enter_v2_group(&m);
	live_write(&m.live, "group/cgroup.events", "populated 1\n");
	set_group(&m, 1000000, "1048576\n");
	machine_start(&m, 0);
	tick_after(&m, S); /* counts from the start */
	assert_value(&m, TRK_CGROUP_CPU_USAGE, 0);
	assert_value(&m, TRK_CGROUP_THROTTLED, 0);
	assert_value(&m, TRK_CGROUP_MEMORY_COLUMN, 1);
	set_group(&m, 4000000, "3145728\n");
	tick_after(&m, 2 * S);
	assert_value(&m, TRK_CGROUP_CPU_USAGE, 1.5);
	assert_value(&m, TRK_CGROUP_THROTTLED, 0.3);
	assert_value(&m, TRK_CGROUP_MEMORY_COLUMN, 3);
	set_group(&m, 10, "");
	tick_after(&m, S);
	assert_unknown(&m, TRK_CGROUP_CPU_USAGE);
	assert_unknown(&m, TRK_CGROUP_MEMORY_COLUMN);
	set_group(&m, 500010, "0\n");
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_CPU_USAGE, 0.5);
	assert_value(&m, TRK_CGROUP_MEMORY_COLUMN, 0);
	leave_group(&m);
	machine_release(&m);
}

/* It lacks cgroup.events: what its processors did, the machine's did; it has no quota; and its
 * file is not asked. */
static void the_root_group_is_the_machine(void **state)
{
	struct machine m;

	machine_init(&m);
	enter_v2_group(&m);
	set_group(&m, 1000000, "1048576\n");
	set_cpu(&m, 10, 0, 0, 0);
	machine_start(&m, 0);
	set_group(&m, 9000000, "1048576\n");
	set_cpu(&m, 11, 0, 0.5, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_CPU_USAGE, 1.5);
	assert_value(&m, TRK_CGROUP_THROTTLED, 0);
	assert_value(&m, TRK_CGROUP_MEMORY_COLUMN, 1);
	live_write(&m.live, "stat", ""); /* the group's own file, from here on */
	tick_after(&m, S);
	assert_unknown(&m, TRK_CGROUP_CPU_USAGE);
	set_group(&m, 9500000, "1048576\n");
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_CPU_USAGE, 0.5);
	leave_group(&m);
	machine_release(&m);
}

/* cgroup v1, where throttling is a file of its own: without a quota it is read now and then. */
static void throttling_is_found_after_a_quota_was_set(void **state)
{
	static const char *const texts[] = {
		"nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
		"nr_periods 9\nnr_throttled 5\nthrottled_time 2000000000\n",
		"nr_periods 19\nnr_throttled 9\nthrottled_time 3000000000\n"};
	struct machine m;

	machine_init(&m);
	enter_group(&m, "1:cpu:/group\n",
		    "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
	assert_int_equal(mkdirat(m.live.env.proc_fd, "cpu", 0700), 0);
	assert_int_equal(mkdirat(m.live.env.proc_fd, "cpu/group", 0700), 0);
	live_write(&m.live, "cpu/cgroup.procs", "");
	live_write(&m.live, "cpu/group/cgroup.procs", "");
	live_write(&m.live, "cpu/group/cpu.stat", texts[0]);
	machine_start(&m, 0);
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_THROTTLED, 0);
	live_write(&m.live, "cpu/group/cpu.stat", texts[1]);
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_THROTTLED, 2);
	live_write(&m.live, "cpu/group/cpu.stat", texts[2]);
	tick_after(&m, S);
	assert_value(&m, TRK_CGROUP_THROTTLED, 1);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "cpu/group/cpu.stat", 0), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "cpu/group/cgroup.procs", 0), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "cpu/cgroup.procs", 0), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "cpu/group", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(m.live.env.proc_fd, "cpu", AT_REMOVEDIR), 0);
	leave_group(&m);
	machine_release(&m);
}

/* ---- a process ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void) pause();
	assert_true(pid > 0);
	return pid;
}

static void a_process_that_has_gone_leaves_its_memory_unknown(void **state)
{
	struct trk_tree_options tree = {.root = sleeper(), .self = getpid(), .pss_share = 1};
	struct trk_sampler_options options = {
		.tree = &tree, .no_system = true, .perf_fd = -1, .root_perf_fd = -1};
	struct trk_env env;
	struct machine m = {.row = NULL};
	int error = 0, status;

	assert_int_equal(trk__env_init(&env), 0);
	env.monotonic_ns = read_monotonic;
	env.wall_ns = read_wall;
	m.sampler = trk__sampler_new(&env, &options, &error);
	assert_non_null(m.sampler);
	tick_after(&m, S);
	assert_value(&m, TRK_PROCESS_PID, tree.root);
	assert_value(&m, TRK_PROCESS_CHILDREN, 0);
	assert_value(&m, TRK_PROCESS_THREADS, 1);
	assert_true(value(&m, TRK_PROCESS_MEMORY) > 0);
	assert_true(value(&m, TRK_PROCESS_RSS) > 0);
	assert_true(value(&m, TRK_PROCESS_CPU_USAGE) >= 0);
	assert_unknown(&m, TRK_SYSTEM_CPU_USAGE);
	assert_int_equal(kill(tree.root, SIGKILL), 0);
	assert_int_equal(waitpid(tree.root, &status, 0), tree.root);
	for (int i = 0; i < 2; i++) {
		tick_after(&m, S);
		assert_unknown(&m, TRK_PROCESS_MEMORY);
		assert_unknown(&m, TRK_PROCESS_RSS);
		assert_unknown(&m, TRK_PROCESS_THREADS);
		assert_true(trk__sample_knows(m.row, TRK_PROCESS_UTIME));
	}
	assert_true(trk__tree_state(trk__sampler_tree(m.sampler))->root_gone);
	trk__sampler_free(m.sampler);
	trk__env_release(&env);
}

static void one_process_has_no_count_of_children(void **state)
{
	struct trk_tree_options tree = {.root = getpid(), .one_process = true, .pss_share = 1};
	struct trk_sampler_options options = {
		.tree = &tree, .no_system = true, .perf_fd = -1, .root_perf_fd = -1};
	struct trk_env env;
	struct machine m = {.row = NULL};
	int error = 0;

	assert_int_equal(trk__env_init(&env), 0);
	env.monotonic_ns = read_monotonic;
	m.sampler = trk__sampler_new(&env, &options, &error);
	assert_non_null(m.sampler);
	tick_after(&m, S);
	assert_unknown(&m, TRK_PROCESS_CHILDREN);
	assert_value(&m, TRK_PROCESS_PID, getpid());
	trk__sampler_free(m.sampler);
	trk__env_release(&env);
}

static void the_tree_is_told_the_time_of_its_row(void **state)
{
	struct trk_tree_options tree = {.root = getpid(), .one_process = true, .pss_share = 1};
	struct trk_sampler_options options = {
		.tree = &tree, .no_system = true, .perf_fd = -1, .root_perf_fd = -1};
	struct trk_env env;
	struct machine m = {.row = NULL};
	int error = 0;

	assert_int_equal(trk__env_init(&env), 0);
	env.monotonic_ns = read_monotonic;
	m.sampler = trk__sampler_new(&env, &options, &error);
	assert_non_null(m.sampler);
	for (int i = 0; i < 2; i++) {
		tick_after(&m, S);
		assert_int_equal(trk__sampler_tree(m.sampler)->updated_ns, machine_monotonic_ns);
	}
	assert_int_equal(trk__sampler_tree(m.sampler)->apart_ns, S);
	trk__sampler_free(m.sampler);
	trk__env_release(&env);
}

static void a_process_that_is_not_there_is_an_error(void **state)
{
	struct trk_tree_options tree = {.root = 4242};
	struct trk_sampler_options options = {.tree = &tree, .perf_fd = -1, .root_perf_fd = -1};
	struct machine m;
	int error = 0;

	machine_init(&m);
	assert_null(trk__sampler_new(&m.live.env, &options, &error));
	assert_int_equal(error, -ESRCH);
	machine_release(&m);
}

/* The tree's PSS, of which some was inferred, as the job's own group with this peak leaves it. */
static double held_to_group(double pss_mib, double inferred_mib, uint64_t peak_mib)
{
	static struct trk_tree tree;
	struct trk_sampler s = {.options = {.group_is_own = true}, .tree = &tree};
	struct trk_cgroup_usage usage = {.known = TRK_CGROUP_KNOWS_PEAK,
					 .memory_peak_bytes = peak_mib << 20};

	tree.state.processes = 1;
	tree.state.pss_bytes = (uint64_t) (pss_mib * 1048576);
	tree.state.most_bytes = tree.state.pss_bytes;
	tree.state.least_bytes = (uint64_t) ((pss_mib - inferred_mib) * 1048576);
	trk__sampler_take_group_memory(&s, &usage);
	assert_true(s.row.value[TRK_PROCESS_MEMORY_ESTIMATED] >= 0);
	return (double) s.row.value[TRK_PROCESS_MEMORY] / 1048576;
}

static void inferred_memory_is_no_more_than_the_group_ever_held(void **state)
{
	assert_true(held_to_group(444, 362, 409) == 409);
	assert_true(held_to_group(400, 362, 409) == 400);
	/* What was read stays: mapped files may be charged to another group. */
	assert_true(held_to_group(444, 10, 409) == 434);
	assert_true(held_to_group(417, 0, 409) == 417);
}

static void swap_and_huge_pages_are_in_the_row_and_in_what_is_needed(void **state)
{
	static struct trk_tree tree;
	const struct trk_tree_options options = {.subreaper = true};
	struct trk_sampler s = {.tree = &tree, .huge_growth_bytes = 70 << 20};
	struct trk_cgroup_usage usage = {.known = TRK_CGROUP_KNOWS_SWAP, .swap_bytes = 45 << 20};
	const uint64_t mib = 1 << 20;

	s.options.tree = &options;
	tree.state.processes = 1;
	tree.state.pss_bytes = tree.state.least_bytes = tree.state.most_bytes = 100 * mib;
	trk__sampler_take_group_memory(&s, &usage);
	assert_false(trk__sample_knows(&s.row, TRK_PROCESS_SWAP));
	assert_false(trk__sample_knows(&s.row, TRK_PROCESS_HUGE_PAGES));
	assert_true(s.memory.misses_outside);
	tree.state.swap =
		(struct trk_tree_outside){.is_known = true, .least = 20 * mib, .best = 30 * mib};
	tree.state.huge = (struct trk_tree_outside){
		.is_known = true, .least = 40 * mib, .best = 120 * mib, .most = 120 * mib};
	trk__sampler_take_group_memory(&s, &usage);
	assert_int_equal(s.row.value[TRK_PROCESS_SWAP], 30 * mib);
	/* Three processes map them; the machine has 70 MiB more in use than at the start. */
	assert_int_equal(s.row.value[TRK_PROCESS_HUGE_PAGES], 70 * mib);
	assert_true(s.memory.needed_bytes == 200 * (double) mib);
	assert_true(s.memory.tree_swap_bytes == 20 * (double) mib);
	assert_true(s.memory.tree_huge_bytes == 40 * (double) mib);
	s.options.group_is_own = true;
	trk__sampler_take_group_memory(&s, &usage);
	assert_int_equal(s.row.value[TRK_PROCESS_SWAP], 45 * mib);
	assert_true(s.memory.needed_bytes == 215 * (double) mib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_count_from_the_start_and_rates_over_the_interval),
		cmocka_unit_test(a_row_at_the_start_has_no_rate),
		cmocka_unit_test(a_late_row_is_over_the_time_that_has_passed),
		cmocka_unit_test(a_sleep_of_the_machine_and_a_set_clock_change_the_stamp_alone),
		cmocka_unit_test(a_counter_that_steps_back_adds_nothing_twice),
		cmocka_unit_test(a_source_that_failed_once_is_made_up_for_over_its_own_time),
		cmocka_unit_test(no_more_than_all_cores_are_busy),
		cmocka_unit_test(what_a_machine_lacks_is_unknown_and_not_zero),
		cmocka_unit_test(memory_and_load_are_of_the_moment),
		cmocka_unit_test(bytes_of_disk_and_net_are_amounts),
		cmocka_unit_test(pressure_is_the_time_lost_in_the_interval),
		cmocka_unit_test(processes_are_counted),
		cmocka_unit_test(space_is_in_every_row),
		cmocka_unit_test(the_control_group_has_a_rate_and_a_gauge),
		cmocka_unit_test(the_root_group_is_the_machine),
		cmocka_unit_test(throttling_is_found_after_a_quota_was_set),
		cmocka_unit_test(a_process_that_has_gone_leaves_its_memory_unknown),
		cmocka_unit_test(one_process_has_no_count_of_children),
		cmocka_unit_test(the_tree_is_told_the_time_of_its_row),
		cmocka_unit_test(a_process_that_is_not_there_is_an_error),
		cmocka_unit_test(inferred_memory_is_no_more_than_the_group_ever_held),
		cmocka_unit_test(swap_and_huge_pages_are_in_the_row_and_in_what_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
