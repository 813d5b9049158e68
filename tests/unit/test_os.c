/* Functions that each operating system implements, with the behaviour that all must have. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "skip.h"

static bool ends_at_exec(int fd)
{
	return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static void no_descriptor_outlives_exec(void **state)
{
	int ends[2], fd = trk__os_socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(trk__os_pipe(ends), 0);
	assert_true(fd >= 0 && ends_at_exec(fd));
	assert_true(ends_at_exec(ends[0]) && ends_at_exec(ends[1]));
	(void) close(fd);
	(void) close(ends[0]);
	(void) close(ends[1]);
	assert_int_equal(trk__os_socket(-1, SOCK_STREAM, 0), -EAFNOSUPPORT);
}

static void a_way_goes_through_directories_and_no_links(void **state)
{
	char folder[] = "/tmp/trk-os-XXXXXX", real[PATH_MAX], path[PATH_MAX];
	int fd, below, r;

	assert_non_null(mkdtemp(folder));
	fd = trk__os_open_way(AT_FDCWD, folder);
	assert_true(fd >= 0 && ends_at_exec(fd));
	assert_int_equal(mkdirat(fd, "below", 0700), 0);
	assert_int_equal(symlinkat("below", fd, "link"), 0);
	below = trk__os_open_way(fd, "below");
	assert_true(below >= 0);
	assert_int_equal(trk__os_path_of(below, path, sizeof(path)), 0);
	assert_non_null(realpath(folder, real));
	assert_int_equal(strncmp(path, real, strlen(real)), 0);
	assert_string_equal(path + strlen(real), "/below");
	r = trk__os_open_way(fd, "link");
	assert_true(r == -ENOTDIR || r == -ELOOP);
	assert_int_equal(trk__os_open_way(fd, "missing"), -ENOENT);
	trk__close(below);
	trk__close(fd);
	trk__remove_tree(folder);
}

static void a_change_has_its_nanoseconds(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 1700000000, .tv_nsec = 250}};
	char path[] = "/tmp/trk-os-XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(trk__os_modified_ns(&st) == INT64_C(1700000000000000250));
	(void) close(fd);
	(void) unlink(path);
}

static int by_distance(const void *a, const void *b, void *data)
{
	int from = *(const int *) data, x = abs(*(const int *) a - from);
	int y = abs(*(const int *) b - from);

	return (x > y) - (x < y);
}

static void an_order_has_its_data(void **state)
{
	int list[] = {9, 2, 7, 4, 5}, from = 5;

	trk__os_sort(list, 5, sizeof(list[0]), by_distance, &from);
	assert_memory_equal(list, ((const int[]){5, 4, 7, 2, 9}), sizeof(list));
}

static void this_program_is_found(void **state)
{
	char path[PATH_MAX];

	assert_int_equal(trk__os_program(path, sizeof(path)), 0);
	assert_int_equal(path[0], '/');
	assert_int_equal(access(path, X_OK), 0);
	assert_non_null(trk__os_environment());
}

static bool is_ready(int fd, int patience_ms)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, patience_ms) == 1;
}

enum { LONG_MS = 20000 };

static void a_timer_is_ready_once_its_time_has_come(void **state)
{
	int fd = trk__os_timer();

	assert_true(fd >= 0 && ends_at_exec(fd));
	assert_false(is_ready(fd, 0));
	assert_int_equal(trk__os_timer_set(fd, trk__clock_monotonic_ns() + TRK_NS_PER_MS), 0);
	assert_true(is_ready(fd, LONG_MS));
	trk__os_timer_take(fd);
	assert_false(is_ready(fd, 0));
	assert_int_equal(trk__os_timer_set(fd, 1), 0); /* long ago */
	assert_true(is_ready(fd, LONG_MS));
	assert_int_equal(trk__os_timer_set(fd, UINT64_MAX), 0);
	assert_false(is_ready(fd, 0));
	(void) close(fd);
}

static void the_end_of_a_process_is_awaited(void **state)
{
	int ends[2], fd;
	pid_t pid;

	SKIP_UNDER_VALGRIND("it has no pidfd_open");
	assert_int_equal(trk__os_pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char end;

		(void) close(ends[1]);
		(void) !read(ends[0], &end, 1);
		_exit(0);
	}
	fd = trk__os_process_end(pid);
	assert_true(fd >= 0 && ends_at_exec(fd));
	assert_false(is_ready(fd, 0));
	(void) close(ends[1]);
	assert_true(is_ready(fd, LONG_MS));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void) close(fd);
	(void) close(ends[0]);
}

static void a_signal_reaches_the_process_of_the_descriptor_or_none(void **state)
{
	pid_t ended = fork(), alive;
	int fd, status;

	SKIP_UNDER_VALGRIND("it has no pidfd_open");
	if (ended == 0)
		for (;;)
			(void) pause();
	fd = trk__os_process_end(ended);
	assert_true(fd >= 0);
	assert_int_equal(trk__os_process_signal(fd, ended, SIGKILL), 0);
	assert_int_equal(waitpid(ended, &status, 0), ended);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* Another process, as if it had got the pid. */
	alive = fork();
	if (alive == 0)
		for (;;)
			(void) pause();
	assert_int_equal(trk__os_process_signal(fd, alive, SIGKILL), -ESRCH);
	assert_int_equal(waitpid(alive, &status, WNOHANG), 0);
	assert_int_equal(trk__os_process_signal(-1, alive, SIGKILL), 0);
	assert_int_equal(waitpid(alive, &status, 0), alive);
	(void) close(fd);
}

static void a_group_wakes_once_a_change(void **state)
{
	int group = trk__os_group(), ends[2];

	assert_int_equal(trk__os_pipe(ends), 0);
	assert_true(group >= 0 && ends_at_exec(group));
	assert_int_equal(trk__os_group_add(group, ends[0]), 0);
	assert_false(is_ready(group, 0));
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_true(is_ready(group, LONG_MS));
	trk__os_group_take(group);
	assert_false(is_ready(group, 0)); /* although it can still be read */
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_true(is_ready(group, LONG_MS));
	(void) close(ends[0]);
	(void) close(ends[1]);
	(void) close(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_descriptor_outlives_exec),
		cmocka_unit_test(a_way_goes_through_directories_and_no_links),
		cmocka_unit_test(a_change_has_its_nanoseconds),
		cmocka_unit_test(an_order_has_its_data),
		cmocka_unit_test(this_program_is_found),
		cmocka_unit_test(a_timer_is_ready_once_its_time_has_come),
		cmocka_unit_test(the_end_of_a_process_is_awaited),
		cmocka_unit_test(a_signal_reaches_the_process_of_the_descriptor_or_none),
		cmocka_unit_test(a_group_wakes_once_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
