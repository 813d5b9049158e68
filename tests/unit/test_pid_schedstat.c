/* The parser of /proc/PID/schedstat. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "probe/linux/pid_schedstat.h"
#include "skip.h"

static int parse(const char *text, struct trk_pid_schedstat *ret)
{
	return trk__pid_schedstat_parse(text, strlen(text), ret);
}

static void reads_three_numbers(void **state)
{
	struct trk_pid_schedstat s;

	assert_int_equal(parse("123456789012 345678 90\n", &s), 0);
	assert_int_equal(s.run_ns, 123456789012);
	assert_int_equal(s.wait_ns, 345678);
	assert_int_equal(s.slices, 90);
}

static void refuses_fewer_numbers(void **state)
{
	static const char *const bad[] = {"", "\n", "1", "1 2", "1 2 x", "1 -2 3"};
	struct trk_pid_schedstat s = {.run_ns = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &s), -EBADMSG);
	assert_int_equal(s.run_ns, 7);
}

static void agrees_with_the_clock_of_this_thread(void **state)
{
	struct trk_pid_schedstat s;
	uint64_t cpu_ns;
	char text[128];

	while (trk__clock_thread_cpu_ns() < 30 * TRK_NS_PER_MS)
		continue;
	if (trk__read_at(AT_FDCWD, "/proc/thread-self/schedstat", text, sizeof(text)) < 0)
		SKIP("this kernel has no /proc/PID/schedstat");
	cpu_ns = trk__clock_thread_cpu_ns();
	assert_int_equal(parse(text, &s), 0);
	/* The kernel updates it at ticks: up to 10 ms behind. */
	assert_true(s.run_ns <= cpu_ns && s.run_ns + 15 * TRK_NS_PER_MS > cpu_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_three_numbers),
		cmocka_unit_test(refuses_fewer_numbers),
		cmocka_unit_test(agrees_with_the_clock_of_this_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
