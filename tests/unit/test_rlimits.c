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

static void reads_the_soft_limit(void **state)
{
	uint64_t bytes;

	assert_int_equal(trk__rlimits_parse(text, &bytes), 0);
	assert_int_equal(bytes, 8589934592);
}

static void unlimited_is_the_largest_number(void **state)
{
	uint64_t bytes = 0;

	assert_int_equal(
		trk__rlimits_parse("Max address space         unlimited    unlimited  b\n", &bytes),
		0);
	assert_true(bytes == UINT64_MAX);
}

static void refuses_a_text_that_lacks_the_line(void **state)
{
	uint64_t bytes = 7;

	assert_int_equal(trk__rlimits_parse("", &bytes), -EBADMSG);
	assert_int_equal(trk__rlimits_parse("Max open files            1024  2048 files\n", &bytes),
			 -EBADMSG);
	assert_int_equal(trk__rlimits_parse("Max address space2        1024  2048 bytes\n", &bytes),
			 -EBADMSG);
	assert_int_equal(trk__rlimits_parse("Max address space\nMax address space x\n", &bytes),
			 -EBADMSG);
	assert_int_equal(bytes, 7);
}

static void reads_its_own_limit(void **state)
{
	struct rlimit old, less;
	uint64_t bytes;
	int fd = trk__open_dir_at(AT_FDCWD, "/proc");

	SKIP_UNDER_VALGRIND("it shows limits of its own");
	assert_true(fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	less = (struct rlimit){.rlim_cur = UINT64_C(1) << 46, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &less), 0);
	assert_int_equal(trk__rlimits_read(fd, getpid(), &bytes), 0);
	assert_int_equal(bytes, less.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	assert_int_equal(trk__rlimits_read(fd, getpid(), &bytes), 0);
	assert_true(bytes == (old.rlim_cur == RLIM_INFINITY ? UINT64_MAX : old.rlim_cur));
	assert_int_equal(trk__rlimits_read(fd, 0x7ffffffe, &bytes), -ENOENT);
	trk__close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_soft_limit),
		cmocka_unit_test(unlimited_is_the_largest_number),
		cmocka_unit_test(refuses_a_text_that_lacks_the_line),
		cmocka_unit_test(reads_its_own_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
