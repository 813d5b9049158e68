/* src/base: buffers, number parsing, JSON, check sums, files. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/libc.h"
#include "base/parse.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "fixture.h"

/* ---- buf ---- */

static void a_buffer_grows_and_stays_terminated(void **state)
{
	struct trk_buf b;

	trk__buf_init(&b, 1000);
	for (int i = 0; i < 100; i++)
		trk__buf_printf(&b, "%d,", i % 10);
	assert_int_equal(b.error, 0);
	assert_int_equal(b.len, 200);
	assert_int_equal(b.data[200], '\0');
	assert_memory_equal(b.data + 196, "8,9,", 4);
	trk__buf_clear(&b);
	assert_string_equal(b.data, "");
	trk__buf_putc(&b, 'x');
	trk__buf_puts(&b, "yz");
	assert_string_equal(b.data, "xyz");
	trk__buf_release(&b);
}

static void a_buffer_refuses_to_pass_its_maximum_until_cleared(void **state)
{
	struct trk_buf b;

	trk__buf_init(&b, 4);
	trk__buf_puts(&b, "abcd");
	assert_int_equal(b.error, 0);
	trk__buf_putc(&b, 'e');
	assert_int_equal(b.error, -EFBIG);
	assert_string_equal(b.data, "abcd");
	trk__buf_add(&b, "", 0);
	assert_int_equal(trk__buf_reserve(&b, 0), -EFBIG); /* sticky */
	trk__buf_clear(&b);
	trk__buf_puts(&b, "ef");
	assert_int_equal(b.error, 0);
	assert_string_equal(b.data, "ef");
	assert_int_equal(trk__buf_reserve(&b, SIZE_MAX), -EFBIG);
	trk__buf_release(&b);
}

static void what_is_taken_from_a_buffer_is_whole_or_null(void **state)
{
	TRK_BUF_LOCAL(b, 4);
	char *text;

	trk__buf_puts(&b, "abcd");
	text = trk__buf_take(&b);
	assert_string_equal(text, "abcd");
	assert_true(!b.data && b.len == 0 && b.max == 4);
	free(text);
	trk__buf_puts(&b, "ef");
	trk__buf_puts(&b, "ghi");
	assert_null(trk__buf_take(&b));
	assert_int_equal(b.error, -EFBIG); /* for the caller, who may have to say why */
}

static void numbers_come_back_from_a_buffer(void **state)
{
	static const uint64_t plain[] = {0, 1, 127, 128, 16383, 16384, INT64_MAX, UINT64_MAX};
	static const int64_t with_sign[] = {0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};
	struct trk_cursor c;
	struct trk_buf b;
	char text[4];
	size_t len;

	trk__buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		trk__buf_varint(&b, plain[i]);
	for (size_t i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		trk__buf_svarint(&b, with_sign[i]);
	trk__buf_bytes(&b, "hello", 5);
	trk__buf_bytes(&b, "hello", 5);
	c = (struct trk_cursor){(unsigned char *) b.data, (unsigned char *) b.data + b.len, 0};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_true(trk__cursor_varint(&c) == plain[i]);
	for (size_t i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		assert_true(trk__cursor_svarint(&c) == with_sign[i]);
	assert_memory_equal(trk__cursor_bytes(&c, &len), "hello", 5);
	assert_int_equal(len, 5);
	trk__cursor_text(&c, text, sizeof(text));
	assert_string_equal(text, "hel");
	assert_false(c.bad);
	assert_ptr_equal(c.at, c.end);
	trk__buf_release(&b);
}

static void a_cursor_never_runs_past_its_end(void **state)
{
	static const unsigned char endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
						0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
	static const unsigned char too_long[] = {5, 'a', 'b'};
	struct trk_cursor c = {endless, endless + 3, 0};
	size_t len = 7;

	assert_int_equal(trk__cursor_varint(&c), 0);
	assert_true(c.bad);
	c = (struct trk_cursor){endless, endless + sizeof(endless), 0};
	assert_int_equal(trk__cursor_varint(&c), 0);
	assert_true(c.bad);
	c = (struct trk_cursor){too_long, too_long + sizeof(too_long), 0};
	assert_null(trk__cursor_bytes(&c, &len));
	assert_int_equal(len, 0);
	assert_true(c.bad);
}

/* ---- parse ---- */

static void scanners_leave_everything_alone_when_there_is_no_number(void **state)
{
	static const char *const bad[] = {"", "x", "-", "18446744073709551616", " +1"};
	uint64_t value = 5;
	int64_t with_sign = 6;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *at = bad[i];

		assert_false(trk__scan_u64(&at, &value));
		assert_false(trk__scan_i64(&at, &with_sign));
		assert_false(trk__scan_fixed(&at, 2, &value));
		assert_ptr_equal(at, bad[i]);
	}
	assert_int_equal(value, 5);
	assert_int_equal(with_sign, 6);
}

static void scanners_read_numbers_to_the_edge_of_their_range(void **state)
{
	const char *at = " \t18446744073709551615 -9223372036854775808 9223372036854775807 fF0g";
	const char *over = "9223372036854775808", *wide = "10000000000000000";
	uint64_t value;
	int64_t with_sign;

	assert_true(trk__scan_u64(&at, &value));
	assert_true(value == UINT64_MAX);
	assert_true(trk__scan_i64(&at, &with_sign));
	assert_true(with_sign == INT64_MIN);
	assert_true(trk__scan_i64(&at, &with_sign));
	assert_true(with_sign == INT64_MAX);
	assert_true(trk__scan_hex(&at, &value));
	assert_int_equal(value, 0xff0);
	assert_int_equal(*at, 'g');
	assert_false(trk__scan_i64(&over, &with_sign));
	assert_false(trk__scan_hex(&wide, &value));
}

/* Numbers of every length, with every byte behind them, at every distance from the end of the text:
 * it is the end of an allocation, so that the sanitizers see a byte too many. */
static void digits_are_taken_up_to_any_other_byte(void **state)
{
	static const char all[] = "9081726354433221100";
	uint64_t expected = 0, value;

	for (size_t digits = 1; digits < sizeof(all); digits++) {
		expected = expected * 10 + (uint64_t) (all[digits - 1] - '0');
		for (size_t behind = 0; behind < 12; behind++) {
			for (int other = 0; other < 256; other++) {
				char *text = malloc(digits + behind);

				if (!text || (other >= '0' && other <= '9')) {
					free(text);
					continue;
				}
				memset(text, other, digits + behind);
				memcpy(text, all, digits);
				value = 7;
				assert_ptr_equal(
					trk__take_digits(text, text + digits + behind, &value),
					text + digits);
				assert_true(value == expected);
				free(text);
			}
		}
	}
}

static void what_has_no_digits_or_too_many_is_no_number(void **state)
{
	static const char *const bad[] = {
		"", "x", "x2345678", " 1", "-1", "\xb1\xb2", "/", ":", "12345678901234567890"};
	uint64_t value = 7, numbers[3];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(trk__take_digits(bad[i], bad[i] + strlen(bad[i]), &value));
	assert_int_equal(value, 7);
	assert_true(trk__take_numbers("1 20 300\n", 9, numbers, 3));
	assert_int_equal(numbers[0] + numbers[1] + numbers[2], 321);
	assert_true(trk__take_numbers("1 20 3", 6, numbers, 3));
	assert_int_equal(numbers[2], 3);
	assert_false(trk__take_numbers("1 20\n", 5, numbers, 3));
	assert_false(trk__take_numbers("1\t20 3\n", 7, numbers, 3));
	assert_false(trk__take_numbers("1 20 ", 5, numbers, 3));
}

static void fractions_are_cut_to_the_digits_asked_for(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		char next;
	} cases[] = {
		{"12.34", 1234, '\0'}, {"12.349 ", 1234, ' '}, {"12", 1200, '\0'},
		{"12.3/", 1230, '/'},  {"0.05", 5, '\0'},      {"12.", 1200, '\0'},
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;

		assert_true(trk__scan_fixed(&at, 2, &value));
		assert_int_equal(value, cases[i].value);
		assert_int_equal(*at, cases[i].next);
	}
}

struct quantity {
	const char *text;
	int r;
	uint64_t value;
};

static void check(int (*parse)(const char *, uint64_t *), const struct quantity *cases)
{
	for (; cases->text; cases++) {
		uint64_t value = 99;
		int r = parse(cases->text, &value);

		if (r != cases->r || value != (r < 0 ? 99 : cases->value))
			fail_msg("\"%s\": %d, %llu", cases->text, r, (unsigned long long) value);
	}
}

static void a_whole_number_is_nothing_else(void **state)
{
	static const struct quantity cases[] = {
		{"0", 0, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{NULL, 0, 0},
	};

	check(trk__parse_u64, cases);
}

static void durations_are_read_as_people_type_them(void **state)
{
	static const struct quantity cases[] = {
		{"1", 0, 1000000000},
		{"250ms", 0, 250000000},
		{"1.5s", 0, 1500000000},
		{"0.001", 0, 1000000},
		{"2m", 0, 120000000000},
		{"1.25h", 0, 4500000000000},
		{"3d", 0, 259200000000000},
		{"10us", 0, 10000},
		{"30 min", 0, 1800000000000},
		{"1.9999999999ns", 0, 1},
		{"20000000000ns", 0, 20000000000}, /* a large number of a small unit */
		{"3650d", 0, 315360000000000000},
		{"3651d", -ERANGE, 0},
		{"99999999999999999999s", -ERANGE, 0},
		{"-1s", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"1x", -EINVAL, 0},
		{"1S", -EINVAL, 0}, /* 1M would be a month to some and a minute to others */
		{"1e3", -EINVAL, 0},
		{"1s2m", -EINVAL, 0},
		{"1,5s", -EINVAL, 0},
		{NULL, 0, 0},
	};

	check(trk__parse_duration, cases);
}

static void sizes_are_powers_of_1024_and_may_be_large(void **state)
{
	static const struct quantity cases[] = {
		{"0", 0, 0},
		{"512M", 0, 512ull << 20},
		{"512m", 0, 512ull << 20},
		{"2GiB", 0, 2ull << 30},
		{"1.5g", 0, 3ull << 29},
		{"1000kB", 0, 1024000},
		{"1 TiB", 0, 1ull << 40},
		{"68719476736", 0, 64ull << 30}, /* plain bytes of a machine of today */
		{"8388607t", 0, 8388607ull << 40},
		{"8388608t", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"-1M", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"M", -EINVAL, 0},
		{"1MM", -EINVAL, 0},
		{"1M 2", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{NULL, 0, 0},
	};

	check(trk__parse_size, cases);
}

/* ---- json ---- */

static struct trk_buf out;
static struct trk_json json;

static void begin_json(unsigned int indent)
{
	trk__buf_init(&out, 10000);
	trk__json_init(&json, &out, indent);
}

static void expect_json(const char *text)
{
	assert_int_equal(out.error, 0);
	assert_string_equal(out.data, text);
	trk__buf_release(&out);
}

static void a_document_ends_with_all_that_is_open(void **state)
{
	struct trk_json j;
	struct trk_buf b;

	trk__buf_init(&b, 200);
	trk__json_begin(&j, &b, 0, "s/1");
	trk__json_key_or_null(&j, "none", "");
	trk__json_key_open(&j, "list", '[');
	trk__json_open(&j, '{');
	trk__json_key_open(&j, "inner", '[');
	trk__json_end(&j);
	assert_string_equal(b.data,
			    "{\"schema\":\"s/1\",\"none\":null,\"list\":[{\"inner\":[]}]}\n");
	trk__buf_release(&b);
}

static void a_day_is_read_from_the_start_of_a_text(void **state)
{
	static const char *const others[] = {"",           "2026-12",    "2026-13-01", "2026-00-01",
					     "2026-01-32", "2026-01-00", "-1-01-01",   "tomorrow"};
	struct tm tm = {.tm_hour = 5};

	assert_string_equal(trk__scan_date("2026-12-24 08:00", &tm), " 08:00");
	assert_int_equal(tm.tm_year, 126);
	assert_int_equal(tm.tm_mon, 11);
	assert_int_equal(tm.tm_mday, 24);
	assert_int_equal(tm.tm_hour, 5);
	assert_string_equal(trk__scan_date("2026-1-2", &tm), "");
	assert_int_equal(tm.tm_mon, 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(trk__scan_date(others[i], &tm));
	assert_int_equal(tm.tm_mday, 2);
}

static void json_has_its_commas_where_they_belong(void **state)
{
	for (unsigned int indent = 0; indent <= 2; indent += 2) {
		begin_json(indent);
		trk__json_open(&json, '{');
		trk__json_key(&json, "a");
		trk__json_open(&json, '[');
		trk__json_u64(&json, UINT64_MAX);
		trk__json_i64(&json, INT64_MIN);
		trk__json_null(&json);
		trk__json_close(&json, ']');
		trk__json_key(&json, "b");
		trk__json_open(&json, '{');
		trk__json_close(&json, '}');
		trk__json_key(&json, "c");
		trk__json_bool(&json, true);
		trk__json_close(&json, '}');
		expect_json(indent ? "{\n  \"a\": [\n    18446744073709551615,\n"
				     "    -9223372036854775808,\n    null\n  ],\n  \"b\": {},\n"
				     "  \"c\": true\n}"
				   : "{\"a\":[18446744073709551615,-9223372036854775808,null],"
				     "\"b\":{},\"c\":true}");
	}
}

static void json_text_is_escaped_and_always_utf_8(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"plain", "\"plain\""},
		{"", "\"\""},
		{"a\"b\\c/", "\"a\\\"b\\\\c/\""},
		{"\n\t\r\x01\x1f\x7f", "\"\\n\\t\\u000d\\u0001\\u001f\\u007f\""},
		{"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		 "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
		{"\xff", "\"\xef\xbf\xbd\""},                 /* no UTF-8 at all */
		{"\xc3", "\"\xef\xbf\xbd\""},                 /* cut */
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong */
		{"\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe2\x82x", "\"\xef\xbf\xbd\xef\xbf\xbdx\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_json(0);
		trk__json_text(&json, cases[i].text);
		expect_json(cases[i].json);
	}
	begin_json(0);
	trk__json_open(&json, '[');
	trk__json_text(&json, NULL);
	trk__json_text_n(&json, "a\0b", 3);
	trk__json_close(&json, ']');
	expect_json("[null,\"a\\u0000b\"]");
}

static void json_numbers_read_back_to_the_same_value(void **state)
{
	static const double values[] = {0.1,    1.0 / 3, 1e300, -2.5e-10, 123456789012345680.0,
					5e-324, 1e22,    0.0,   100};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		begin_json(0);
		trk__json_double(&json, values[i]);
		assert_true(strtod(out.data, NULL) == values[i]);
		trk__buf_release(&out);
	}
	begin_json(0);
	trk__json_open(&json, '[');
	trk__json_double(&json, 0.1);
	trk__json_double(&json, 100);
	trk__json_double(&json, NAN);
	trk__json_double(&json, -INFINITY);
	trk__json_close(&json, ']');
	expect_json("[0.1,100,null,null]");
}

static void json_shows_what_a_terminal_would_hide(void **state)
{
	begin_json(0);
	trk__json_text(&json, "a\u202eb\u200bc\xc2\x9b\x7f \U000e0041 caf\u00e9");
	expect_json("\"a\\u202eb\\u200bc\\u009b\\u007f \\udb40\\udc41 caf\u00e9\"");
}

/* The locale is made here, from the sources that the package `locales` has: few machines have one
 * with a decimal comma. */
static void json_numbers_have_a_point_in_every_locale(void **state)
{
	char folder[] = "/tmp/trk-locale-XXXXXX", command[200], number[8];

	assert_non_null(mkdtemp(folder));
	(void) snprintf(command, sizeof(command),
			"localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 && test -d %s/de_DE.UTF-8",
			folder, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(setenv("LOCPATH", folder, 1), 0);
	assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
	(void) snprintf(number, sizeof(number), "%.1f", 0.5);
	begin_json(0);
	trk__json_double(&json, 0.5);
	(void) setlocale(LC_ALL, "C");
	assert_int_equal(unsetenv("LOCPATH"), 0);
	trk__remove_tree(folder);
	assert_string_equal(number, "0,5"); /* the locale is in force */
	expect_json("0.5");
}

static void fixed_numbers_are_exact_and_short(void **state)
{
	static const struct {
		int64_t value;
		unsigned int decimals;
		const char *text;
	} cases[] = {
		{12500, 3, "12.5"},
		{-1, 3, "-0.001"},
		{7000, 3, "7"},
		{0, 3, "0"},
		{7, 0, "7"},
		{-1200, 2, "-12"},
		{1005, 3, "1.005"},
		{INT64_MAX, 9, "9223372036.854775807"},
		{INT64_MIN, 9, "-9223372036.854775808"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_json(0);
		trk__json_fixed(&json, cases[i].value, cases[i].decimals);
		expect_json(cases[i].text);
	}
}

/* ---- the rest ---- */

static void the_check_sum_is_crc32c(void **state)
{
	unsigned char zeros[32] = {0};

	assert_int_equal(trk__crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(trk__crc32c(trk__crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	assert_int_equal(trk__crc32c(0, zeros, sizeof(zeros)), 0x8a9136aa); /* RFC 3720, B.4 */
	assert_int_equal(trk__crc32c_table(0, zeros, sizeof(zeros)), 0x8a9136aa);
	assert_int_equal(trk__crc32c_table(7, "123456789abcdef", 15),
			 trk__crc32c(7, "123456789abcdef", 15));
	assert_int_equal(trk__crc32c(0, "", 0), 0);
}

static void a_file_is_read_whole_or_said_to_be_too_long(void **state)
{
	char text[8], *all = NULL;
	struct live live;

	live_init(&live, NULL);
	live_write(&live, "diskstats", "1234567");
	assert_int_equal(trk__read_at(live.env.proc_fd, "diskstats", text, sizeof(text)), 7);
	assert_string_equal(text, "1234567");
	assert_int_equal(trk__read_all_at(live.env.proc_fd, "diskstats", 7, &all), 7);
	assert_string_equal(all, "1234567");
	free(all);
	live_write(&live, "diskstats", "12345678");
	assert_int_equal(trk__read_at(live.env.proc_fd, "diskstats", text, sizeof(text)), -EFBIG);
	assert_string_equal(text, "1234567");
	all = NULL;
	assert_int_equal(trk__read_all_at(live.env.proc_fd, "diskstats", 7, &all), -EFBIG);
	assert_null(all);
	assert_int_equal(trk__read_at(live.env.proc_fd, "missing", text, sizeof(text)), -ENOENT);
	live_release(&live);
}

static void a_long_file_is_read_up_to_the_given_length_and_no_further(void **state)
{
	enum { LENGTH = 10000 };
	char *content = malloc(LENGTH + 1), *all = NULL;
	struct live live;

	assert_non_null(content);
	memset(content, 'x', LENGTH);
	content[LENGTH] = '\0';
	live_init(&live, NULL);
	live_write(&live, "diskstats", content);
	assert_int_equal(trk__read_all_at(live.env.proc_fd, "diskstats", LENGTH, &all), LENGTH);
	assert_string_equal(all, content);
	free(all);
	assert_int_equal(trk__read_all_at(live.env.proc_fd, "diskstats", LENGTH - 1, &all), -EFBIG);
	live_release(&live);
	free(content);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	enum { LENGTH = 10000, PARTS = 20 };
	char part[LENGTH], *all = NULL;
	int ends[2];
	pid_t child;

	memset(part, 'x', sizeof(part));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0); /* the writer may be slow */
	child = fork();
	if (child == 0) {
		for (int i = 0; i < PARTS; i++)
			(void) !write(ends[1], part, sizeof(part));
		_exit(0);
	}
	assert_true(child > 0);
	(void) close(ends[1]);
	assert_int_equal(trk__read_all_fd(ends[0], 1 << 20, &all), LENGTH * PARTS);
	assert_int_equal(strspn(all, "x"), LENGTH * PARTS);
	free(all);
	(void) waitpid(child, NULL, 0);
	assert_int_equal(trk__read_all_fd(ends[0], 10, &all), 0); /* it has ended */
	free(all);
	(void) close(ends[0]);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], part, 12), 12);
	assert_int_equal(trk__read_all_fd(ends[0], 11, &all), -EFBIG);
	(void) close(ends[0]);
	(void) close(ends[1]);
	assert_int_equal(trk__read_all_fd(ends[0], 11, &all), -EBADF);
}

static void a_sparse_file_is_refused_before_it_is_read(void **state)
{
	FILE *file = tmpfile();
	char *all = NULL;

	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 1 << 20), 0);
	assert_false(trk__file_exceeds(fileno(file), 1 << 20));
	assert_true(trk__file_exceeds(fileno(file), (1 << 20) - 1));
	assert_int_equal(trk__read_all_fd(fileno(file), (1 << 20) - 1, &all), -EFBIG);
	(void) fclose(file);
}

static void every_error_has_a_text(void **state)
{
	struct trk_error e;

	assert_string_equal(trk__strerror(-ENOENT), strerror(ENOENT));
	assert_string_equal(trk__strerror(ENOENT), strerror(ENOENT));
	assert_string_equal(trk__strerror(-TRK_ERR_NORUN), "no such run");
	assert_string_equal(trk__strerror(-123456), "unknown error");
	assert_int_equal(trk__error_set(NULL, -EINVAL, "f", "%d", 1), -EINVAL);
	assert_int_equal(trk__error_set(&e, -EINVAL, NULL, "%0300d", 7), -EINVAL);
	assert_int_equal(e.code, -EINVAL);
	assert_string_equal(e.file, "");
	assert_in_range(strlen(e.message), 200, sizeof(e.message) - 1);
	assert_non_null(strstr(e.message, "007"));
}

/* ---- what older C libraries lack ---- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* In a child, since it closes what is open: three descriptors in a row, of which the middle
 * goes. */
static int close_the_middle(bool listed)
{
	int fd[3], status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			fd[i] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200 + i);
		if (!listed)
			trk__close_range(201, 201);
		else if (trk__close_listed(201, 201) < 0)
			_exit(9);
		if (!is_open(fd[0]) || is_open(fd[1]) || !is_open(fd[2]))
			_exit(1);
		if (!listed)
			trk__close_range(3, ~0u);
		else if (trk__close_listed(3, ~0u) < 0)
			_exit(9);
		for (int i = 3; i < 300; i++)
			if (is_open(i))
				_exit(2);
		_exit(is_open(STDERR_FILENO) ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_range_of_descriptors_is_closed_and_no_other(void **state)
{
	assert_int_equal(close_the_middle(false), 0);
	assert_int_equal(close_the_middle(true), 0);
}

static void signals_have_the_names_of_the_c_library(void **state)
{
	for (int i = -1; i < 40; i++) {
		const char *ours = trk__signal_name(i), *theirs = sigabbrev_np(i);

		assert_true(!ours == !theirs);
		if (ours)
			assert_string_equal(ours, theirs);
	}
}

static void random_bits_differ(void **state)
{
	uint32_t first = trk__random_bits();
	int same = 0;

	for (int i = 0; i < 8; i++)
		same += trk__random_bits() == first;
	assert_true(same < 8);
}

static void an_errno_has_a_text_and_another_number_none(void **state)
{
	assert_string_equal(trk__errno_text(ENOENT), "No such file or directory");
	assert_null(trk__errno_text(4000));
}

/* ---- text for a terminal ---- */

static void what_a_terminal_would_interpret_or_hide_becomes_visible(void **state)
{
	static const char *const hidden[] = {
		"\x1b",    "\x7f",         "\r",           "\xc2\x9b" /* U+009B */,
		"\xff",    "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f" /* U+202E, 2066, 200F */,
		"\xd8\x9c" /* U+061C */};
	struct trk_error error = {.code = 0};
	char text[64], want[8];
	size_t len;

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		(void) snprintf(text, sizeof(text), "a%s\u00e9\n\tz", hidden[i]);
		len = strlen(hidden[i]);
		trk__utf8_clean(text, strlen(text), "\n\t");
		memset(want, '?', len);
		assert_memory_equal(text + 1, want, len);
		assert_string_equal(text + 1 + len, "\u00e9\n\tz");
		(void) trk__error_set(&error, -EIO, "", "%s: %s", hidden[i], "why\n");
		assert_memory_equal(error.message, want, len);
		assert_string_equal(error.message + len, ": why?");
	}
	memcpy(text, "a\0\n", 4);
	trk__utf8_clean(text, 3, "\n");
	assert_memory_equal(text, "a?\n", 4);
}

static void a_shell_word_is_read_back_as_it_was(void **state)
{
	char word[TRK_SHELL_WORD_SIZE];

	assert_string_equal(trk__shell_word(word, sizeof(word), "a b"), "'a b'");
	assert_string_equal(trk__shell_word(word, sizeof(word), "$(a)`b`"), "'$(a)`b`'");
	assert_string_equal(trk__shell_word(word, sizeof(word), "it's"), "'it'\\''s'");
	assert_string_equal(trk__shell_word(word, sizeof(word), "-o"), "-- '-o'");
	assert_string_equal(trk__shell_value(word, sizeof(word), "-o"), "'-o'");
	assert_string_equal(trk__shell_word(word, sizeof(word), ""), "''");
	assert_string_equal(trk__shell_word(word, 5, "ab"), "'ab'");
	assert_string_equal(trk__shell_word(word, 4, "ab"), "");
	assert_string_equal(trk__shell_word(word, 5, "'"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_grows_and_stays_terminated),
		cmocka_unit_test(a_buffer_refuses_to_pass_its_maximum_until_cleared),
		cmocka_unit_test(what_is_taken_from_a_buffer_is_whole_or_null),
		cmocka_unit_test(numbers_come_back_from_a_buffer),
		cmocka_unit_test(a_cursor_never_runs_past_its_end),
		cmocka_unit_test(scanners_leave_everything_alone_when_there_is_no_number),
		cmocka_unit_test(scanners_read_numbers_to_the_edge_of_their_range),
		cmocka_unit_test(digits_are_taken_up_to_any_other_byte),
		cmocka_unit_test(what_has_no_digits_or_too_many_is_no_number),
		cmocka_unit_test(fractions_are_cut_to_the_digits_asked_for),
		cmocka_unit_test(a_whole_number_is_nothing_else),
		cmocka_unit_test(durations_are_read_as_people_type_them),
		cmocka_unit_test(sizes_are_powers_of_1024_and_may_be_large),
		cmocka_unit_test(a_day_is_read_from_the_start_of_a_text),
		cmocka_unit_test(json_has_its_commas_where_they_belong),
		cmocka_unit_test(json_text_is_escaped_and_always_utf_8),
		cmocka_unit_test(json_numbers_read_back_to_the_same_value),
		cmocka_unit_test(json_shows_what_a_terminal_would_hide),
		cmocka_unit_test(json_numbers_have_a_point_in_every_locale),
		cmocka_unit_test(fixed_numbers_are_exact_and_short),
		cmocka_unit_test(the_check_sum_is_crc32c),
		cmocka_unit_test(a_file_is_read_whole_or_said_to_be_too_long),
		cmocka_unit_test(a_long_file_is_read_up_to_the_given_length_and_no_further),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(a_sparse_file_is_refused_before_it_is_read),
		cmocka_unit_test(every_error_has_a_text),
		cmocka_unit_test(a_range_of_descriptors_is_closed_and_no_other),
		cmocka_unit_test(signals_have_the_names_of_the_c_library),
		cmocka_unit_test(random_bits_differ),
		cmocka_unit_test(an_errno_has_a_text_and_another_number_none),
		cmocka_unit_test(a_document_ends_with_all_that_is_open),
		cmocka_unit_test(what_a_terminal_would_interpret_or_hide_becomes_visible),
		cmocka_unit_test(a_shell_word_is_read_back_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
