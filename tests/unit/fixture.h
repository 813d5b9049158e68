/* Access to the hand-written trees below tests/fixtures/, and a small temporary /proc whose files
 * change while a meter keeps them open. Include it after <cmocka.h>. */
#ifndef TRK_TESTS_FIXTURE_H
#define TRK_TESTS_FIXTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/clock.h"
#include "base/file.h"

#ifndef TRK_FIXTURES
#define TRK_FIXTURES "tests/fixtures"
#endif

/* Path of a file of a fixture; TRK_FIXTURES in the environment names another root. Owned: the
 * caller frees it. */
static inline char *fixture_path(const char *fixture, const char *file)
{
	const char *root = getenv("TRK_FIXTURES");
	char *path;

	assert_true(asprintf(&path, "%s/%s/%s", root ? root : TRK_FIXTURES, fixture, file) > 0);
	return path;
}

/* Text of a file of a fixture. Owned: the caller frees it. */
static inline char *fixture_text(const char *fixture, const char *file)
{
	char *path = fixture_path(fixture, file), *text = NULL;

	assert_true(trk__read_all_at(AT_FDCWD, path, 1 << 20, &text) >= 0);
	free(path);
	return text;
}

/* proc/ is a temporary folder, sys/ is a fixture's. */
struct live {
	struct trk_env env;
	char *path;
};

/* `fixture` gives sys/; NULL: there is no sysfs. */
static inline void live_init(struct live *live, const char *fixture)
{
	const char *tmp = getenv("TMPDIR");
	char *sys;

	*live = (struct live){.env = {.proc_fd = -1,
				      .sys_fd = -1,
				      .cgroup_fd = -1,
				      .thread_cpu_ns = trk__clock_thread_cpu_ns}};
	assert_true(asprintf(&live->path, "%s/trk-test-XXXXXX", tmp ? tmp : "/tmp") > 0);
	assert_non_null(mkdtemp(live->path));
	live->env.proc_fd = trk__open_dir_at(AT_FDCWD, live->path);
	assert_true(live->env.proc_fd >= 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "self", 0700), 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "self/net", 0700), 0);
	if (!fixture)
		return;
	sys = fixture_path(fixture, "sys");
	live->env.sys_fd = trk__open_dir_at(AT_FDCWD, sys);
	assert_true(live->env.sys_fd >= 0);
	free(sys);
}

/* Replace the content of a file in place, as the kernel does with what an open descriptor shows. */
static inline void live_write(const struct live *live, const char *file, const char *text)
{
	int fd = openat(live->env.proc_fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

/* The same with the text of a fixture's file. */
static inline void live_copy(const struct live *live, const char *file, const char *fixture,
			     const char *from)
{
	char *text = fixture_text(fixture, from);

	live_write(live, file, text);
	free(text);
}

static inline void live_release(struct live *live)
{
	static const char *const files[] = {"diskstats", "stat", "self/net/dev", "self/mountinfo"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void) unlinkat(live->env.proc_fd, files[i], 0);
	(void) unlinkat(live->env.proc_fd, "self/net", AT_REMOVEDIR);
	(void) unlinkat(live->env.proc_fd, "self", AT_REMOVEDIR);
	assert_int_equal(rmdir(live->path), 0);
	free(live->path);
	trk__env_release(&live->env);
}

#endif
