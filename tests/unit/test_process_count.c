/* The number of processes: from the link count of /proc if that is usable, else by a walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "probe/linux/process_count.h"
#include "skip.h"

static char folder[] = "/tmp/test_process_count.XXXXXX";
static uint64_t now_ns;

static uint64_t fake_now(void)
{
	return now_ns;
}

static void make(const char *name)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "%s/proc/%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void drop(const char *name)
{
	char path[128];

	(void) snprintf(path, sizeof(path), "%s/proc/%s", folder, name);
	assert_int_equal(rmdir(path), 0);
}

/* A /proc with three processes, seen from the namespace of this name. */
static struct trk_env begin(const char *pid_namespace)
{
	struct trk_env env;
	char path[128];

	(void) snprintf(folder + sizeof(folder) - 7, 7, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void) snprintf(path, sizeof(path), "%s/proc", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	make("self");
	make("self/ns");
	make("fs");
	make("1");
	make("20");
	make("300");
	(void) snprintf(path, sizeof(path), "%s/proc/self/ns/pid", folder);
	assert_int_equal(symlink(pid_namespace, path), 0);
	assert_int_equal(trk__env_init_at(&env, folder), 0);
	env.monotonic_ns = fake_now;
	now_ns = 1;
	return env;
}

static void end(struct trk_env *env)
{
	char command[160];

	trk__env_release(env);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
}

static uint64_t count(struct trk_process_count *c, const struct trk_env *env)
{
	uint64_t n = 0;

	assert_int_equal(trk__process_count_read(c, env, &n), 0);
	return n;
}

static void a_link_more_is_a_process_more(void **state)
{
	struct trk_env env = begin("pid:[4026531836]");
	struct trk_process_count c = {.asked = false};
	struct stat st;

	assert_int_equal(fstat(env.proc_fd, &st), 0);
	if (st.st_nlink != 7) { /* a file system that does not count folders, unlike /proc */
		end(&env);
		SKIP("the file system of /tmp does not count folders as links");
	}
	assert_int_equal(count(&c, &env), 3);
	make("4000");
	assert_int_equal(count(&c, &env), 4);
	/* What is no process moves the constant, until that is fixed anew. */
	make("bus");
	assert_int_equal(count(&c, &env), 5);
	now_ns += 61000000000;
	assert_int_equal(count(&c, &env), 4);
	drop("4000");
	assert_int_equal(count(&c, &env), 3);
	end(&env);
}

/* There the links are the whole machine's. */
static void in_a_container_its_own_processes_are_counted(void **state)
{
	struct trk_env env = begin("pid:[4026532181]");
	struct trk_process_count c = {.asked = false};

	assert_int_equal(count(&c, &env), 3);
	make("bus");
	assert_int_equal(count(&c, &env), 3);
	make("4000");
	assert_int_equal(count(&c, &env), 4);
	end(&env);
}

static void no_process_is_not_known(void **state)
{
	struct trk_env env = begin("pid:[4026532181]");
	struct trk_process_count c = {.asked = false};
	uint64_t n = 77;

	drop("1");
	drop("20");
	drop("300");
	assert_int_equal(trk__process_count_read(&c, &env, &n), -ENODATA);
	assert_int_equal(n, 77);
	end(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_more_is_a_process_more),
		cmocka_unit_test(in_a_container_its_own_processes_are_counted),
		cmocka_unit_test(no_process_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
