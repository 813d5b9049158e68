/* Pressure-stall files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/pressure.h"

static int proc_of(const char *fixture)
{
	char *path = fixture_path(fixture, "proc");
	int fd = trk__open_dir_at(AT_FDCWD, path);

	free(path);
	assert_true(fd >= 0);
	return fd;
}

static void turns_microseconds_into_nanoseconds(void **state)
{
	int fd = proc_of("vm-virtio");
	struct trk_pressure p;
	char text[256];

	assert_true(trk__read_at(fd, "pressure/io", text, sizeof(text)) > 0);
	assert_int_equal(trk__pressure_parse(text, &p), 0);
	(void) close(fd);
	assert_int_equal(p.some_ns, 183548332000);
	assert_int_equal(p.full_ns, 177981045000);
}

static void accepts_a_kernel_without_the_full_line(void **state)
{
	struct trk_pressure p;

	assert_int_equal(
		trk__pressure_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", &p), 0);
	assert_int_equal(p.some_ns, 7000);
	assert_int_equal(p.full_ns, 0);
}

static void refuses_damaged_text_and_leaves_the_result_alone(void **state)
{
	static const char *const bad[] = {
		"",
		"some avg10=0.00\nfull avg10=0.00 total=5\n", /* the total of another line */
		"some avg10=0.00 total=\n",
		"some avg10=0.00 total=18446744073709551615\n", /* too large in ns */
		"some avg10=0.00 total=7\nfull avg10=0.00\n",
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
	};
	const struct trk_pressure before = {.some_ns = 7, .full_ns = 11};
	struct trk_pressure p = before;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(trk__pressure_parse(bad[i], &p), -EBADMSG);
		assert_memory_equal(&p, &before, sizeof(p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_microseconds_into_nanoseconds),
		cmocka_unit_test(accepts_a_kernel_without_the_full_line),
		cmocka_unit_test(refuses_damaged_text_and_leaves_the_result_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
