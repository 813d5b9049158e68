/* Growing buffers and arrays. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/json.h"

static void integers_are_written_as_printf_writes_them(void **state)
{
	static const long values[] = {0,   7,     -1,     10,       -10,     99,
				      100, 65535, -65536, LONG_MAX, LONG_MIN};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct trk_buf b;
		char text[32];

		trk__buf_init(&b, 100);
		trk__buf_puts(&b, "x");
		trk__buf_integer(&b, values[i]);
		(void) snprintf(text, sizeof(text), "x%ld", values[i]);
		assert_string_equal(b.data, text);
		assert_int_equal(b.error, 0);
		trk__buf_release(&b);
	}
}

static void what_does_not_fit_leaves_the_buffer_in_error(void **state)
{
	struct trk_buf b;

	trk__buf_init(&b, 4);
	trk__buf_integer(&b, 1234);
	assert_string_equal(b.data, "1234");
	trk__buf_integer(&b, 5);
	assert_true(b.error < 0);
	assert_string_equal(b.data, "1234");
	trk__buf_release(&b);
}

static void text_is_formatted_into_the_room_that_there_is_and_into_more(void **state)
{
	struct trk_buf b;
	char want[4096] = "";
	size_t len = 0;

	trk__buf_init(&b, sizeof(want));
	for (int i = 0; i < 300; i++) {
		trk__buf_printf(&b, "%d,%s", i, i % 7 ? "" : "seven");
		len += (size_t) snprintf(want + len, sizeof(want) - len, "%d,%s", i,
					 i % 7 ? "" : "seven");
		assert_int_equal(b.len, len);
		assert_string_equal(b.data, want);
	}
	assert_int_equal(b.error, 0);
	trk__buf_release(&b);
}

static void formatted_text_that_does_not_fit_changes_nothing(void **state)
{
	struct trk_buf b;

	trk__buf_init(&b, 6);
	trk__buf_printf(&b, "%s", "abcd");
	trk__buf_printf(&b, "%s", "efg"); /* there is room in memory, and not below the bound */
	assert_true(b.error < 0);
	assert_string_equal(b.data, "abcd");
	trk__buf_printf(&b, "%s", "e");
	assert_string_equal(b.data, "abcd");
	assert_int_equal(b.len, 4);
	trk__buf_release(&b);
}

static void an_array_grows_and_keeps_its_elements(void **state)
{
	size_t cap = 0;
	int *list = NULL;

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(trk__array_reserve(&list, &cap, (size_t) i + 1, sizeof(*list)), 0);
		list[i] = i;
	}
	assert_in_range(cap, 1000, 2000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
	free(list);
}

static void an_array_that_cannot_grow_stays_as_it_is(void **state)
{
	size_t cap = 0;
	int *list = NULL, *before;

	assert_int_equal(trk__array_reserve(&list, &cap, 4, sizeof(*list)), 0);
	before = list;
	assert_int_equal(trk__array_reserve(&list, &cap, SIZE_MAX / 2, sizeof(*list)), -ENOMEM);
	assert_ptr_equal(list, before);
	assert_int_equal(cap, 16);
	free(list);
}

static void bytes_are_written_as_base64(void **state)
{
	static const char *const texts[][2] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xfb\xff\xbf", "+/+/"}};
	struct trk_buf b;

	trk__buf_init(&b, 100);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		trk__buf_clear(&b);
		trk__buf_puts(&b, "");
		trk__buf_base64(&b, texts[i][0], strlen(texts[i][0]));
		assert_string_equal(b.data, texts[i][1]);
	}
	trk__buf_release(&b);
}

static void json_numbers_have_as_many_digits_as_asked_for(void **state)
{
	struct trk_json j;
	struct trk_buf b;

	trk__buf_init(&b, 200);
	trk__json_init(&j, &b, 0);
	trk__json_open(&j, '[');
	trk__json_double(&j, 2.0 / 3);
	j.digits = 3;
	trk__json_double(&j, 2.0 / 3);
	trk__json_double(&j, -1234567.5);
	trk__json_double(&j, (double) NAN);
	trk__json_u64(&j, 1234567);
	trk__json_close(&j, ']');
	assert_string_equal(b.data, "[0.6666666666666666,0.667,-1234568,null,1234567]");
	trk__buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_written_as_printf_writes_them),
		cmocka_unit_test(text_is_formatted_into_the_room_that_there_is_and_into_more),
		cmocka_unit_test(formatted_text_that_does_not_fit_changes_nothing),
		cmocka_unit_test(what_does_not_fit_leaves_the_buffer_in_error),
		cmocka_unit_test(an_array_grows_and_keeps_its_elements),
		cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_is),
		cmocka_unit_test(bytes_are_written_as_base64),
		cmocka_unit_test(json_numbers_have_as_many_digits_as_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
