/* The lock of a folder, and names of temporary files in it: other users may be in the folder, too. */
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
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/os.h"

static char folder[64];
static int dir;

static int enter(void **state)
{
	(void) snprintf(folder, sizeof(folder), "/tmp/trk-lock-XXXXXX");
	dir = mkdtemp(folder) ? trk__open_dir_at(AT_FDCWD, folder) : -1;
	return dir < 0 ? -1 : 0;
}

static int leave(void **state)
{
	trk__close(dir);
	trk__remove_tree(folder);
	return 0;
}

/* A child that holds the lock until it is killed. */
static pid_t hold(const char *name)
{
	int ends[2];
	char ready;
	pid_t pid;

	assert_int_equal(trk__os_pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		int fd = trk__lock_take(dir, name, NULL);

		_exit(fd < 0 || write(ends[1], "", 1) != 1 ? 1 : pause());
	}
	assert_int_equal(read(ends[0], &ready, 1), 1);
	(void) close(ends[0]);
	(void) close(ends[1]);
	return pid;
}

static void a_held_lock_is_an_error_that_names_its_holder(void **state)
{
	struct trk_error error = {.code = 0};
	pid_t pid = hold("lock");
	uint64_t before = trk__clock_monotonic_ns();
	char want[64];
	struct stat st;
	int fd;

	assert_int_equal(trk__lock_take(dir, "lock", &error), -EBUSY);
	assert_true(trk__clock_monotonic_ns() - before >= TRK_LOCK_WAIT_MS * TRK_NS_PER_MS);
	assert_int_equal(fstatat(dir, "lock", &st, 0), 0);
	(void) snprintf(want, sizeof(want), "lock is locked by process %d", (int) pid);
	/* Of some file systems, such as overlayfs, /proc/locks has other numbers. */
	if (trk__os_lock_holder(&st) == 0)
		(void) snprintf(want, sizeof(want), "lock is locked by another process");
	assert_string_equal(error.message, want);
	(void) kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fd = trk__lock_take(dir, "lock", &error);
	assert_true(fd >= 0);
	assert_int_equal(trk__os_lock_holder(&st), 0); /* its own one is none */
	trk__close(fd);
}

static void a_lock_is_a_regular_file(void **state)
{
	struct trk_error error = {.code = 0};

	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(symlinkat("target", dir, "link"), 0);
	assert_int_equal(trk__lock_take(dir, "fifo", &error), -TRK_ERR_NOTFILE);
	assert_string_equal(error.message, "fifo: not a regular file");
	assert_int_equal(trk__lock_take(dir, "link", &error), -ELOOP);
	assert_int_equal(faccessat(dir, "target", F_OK, 0), -1);
}

static void a_temporary_name_cannot_be_known(void **state)
{
	char one[TRK_TEMPORARY_SIZE], other[TRK_TEMPORARY_SIZE], text[8];
	int fd = trk__create_temporary_at(dir, "state", 0600, one);

	assert_true(fd >= 0);
	trk__close(fd);
	trk__temporary_name(other, "state");
	assert_memory_equal(one, ".state.", 7);
	assert_memory_equal(other, ".state.", 7);
	assert_string_not_equal(one, other);
	assert_int_equal(unlinkat(dir, one, 0), 0);
	/* Names of earlier versions, which another user may have made. */
	assert_int_equal(mkdirat(dir, ".state.part", 0700), 0);
	assert_int_equal(trk__replace_at(dir, "state", 0600, "new", 3), 0);
	assert_int_equal(trk__replace_at(dir, "state", 0600, "newer", 5), 0);
	assert_int_equal(trk__read_at(dir, "state", text, sizeof(text)), 5);
	assert_int_equal(unlinkat(dir, ".state.part", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(dir, "state", 0), 0);
	assert_int_equal(rmdir(folder), 0); /* no other file is left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_held_lock_is_an_error_that_names_its_holder,
						enter, leave),
		cmocka_unit_test_setup_teardown(a_lock_is_a_regular_file, enter, leave),
		cmocka_unit_test_setup_teardown(a_temporary_name_cannot_be_known, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
