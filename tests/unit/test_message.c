/* Lines in which no value takes more room than it is worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/message.h"

static char text[256];

__attribute__((format(printf, 2, 3))) static const char *say(size_t value_max, const char *format,
							     ...)
{
	va_list args;

	va_start(args, format);
	trk__message(text, sizeof(text), value_max, format, args);
	va_end(args);
	return text;
}

static void what_is_short_is_as_of_printf(void **state)
{
	char expected[256];
	const char *word = "word";

	(void) state;
	(void) snprintf(expected, sizeof(expected),
			"%s %d %5u|%-4d|%ld %llu %zu %08x %c %.2f %g %.2s %.*s 100%%", word, -1, 2u,
			3, -4L, 5ULL, (size_t) 6, 0xabcu, 'c', 1.005, 1e300, word, 3, word);
	assert_string_equal(say(10, "%s %d %5u|%-4d|%ld %llu %zu %08x %c %.2f %g %.2s %.*s 100%%",
				word, -1, 2u, 3, -4L, 5ULL, (size_t) 6, 0xabcu, 'c', 1.005, 1e300,
				word, 3, word),
			    expected);
	assert_string_equal(say(4, "%s", word), "word");
	assert_string_equal(say(4, "plain"), "plain");
}

static void what_is_long_shows_its_start_and_its_length(void **state)
{
	char long_text[10241];

	(void) state;
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_string_equal(say(4, "--tag %s: %s", long_text, "no"),
			    "--tag aaaa... (10240 bytes): no");
	/* Between two characters. */
	assert_string_equal(say(4, "%s", "abcéd"), "abc... (6 bytes)");
	assert_string_equal(say(5, "%s", "abcéd"), "abcé... (6 bytes)");
	/* And never over the end. */
	assert_int_equal(strlen(say(1000, "%s", long_text)), sizeof(text) - 1);
	assert_int_equal(strlen(say(200, "%s%s", long_text, long_text)), sizeof(text) - 1);
}

static void an_error_has_room_for_its_reason(void **state)
{
	char long_text[10241];
	struct trk_error error;

	(void) state;
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(
		trk__error_set(&error, -TRK_E_NORUN, long_text, "%s: no such run", long_text),
		-TRK_E_NORUN);
	assert_non_null(strstr(error.message, "a... (10240 bytes): no such run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_short_is_as_of_printf),
		cmocka_unit_test(what_is_long_shows_its_start_and_its_length),
		cmocka_unit_test(an_error_has_room_for_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
