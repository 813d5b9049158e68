/* Frames of cells: sanitised text, differences that convert the screen to the next frame, and
 * keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "top/chart.h"
#include "top/frame.h"
#include "top/keys.h"

enum { COLUMNS = 40, ROWS = 8, OUT_MAX = 1 << 20 };

/* ---- a small terminal ---- */

struct terminal {
	struct trk_frame screen;
	int x, y;
	unsigned int style;
};

static void erase_line(struct terminal *t)
{
	trk__frame_blank(&t->screen, t->x, t->y, COLUMNS);
}

static void take_style(struct terminal *t, const char *at)
{
	while (*at != 'm') {
		char *end;
		long n = strtol(at, &end, 10);

		t->style = n == 0   ? 0
			   : n == 1 ? t->style | TRK_STYLE_BOLD
			   : n == 2 ? t->style | TRK_STYLE_DIM
			   : n == 7 ? t->style | TRK_STYLE_REVERSE
				    : t->style | (unsigned int) (n - 30);
		at = end + (*end == ';');
	}
}

static const char *take_sequence(struct terminal *t, const char *at)
{
	const char *end = at + strcspn(at, "HJKm");

	assert_true(*end);
	if (*end == 'H') {
		assert_int_equal(sscanf(at, "%d;%d", &t->y, &t->x), 2);
		t->y--;
		t->x--;
	} else if (*end == 'J') {
		trk__frame_clear(&t->screen);
	} else if (*end == 'K') {
		erase_line(t);
	} else {
		take_style(t, at);
	}
	return end + 1;
}

/* What a terminal shows after these bytes. */
static void feed(struct terminal *t, const struct trk_buf *b)
{
	const char *at = b->data ? b->data : "";

	while (*at) {
		char text[8] = "";
		size_t size;

		if (at[0] == '\033') {
			assert_int_equal(at[1], '[');
			at = take_sequence(t, at + 2);
			continue;
		}
		size = trk__utf8_length(at, strlen(at));
		assert_true(size > 0 && !trk__utf8_is_hidden(at, size));
		memcpy(text, at, size);
		t->x = trk__frame_put(&t->screen, t->x, t->y, 4, t->style, text);
		at += size;
	}
}

static void assert_shown(const struct terminal *t, const struct trk_frame *f)
{
	for (int i = 0; i < f->columns * f->rows; i++) {
		const struct trk_cell *a = &t->screen.cell[i], *b = &f->cell[i];

		if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0 ||
		    a->style != b->style)
			fail_msg("cell %d,%d: '%.*s' style %d, not '%.*s' style %d", i % f->columns,
				 i / f->columns, a->len, a->text, a->style, b->len, b->text,
				 b->style);
	}
}

/* ---- frames ---- */

static void scribble(struct trk_frame *f, unsigned int *seed)
{
	static const char *const texts[] = {"job", "\u2588\u2588", "\u8a9e",
					    "  ",  "a\u0301b",     "\u28ff x"};

	for (int i = 0; i < 12; i++) {
		int x = (int) (rand_r(seed) % COLUMNS), y = (int) (rand_r(seed) % ROWS);

		if (rand_r(seed) % 3 == 0)
			trk__frame_blank(f, x, y, (int) (rand_r(seed) % COLUMNS));
		else
			(void) trk__frame_text(f, x, y, (unsigned int) rand_r(seed) % 64,
					       texts[rand_r(seed) % 6]);
	}
}

static void a_terminal_that_receives_the_differences_shows_the_frame(void **state)
{
	struct trk_frame before, now;
	struct terminal t = {.x = 0};
	struct trk_buf b;
	unsigned int seed = 7;

	assert_int_equal(trk__frame_init(&before, COLUMNS, ROWS, true), 0);
	assert_int_equal(trk__frame_init(&now, COLUMNS, ROWS, true), 0);
	assert_int_equal(trk__frame_init(&t.screen, COLUMNS, ROWS, true), 0);
	trk__buf_init(&b, OUT_MAX);
	for (int i = 0; i < 500; i++) {
		scribble(&now, &seed);
		trk__buf_clear(&b);
		trk__frame_diff(i % 50 ? &before : NULL, &now, true, &b);
		feed(&t, &b);
		assert_shown(&t, &now);
		memcpy(before.cell, now.cell, COLUMNS * ROWS * sizeof(*now.cell));
	}
	trk__buf_release(&b);
	trk__frame_release(&before);
	trk__frame_release(&now);
	trk__frame_release(&t.screen);
}

static void equal_frames_need_no_byte_and_a_changed_digit_few(void **state)
{
	struct trk_frame before, now;
	struct trk_buf b;

	assert_int_equal(trk__frame_init(&before, COLUMNS, ROWS, true), 0);
	assert_int_equal(trk__frame_init(&now, COLUMNS, ROWS, true), 0);
	(void) trk__frame_text(&before, 3, 2, TRK_STYLE_PLAIN, "00:31:07 of 16");
	(void) trk__frame_text(&now, 3, 2, TRK_STYLE_PLAIN, "00:31:07 of 16");
	trk__buf_init(&b, OUT_MAX);
	trk__frame_diff(&before, &now, true, &b);
	assert_int_equal(b.len, 0);
	(void) trk__frame_text(&now, 3, 2, TRK_STYLE_PLAIN, "00:31:08");
	trk__frame_diff(&before, &now, true, &b);
	assert_string_equal(b.data, "\033[3;11H8");
	trk__buf_release(&b);
	trk__frame_release(&before);
	trk__frame_release(&now);
}

static void text_that_a_terminal_would_obey_is_replaced(void **state)
{
	struct trk_frame f;
	struct trk_buf b;

	assert_int_equal(trk__frame_init(&f, COLUMNS, 1, true), 0);
	(void) trk__frame_text(&f, 0, 0, 0,
			       "a\033[2Jb\u202ec\x9b"
			       "d\n\x7f");
	trk__buf_init(&b, OUT_MAX);
	trk__frame_lines(&f, false, &b);
	assert_string_equal(b.data, "a?[2Jb?c?d??\n");
	trk__buf_release(&b);
	trk__frame_release(&f);
}

static void a_frame_in_ascii_holds_no_other_byte_and_no_style_without_colour(void **state)
{
	struct trk_frame f;
	struct trk_buf b;
	double value[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		value[i] = (double) i;
	assert_int_equal(trk__frame_init(&f, COLUMNS, 3, false), 0);
	(void) trk__frame_text(&f, 0, 0, TRK_STYLE_RED, "gr\u00fc\u00dfe");
	trk__chart_draw(&f, &(struct trk_chart){0, 1, COLUMNS, 2, COLUMNS, TRK_STYLE_BLUE, 1e9},
			value, NULL);
	trk__meter_draw(&f, 20, 0, 10, 0.5, TRK_STYLE_BLUE);
	trk__buf_init(&b, OUT_MAX);
	trk__frame_diff(NULL, &f, false, &b);
	for (size_t i = 0; i < b.len; i++)
		assert_true((unsigned char) b.data[i] < 0x80);
	assert_non_null(strstr(b.data, "gr??e"));
	assert_non_null(strstr(b.data, "#####....."));
	assert_null(strstr(b.data + 8, "m")); /* after the reset that clears the screen */
	trk__buf_release(&b);
	trk__frame_release(&f);
}

static void nothing_is_put_outside_a_frame(void **state)
{
	struct trk_frame f;

	assert_int_equal(trk__frame_init(&f, 3, 2, true), 0);
	assert_int_equal(trk__frame_text(&f, 1, 0, 0, "\u8a9e\u8a9e"), 3);
	assert_int_equal(trk__frame_text(&f, 2, 1, 0, "\u8a9e"), 2); /* half a character is none */
	assert_int_equal(trk__frame_text(&f, -1, 0, 0, "x"), -1);
	(void) trk__frame_text(&f, 0, 2, 0, "x");
	(void) trk__frame_text(&f, 9, 0, 0, "x");
	trk__frame_right(&f, 3, 1, 0, "longer than that");
	trk__frame_blank(&f, 2, 1, 99);
	trk__frame_release(&f);
}

/* ---- charts ---- */

static void a_chart_grows_from_the_bottom_and_shows_the_usual_line_above(void **state)
{
	struct trk_frame f;
	struct trk_buf b;
	const double value[] = {0, 0, 1, 1, 4, 4, 8, 8}, usual[] = {2, 2, 2, 2, 2, 2, 2, 2};

	assert_int_equal(trk__frame_init(&f, 4, 2, true), 0);
	trk__buf_init(&b, OUT_MAX);
	trk__chart_draw(&f, &(struct trk_chart){0, 0, 4, 2, 8, TRK_STYLE_BLUE, 8}, value, NULL);
	trk__frame_lines(&f, false, &b);
	assert_string_equal(b.data, "   \u28ff\n \u28c0\u28ff\u28ff\n");
	assert_int_equal(f.cell[4 + 2].style, TRK_STYLE_BLUE);
	assert_int_equal(f.cell[3].style, TRK_STYLE_RED);
	trk__buf_clear(&b);
	trk__frame_clear(&f);
	trk__chart_draw(&f, &(struct trk_chart){0, 0, 4, 2, 8, TRK_STYLE_BLUE, 8}, value, usual);
	trk__frame_lines(&f, false, &b);
	assert_string_equal(b.data, "   \u28ff\n\u2824\u28e4\u28ff\u28ff\n");
	trk__buf_release(&b);
	trk__frame_release(&f);
}

static void the_time_of_a_chart_grows_in_steps(void **state)
{
	assert_true(trk__chart_span(0) == 10 && trk__chart_span(61) == 120);
	assert_true(trk__chart_span(3601) == 7200 && trk__chart_span(1e6) >= 1e6);
	assert_true(trk__chart_span(172801) == 345600);
}

/* ---- keys ---- */

static void assert_key(const char *text, bool last, size_t used, int key)
{
	int got = -1;

	assert_int_equal(trk__key_parse(text, strlen(text), last, &got), used);
	if (used)
		assert_int_equal(got, key);
}

static void keys_are_parsed_from_what_terminals_send(void **state)
{
	assert_key("q", false, 1, 'q');
	assert_key("\r", false, 1, TRK_KEY_ENTER);
	assert_key("\x7f", false, 1, TRK_KEY_BACKSPACE);
	assert_key("\033[A", false, 3, TRK_KEY_UP);
	assert_key("\033OB", false, 3, TRK_KEY_DOWN);
	assert_key("\033[1;2C", false, 6, TRK_KEY_SHIFT_RIGHT);
	assert_key("\033[5~x", false, 4, TRK_KEY_PAGE_UP);
	assert_key("\033", false, 0, 0);
	assert_key("\033", true, 1, TRK_KEY_ESCAPE);
	assert_key("\033[1;", false, 0, 0);
	assert_key("\033[1;", true, 4, TRK_KEY_UNKNOWN);
	assert_key("\033[200~", false, 6, TRK_KEY_UNKNOWN);
	assert_key("\xc3\xa9", false, 1, TRK_KEY_UNKNOWN);
}

static void any_bytes_are_used_up_as_keys(void **state)
{
	unsigned int seed = 3;

	for (int i = 0; i < 20000; i++) {
		static const char pool[] = "\033[O;~12AqZ\x7f\xff";
		char text[40];
		size_t len = (size_t) rand_r(&seed) % sizeof(text), at = 0;

		for (size_t k = 0; k < len; k++)
			text[k] = pool[(size_t) rand_r(&seed) % (sizeof(pool) - 1)];
		while (at < len) {
			int key;
			size_t n = trk__key_parse(text + at, len - at, true, &key);

			assert_true(n > 0 && n <= len - at);
			at += n;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_that_receives_the_differences_shows_the_frame),
		cmocka_unit_test(equal_frames_need_no_byte_and_a_changed_digit_few),
		cmocka_unit_test(text_that_a_terminal_would_obey_is_replaced),
		cmocka_unit_test(a_frame_in_ascii_holds_no_other_byte_and_no_style_without_colour),
		cmocka_unit_test(nothing_is_put_outside_a_frame),
		cmocka_unit_test(a_chart_grows_from_the_bottom_and_shows_the_usual_line_above),
		cmocka_unit_test(the_time_of_a_chart_grows_in_steps),
		cmocka_unit_test(keys_are_parsed_from_what_terminals_send),
		cmocka_unit_test(any_bytes_are_used_up_as_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
