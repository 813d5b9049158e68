/* The JSON reader: valid and invalid JSON, the place of an error, and the result. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

static struct trk_json_doc parse(const char *text)
{
	struct trk_json_doc d;
	struct trk_error error = {.code = 0};
	int n = trk__json_read(text, strlen(text), NULL, "", &d, &error);

	if (n)
		fail_msg("%s: %s", text, error.message);
	return d;
}

static int code_of(const char *text, struct trk_error *reterr)
{
	struct trk_json_doc d = {.count = 77};
	int n = trk__json_read(text, strlen(text), NULL, "file", &d, reterr);

	if (n == 0)
		trk__json_doc_release(&d);
	else
		assert_int_equal(d.count, 77);
	return n;
}

static void reads_every_kind_of_value(void **state)
{
	struct trk_json_doc d = parse(" {\"a\": [1, -2.5e1, true, false, null, \"x\"],\t\"b\": {}, "
				      "\"c\": [], \"\": 7}\r\n");
	const struct trk_json_value *root = trk__json_root(&d), *v;
	int64_t i;

	assert_int_equal(root->type, TRK_JSON_OBJECT);
	assert_int_equal(root->count, 4);
	v = trk__json_get(&d, root, "a");
	assert_int_equal(v->type, TRK_JSON_ARRAY);
	assert_int_equal(v->count, 6);
	v = trk__json_first(&d, v);
	assert_null(v->key);
	assert_true(trk__json_as_i64(v, &i) && i == 1);
	v = trk__json_next(&d, v);
	assert_true(trk__json_as_double(v) == -25);
	v = trk__json_next(&d, v);
	assert_true(v->type == TRK_JSON_BOOL && v->truth);
	v = trk__json_next(&d, v);
	assert_true(v->type == TRK_JSON_BOOL && !v->truth);
	v = trk__json_next(&d, v);
	assert_int_equal(v->type, TRK_JSON_NULL);
	v = trk__json_next(&d, v);
	assert_string_equal(trk__json_as_text(v), "x");
	assert_null(trk__json_next(&d, v));
	assert_null(trk__json_first(&d, trk__json_get(&d, root, "b")));
	assert_null(trk__json_first(&d, trk__json_get(&d, root, "c")));
	assert_true(trk__json_get_double(&d, root, "") == 7);
	trk__json_doc_release(&d);
}

static void what_is_not_there_or_of_another_kind_is_no_answer(void **state)
{
	struct trk_json_doc d = parse("{\"t\": \"1\", \"n\": 1, \"l\": [], \"b\": true}");
	const struct trk_json_value *root = trk__json_root(&d);
	int64_t i = 42;

	assert_null(trk__json_get(&d, root, "x"));
	assert_null(trk__json_get(&d, trk__json_get(&d, root, "x"), "y"));
	assert_null(trk__json_get(&d, trk__json_get(&d, root, "l"), "y"));
	assert_null(trk__json_get_text(&d, root, "n"));
	assert_true(isnan(trk__json_get_double(&d, root, "t")));
	assert_true(isnan(trk__json_get_double(&d, root, "b")));
	assert_false(trk__json_as_i64(trk__json_get(&d, root, "t"), &i));
	assert_int_equal(i, 42);
	assert_null(trk__json_first(&d, NULL));
	assert_null(trk__json_next(&d, NULL));
	trk__json_doc_release(&d);
	assert_null(trk__json_root(&d));
}

static void the_last_of_equal_keys_counts(void **state)
{
	struct trk_json_doc d = parse("{\"a\": 1, \"b\": 2, \"a\": 3}");

	assert_true(trk__json_get_double(&d, trk__json_root(&d), "a") == 3);
	assert_int_equal(trk__json_root(&d)->count, 3);
	trk__json_doc_release(&d);
}

static void escapes_become_characters(void **state)
{
	struct trk_json_doc d = parse("{\"\\u006b\\n\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac"
				      "\\uD83D\\ude00\xc3\xa9\"}");
	const struct trk_json_value *v = trk__json_get(&d, trk__json_root(&d), "k\n");

	assert_string_equal(trk__json_as_text(v), "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac"
						  "\xf0\x9f\x98\x80\xc3\xa9");
	assert_int_equal(v->text_len, strlen(v->text));
	trk__json_doc_release(&d);
}

static void numbers_are_as_exact_as_their_type(void **state)
{
	struct trk_json_doc d =
		parse("[9223372036854775807, -9223372036854775808, "
		      "9223372036854775808, 2.0, 5e3, 0.5, 1e999, 0.1, -0, 1e-400,"
		      "9007199254740993.0, "
		      "0.1000000000000000055511151231257827021181583404541015625000001]");
	const struct trk_json_value *v[12];
	int64_t i = 1;

	v[0] = trk__json_first(&d, trk__json_root(&d));
	for (int k = 1; k < 12; k++)
		v[k] = trk__json_next(&d, v[k - 1]);
	assert_true(trk__json_as_i64(v[0], &i) && i == INT64_MAX);
	assert_true(trk__json_as_i64(v[1], &i) && i == INT64_MIN);
	assert_false(trk__json_as_i64(v[2], &i));
	assert_true(trk__json_as_double(v[2]) == 0x1p63);
	assert_true(trk__json_as_i64(v[3], &i) && i == 2);
	assert_true(trk__json_as_i64(v[4], &i) && i == 5000);
	assert_false(trk__json_as_i64(v[5], &i));
	assert_true(isnan(trk__json_as_double(v[6]))); /* beyond a double: not known */
	assert_true(trk__json_as_double(v[7]) == 0.1);
	assert_true(trk__json_as_i64(v[8], &i) && i == 0);
	assert_true(trk__json_as_double(v[9]) == 0);
	assert_true(trk__json_as_double(v[11]) == 0.1); /* longer than the buffer for digits */
	trk__json_doc_release(&d);
}

static void refuses_what_is_no_json(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"}",
		"[",
		"]",
		"[1,]",
		"{\"a\":1,}",
		"[1 2]",
		"{\"a\" 1}",
		"{a:1}",
		"{\"a\":}",
		"{1:2}",
		"01",
		"1.",
		".5",
		"+1",
		"-",
		"1e",
		"1e+",
		"0x1",
		"tru",
		"nul",
		"NaN",
		"Infinity",
		"-Infinity",
		"'a'",
		"\"a",
		"\"\\\"",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\\u12g4\"",
		"\"\\ud800\"",
		"\"\\ud800\\u0041\"",
		"\"\\udc00\"",
		"\"\\u0000\"",
		"\"\n\"",
		"\"\t\"",
		"\"\xff\"",
		"\"\xc0\xaf\"",
		"\"\xed\xa0\x80\"",
		"\"\xe2\x82\"",
		"\xef\xbb\xbf{}",
		"{} {}",
		"[] x",
		"/* */ 1",
		"1 // x",
		"\"\\",
		"\"\\u",
		"<!DOCTYPE html><html></html>",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct trk_error error = {.code = 0};

		if (code_of(bad[i], &error) != -EBADMSG)
			fail_msg("taken for JSON: %s", bad[i]);
		assert_int_equal(error.code, -EBADMSG);
		assert_true(error.message[0] && error.line > 0);
		assert_int_equal(code_of(bad[i], NULL), -EBADMSG);
	}
}

static void a_nul_byte_does_not_end_the_text(void **state)
{
	struct trk_json_doc d;

	assert_int_equal(trk__json_read("1\0", 2, NULL, "", &d, NULL), -EBADMSG);
	assert_int_equal(trk__json_read("[\0]", 3, NULL, "", &d, NULL), -EBADMSG);
	assert_int_equal(trk__json_read("\"a\0b\"", 5, NULL, "", &d, NULL), -EBADMSG);
}

static void the_message_names_the_place(void **state)
{
	struct trk_error error;

	assert_int_equal(code_of("{\n \"a\\u0041\": 1,\n \"b\": tru\n}", &error), -EBADMSG);
	assert_string_equal(error.file, "file");
	assert_string_equal(error.message, "no JSON value (line 3, column 7)");
	assert_int_equal(error.line, 3);
	assert_int_equal(code_of("[1]\n]", &error), -EBADMSG);
	assert_string_equal(error.message, "text after the end of the document (line 2, column 1)");
}

static void depth_and_size_are_bounded(void **state)
{
	char text[3000];
	struct trk_json_limits limits = {.max_depth = 3, .max_bytes = 8};
	struct trk_json_doc d;
	struct trk_error error;

	assert_int_equal(trk__json_read("[[[]]]", 6, &limits, "", &d, NULL), 0);
	trk__json_doc_release(&d);
	assert_int_equal(trk__json_read("[[[[]]]]", 8, &limits, "", &d, &error), -EFBIG);
	assert_string_equal(error.message,
			    "arrays and objects are nested too deeply (line 1, column 4)");
	assert_int_equal(trk__json_read("[1,2,3,4]", 9, &limits, "", &d, &error), -EFBIG);
	assert_string_equal(error.message, "longer than 8 bytes");
	/* However deep it asks for: at most 512. */
	limits = (struct trk_json_limits){.max_depth = 1000000};
	memset(text, '[', sizeof(text));
	assert_int_equal(trk__json_read(text, sizeof(text), &limits, "", &d, NULL), -EFBIG);
	memset(text, '[', 512);
	memset(text + 512, ']', 512);
	assert_int_equal(trk__json_read(text, 1024, &limits, "", &d, NULL), 0);
	assert_int_equal(d.count, 512);
	trk__json_doc_release(&d);
}

static void takes_the_words_of_python_as_null_where_asked_to(void **state)
{
	struct trk_json_limits limits = {.nan_is_null = true};
	static const char text[] = "[NaN, Infinity, -Infinity, -1]";
	struct trk_json_doc d;
	const struct trk_json_value *v;

	assert_int_equal(trk__json_read(text, strlen(text), &limits, "", &d, NULL), 0);
	v = trk__json_first(&d, trk__json_root(&d));
	for (int i = 0; i < 3; i++, v = trk__json_next(&d, v)) {
		assert_int_equal(v->type, TRK_JSON_NULL);
		assert_true(isnan(trk__json_as_double(v)));
	}
	assert_true(trk__json_as_double(v) == -1);
	trk__json_doc_release(&d);
}

/* The block for values is counted before the text is read: commas and brackets inside texts make
 * it larger, never too small. */
static void many_values_have_room(void **state)
{
	char *text = malloc(100000);
	size_t n = 0;
	struct trk_json_doc d;
	const struct trk_json_value *v;
	int64_t i, expected = 0;

	assert_non_null(text);
	text[n++] = '[';
	for (int k = 0; k < 5000; k++)
		n += (size_t) sprintf(text + n, "%s{\"k,[\":%d}", k ? "," : "", k);
	text[n++] = ']';
	assert_int_equal(trk__json_read(text, n, NULL, "", &d, NULL), 0);
	assert_int_equal(d.count, 10001);
	for (v = trk__json_first(&d, trk__json_root(&d)); v; v = trk__json_next(&d, v)) {
		assert_true(trk__json_as_i64(trk__json_get(&d, v, "k,["), &i));
		assert_int_equal(i, expected++);
	}
	assert_int_equal(expected, 5000);
	trk__json_doc_release(&d);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind_of_value),
		cmocka_unit_test(what_is_not_there_or_of_another_kind_is_no_answer),
		cmocka_unit_test(the_last_of_equal_keys_counts),
		cmocka_unit_test(escapes_become_characters),
		cmocka_unit_test(numbers_are_as_exact_as_their_type),
		cmocka_unit_test(refuses_what_is_no_json),
		cmocka_unit_test(a_nul_byte_does_not_end_the_text),
		cmocka_unit_test(the_message_names_the_place),
		cmocka_unit_test(depth_and_size_are_bounded),
		cmocka_unit_test(takes_the_words_of_python_as_null_where_asked_to),
		cmocka_unit_test(many_values_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
