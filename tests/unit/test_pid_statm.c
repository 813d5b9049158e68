/* The parser of /proc/PID/statm. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/pid_statm.h"

static int parse(const char *text, struct trk_pid_statm *ret)
{
	return trk__pid_statm_parse(text, strlen(text), ret);
}

static void reads_the_first_three_numbers(void **state)
{
	struct trk_pid_statm m;

	assert_int_equal(parse("4096 1024 256 12 0 900 0\n", &m), 0);
	assert_int_equal(m.size_pages, 4096);
	assert_int_equal(m.resident_pages, 1024);
	assert_int_equal(m.shared_pages, 256);
}

static void a_zombie_is_all_zeros(void **state)
{
	struct trk_pid_statm m;

	assert_int_equal(parse("0 0 0 0 0 0 0\n", &m), 0);
	assert_int_equal(m.size_pages + m.resident_pages + m.shared_pages, 0);
}

static void refuses_fewer_than_three_numbers(void **state)
{
	static const char *const bad[] = {
		"", "\n", "1", "1 2", "1 2 \n", "1 -2 3", "1 2 99999999999999999999"};
	struct trk_pid_statm m = {.size_pages = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &m), -EBADMSG);
	assert_int_equal(m.size_pages, 7);
}

static void sees_memory_that_this_process_touches(void **state)
{
	const size_t size = 64 << 20;
	struct trk_pid_statm before, after;
	char text[256];
	char *memory;

	assert_true(trk__read_at(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) > 0);
	assert_int_equal(parse(text, &before), 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 1, size);
	assert_true(trk__read_at(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) > 0);
	assert_int_equal(parse(text, &after), 0);
	assert_int_equal(munmap(memory, size), 0);
	/* The kernel's counter may lag by 64 pages a CPU. */
	assert_true((after.resident_pages - before.resident_pages) *
			    (uint64_t) sysconf(_SC_PAGESIZE) >
		    size / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_first_three_numbers),
		cmocka_unit_test(a_zombie_is_all_zeros),
		cmocka_unit_test(refuses_fewer_than_three_numbers),
		cmocka_unit_test(sees_memory_that_this_process_touches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
