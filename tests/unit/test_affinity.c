/* The number of CPUs that a process may run on. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/linux/affinity.h"

/* A machine with more CPUs than a plain cpu_set_t holds: the kernel refuses a smaller set. */
enum { BIG_MACHINE = 5000 };

static int get_on_a_big_machine(pid_t pid, size_t size, cpu_set_t *set)
{
	(void) pid;
	if (size * 8 < BIG_MACHINE) {
		errno = EINVAL;
		return -1;
	}
	for (size_t cpu = 0; cpu < BIG_MACHINE; cpu++)
		CPU_SET_S(cpu, size, set);
	return 0;
}

static int get_never(pid_t pid, size_t size, cpu_set_t *set)
{
	(void) pid;
	(void) size;
	(void) set;
	errno = EINVAL;
	return -1;
}

static void counts_this_process_like_the_c_library(void **state)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(trk__affinity_count(0), CPU_COUNT(&set));
	assert_int_equal(trk__affinity_count(getpid()), CPU_COUNT(&set));
}

static void follows_a_narrowed_mask(void **state)
{
	cpu_set_t all, one;
	int first = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET((size_t) first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET((size_t) first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(trk__affinity_count(0), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void grows_the_set_for_a_machine_with_thousands_of_cpus(void **state)
{
	assert_int_equal(trk__affinity_count_by(get_on_a_big_machine, 0), BIG_MACHINE);
}

static void gives_up_on_a_kernel_that_always_refuses(void **state)
{
	assert_int_equal(trk__affinity_count_by(get_never, 0), -EINVAL);
}

static void knows_a_gone_process(void **state)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(trk__affinity_count(pid), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_this_process_like_the_c_library),
		cmocka_unit_test(follows_a_narrowed_mask),
		cmocka_unit_test(grows_the_set_for_a_machine_with_thousands_of_cpus),
		cmocka_unit_test(gives_up_on_a_kernel_that_always_refuses),
		cmocka_unit_test(knows_a_gone_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
