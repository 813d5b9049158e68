/* A separate control group for the job: where it may be created, and that none is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/cgroup_own.h"
#include "scratch.h"

static char scratch[64], why[TRK_CGROUP_TEXT_SIZE];

static void put(const char *path, const char *text)
{
	put_below(scratch, path, text);
}

static int begin(void **state)
{
	(void) snprintf(scratch, sizeof(scratch), "/tmp/test_cgroup_own.XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static bool below;

static int end(void **state)
{
	below = false;
	trk__remove_tree(scratch);
	return 0;
}

static void put_member(const char *text)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "proc/%d/cgroup", (int) getpid());
	put(path, text);
}

/* A group /a/b of v2 that limits nothing. */
static void put_v2(void)
{
	put_member("0::/a/b\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	put("sys/fs/cgroup/cgroup.procs", "");
	put("sys/fs/cgroup/a/cgroup.procs", "");
	put("sys/fs/cgroup/a/cgroup.events", "populated 1\n");
	put("sys/fs/cgroup/a/cgroup.subtree_control", "cpu memory pids\n");
	put("sys/fs/cgroup/a/b/cgroup.procs", "1\n");
	put("sys/fs/cgroup/a/b/cgroup.events", "populated 1\n");
	put("sys/fs/cgroup/a/b/cgroup.subtree_control", "\n");
	put("sys/fs/cgroup/a/b/memory.max", "max\n");
	put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	put("sys/fs/cgroup/a/b/pids.max", "max\n");
}

static int make(struct trk_cgroup_own *own, const struct trk_env *env, const char *id)
{
	struct trk_cgroup cg;
	int r;

	(void) trk__cgroup_open(&cg, env, getpid());
	r = trk__cgroup_own_make(own, env, &cg, id, below, why);
	trk__cgroup_release(&cg);
	return r;
}

static int check(void)
{
	struct trk_env env;
	int r;

	why[0] = '\0';
	assert_int_equal(trk__env_init_at(&env, scratch), 0);
	r = make(NULL, &env, "");
	trk__env_release(&env);
	return r;
}

static void may_be_made_beside_a_v2_group_without_limits(void **state)
{
	put_v2();
	assert_int_equal(check(), 0);
	put("sys/fs/cgroup/a/cgroup.subtree_control", "cpu memory_recursiveprot\n");
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "memory controller"));
}

static void no_limit_is_escaped(void **state)
{
	static const char *const limits[][2] = {
		{"memory.max", "1073741824\n"}, {"memory.high", "1000\n"},
		{"cpu.max", "50000 100000\n"},  {"pids.max", "100\n"},
		{"cpuset.cpus", "0-1\n"},       {"cpu.weight", "1000\n"},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		char path[96];

		put_v2();
		(void) snprintf(path, sizeof(path), "sys/fs/cgroup/a/b/%s", limits[i][0]);
		put(path, limits[i][1]);
		assert_int_equal(check(), -EOPNOTSUPP);
		assert_non_null(strstr(why, limits[i][0]));
		(void) snprintf(path, sizeof(path), "%s/sys/fs/cgroup/a/b/%s", scratch,
				limits[i][0]);
		assert_int_equal(unlink(path), 0);
	}
}

static void systemds_groups_are_left_alone(void **state)
{
	put_v2();
	put("run/systemd/system/x", "");
	assert_int_equal(check(), -EPERM);
	assert_non_null(strstr(why, "systemd"));
}

static void none_below_a_v2_group_that_holds_processes(void **state)
{
	put_member("0::/\n");
	put("sys/fs/cgroup/cgroup.controllers", "memory\n");
	put("sys/fs/cgroup/cgroup.procs", "1\n");
	put("sys/fs/cgroup/cgroup.events", "populated 1\n");
	put("sys/fs/cgroup/cgroup.subtree_control", "\n");
	put("sys/fs/cgroup/memory.max", "max\n");
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "v2"));
	/* The machine's root group may hold processes and give controllers to its children. */
	put("sys/fs/cgroup/cgroup.subtree_control", "memory\n");
	assert_int_equal(check(), 0);
}

static void a_v1_group_must_hand_its_limits_down(void **state)
{
	put_member("4:memory:/job\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/job/cgroup.procs", "1\n");
	put("sys/fs/cgroup/memory/job/memory.use_hierarchy", "1\n");
	assert_int_equal(check(), 0);
	put("sys/fs/cgroup/memory/job/memory.use_hierarchy", "0\n");
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "use_hierarchy"));
}

static void below_means_not_beside_the_trackers_group(void **state)
{
	below = true;
	put_v2();
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "beside"));
	put("sys/fs/cgroup/cgroup.subtree_control", "memory\n");
	put_member("0::/\n"); /* the machine's root group */
	assert_int_equal(check(), 0);
}

static void below_means_without_a_copy_of_a_limit(void **state)
{
	put_member("4:memory:/job\n");
	put("sys/fs/cgroup/memory/cgroup.procs", "");
	put("sys/fs/cgroup/memory/release_agent", "");
	put("sys/fs/cgroup/memory/job/cgroup.procs", "1\n");
	put("sys/fs/cgroup/memory/job/memory.use_hierarchy", "1\n");
	below = true;
	assert_int_equal(check(), 0);
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "limit"));
	below = false;
	assert_int_equal(check(), 0);
}

static void none_is_made_beside_the_group_of_an_outer_run(void **state)
{
	put_v2();
	put_member("0::/a/resource-tracker-1-r-1\n");
	put("sys/fs/cgroup/a/resource-tracker-1-r-1/cgroup.procs", "1\n");
	put("sys/fs/cgroup/a/resource-tracker-1-r-1/cgroup.events", "populated 1\n");
	put("sys/fs/cgroup/a/resource-tracker-1-r-1/cgroup.subtree_control", "\n");
	assert_int_equal(check(), -EOPNOTSUPP);
	assert_non_null(strstr(why, "outer run"));
}

static void a_group_holds_itself_and_what_is_below(void **state)
{
	const struct trk_cgroup_own own = {.dir = "./a/resource-tracker-1-x"};
	static const struct {
		const char *dir;
		bool is_held;
	} places[] = {
		{"./a/resource-tracker-1-x", true},
		{"./a/resource-tracker-1-x/b", true},
		{"./a/resource-tracker-1-xy", false},
		{"./a", false},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct trk_cgroup_place place = {.version = 2};

		(void) snprintf(place.dir, sizeof(place.dir), "%s", places[i].dir);
		assert_int_equal(trk__cgroup_own_holds(&own, &place), places[i].is_held);
	}
}

static void without_groups_there_is_a_reason(void **state)
{
	put_member("\n");
	assert_true(check() < 0);
	assert_true(strlen(why) > 0);
}

static void a_group_that_cannot_be_entered_is_taken_away(void **state)
{
	struct trk_cgroup_own own = TRK_CGROUP_OWN_NONE;
	char path[256];
	struct trk_env env;

	put_v2(); /* a directory where no cgroup.procs appears by itself */
	put("sys/fs/cgroup/a/resource-tracker-1-alive/keep", "");
	(void) snprintf(path, sizeof(path), "%s/sys/fs/cgroup/a/resource-tracker-%d-dead", scratch,
			INT32_MAX);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(trk__env_init_at(&env, scratch), 0);
	assert_int_equal(make(&own, &env, "r-1"), -ENOENT);
	assert_int_equal(own.parent_fd, -1);
	assert_int_equal(access(path, F_OK), -1); /* of a tracker that was killed */
	(void) snprintf(path, sizeof(path), "%s/sys/fs/cgroup/a/resource-tracker-%d-r-1", scratch,
			(int) getpid());
	assert_int_equal(access(path, F_OK), -1);
	(void) snprintf(path, sizeof(path), "%s/sys/fs/cgroup/a/resource-tracker-1-alive", scratch);
	assert_int_equal(access(path, F_OK), 0);
	trk__env_release(&env);
}

/* On a machine where it can be done. */
static void a_process_left_in_it_goes_home(void **state)
{
	struct trk_cgroup_own own = TRK_CGROUP_OWN_NONE;
	struct trk_env env;
	char text[512], path[64];
	pid_t pid;

	assert_int_equal(trk__env_init(&env), 0);
	if (make(&own, &env, "r-test") < 0) {
		print_message("%s\n", why);
		trk__env_release(&env);
		skip();
	}
	pid = fork();
	if (pid == 0) {
		if (write(own.procs_fd, "0", 1) != 1)
			_exit(1);
		(void) pause();
	}
	/* v1 has a file by which a process enters without a wait for forks. */
	(void) snprintf(path, sizeof(path), "self/fd/%d", own.procs_fd);
	assert_true(trk__read_link_at(env.proc_fd, path, text, sizeof(text)) > 0);
	assert_string_equal(strrchr(text, '/'), faccessat(own.home_fd, "tasks", F_OK, 0) == 0
							? "/tasks"
							: "/cgroup.procs");
	(void) snprintf(path, sizeof(path), "%d/cgroup", (int) pid);
	do {
		assert_true(trk__read_at(env.proc_fd, path, text, sizeof(text)) > 0);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	} while (!strstr(text, own.name));
	assert_int_equal(faccessat(env.cgroup_fd, own.dir, F_OK, 0), 0);
	(void) snprintf(text, sizeof(text), "%s", own.dir);
	trk__cgroup_own_remove(&own);
	assert_int_equal(faccessat(env.cgroup_fd, text, F_OK, 0), -1);
	assert_int_equal(kill(pid, 0), 0);
	(void) kill(pid, SIGKILL);
	(void) waitpid(pid, NULL, 0);
	trk__env_release(&env);
}

#define SCRATCH_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

static void all_processes_in_it_are_killed_at_once(void **state)
{
	struct trk_cgroup_own own = TRK_CGROUP_OWN_NONE;
	char text[8];

	trk__cgroup_own_kill(&own); /* none was made */
	put("group/x", "");
	own.parent_fd = trk__open_dir_at(AT_FDCWD, scratch);
	assert_true(own.parent_fd >= 0);
	(void) snprintf(own.name, sizeof(own.name), "group");
	trk__cgroup_own_kill(&own); /* a kernel without the file */
	put("group/cgroup.kill", "0");
	trk__cgroup_own_kill(&own);
	assert_int_equal(trk__read_at(own.parent_fd, "group/cgroup.kill", text, sizeof(text)), 1);
	assert_string_equal(text, "1");
	trk__close(own.parent_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(may_be_made_beside_a_v2_group_without_limits),
		SCRATCH_TEST(no_limit_is_escaped),
		SCRATCH_TEST(systemds_groups_are_left_alone),
		SCRATCH_TEST(none_below_a_v2_group_that_holds_processes),
		SCRATCH_TEST(a_v1_group_must_hand_its_limits_down),
		SCRATCH_TEST(below_means_not_beside_the_trackers_group),
		SCRATCH_TEST(below_means_without_a_copy_of_a_limit),
		SCRATCH_TEST(none_is_made_beside_the_group_of_an_outer_run),
		cmocka_unit_test(a_group_holds_itself_and_what_is_below),
		SCRATCH_TEST(without_groups_there_is_a_reason),
		SCRATCH_TEST(a_group_that_cannot_be_entered_is_taken_away),
		SCRATCH_TEST(all_processes_in_it_are_killed_at_once),
		cmocka_unit_test(a_process_left_in_it_goes_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
