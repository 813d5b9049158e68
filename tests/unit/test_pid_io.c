/* The parser of /proc/PID/io. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "probe/linux/pid_io.h"
#include "skip.h"

static int parse(const char *text, struct trk_pid_io *ret)
{
	return trk__pid_io_parse(text, strlen(text), ret);
}

static const char ordinary[] = "rchar: 101\nwchar: 202\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\n"
			       "write_bytes: 4096\ncancelled_write_bytes: 512\n";

static void reads_all_seven_lines(void **state)
{
	struct trk_pid_io io;

	assert_int_equal(parse(ordinary, &io), 0);
	assert_int_equal(io.read_chars, 101);
	assert_int_equal(io.write_chars, 202);
	assert_int_equal(io.read_calls, 3);
	assert_int_equal(io.write_calls, 4);
	assert_int_equal(io.read_bytes, 8192);
	assert_int_equal(io.write_bytes, 4096);
	assert_int_equal(io.cancelled_write_bytes, 512);
}

static void refuses_every_shorter_text(void **state)
{
	struct trk_pid_io io = {.read_chars = 7};
	char text[sizeof(ordinary)];

	for (size_t len = 0; len < sizeof(ordinary) - 1; len++) {
		memcpy(text, ordinary, len);
		text[len] = '\0';
		assert_int_equal(parse(text, &io), -EBADMSG);
	}
	assert_int_equal(io.read_chars, 7);
}

static void refuses_other_lines(void **state)
{
	struct trk_pid_io io = {.read_chars = 7};

	assert_int_equal(parse("wchar: 1\nrchar: 2\n", &io), -EBADMSG);
	assert_int_equal(parse("rchar: -1\n", &io), -EBADMSG);
	assert_int_equal(io.read_chars, 7);
}

static void sees_the_writes_of_this_process(void **state)
{
	struct trk_pid_io before, after;
	char text[512], data[5000] = {0};
	int pipes[2];

	SKIP_UNDER_VALGRIND("it writes, too");
	if (trk__read_at(AT_FDCWD, "/proc/self/io", text, sizeof(text)) < 0)
		SKIP("this kernel has no /proc/PID/io");
	assert_int_equal(parse(text, &before), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], data, sizeof(data)), sizeof(data));
	assert_int_equal(close(pipes[0]) + close(pipes[1]), 0);
	assert_true(trk__read_at(AT_FDCWD, "/proc/self/io", text, sizeof(text)) > 0);
	assert_int_equal(parse(text, &after), 0);
	assert_int_equal(after.write_chars - before.write_chars, sizeof(data));
	assert_int_equal(after.write_calls - before.write_calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_seven_lines),
		cmocka_unit_test(refuses_every_shorter_text),
		cmocka_unit_test(refuses_other_lines),
		cmocka_unit_test(sees_the_writes_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
