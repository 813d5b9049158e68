/* The resource limits of a process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/rlimits.h"
#include "skip.h"

static const char text[] =
	"Limit                     Soft Limit           Hard Limit           Units     \n"
	"Max cpu time              3600                 unlimited            seconds   \n"
	"Max file size             unlimited            unlimited            bytes     \n"
	"Max processes             96324                96325                processes \n"
	"Max open files            1024                 524288               files     \n"
	"Max address space         8589934592           unlimited            bytes     \n"
	"Max open files2           9999                 524288               files     \n"
	"Max realtime timeout      unlimited            unlimited            us        \n";

static void reads_the_soft_limits(void **state)
{
	struct trk_rlimits r;

	(void) state;
	assert_int_equal(trk__rlimits_parse(text, &r), 0);
	assert_int_equal(r.cpu_seconds, 3600);
	assert_int_equal(r.processes, 96324);
	assert_int_equal(r.open_files, 1024);
	assert_int_equal(r.address_space_bytes, 8589934592);
}

static void unlimited_is_the_largest_number(void **state)
{
	struct trk_rlimits r;

	(void) state;
	assert_int_equal(trk__rlimits_parse("Max address space         unlimited    unlimited  b\n"
					    "Max open files            unlimited    unlimited  f\n"
					    "Max processes             unlimited    unlimited  p\n"
					    "Max cpu time              unlimited    unlimited  s\n",
					    &r),
			 0);
	assert_true(r.cpu_seconds == UINT64_MAX && r.processes == UINT64_MAX);
	assert_true(r.open_files == UINT64_MAX && r.address_space_bytes == UINT64_MAX);
}

static void refuses_a_text_that_lacks_a_line(void **state)
{
	struct trk_rlimits r = {.open_files = 7};

	(void) state;
	assert_int_equal(trk__rlimits_parse("", &r), -EBADMSG);
	assert_int_equal(trk__rlimits_parse("Max open files            1024  2048 files\n", &r),
			 -EBADMSG);
	assert_int_equal(trk__rlimits_parse("Max open files\nMax cpu time x\n", &r), -EBADMSG);
	assert_int_equal(r.open_files, 7);
}

static void reads_its_own_limits(void **state)
{
	const struct rlimit want = {.rlim_cur = 77, .rlim_max = 99};
	struct rlimit old, hard;
	struct trk_rlimits r;
	int fd = trk__open_dir_at(AT_FDCWD, "/proc");

	(void) state;
	SKIP_UNDER_VALGRIND("it shows limits of its own");
	assert_true(fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	hard = (struct rlimit){.rlim_cur = want.rlim_cur, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &hard), 0);
	assert_int_equal(trk__rlimits_read(fd, getpid(), &r), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r.open_files, want.rlim_cur);
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	assert_true(r.address_space_bytes ==
		    (old.rlim_cur == RLIM_INFINITY ? UINT64_MAX : old.rlim_cur));
	assert_int_equal(trk__rlimits_read(fd, 0x7ffffffe, &r), -ENOENT);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_soft_limits),
		cmocka_unit_test(unlimited_is_the_largest_number),
		cmocka_unit_test(refuses_a_text_that_lacks_a_line),
		cmocka_unit_test(reads_its_own_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
