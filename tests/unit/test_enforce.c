/* Limits that the tracker enforces, and the messages about them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "track/control.h"
#include "track/enforce.h"
#include "track/marks.h"
#include "skip.h"

#define S   1000000000ull
#define MIB 1048576ull

static char text[TRK_ENFORCE_TEXT_SIZE];

static void warns_once_then_ends_then_kills(void **state)
{
	struct trk_enforce e = {.time_ns = 100 * S, .grace_ns = 5 * S};

	assert_int_equal(trk__enforce(&e, 89 * S, 0, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce_next_ns(&e), 90 * S);
	assert_int_equal(trk__enforce(&e, 90 * S, 0, text), TRK_ENFORCE_WARN);
	assert_int_equal(trk__enforce(&e, 91 * S, 0, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce_next_ns(&e), 100 * S);
	assert_int_equal(trk__enforce(&e, 100 * S, 0, text), TRK_ENFORCE_TERM);
	assert_int_equal(e.limit, TRK_END_TIMEOUT);
	assert_int_equal(trk__enforce_next_ns(&e), 105 * S);
	assert_int_equal(trk__enforce(&e, 104 * S, 0, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce(&e, 105 * S, 0, text), TRK_ENFORCE_KILL);
	assert_int_equal(trk__enforce(&e, 200 * S, 0, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce_next_ns(&e), UINT64_MAX);
}

static void a_hurry_ends_the_grace_time_and_nothing_else(void **state)
{
	struct trk_enforce e = {.time_ns = 100 * S, .grace_ns = 5 * S};

	trk__enforce_hurry(&e, 99 * S);
	assert_int_equal(trk__enforce(&e, 99 * S, 0, text), TRK_ENFORCE_WARN);
	assert_int_equal(trk__enforce(&e, 100 * S, 0, text), TRK_ENFORCE_TERM);
	trk__enforce_hurry(&e, 102 * S);
	assert_int_equal(trk__enforce_next_ns(&e), 102 * S);
	assert_int_equal(trk__enforce(&e, 103 * S, 0, text), TRK_ENFORCE_KILL);
	assert_string_equal(text, "still running 2 s after TERM: sending KILL");
	trk__enforce_hurry(&e, 104 * S);
	assert_int_equal(trk__enforce(&e, 104 * S, 0, text), TRK_ENFORCE_NOTHING);
}

static void memory_at_the_limit_is_allowed_and_above_is_not(void **state)
{
	struct trk_enforce e = {.memory_bytes = 100 * MIB, .grace_ns = S};

	assert_int_equal(trk__enforce(&e, 1, 89 * MIB, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce(&e, 2, 100 * MIB, text), TRK_ENFORCE_WARN);
	assert_non_null(strstr(text, "100.0 MiB of the memory limit of 100.0 MiB"));
	assert_int_equal(trk__enforce(&e, 3, 100 * MIB, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce(&e, 4, 100 * MIB + 1, text), TRK_ENFORCE_TERM);
	assert_int_equal(e.limit, TRK_END_MEMORY_LIMIT);
	/* Freed meanwhile or not: it was told to end. */
	assert_int_equal(trk__enforce(&e, 4 + S, 0, text), TRK_ENFORCE_KILL);
}

static void a_jump_over_the_limit_needs_no_warning_first(void **state)
{
	struct trk_enforce e = {.memory_bytes = MIB};

	assert_int_equal(trk__enforce(&e, 1, 2 * MIB, text), TRK_ENFORCE_TERM);
}

static void nothing_is_due_without_limits(void **state)
{
	struct trk_enforce e = {.grace_ns = S};

	assert_int_equal(trk__enforce(&e, UINT64_MAX, UINT64_MAX, text), TRK_ENFORCE_NOTHING);
	assert_int_equal(trk__enforce_next_ns(&e), UINT64_MAX);
}

static void control_hands_over_whole_lines(void **state)
{
	struct trk_control c = {.fd = -1};
	char line[TRK_CONTROL_LINE];
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	c.fd = pair[0];
	assert_int_equal(trk__control_next(&c, line), 0);
	assert_int_equal(write(pair[1], "mark a\nma", 9), 9);
	assert_int_equal(trk__control_next(&c, line), 1);
	assert_string_equal(line, "mark a");
	assert_int_equal(trk__control_next(&c, line), 0);
	assert_int_equal(write(pair[1], "rk b\n", 5), 5);
	assert_int_equal(trk__control_send(pair[1], "error", "two\nlines"), 0);
	assert_int_equal(close(pair[1]), 0);
	assert_int_equal(trk__control_next(&c, line), 1);
	assert_string_equal(line, "mark b");
	assert_int_equal(trk__control_next(&c, line), 1);
	assert_string_equal(line, "error two lines");
	assert_int_equal(trk__control_next(&c, line), -EPIPE);
	assert_int_equal(close(pair[0]), 0);
}

static void control_drops_a_line_without_end(void **state)
{
	struct trk_control c = {.fd = -1};
	char line[TRK_CONTROL_LINE], flood[2 * TRK_CONTROL_LINE];
	int pair[2];

	memset(flood, 'x', sizeof(flood));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	c.fd = pair[0];
	assert_int_equal(write(pair[1], flood, sizeof(flood)), sizeof(flood));
	assert_int_equal(trk__control_next(&c, line), 0);
	assert_int_equal(write(pair[1], "\nstop\n", 6), 6);
	assert_int_equal(trk__control_next(&c, line), 1);
	assert_string_equal(line, "");
	assert_int_equal(trk__control_next(&c, line), 1);
	assert_string_equal(line, "stop");
	assert_int_equal(close(pair[0]), 0);
	assert_int_equal(close(pair[1]), 0);
}

static void marks_arrive_in_order_on_one_line_each(void **state)
{
	char name[TRK_MARK_NAME_SIZE], id[64], guard[96], lengthy[400];
	int fd;

	(void) snprintf(id, sizeof(id), "r-test-%d", (int) getpid());
	(void) snprintf(guard, sizeof(guard), "%s:1", id);
	assert_int_equal(trk__marks_send(guard, "early"), -ECONNREFUSED);
	fd = trk__marks_listen(id);
	assert_true(fd >= 0);
	assert_int_equal(trk__marks_read(fd, name), 0);
	/* 126 bytes, then characters of two bytes: the cut falls into one of them. */
	memset(lengthy, 'y', 126);
	for (size_t i = 126; i + 1 < sizeof(lengthy); i += 2)
		memcpy(lengthy + i, "\xc3\xa9", 2);
	lengthy[sizeof(lengthy) - 2] = '\0';
	assert_int_equal(trk__marks_send(guard, "load data"), 0);
	assert_int_equal(trk__marks_send(guard, "a\nb"), 0);
	assert_int_equal(trk__marks_send(guard, lengthy), 0);
	assert_int_equal(trk__marks_send(guard, ""), -EINVAL);
	assert_int_equal(trk__marks_read(fd, name), 1);
	assert_string_equal(name, "load data");
	assert_int_equal(trk__marks_read(fd, name), 1);
	assert_string_equal(name, "a b");
	assert_int_equal(trk__marks_read(fd, name), 1);
	assert_int_equal(strlen(name), 126);
	assert_int_equal(trk__marks_read(fd, name), 0);
	assert_int_equal(close(fd), 0);
}

/* Root alone can become somebody else. */
static void a_mark_of_another_user_is_dropped(void **state)
{
	char name[TRK_MARK_NAME_SIZE], id[64], guard[96];
	int fd, status = -1;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("only root can become another user");
	(void) snprintf(id, sizeof(id), "r-other-%d", (int) getpid());
	(void) snprintf(guard, sizeof(guard), "%s:1", id);
	fd = trk__marks_listen(id);
	assert_true(fd >= 0);
	pid = fork();
	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) < 0 ? 99 : -trk__marks_send(guard, "theirs"));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0); /* it was sent */
	assert_int_equal(trk__marks_send(guard, "ours"), 0);
	assert_int_equal(trk__marks_read(fd, name), 1);
	assert_string_equal(name, "ours");
	assert_int_equal(trk__marks_read(fd, name), 0);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warns_once_then_ends_then_kills),
		cmocka_unit_test(a_hurry_ends_the_grace_time_and_nothing_else),
		cmocka_unit_test(memory_at_the_limit_is_allowed_and_above_is_not),
		cmocka_unit_test(a_jump_over_the_limit_needs_no_warning_first),
		cmocka_unit_test(nothing_is_due_without_limits),
		cmocka_unit_test(control_hands_over_whole_lines),
		cmocka_unit_test(control_drops_a_line_without_end),
		cmocka_unit_test(marks_arrive_in_order_on_one_line_each),
		cmocka_unit_test(a_mark_of_another_user_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
