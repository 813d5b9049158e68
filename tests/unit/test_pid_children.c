/* The parser and the reader of /proc/PID/task/TID/children. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/pid_children.h"

static void reads_the_pids_of_a_line(void **state)
{
	pid_t pids[4] = {0};

	assert_int_equal(trk__pid_children_parse("12 345 6789 ", pids, 4), 3);
	assert_int_equal(pids[0], 12);
	assert_int_equal(pids[1], 345);
	assert_int_equal(pids[2], 6789);
	assert_int_equal(pids[3], 0);
	assert_int_equal(trk__pid_children_parse("", pids, 4), 0);
}

static void counts_more_than_fit(void **state)
{
	pid_t pids[2] = {0, 99};

	assert_int_equal(trk__pid_children_parse("1 2 3 4 5\n", pids, 1), 5);
	assert_int_equal(pids[0], 1);
	assert_int_equal(pids[1], 99);
}

static void refuses_what_is_no_list_of_pids(void **state)
{
	pid_t pids[4];

	assert_int_equal(trk__pid_children_parse("1 x", pids, 4), -EBADMSG);
	assert_int_equal(trk__pid_children_parse("-1", pids, 4), -EBADMSG);
	assert_int_equal(trk__pid_children_parse("4294967296", pids, 4), -EBADMSG);
	assert_int_equal(trk__pid_children_parse("99999999999999999999", pids, 4), -EBADMSG);
}

/* ---- a tree of our own ---- */

static char root[64];
static int root_fd;

static void put(const char *path, const char *text)
{
	char full[128];
	FILE *file;

	(void) snprintf(full, sizeof(full), "%s/%s", root, path);
	if (!text) {
		assert_int_equal(mkdir(full, 0755), 0);
		return;
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	(void) snprintf(root, sizeof(root), "/tmp/test_pid_children.XXXXXX");
	if (!mkdtemp(root))
		return -1;
	root_fd = trk__open_dir_at(AT_FDCWD, root);
	put("7", NULL);
	put("7/task", NULL);
	put("7/task/7", NULL);
	put("7/task/8", NULL);
	return root_fd < 0;
}

static int end(void **state)
{
	char command[96];

	trk__close(root_fd);
	(void) snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void joins_the_children_of_all_threads(void **state)
{
	pid_t pids[3] = {0, 0, 0};

	put("7/task/7/children", "11 12 ");
	put("7/task/8/children", "13 ");
	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 3), 3);
	assert_int_equal(pids[0] + pids[1] + pids[2], 11 + 12 + 13);
	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 1), 3);
}

static void a_thread_that_ended_meanwhile_is_passed_over(void **state)
{
	pid_t pids[2];

	put("7/task/8/children", "13 ");
	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 2), 1);
	assert_int_equal(pids[0], 13);
}

static void no_children_is_not_an_error(void **state)
{
	pid_t pids[2];

	put("7/task/7/children", "");
	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 2), 0);
}

static void a_kernel_without_the_file_is_an_error(void **state)
{
	pid_t pids[2];

	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 2), -ENOENT);
	assert_int_equal(trk__pid_children_read(root_fd, 9, pids, 2), -ENOENT);
}

static void a_damaged_file_is_an_error(void **state)
{
	pid_t pids[2];

	put("7/task/7/children", "11 x");
	assert_int_equal(trk__pid_children_read(root_fd, 7, pids, 2), -EBADMSG);
}

/* ---- this machine ---- */

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void) pause();
		_exit(0);
	}
	return pid;
}

static int hold[2];

/* Forks in a thread of its own, which must live on for its children to stay with it. */
static void *fork_in_thread(void *arg)
{
	char byte;

	*(pid_t *) arg = fork_sleeper();
	assert_int_equal(write(hold[1], "x", 1), 1);
	/* Ends when the main thread closes its end. */
	while (read(hold[1], &byte, 1) > 0)
		continue;
	return NULL;
}

static void sees_children_that_another_thread_has_forked(void **state)
{
	int fd = trk__open_dir_at(AT_FDCWD, "/proc"), found = 0, n;
	pid_t by_main, by_thread, pids[16];
	pthread_t thread;
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, hold), 0);
	by_main = fork_sleeper();
	assert_int_equal(pthread_create(&thread, NULL, fork_in_thread, &by_thread), 0);
	assert_int_equal(read(hold[0], &byte, 1), 1);
	n = trk__pid_children_read(fd, getpid(), pids, 16);
	for (int i = 0; i < n; i++)
		found += pids[i] == by_main || pids[i] == by_thread;
	assert_int_equal(shutdown(hold[0], SHUT_WR), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(kill(by_main, SIGKILL) + kill(by_thread, SIGKILL), 0);
	assert_int_equal(waitpid(by_main, NULL, 0), by_main);
	assert_int_equal(waitpid(by_thread, NULL, 0), by_thread);
	assert_int_equal(close(hold[0]) + close(hold[1]), 0);
	if (n != -ENOENT) /* a kernel without the file */
		assert_int_equal(found, 2);
	assert_int_equal(trk__pid_children_read(fd, by_main, pids, 16), -ENOENT);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_pids_of_a_line),
		cmocka_unit_test(counts_more_than_fit),
		cmocka_unit_test(refuses_what_is_no_list_of_pids),
		cmocka_unit_test_setup_teardown(joins_the_children_of_all_threads, begin, end),
		cmocka_unit_test_setup_teardown(a_thread_that_ended_meanwhile_is_passed_over, begin,
						end),
		cmocka_unit_test_setup_teardown(no_children_is_not_an_error, begin, end),
		cmocka_unit_test_setup_teardown(a_kernel_without_the_file_is_an_error, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_an_error, begin, end),
		cmocka_unit_test(sees_children_that_another_thread_has_forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
