/* Readings that may block, by workers. A stopped worker takes the place of one that blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_children.h"
#include "probe/linux/pid_stat.h"
#include "probe/linux/worker.h"
#include "probe/reader.h"
#include "skip.h"

static char root[] = "/tmp/test_reader.XXXXXX";
static struct trk_env env = {.sys_fd = -1,
			     .cgroup_fd = -1,
			     .monotonic_ns = trk__clock_monotonic_ns,
			     .thread_cpu_ns = trk__clock_thread_cpu_ns};

static void write_file(const char *name, const char *text)
{
	int fd = openat(env.proc_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int) strlen(text));
	trk__close(fd);
}

/* A folder in place of /proc, with two files. */
static int set_up(void **state)
{
	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		return -1;
	env.proc_fd = trk__open_dir_at(AT_FDCWD, root);
	write_file("one", "first");
	write_file("two", "second");
	return 0;
}

static int tear_down(void **state)
{
	trk__close(env.proc_fd);
	trk__remove_tree(root);
	return 0;
}

static ssize_t get(struct trk_reader *r, uint64_t key, const char *name, char text[64])
{
	uint64_t cost_ns;

	return trk__reader_read(r, &env, key, name, text, 64, &cost_ns);
}

static void files_are_read(bool as_thread)
{
	struct trk_reader *r = trk__reader_new(&env, as_thread);
	char text[64], shortened[4];
	uint64_t cost_ns;

	assert_non_null(r);
	assert_int_equal(get(r, 1, "one", text), 5);
	assert_string_equal(text, "first");
	assert_int_equal(get(r, 1, "two", text), 6);
	assert_string_equal(text, "second");
	assert_int_equal(get(r, 1, "three", text), -ENOENT);
	assert_int_equal(
		trk__reader_read(r, &env, 1, "one", shortened, sizeof(shortened), &cost_ns),
		-EFBIG);
	assert_memory_equal(shortened, "fir", 3);
	trk__reader_free(r);
}

static void a_process_reads_files(void **state)
{
	files_are_read(false);
}

static void a_thread_reads_files(void **state)
{
	files_are_read(true);
}

static void without_a_reader_files_are_read_directly(void **state)
{
	char text[64];

	assert_int_equal(get(NULL, 1, "one", text), 5);
	assert_int_equal(get(NULL, 1, "three", text), -ENOENT);
}

/* The workers, without those that have ended. */
static int workers(pid_t pid[16])
{
	TRK_FD_CLEANUP int proc_fd = trk__open_dir_at(AT_FDCWD, "/proc");
	int children = trk__pid_children_read(proc_fd, getpid(), pid, 16), live = 0;

	if (children < 0)
		SKIP("this kernel does not list children");
	for (int i = 0; i < children; i++) {
		struct trk_pid_stat stat;

		if (trk__pid_stat_read(proc_fd, pid[i], &stat) == 0 && stat.state != 'Z')
			pid[live++] = pid[i];
	}
	return live;
}

static pid_t only_worker(void)
{
	pid_t pid[16];

	while (workers(pid) > 1) /* those of the test before end soon */
		;
	assert_int_equal(workers(pid), 1);
	return pid[0];
}

/* Returns the first answer that is no -EINPROGRESS. */
static ssize_t await(struct trk_reader *r, uint64_t key, const char *name, char text[64])
{
	const struct timespec nap = {.tv_nsec = 1000000};
	ssize_t n;

	while ((n = get(r, key, name, text)) == -EINPROGRESS)
		(void) nanosleep(&nap, NULL);
	return n;
}

static void a_reading_that_blocks_is_answered_later(void **state)
{
	struct trk_reader *r = trk__reader_new(&env, false);
	char text[64];
	pid_t worker;

	assert_int_equal(await(r, 1, "one", text), 5);
	worker = only_worker();
	assert_int_equal(kill(worker, SIGSTOP), 0);
	assert_int_equal(get(r, 1, "one", text), -EINPROGRESS);
	assert_int_equal(get(r, 1, "one", text), -EINPROGRESS); /* without a wait */
	assert_int_equal(await(r, 1, "two", text), 6);          /* by another worker */
	assert_int_equal(await(r, 2, "one", text), 5);          /* of another process */
	write_file("one", "changed");
	assert_int_equal(kill(worker, SIGCONT), 0);
	assert_int_equal(await(r, 1, "one", text), 7);
	write_file("one", "first");
	trk__reader_free(r);
}

static void a_worker_that_was_killed_is_started_again(void **state)
{
	struct trk_reader *r = trk__reader_new(&env, false);
	siginfo_t info;
	char text[64];
	pid_t worker;

	assert_int_equal(await(r, 1, "one", text), 5);
	worker = only_worker();
	assert_int_equal(kill(worker, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t) worker, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(await(r, 1, "one", text), 5);
	trk__reader_free(r);
}

static void not_all_can_block(void **state)
{
	struct trk_reader *r = trk__reader_new(&env, false);
	pid_t pid[16];
	char text[64];
	ssize_t n = 0;

	assert_int_equal(await(r, 1, "one", text), 5);
	(void) only_worker();
	for (uint64_t key = 1; n != -EAGAIN && key < 100; key++) {
		int count = workers(pid);

		assert_true(count >= 1 && count <= TRK_READERS_MAX);
		for (int i = 0; i < count; i++)
			assert_int_equal(kill(pid[i], SIGSTOP), 0);
		n = get(r, key, "one", text);
	}
	assert_int_equal(n, -EAGAIN);
	trk__reader_free(r);
}

static void the_sizes_of_arguments_are_added_up(void **state)
{
	char program[] = "program", none[] = "-n", both[160], first[160], missing[] = "/absent";
	char *argv[] = {program, none, first, both, missing, root, NULL},
	     *empty[] = {program, NULL};
	struct trk_reader *r = trk__reader_new(&env, false);

	(void) snprintf(first, sizeof(first), "%s/one", root);
	(void) snprintf(both, sizeof(both), "--in=%s/two", root);
	assert_int_equal(trk__reader_input_bytes(r, argv), 11);
	assert_int_equal(trk__reader_input_bytes(r, empty), 0);
	trk__reader_free(r);
}

/* The result in a child that has no capability. */
static bool must_be_thread_as_nobody(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(trk__worker_must_be_thread(&env));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0 && WEXITSTATUS(status) == 2)
		SKIP("this root cannot become another user");
	return status != 0;
}

static void where_only_an_ancestor_may_read_a_worker_is_a_thread(void **state)
{
	assert_false(must_be_thread_as_nobody());
	assert_int_equal(mkdirat(env.proc_fd, "sys", 0755) +
				 mkdirat(env.proc_fd, "sys/kernel", 0755) +
				 mkdirat(env.proc_fd, "sys/kernel/yama", 0755),
			 0);
	write_file("sys/kernel/yama/ptrace_scope", "0\n");
	assert_false(must_be_thread_as_nobody());
	write_file("sys/kernel/yama/ptrace_scope", "1\n");
	assert_true(must_be_thread_as_nobody());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_reads_files),
		cmocka_unit_test(a_thread_reads_files),
		cmocka_unit_test(without_a_reader_files_are_read_directly),
		cmocka_unit_test(a_reading_that_blocks_is_answered_later),
		cmocka_unit_test(a_worker_that_was_killed_is_started_again),
		cmocka_unit_test(not_all_can_block),
		cmocka_unit_test(the_sizes_of_arguments_are_added_up),
		cmocka_unit_test(where_only_an_ancestor_may_read_a_worker_is_a_thread),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
