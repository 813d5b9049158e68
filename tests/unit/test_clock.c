/* The clocks, especially the CPU clock of another process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

/* Use `ms` of CPU time in this thread. */
static void burn(uint64_t ms)
{
	uint64_t until_ns = trk__clock_thread_cpu_ns() + ms * TRK_NS_PER_MS;

	while (trk__clock_thread_cpu_ns() < until_ns)
		continue;
}

static void counts_what_this_process_burns(void **state)
{
	uint64_t before_ns, after_ns;

	assert_int_equal(trk__clock_pid_cpu_ns(getpid(), &before_ns), 0);
	burn(50);
	assert_int_equal(trk__clock_pid_cpu_ns(getpid(), &after_ns), 0);
	assert_true(after_ns - before_ns >= 50 * TRK_NS_PER_MS);
	assert_true(after_ns - before_ns < 60 * TRK_NS_PER_MS);
	assert_true(after_ns <= trk__clock_process_cpu_ns());
}

static void a_zombie_still_tells_what_it_used(void **state)
{
	uint64_t used_ns = 0;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0) {
		burn(30);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(trk__clock_pid_cpu_ns(pid, &used_ns), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(used_ns >= 30 * TRK_NS_PER_MS);
	assert_true(used_ns < 60 * TRK_NS_PER_MS);
}

static void a_gone_process_is_an_error(void **state)
{
	uint64_t used_ns = 7;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(trk__clock_pid_cpu_ns(pid, &used_ns), -ESRCH);
	assert_int_equal(used_ns, 7);
}

static void monotonic_time_passes_while_the_cpu_clocks_stand(void **state)
{
	uint64_t wall_ns = trk__clock_monotonic_ns(), boot_ns = trk__clock_boot_ns();
	uint64_t cpu_ns = trk__clock_thread_cpu_ns();

	assert_int_equal(usleep(50000), 0);
	assert_true(trk__clock_monotonic_ns() - wall_ns >= 50 * TRK_NS_PER_MS);
	assert_true(trk__clock_boot_ns() - boot_ns >= 50 * TRK_NS_PER_MS);
	assert_true(trk__clock_thread_cpu_ns() - cpu_ns < 25 * TRK_NS_PER_MS);
}

static void writes_wall_time_in_utc(void **state)
{
	char text[32];

	trk__clock_iso8601(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	trk__clock_iso8601(1709210096 * TRK_NS_PER_S + 999999999, text);
	assert_string_equal(text, "2024-02-29T12:34:56Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_what_this_process_burns),
		cmocka_unit_test(a_zombie_still_tells_what_it_used),
		cmocka_unit_test(a_gone_process_is_an_error),
		cmocka_unit_test(monotonic_time_passes_while_the_cpu_clocks_stand),
		cmocka_unit_test(writes_wall_time_in_utc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
