/* One document with every kind of block, and all writers of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/write/terminal.h"
#include "report/write/write.h"

static struct trk_doc doc;

static const struct trk_doc_column columns[] = {
	{"name", "Name", TRK_CELL_CODE},
	{"note", "Note", TRK_CELL_TEXT},
	{"size", "Size", TRK_CELL_NUMBER},
	{"share", "Share", TRK_CELL_BAR},
};

static void fill_table(void)
{
	struct trk_doc_table *t = trk__doc_table(&doc, doc.section, "files", "Files", columns, 4);

	for (int i = 0; i < 20; i++) { /* it grows */
		struct trk_doc_cell *row = trk__doc_row(&doc, t);

		assert_non_null(row);
		row[0].text = trk__doc_safe(&doc, i ? "b<i>|\x1b[2J" : "a", 20);
		row[1].text = "a text that is longer than there is room for it";
		row[2] = trk__doc_figure(&doc, trk__human_bytes, i ? 1500.0 * i : (double) NAN);
		row[3] = trk__doc_figure(&doc, trk__human_percent, i / 20.0);
	}
}

static void fill_charts(void)
{
	struct trk_doc_series *series = trk__doc_alloc(&doc, sizeof(*series));

	doc.chart = trk__doc_alloc(&doc, sizeof(*doc.chart));
	assert_true(doc.chart && series);
	*doc.chart = (struct trk_doc_chart){.key = "cpu",
					    .title = "CPU",
					    .unit = "cores",
					    .summary = "CPU over time",
					    .top_text = "4",
					    .top = 4,
					    .limit = NAN,
					    .count = 1,
					    .series = series};
	*series = (struct trk_doc_series){.name = "job", .text = "mean 2", .is_job = true};
	doc.charts = 1;
	doc.buckets = 8;
	doc.duration_s = 8;
	for (uint16_t i = 0; i < 8; i++)
		series->avg[i] = series->min[i] = series->max[i] =
			i == 4 ? TRK_DOC_GAP : (uint16_t) (i * TRK_DOC_STEPS / 7);
	for (int i = 0; i < TRK_DOC_TICKS; i++)
		doc.tick[i] = (struct trk_doc_tick){i ? 1 : 0, i ? "8 s" : "0 s"};
	doc.ticks = TRK_DOC_TICKS;
	doc.first_text = "0 s";
	doc.last_text = "8 s";
	trk__doc_drawing(&doc, &doc.section[1], TRK_BLOCK_CHARTS);
}

static int setup(void **state)
{
	static const struct trk_doc_part parts[] = {{"cpu", "on CPU", "75 %", 0.75, 3},
						    {"disk", "disk", "25 %", 0.25, 1}};
	static const struct trk_doc_snippet snippets[] = {{"slurm", "Slurm", "#SBATCH --mem=1G\n"}};
	struct trk_doc_section *s;
	struct trk_doc_term *t;

	doc = (struct trk_doc){.job = "job",
			       .id = "r-00000000",
			       .duration = "4.0 s",
			       .facts = "4.0 s",
			       .state = "\u2713 exit 0",
			       .symbol = "\u25b2",
			       .lead = "over: request 1 CPU",
			       .lead_tone = TRK_TONE_WARN};
	doc.section = s = trk__doc_alloc(&doc, 2 * sizeof(*s));
	assert_non_null(s);
	doc.sections = 2;
	s[1].key = s[1].title = "Charts";
	s->key = "all";
	s->title = "All kinds";
	trk__doc_text(&doc, s, "A sentence.");
	trk__doc_text(&doc, s, "%s", "");
	trk__doc_list(&doc, s, TRK_BLOCK_PARTS, parts, 2);
	fill_charts();
	trk__doc_meter(&doc, s, "CPU",
		       &(struct trk_doc_meter){.mean = "0.95",
					       .peak = "1.63",
					       .unit = "cores",
					       .had = "4",
					       .what = "requested",
					       .share = 0.41});
	trk__doc_meter(&doc, s, "Memory",
		       &(struct trk_doc_meter){.mean = "4999.0",
					       .peak = "5000.0",
					       .unit = "MiB",
					       .what = "",
					       .share = NAN});
	t = trk__doc_term(&doc, s, "Phases", " \u2192 ");
	for (int i = 0; i < 9; i++)
		trk__doc_item_of(&doc, t,
				 (struct trk_doc_item){.text = "load 12 m (disk-bound)",
						       .bare = "load 12 m"});
	trk__doc_list(&doc, s, TRK_BLOCK_SNIPPETS, snippets, 1);
	trk__doc_note(&doc, s, "A note.");
	fill_table();
	assert_int_equal(doc.error, 0);
	return 0;
}

static int teardown(void **state)
{
	trk__doc_release(&doc);
	return 0;
}

static void assert_holds(const char *text, const char *want)
{
	if (!strstr(text, want))
		print_error("%s is not in\n%s", want, text);
	assert_non_null(strstr(text, want));
}

static char *write(void (*writer)(struct trk_buf *b, const struct trk_doc *d))
{
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	writer(&b, &doc);
	assert_int_equal(b.error, 0);
	return b.data;
}

static char *terminal(size_t width, bool utf8, bool color)
{
	const struct trk_terminal_style style = {.width = width, .utf8 = utf8, .color = color};
	struct trk_buf b;

	trk__buf_init(&b, 1 << 20);
	trk__write_terminal(&b, &doc, &style);
	assert_int_equal(b.error, 0);
	return b.data;
}

/* ---- the document ---- */

static void blocks_are_found_in_their_order(void **state)
{
	const struct trk_doc_section *s = trk__doc_section(&doc, "all");
	size_t n = 0;

	assert_non_null(s);
	assert_null(trk__doc_section(&doc, "none"));
	assert_string_equal(s->first->text, "A sentence.");
	assert_ptr_equal(trk__doc_first(&doc, TRK_BLOCK_TABLE), s->last);
	for (const struct trk_doc_block *b = s->first; b; b = b->next)
		n++;
	assert_int_equal(n, 8); /* the empty text is none */
	assert_int_equal(s->last->table->rows, 20);
	assert_null(s->last->table->cell[2].text); /* NaN is a dash */
	assert_string_equal(s->last->table->cell[19 * 4 + 2].text, "28.5 kB");
}

static void a_section_without_data_says_so_alone(void **state)
{
	struct trk_doc_section s = {.key = "empty"};

	trk__doc_note(&doc, &s, "one");
	trk__doc_empty(&doc, &s, "Nothing is known.");
	assert_true(s.empty && s.first == s.last);
	assert_string_equal(s.first->text, "Nothing is known.");
}

/* ---- the writers ---- */

static void every_writer_writes_every_block(void **state)
{
	char *html = write(trk__write_html), *markdown = write(trk__write_markdown);
	char *text = terminal(80, true, false);
	const char *all[] = {html, markdown, text};

	for (size_t i = 0; i < 3; i++) {
		assert_holds(all[i], "A sentence.");
		assert_holds(all[i], "A note.");
		assert_holds(all[i], "on CPU");
		assert_holds(all[i], "#SBATCH --mem=1G");
		assert_holds(all[i], "5000.0");
		assert_holds(all[i], "28.5 kB");
		assert_holds(all[i], "load 12 m");
		assert_null(strchr(all[i], '\033'));
	}
	assert_holds(html, "b&lt;i&gt;|");
	assert_null(strstr(html, "<i>"));
	free(html);
	free(markdown);
	free(text);
}

static void a_terminal_of_any_width_holds_every_line(void **state)
{
	for (size_t width = 40; width <= 200; width += width < 80 ? 1 : 20)
		for (int i = 0; i < 4; i++) {
			char *text = terminal(width, i & 1, i & 2), *line, *rest = text;

			while ((line = strsep(&rest, "\n"))) {
				if (trk__utf8_columns(line) > width)
					print_error("%zu: %s\n", width, line);
				assert_true(trk__utf8_columns(line) <= width);
			}
			free(text);
		}
}

static void what_has_no_room_is_shortened_before_it_wraps(void **state)
{
	char *wide = terminal(80, false, false), *narrow = terminal(40, false, false);

	assert_holds(wide, "\nPhases   load 12 m -> load 12 m ->");
	assert_null(strstr(wide, "(disk-bound)"));
	assert_holds(wide, "CPU        0.95 mean    1.63 peak cores  of 4 requested  ");
	assert_holds(wide, "\nMemory   4999.0 mean  5000.0 peak MiB\n");
	assert_holds(narrow, "\nCPU        0.95 mean    1.63 peak cores\n         of 4 requested");
	assert_holds(narrow, "12 m"); /* a number and its unit stay on one line */
	assert_null(strstr(narrow, "12\n"));
	assert_holds(narrow, "and 4 more\n");
	assert_holds(narrow, "a text that ~");
	free(wide);
	free(narrow);
}

static void colour_marks_the_lead_and_the_bars(void **state)
{
	char *text = terminal(80, true, true);

	assert_holds(text, "\033[33m\u25b2\033[0m \033[33mover:\033[0m request 1 CPU\n");
	assert_holds(text, "\033[34m\u2588");
	free(text);
}

static void a_table_loses_inessential_columns_first(void **state)
{
	const struct trk_terminal_style narrow = {.width = 60}, wide = {.width = 120};
	struct trk_doc_table t = *trk__doc_first(&doc, TRK_BLOCK_TABLE)->table;
	struct trk_doc none = {.error = 0};
	struct trk_buf b;

	t.title = NULL;
	t.essential = 2;
	trk__buf_init(&b, 1 << 16);
	trk__write_terminal_table(&b, &none, &t, &narrow);
	assert_int_equal(b.error, 0);
	assert_holds(b.data, "a text that is longer than there is room");
	assert_null(strstr(b.data, "28.5 kB"));
	trk__buf_clear(&b);
	trk__write_terminal_table(&b, &none, &t, &wide);
	assert_holds(b.data, "28.5 kB");
	trk__buf_release(&b);
}

static void columns_of_the_highest_rank_go_first(void **state)
{
	static const uint8_t ranks[] = {0, 2, 1, 0};
	const struct trk_terminal_style narrow = {.width = 40};
	struct trk_doc_table t = *trk__doc_first(&doc, TRK_BLOCK_TABLE)->table;
	struct trk_doc none = {.error = 0};
	struct trk_buf b;

	t.rank = ranks;
	trk__buf_init(&b, 1 << 16);
	trk__write_terminal_table(&b, &none, &t, &narrow);
	assert_null(strstr(b.data, "a text that is longer"));
	assert_non_null(strstr(b.data, "28.5 kB"));
	assert_non_null(strstr(b.data, "Share"));
	trk__buf_release(&b);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(blocks_are_found_in_their_order),
		CASE(a_section_without_data_says_so_alone),
		CASE(every_writer_writes_every_block),
		CASE(a_terminal_of_any_width_holds_every_line),
		CASE(what_has_no_room_is_shortened_before_it_wraps),
		CASE(colour_marks_the_lead_and_the_bars),
		CASE(a_table_loses_inessential_columns_first),
		CASE(columns_of_the_highest_rank_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
