#include "export/line_format.h"

#include <math.h>

#include "base/json.h"
#include "base/utf8.h"

enum { TEXT_MAX = 64 * 1024 };

/* Control characters become '?': a tab or a line end in a name would end the cell. */
static void plain_text(struct trk_buf *b, const char *text)
{
	trk__utf8_safe(b, text, TEXT_MAX, true);
}

static void csv_text(struct trk_buf *b, const char *text)
{
	TRK_BUF_LOCAL(safe, TEXT_MAX + 8);

	plain_text(&safe, text);
	trk__buf_putc(b, '"');
	for (size_t i = 0; i < safe.len; i++) {
		if (safe.data[i] == '"')
			trk__buf_putc(b, '"');
		trk__buf_putc(b, safe.data[i]);
	}
	trk__buf_putc(b, '"');
}

static void json_text(struct trk_buf *b, const char *text)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_text(&j, text);
}

static void rounded_number(struct trk_buf *b, double value, int digits)
{
	if (digits == TRK_LINE_ANY)
		trk__buf_printf(b, "%.15g", value);
	else
		trk__buf_printf(b, "%.*f", digits, value);
}

static void json_number(struct trk_buf *b, double value, int digits)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_double(&j, value);
}

/* clang-format off */
const struct trk_line_format trk__line_formats[TRK_LINE_FORMATS] = {
	[TRK_LINE_CSV] = {"csv", "csv", true, ',', "", "", "", "0", "1", csv_text, rounded_number},
	[TRK_LINE_TSV] = {"tsv", "tsv", true, '\t', "", "", "", "0", "1", plain_text, rounded_number},
	[TRK_LINE_JSONL] = {"jsonl", "json jsonl ndjson", false, ',', "{", "}", "null", "false", "true", json_text, json_number},
};
/* clang-format on */

void trk__line_begin_cell(struct trk_buf *b, const struct trk_line_format *f, const char *name,
			  bool is_first)
{
	if (!is_first)
		trk__buf_putc(b, f->separator);
	if (!f->has_head)
		trk__buf_printf(b, "\"%s\":", name);
}

void trk__line_head(struct trk_buf *b, const struct trk_line_format *f,
		    const struct trk_line_column *column, size_t columns)
{
	if (!f->has_head)
		return;
	for (size_t i = 0; i < columns; i++) {
		trk__line_begin_cell(b, f, column[i].name, i == 0);
		trk__buf_puts(b, column[i].name);
	}
	trk__buf_putc(b, '\n');
}

static void put_cell(struct trk_buf *b, const struct trk_line_format *f, int digits,
		     const struct trk_line_cell *cell)
{
	if (digits == TRK_LINE_TEXT ? !cell->text : isnan(cell->number))
		trk__buf_puts(b, f->unknown);
	else if (digits == TRK_LINE_TEXT)
		f->text(b, cell->text);
	else if (digits == TRK_LINE_FLAG)
		trk__buf_puts(b, cell->number != 0 ? f->yes : f->no);
	else
		f->number(b, cell->number, digits);
}

void trk__line_row(struct trk_buf *b, const struct trk_line_format *f,
		   const struct trk_line_column *column, size_t columns,
		   const struct trk_line_cell *cell)
{
	trk__buf_puts(b, f->open);
	for (size_t i = 0; i < columns; i++) {
		trk__line_begin_cell(b, f, column[i].name, i == 0);
		put_cell(b, f, column[i].digits, &cell[i]);
	}
	trk__buf_puts(b, f->close);
	trk__buf_putc(b, '\n');
}
