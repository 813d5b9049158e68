/* The parser and the reader of /proc/PID/smaps_rollup. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_smaps.h"
#include "skip.h"

#define HEADER "55d0a0000000-7ffd00000000 ---p 00000000 00:00 0                    [rollup]\n"

/* Of a process below proc_fd, without a reader. */
static int read_smaps(int proc_fd, pid_t pid, struct trk_pid_smaps *ret)
{
	const struct trk_env env = {.proc_fd = proc_fd, .thread_cpu_ns = trk__clock_thread_cpu_ns};
	uint64_t cost_ns;

	return trk__pid_smaps_read(NULL, &env, 0, TRK_PATH("%d", (int) pid), ret, &cost_ns);
}

static void reads_a_current_kernel(void **state)
{
	struct trk_pid_smaps s;

	assert_int_equal(
		trk__pid_smaps_parse(HEADER "Rss:             1000 kB\nPss:              800 kB\n"
					    "Pss_Dirty:        555 kB\nPss_Anon:         500 kB\n"
					    "Pss_File:         250 kB\nPss_Shmem:         50 kB\n"
					    "Shared_Clean:     300 kB\nShared_Dirty:      30 kB\n"
					    "Private_Dirty:    525 kB\nAnonymous:        510 kB\n"
					    "AnonHugePages:   2048 kB\nSwap:              20 kB\n"
					    "SwapPss:           10 kB\nLocked:             0 kB\n",
				     &s),
		0);
	assert_int_equal(s.rss_bytes, 1000 * 1024);
	assert_int_equal(s.pss_bytes, 800 * 1024);
	assert_true(s.has_split);
	assert_int_equal(s.pss_anon_bytes, 500 * 1024);
	assert_int_equal(s.pss_file_bytes, 250 * 1024);
	assert_int_equal(s.pss_shmem_bytes, 50 * 1024);
	assert_int_equal(s.anon_bytes, 510 * 1024);
	assert_int_equal(s.dirty_bytes, 555 * 1024);
	assert_int_equal(s.swap_bytes, 20 * 1024);
	assert_int_equal(s.swap_pss_bytes, 10 * 1024);
}

static void reads_a_kernel_that_does_not_split_the_pss(void **state)
{
	struct trk_pid_smaps s;

	/* Linux 4.14 */
	assert_int_equal(trk__pid_smaps_parse(HEADER
					      "Rss:             1000 kB\nPss:              800 kB\n"
					      "Anonymous:        510 kB\nSwap:               0 kB\n"
					      "SwapPss:            0 kB\n",
					      &s),
			 0);
	assert_int_equal(s.pss_bytes, 800 * 1024);
	assert_false(s.has_split);
	assert_int_equal(s.pss_anon_bytes, 0);
}

static void refuses_a_text_without_rss_or_pss(void **state)
{
	static const char *const bad[] = {"",
					  HEADER,
					  HEADER "Rss: 1 kB\n",
					  HEADER "Pss: 1 kB\n",
					  HEADER "Rss: x\nPss: 1 kB\n",
					  "Rss: 1 kB\nPss: 18446744073709551615 kB\n"};
	struct trk_pid_smaps s = {.rss_bytes = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(trk__pid_smaps_parse(bad[i], &s), -EBADMSG);
	assert_int_equal(s.rss_bytes, 7);
}

static void tells_a_kernel_without_the_file_from_a_gone_process(void **state)
{
	char root[] = "/tmp/test_pid_smaps.XXXXXX", path[64];
	struct trk_pid_smaps s = {.rss_bytes = 7};
	int fd;

	assert_non_null(mkdtemp(root));
	(void) snprintf(path, sizeof(path), "%s/7", root);
	assert_int_equal(mkdir(path, 0755), 0);
	fd = trk__open_dir_at(AT_FDCWD, root);
	assert_true(fd >= 0);
	assert_int_equal(read_smaps(fd, 7, &s), -ENOENT);
	assert_int_equal(read_smaps(fd, 8, &s), -ESRCH);
	assert_int_equal(s.rss_bytes, 7);
	trk__close(fd);
	assert_int_equal(rmdir(path) + rmdir(root), 0);
}

static void an_empty_file_means_no_address_space(void **state)
{
	char root[] = "/tmp/test_pid_smaps.XXXXXX", dir[64], path[96];
	struct trk_pid_smaps s = {.rss_bytes = 7};
	int fd, file;

	assert_non_null(mkdtemp(root));
	(void) snprintf(dir, sizeof(dir), "%s/7", root);
	assert_int_equal(mkdir(dir, 0755), 0);
	(void) snprintf(path, sizeof(path), "%s/smaps_rollup", dir);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(file >= 0);
	trk__close(file);
	fd = trk__open_dir_at(AT_FDCWD, root);
	assert_int_equal(read_smaps(fd, 7, &s), -ESRCH);
	assert_int_equal(s.rss_bytes, 7);
	trk__close(fd);
	assert_int_equal(unlink(path) + rmdir(dir) + rmdir(root), 0);
}

static void may_not_read_another_users_process(void **state)
{
	int fd = trk__open_dir_at(AT_FDCWD, "/proc"), status;
	pid_t pid;

	assert_true(fd >= 0);
	if (faccessat(fd, "self/smaps_rollup", F_OK, 0) < 0)
		SKIP("this kernel has no /proc/PID/smaps_rollup");
	pid = fork();
	if (pid == 0) {
		struct trk_pid_smaps s;

		if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(77);
		_exit(read_smaps(fd, 1, &s) == -EACCES ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	trk__close(fd);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("this root cannot become another user");
	assert_int_equal(status, 0);
}

static void reads_live_processes(void **state)
{
	const size_t size = 16 << 20;
	int fd = trk__open_dir_at(AT_FDCWD, "/proc");
	struct trk_pid_smaps before, after;
	siginfo_t info;
	char *memory;
	pid_t pid;

	assert_true(fd >= 0);
	if (read_smaps(fd, getpid(), &before) == -ENOENT)
		SKIP("this kernel has no /proc/PID/smaps_rollup");
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 1, size);
	assert_int_equal(read_smaps(fd, getpid(), &after), 0);
	assert_int_equal(munmap(memory, size), 0);
	/* Programs that start meanwhile take their part of libc's pages. */
	assert_true(after.pss_bytes + (1 << 20) >= before.pss_bytes + size);
	assert_true(after.rss_bytes >= after.pss_bytes);

	/* A zombie has no address space any more. */
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(read_smaps(fd, pid, &after), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read_smaps(fd, pid, &after), -ESRCH);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_current_kernel),
		cmocka_unit_test(reads_a_kernel_that_does_not_split_the_pss),
		cmocka_unit_test(refuses_a_text_without_rss_or_pss),
		cmocka_unit_test(tells_a_kernel_without_the_file_from_a_gone_process),
		cmocka_unit_test(an_empty_file_means_no_address_space),
		cmocka_unit_test(may_not_read_another_users_process),
		cmocka_unit_test(reads_live_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
