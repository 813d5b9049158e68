/* The parser and the reader of /proc/PID/status. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/pid_status.h"

static const char ordinary[] =
	"Name:\tpython3\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4242\n"
	"Ngid:\t0\nPid:\t4242\nPPid:\t1\nTracerPid:\t0\n"
	"Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t100\t100\t100\n"
	"FDSize:\t64\nGroups:\t4 24 27 \nNStgid:\t4242\t7\n"
	"NSpid:\t4242\t90\t7\nNSpgid:\t4242\t7\nNSsid:\t4242\t7\n"
	"VmPeak:\t  999999 kB\nVmSize:\t  888888 kB\nVmLck:\t       0 kB\n"
	"VmPin:\t       0 kB\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\n"
	"RssAnon:\t   81920 kB\nRssFile:\t   16384 kB\nRssShmem:\t    4096 kB\n"
	"VmData:\t  1 kB\nVmSwap:\t     512 kB\nHugetlbPages:\t 4096 kB\n"
	"Threads:\t12\nSigQ:\t0/96324\nvoluntary_ctxt_switches:\t150\n"
	"nonvoluntary_ctxt_switches:\t7\n";

static void reads_an_ordinary_process(void **state)
{
	struct trk_pid_status s;

	assert_int_equal(trk__pid_status_parse(ordinary, &s), 0);
	assert_int_equal(s.process, 4242);
	assert_true(s.has_memory);
	assert_int_equal(s.hwm_bytes, 204800 * 1024);
	assert_int_equal(s.rss_bytes, 102400 * 1024);
	assert_int_equal(s.rss_anon_bytes, 81920 * 1024);
	assert_int_equal(s.swap_bytes, 512 * 1024);
	assert_int_equal(s.huge_bytes, 4096 * 1024);
	assert_int_equal(s.uid, -1); /* it has several */
}

static void a_zombie_or_kernel_thread_has_no_memory(void **state)
{
	struct trk_pid_status s;

	assert_int_equal(trk__pid_status_parse("Name:\tkthreadd\nState:\tS (sleeping)\nPid:\t2\n"
					       "Uid:\t0\t0\t0\t0\nThreads:\t1\nSigQ:\t0/1\n"
					       "voluntary_ctxt_switches:\t5\n",
					       &s),
			 0);
	assert_false(s.has_memory);
	assert_int_equal(s.hwm_bytes, 0);
	assert_int_equal(s.uid, 0);
}

static void a_name_does_not_pass_for_a_field(void **state)
{
	struct trk_pid_status s;

	/* The kernel escapes the line end of a name. */
	assert_int_equal(trk__pid_status_parse("Name:\tx\\nVmRSS:\t7 kB\nThreads:\t3\n", &s), 0);
	assert_false(s.has_memory);
}

static void refuses_a_text_without_threads(void **state)
{
	struct trk_pid_status s = {.hwm_bytes = 7};

	assert_int_equal(trk__pid_status_parse("", &s), -EBADMSG);
	assert_int_equal(trk__pid_status_parse("Name:\tx\nVmRSS:\t7 kB\n", &s), -EBADMSG);
	assert_int_equal(trk__pid_status_parse("Threads:\tx\n", &s), -EBADMSG);
	assert_int_equal(s.hwm_bytes, 7);
}

static void reads_live_processes(void **state)
{
	int fd = trk__open_dir_at(AT_FDCWD, "/proc");
	struct trk_pid_status s;
	siginfo_t info;
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(trk__pid_status_read(fd, getpid(), &s), 0);
	assert_true(s.has_memory);
	assert_true(s.hwm_bytes >= s.rss_bytes && s.rss_bytes > 0);

	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(trk__pid_status_read(fd, pid, &s), 0);
	assert_false(s.has_memory);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(trk__pid_status_read(fd, pid, &s), -ENOENT);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_ordinary_process),
		cmocka_unit_test(a_zombie_or_kernel_thread_has_no_memory),
		cmocka_unit_test(a_name_does_not_pass_for_a_field),
		cmocka_unit_test(refuses_a_text_without_threads),
		cmocka_unit_test(reads_live_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
