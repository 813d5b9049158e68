/* Durations, sizes, dates and tables in the formats of other tools. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/parse.h"
#include "import/delimited.h"
#include "import/import.h"
#include "import/values.h"

static void assert_is(double value, double expected)
{
	if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= fabs(expected) * 1e-12))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void clocks(void **state)
{
	assert_is(trk__value_clock("0:01.50"), 1.5);
	assert_is(trk__value_clock("1:02:03"), 3723);
	assert_is(trk__value_clock("2-03:04:05"), 2 * 86400 + 3 * 3600 + 4 * 60 + 5);
	assert_is(trk__value_clock("00:00.001"), 0.001);
	assert_is(trk__value_clock(""), NAN);
	assert_is(trk__value_clock("12"), NAN);
	assert_is(trk__value_clock("1:2:3:4:5"), NAN);
	assert_is(trk__value_clock("1:"), NAN);
	assert_is(trk__value_clock("Unknown"), NAN);
}

static void words(void **state)
{
	assert_is(trk__value_words("2m 5s"), 125);
	assert_is(trk__value_words("1d 2h 3m 4.5s"), 93784.5);
	assert_is(trk__value_words("350ms"), 0.35);
	assert_is(trk__value_words("121000"), 121);
	assert_is(trk__value_words("-"), NAN);
	assert_is(trk__value_words(""), NAN);
	assert_is(trk__value_words("5 parsecs"), NAN);
	assert_is(trk__value_words("5s 6"), NAN);
}

static void sizes(void **state)
{
	const char *rest = NULL;

	assert_is(trk__value_bytes("5.2 GB", 1, NULL), 5.2 * 1024 * 1024 * 1024);
	assert_is(trk__value_bytes("512K", 1, NULL), 524288);
	assert_is(trk__value_bytes("17", 1048576, NULL), 17 * 1048576.0);
	assert_is(trk__value_bytes("0", 1, NULL), 0);
	assert_is(trk__value_bytes("3 MiB", 1, NULL), 3 * 1048576.0);
	assert_is(trk__value_bytes("4000Mc", 1, &rest), 4000 * 1048576.0);
	assert_string_equal(rest, "c");
	assert_is(trk__value_bytes("4000Mc", 1, NULL), NAN);
	assert_is(trk__value_bytes("-", 1, NULL), NAN);
	assert_is(trk__value_bytes("", 1, NULL), NAN);
}

static void dates(void **state)
{
	assert_is(trk__value_date("2026-03-01 10:00:01.250"), 1772359201.25);
	assert_is(trk__value_date("2026-03-01T10:00:01"), 1772359201);
	assert_is(trk__value_date("1772359201250"), 1772359201.25);
	assert_is(trk__value_date("Unknown"), NAN);
	assert_is(trk__value_date("2026-13-01 10:00:01"), NAN);
	assert_is(trk__value_date("2026-03-01"), NAN);
	assert_is(trk__value_date("0"), NAN);
}

static void decimals(void **state)
{
	double value = 7;

	assert_int_equal(trk__parse_decimal("-12.5e-3", &value), 0);
	assert_is(value, -0.0125);
	assert_int_equal(trk__parse_decimal(".5", &value), 0);
	assert_is(value, 0.5);
	assert_int_equal(trk__parse_decimal("1772359201.25", &value), 0);
	assert_is(value, 1772359201.25);
	assert_int_equal(trk__parse_decimal("0e999999999", &value), 0);
	assert_is(value, 0);
	assert_int_equal(trk__parse_decimal("1e301", &value), -ERANGE);
	assert_int_equal(trk__parse_decimal("1e", &value), -EINVAL);
	assert_int_equal(trk__parse_decimal("nan", &value), -EINVAL);
	assert_int_equal(trk__parse_decimal("", &value), -EINVAL);
	assert_int_equal(trk__parse_decimal(".", &value), -EINVAL);
	assert_int_equal(trk__parse_decimal("1 ", &value), -EINVAL);
	assert_is(value, 0); /* untouched */
}

static void cells_quoted_and_not(void **state)
{
	char text[] = "\xef\xbb\xbf"
		      "a,\"b \"\"x\"\"\",C\r\n\r\n1,\"two\nlines\",3\n,,\n4\n";
	struct trk_delimited d;

	assert_int_equal(trk__delimited_init(&d, text, ','), 0);
	assert_int_equal(d.columns, 3);
	assert_string_equal(d.head[1], "b \"x\"");
	assert_int_equal(trk__delimited_column(&d, "c"), 2);
	assert_int_equal(trk__delimited_column(&d, "d"), -1);
	assert_int_equal(trk__delimited_next(&d), 1);
	assert_string_equal(trk__delimited_text(&d, 1), "two\nlines");
	assert_is(trk__delimited_number(&d, 2), 3);
	assert_is(trk__delimited_number(&d, 1), NAN);
	assert_int_equal(trk__delimited_next(&d), 1);
	assert_int_equal(d.cells, 3);
	assert_is(trk__delimited_number(&d, 0), NAN);
	assert_int_equal(trk__delimited_next(&d), 1);
	assert_string_equal(trk__delimited_text(&d, 2), "");
	assert_string_equal(trk__delimited_text(&d, -1), "");
	assert_int_equal(trk__delimited_next(&d), 0);
}

static void a_quote_without_an_end_and_too_many_cells(void **state)
{
	char quote[] = "a,b\n1,\"2\n", many[TRK_DELIMITED_CELLS_MAX + 3], empty[] = "\n";
	struct trk_delimited d;

	assert_int_equal(trk__delimited_init(&d, quote, ','), 0);
	assert_int_equal(trk__delimited_next(&d), -EBADMSG);
	memset(many, ',', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	assert_int_equal(trk__delimited_init(&d, many, ','), -EBADMSG);
	assert_int_equal(trk__delimited_init(&d, empty, ','), -ENOENT);
}

static void formats_are_known_by_their_look(void **state)
{
	static const struct {
		const char *text;
		enum trk_import_format format;
	} cases[] = {
		{"{\"metadata\": {}, \"process_metrics\": []}", TRK_IMPORT_SNAPSHOT},
		{"{\"cpu\": {}, \"timestamp_secs\": 1}\n", TRK_IMPORT_JSON_LINES},
		{"starting\n{\"timestamp_secs\": 1}\n", TRK_IMPORT_JSON_LINES},
		{"\"timestamp\",\"pid\"\n", TRK_IMPORT_TABLE},
		{"x\n\tCommand being timed: \"a\"\n", TRK_IMPORT_GNU_TIME},
		{"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\n", TRK_IMPORT_SNAKEMAKE},
		{"task_id\tname\trealtime\tpeak_rss\n", TRK_IMPORT_NEXTFLOW},
		{"JobID|State\n", TRK_IMPORT_SACCT},
		{"a\n__AUTOMETRIC__|0.1|1\n", TRK_IMPORT_AUTOMETRIC},
		{"{\"a\": 1}", TRK_IMPORT_UNKNOWN},
		{"", TRK_IMPORT_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(trk__import_detect(cases[i].text, strlen(cases[i].text)),
				 cases[i].format);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks),
		cmocka_unit_test(words),
		cmocka_unit_test(sizes),
		cmocka_unit_test(dates),
		cmocka_unit_test(decimals),
		cmocka_unit_test(cells_quoted_and_not),
		cmocka_unit_test(a_quote_without_an_end_and_too_many_cells),
		cmocka_unit_test(formats_are_known_by_their_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
