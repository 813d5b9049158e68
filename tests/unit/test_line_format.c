/* Formats with one row per line: cells, names, unknown values, text that would break a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "export/line_format.h"

static const struct trk_line_column columns[] = {
	{"name", TRK_LINE_TEXT}, {"size", 2}, {"any", TRK_LINE_ANY}, {"ended", TRK_LINE_FLAG}};

static void assert_rows(int format, const char *want)
{
	static const struct trk_line_cell known[] = {
		{.text = "a \"b\"\tc\n,d"}, {.number = 1.005}, {.number = 0.1}, {.number = 1}};
	static const struct trk_line_cell unknown[] = {
		{.text = NULL}, {.number = NAN}, {.number = NAN}, {.number = 0}};
	const struct trk_line_format *f = &trk__line_formats[format];
	struct trk_buf b;

	trk__buf_init(&b, 1 << 16);
	trk__line_head(&b, f, columns, 4);
	trk__line_row(&b, f, columns, 4, known);
	trk__line_row(&b, f, columns, 4, unknown);
	assert_int_equal(b.error, 0);
	assert_string_equal(b.data, want);
	trk__buf_release(&b);
}

static void csv_quotes_text_and_hides_control_characters(void **state)
{
	assert_rows(TRK_LINE_CSV, "name,size,any,ended\n\"a \"\"b\"\"?c?,d\",1.00,0.1,1\n,,,0\n");
}

static void tsv_has_no_quotes_and_no_tab_within_a_cell(void **state)
{
	assert_rows(TRK_LINE_TSV, "name\tsize\tany\tended\na \"b\"?c?,d\t1.00\t0.1\t1\n\t\t\t0\n");
}

static void json_lines_escape_text_and_do_not_round(void **state)
{
	assert_rows(
		TRK_LINE_JSONL,
		"{\"name\":\"a \\\"b\\\"\\tc\\n,d\",\"size\":1.005,\"any\":0.1,\"ended\":true}\n"
		"{\"name\":null,\"size\":null,\"any\":null,\"ended\":false}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_quotes_text_and_hides_control_characters),
		cmocka_unit_test(tsv_has_no_quotes_and_no_tab_within_a_cell),
		cmocka_unit_test(json_lines_escape_text_and_do_not_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
