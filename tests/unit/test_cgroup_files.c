/* The parsers of control group files. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/linux/cgroup_files.h"

static void finds_the_line_of_a_controller(void **state)
{
	static const char text[] = "12:memory:/docker/abc\n11:cpu,cpuacct:/a b:c\n"
				   "1:name=systemd:/init.scope\n0::/unified group\n";
	struct trk_cgroup_member m;

	assert_int_equal(trk__cgroup_member_parse(text, "memory", &m), 0);
	assert_string_equal(m.path, "/docker/abc");
	assert_string_equal(m.controllers, "memory");
	assert_int_equal(trk__cgroup_member_parse(text, "cpuacct", &m), 0);
	assert_string_equal(m.path, "/a b:c");
	assert_string_equal(m.controllers, "cpu,cpuacct");
	assert_int_equal(trk__cgroup_member_parse(text, "name=systemd", &m), 0);
	assert_string_equal(m.path, "/init.scope");
	assert_int_equal(trk__cgroup_member_parse(text, NULL, &m), 0);
	assert_string_equal(m.path, "/unified group");
}

static void takes_no_part_of_a_name_for_the_controller(void **state)
{
	struct trk_cgroup_member m = {.path = "before"};

	assert_int_equal(trk__cgroup_member_parse("3:cpuset:/x\n2:cpuacct:/y\n", "cpu", &m),
			 -ENOENT);
	assert_int_equal(trk__cgroup_member_parse("3:cpuset:/x\n", NULL, &m), -ENOENT);
	assert_string_equal(m.path, "before");
}

static void cuts_the_mark_of_a_removed_group(void **state)
{
	struct trk_cgroup_member m;

	assert_int_equal(trk__cgroup_member_parse("0::/a/b (deleted)\n", NULL, &m), 0);
	assert_string_equal(m.path, "/a/b");
}

static void refuses_damaged_membership(void **state)
{
	static const char *const bad[] = {"x",  "0", "0:", "0:memory", "0::", "0::relative\n",
					  ":::"};
	struct trk_cgroup_member m = {.path = "before"};
	char text[TRK_CGROUP_PATH_SIZE + 16] = "0::/";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(trk__cgroup_member_parse(bad[i], NULL, &m), -EBADMSG);
	memset(text + 4, 'a', TRK_CGROUP_PATH_SIZE);
	assert_int_equal(trk__cgroup_member_parse(text, NULL, &m), -ENAMETOOLONG);
	assert_string_equal(m.path, "before");
}

static void finds_the_mount_of_a_controller(void **state)
{
	static const char text[] =
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
		"33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 master:1 - cgroup cgroup "
		"rw,cpu,cpuacct\n"
		"35 31 0:32 /docker/x\\040y /sys/fs/cgroup/me\\134mory rw - cgroup cgroup "
		"rw,memory\n"
		"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
	struct trk_mount m;

	assert_int_equal(trk__cgroup_mount_parse(text, "cpuacct", "/", &m), 0);
	assert_string_equal(m.point, "/sys/fs/cgroup/cpu,cpuacct");
	assert_string_equal(m.root, "/");
	assert_int_equal(trk__cgroup_mount_parse(text, "memory", "/", &m), 0);
	assert_string_equal(m.point, "/sys/fs/cgroup/me\\mory");
	assert_string_equal(m.root, "/docker/x y");
	assert_int_equal(trk__cgroup_mount_parse(text, NULL, "/", &m), 0);
	assert_string_equal(m.point, "/sys/fs/cgroup/unified");
	assert_int_equal(trk__cgroup_mount_parse(text, "pids", "/", &m), -ENOENT);
	assert_int_equal(trk__cgroup_mount_parse("1 2 3\n\n - \n", NULL, "/", &m), -ENOENT);
}

static void prefers_the_mount_that_shows_most_of_the_path(void **state)
{
	static const char text[] = "1 0 0:1 /a /sys/fs/cgroup/deep rw - cgroup2 c rw\n"
				   "2 0 0:1 / /sys/fs/cgroup/whole rw - cgroup2 c rw\n"
				   "3 0 0:1 /a/b /sys/fs/cgroup/leaf rw - cgroup2 c rw\n"
				   "4 0 0:1 / /elsewhere rw - cgroup2 c rw\n"
				   "5 0 0:1 /z /sys/fs/cgroup/other rw - cgroup2 c rw\n";
	struct trk_mount m;

	assert_int_equal(trk__cgroup_mount_parse(text, NULL, "/a/b", &m), 0);
	assert_string_equal(m.point, "/sys/fs/cgroup/whole");
}

static void a_later_mount_covers_the_one_below_it(void **state)
{
	static const char text[] = "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 c rw\n"
				   "2 1 0:1 /a /sys/fs/cgroup rw - cgroup2 c rw\n";
	struct trk_mount m;

	assert_int_equal(trk__cgroup_mount_parse(text, NULL, "/a/b", &m), 0);
	assert_string_equal(m.root, "/a");
}

static void strips_the_root_of_a_mount_from_a_path(void **state)
{
	assert_string_equal(trk__cgroup_path_below("/a/b", "/"), "/a/b");
	assert_string_equal(trk__cgroup_path_below("/", "/"), "");
	assert_string_equal(trk__cgroup_path_below("/docker/x/y", "/docker/x"), "/y");
	assert_string_equal(trk__cgroup_path_below("/docker/x", "/docker/x"), "");
	assert_string_equal(trk__cgroup_path_below("/../../a", "/../.."), "/a");
	assert_string_equal(trk__cgroup_path_below("/a/..b", "/a"), "/..b");
	assert_null(trk__cgroup_path_below("/docker/xy", "/docker/x"));
	assert_null(trk__cgroup_path_below("/a/..", "/"));
	assert_null(trk__cgroup_path_below("/../a", "/"));
	assert_null(trk__cgroup_path_below("/..b/../c", "/"));
}

static void reads_limits_of_both_versions(void **state)
{
	static const char *const none[] = {"max\n",
					   "max",
					   "9223372036854771712\n",
					   "9223372036854710272\n",
					   "9223372036854775807\n",
					   "18446744073709551615"};
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		value = 7;
		assert_int_equal(trk__cgroup_limit_parse(none[i], &value), 0);
		assert_true(value == UINT64_MAX);
	}
	assert_int_equal(trk__cgroup_limit_parse("536870912\n", &value), 0);
	assert_int_equal(value, 536870912);
	assert_int_equal(trk__cgroup_limit_parse("0\n", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(trk__cgroup_limit_parse("maximum", &value), -EBADMSG);
	assert_int_equal(trk__cgroup_limit_parse("", &value), -EBADMSG);
	assert_int_equal(trk__cgroup_limit_parse("12x", &value), -EBADMSG);
	assert_int_equal(value, 0);
}

static void reads_quotas_as_cpus(void **state)
{
	double cores = 0;

	assert_int_equal(trk__cgroup_cpu_max_parse("150000 100000\n", &cores), 0);
	assert_true(cores == 1.5);
	assert_int_equal(trk__cgroup_cpu_max_parse("max 100000\n", &cores), 0);
	assert_true(isnan(cores));
	assert_int_equal(trk__cgroup_cfs_parse("25000\n", "50000\n", &cores), 0);
	assert_true(cores == 0.5);
	assert_int_equal(trk__cgroup_cfs_parse("-1\n", "100000\n", &cores), 0);
	assert_true(isnan(cores));
	assert_int_equal(trk__cgroup_cpu_max_parse("100000 0\n", &cores), -EBADMSG);
	assert_int_equal(trk__cgroup_cpu_max_parse("max\n", &cores), -EBADMSG);
	assert_int_equal(trk__cgroup_cpu_max_parse("", &cores), -EBADMSG);
	assert_int_equal(trk__cgroup_cfs_parse("1\n", "0\n", &cores), -EBADMSG);
}

static void counts_the_cpus_of_a_list(void **state)
{
	static const char *const bad[] = {"x",  "3-1",          "0-",  "0,,1",
					  "1,", "0-4294967295", "0 1", "0-18446744073709551615"};
	unsigned int count = 99;

	assert_int_equal(trk__cgroup_cpu_list_parse("0-3,8\n", &count), 0);
	assert_int_equal(count, 5);
	assert_int_equal(trk__cgroup_cpu_list_parse("7", &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(trk__cgroup_cpu_list_parse("0-4095\n", &count), 0);
	assert_int_equal(count, 4096);
	assert_int_equal(trk__cgroup_cpu_list_parse("\n", &count), 0);
	assert_int_equal(count, 0);
	count = 99;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(trk__cgroup_cpu_list_parse(bad[i], &count), -EBADMSG);
	assert_int_equal(count, 99);
}

static void finds_a_value_by_its_whole_key(void **state)
{
	static const char text[] = "oom_kill_disable 0\nunder_oom 1\noom 5\noom_kill 2\nbad x\n";
	uint64_t value = 99;

	assert_int_equal(trk__cgroup_keyed_parse(text, "oom_kill", &value), 0);
	assert_int_equal(value, 2);
	assert_int_equal(trk__cgroup_keyed_parse(text, "oom", &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(trk__cgroup_keyed_parse(text, "om", &value), -ENOENT);
	assert_int_equal(trk__cgroup_keyed_parse(text, "bad", &value), -EBADMSG);
	assert_int_equal(value, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_line_of_a_controller),
		cmocka_unit_test(takes_no_part_of_a_name_for_the_controller),
		cmocka_unit_test(cuts_the_mark_of_a_removed_group),
		cmocka_unit_test(refuses_damaged_membership),
		cmocka_unit_test(finds_the_mount_of_a_controller),
		cmocka_unit_test(prefers_the_mount_that_shows_most_of_the_path),
		cmocka_unit_test(a_later_mount_covers_the_one_below_it),
		cmocka_unit_test(strips_the_root_of_a_mount_from_a_path),
		cmocka_unit_test(reads_limits_of_both_versions),
		cmocka_unit_test(reads_quotas_as_cpus),
		cmocka_unit_test(counts_the_cpus_of_a_list),
		cmocka_unit_test(finds_a_value_by_its_whole_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
