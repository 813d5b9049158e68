/* Messages that are too long lose their middle part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/utf8.h"

static char text[256];

__attribute__((format(printf, 2, 3))) static const char *say(size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	trk__message(text, size, format, args);
	va_end(args);
	return text;
}

static void what_is_short_is_as_of_printf(void **state)
{
	assert_string_equal(say(sizeof(text), "%s %d %5u|%.2s 100%%", "word", -1, 2u, "word"),
			    "word -1     2|wo 100%");
	assert_string_equal(say(5, "%s", "word"), "word");
}

static void what_is_long_loses_its_middle(void **state)
{
	char long_text[10241];
	const char *note;

	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	say(sizeof(text), "--tag %s: no", long_text);
	assert_memory_equal(text, "--tag aaaa", 10);
	assert_string_equal(text + strlen(text) - 8, "aaaa: no");
	note = strstr(text, "a [10034 bytes left out] a");
	assert_non_null(note);
	assert_int_equal(strlen(text) - strlen(" [10034 bytes left out] ") + 10034, 10240 + 10);
	/* Between two characters. */
	for (size_t i = 0; i + 1 < sizeof(long_text); i += 2)
		memcpy(long_text + i, "é", 2);
	for (size_t size = 100; size < 104; size++) {
		say(size, "%s", long_text);
		for (size_t i = 0, n; text[i]; i += n) {
			n = trk__utf8_length(text + i, strlen(text + i));
			assert_true(n > 0);
		}
	}
	/* And never over the end, however little room there is. */
	for (size_t size = 1; size < 120; size++)
		assert_true(strlen(say(size, "%s%s", long_text, long_text)) < size);
}

static void an_error_has_room_for_its_reason(void **state)
{
	char long_text[10241];
	struct trk_error error;

	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(
		trk__error_set(&error, -TRK_ERR_NORUN, long_text, "%s: no such run", long_text),
		-TRK_ERR_NORUN);
	assert_non_null(strstr(error.message, " bytes left out] aaa"));
	assert_non_null(strstr(error.message, "aaa: no such run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_short_is_as_of_printf),
		cmocka_unit_test(what_is_long_loses_its_middle),
		cmocka_unit_test(an_error_has_room_for_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
