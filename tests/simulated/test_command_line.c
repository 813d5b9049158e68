/* Conversion of the arguments of a Windows program to one text. The expected texts follow
 * Microsoft's description of how its C library parses arguments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/windows/command_line.h"

static void assert_line(const char *const arguments[], const char *expected)
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	for (size_t i = 0; arguments[i]; i++)
		trk__command_line_add(&b, arguments[i]);
	assert_int_equal(b.error, 0);
	assert_string_equal(b.data, expected);
	trk__buf_release(&b);
}

#define LINE(expected, ...) assert_line((const char *const[]){__VA_ARGS__, NULL}, expected)

static void quotes_what_needs_it_alone(void **state)
{
	(void) state;
	LINE("a.exe b c", "a.exe", "b", "c");
	LINE("a.exe \"\" \"b c\"", "a.exe", "", "b c");
	LINE("a.exe \"b\tc\" größe", "a.exe", "b\tc", "größe");
	LINE("\"C:\\Program Files\\a.exe\" %PATH% ^&|", "C:\\Program Files\\a.exe", "%PATH%",
	     "^&|");
}

static void doubles_backslashes_before_a_quote_alone(void **state)
{
	(void) state;
	LINE("a \\\\server\\x C:\\", "a", "\\\\server\\x", "C:\\");
	LINE("a \"C:\\x y\\\\\"", "a", "C:\\x y\\");
	LINE("a \"\\\"\"", "a", "\"");
	LINE("a \"b\\\\\\\"c\"", "a", "b\\\"c");
	LINE("a \"b\\c\\\"\"", "a", "b\\c\"");
}

static void assert_apart(const char *line, const char *expected, size_t len)
{
	char text[64];

	memset(text, '#', sizeof(text));
	assert_int_equal(trk__command_line_split(line, text, sizeof(text)), len);
	assert_memory_equal(text, expected, len);
}

#define APART(line, expected) assert_apart(line, expected, sizeof(expected))

static void takes_a_line_apart(void **state)
{
	(void) state;
	APART("a b  c ", "a\0b\0c");
	APART("  \"a b\" \"\" c", "a b\0\0c");
	APART("a\\\\b d\"e f\"g h", "a\\\\b\0de fg\0h");
	APART("a\\\\\\\"b c d", "a\\\"b\0c\0d");
	APART("a\\\\\\\\\"b c\" d", "a\\\\b c\0d");
	APART("\"a\"\"b\"", "a\"b");
	APART("\"no end", "no end");
	assert_int_equal(trk__command_line_split(" \t ", NULL, 0), 0);
}

static void what_is_put_together_comes_apart(void **state)
{
	static const char alphabet[] = "a\\\" b";
	uint32_t seed = 1;

	(void) state;
	for (int round = 0; round < 20000; round++) {
		char argument[12], apart[32];
		struct trk_buf b;
		size_t len;

		seed = seed * 1664525u + 1013904223u;
		len = seed >> 29;
		for (size_t i = 0; i < len; i++)
			argument[i] = alphabet[(seed >> (3 * i)) % (sizeof(alphabet) - 1)];
		argument[len] = '\0';
		trk__buf_init(&b, 1 << 10);
		trk__command_line_add(&b, "x");
		trk__command_line_add(&b, argument);
		assert_int_equal(trk__command_line_split(b.data, apart, sizeof(apart)), len + 3);
		assert_string_equal(apart + 2, argument);
		trk__buf_release(&b);
	}
}

static void keeps_no_more_than_there_is_room_for(void **state)
{
	char text[4] = "####";

	(void) state;
	assert_int_equal(trk__command_line_split("abcdef g", text, 3), 3);
	assert_memory_equal(text, "abc#", 4);
}

static void a_batch_file_gets_nothing_that_cmd_would_expand(void **state)
{
	static const char *const refused[] = {"a\"b", "%PATH%", "a\nb", "\r"};
	struct trk_buf b;

	(void) state;
	trk__buf_init(&b, 1 << 10);
	assert_int_equal(trk__command_line_add_batch(&b, "C:\\a b.cmd"), 0);
	assert_int_equal(trk__command_line_add_batch(&b, "x & del *"), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(trk__command_line_add_batch(&b, refused[i]), -EINVAL);
	assert_string_equal(b.data, "\"C:\\a b.cmd\" \"x & del *\"");
	trk__buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_what_needs_it_alone),
		cmocka_unit_test(doubles_backslashes_before_a_quote_alone),
		cmocka_unit_test(takes_a_line_apart),
		cmocka_unit_test(what_is_put_together_comes_apart),
		cmocka_unit_test(keeps_no_more_than_there_is_room_for),
		cmocka_unit_test(a_batch_file_gets_nothing_that_cmd_would_expand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
