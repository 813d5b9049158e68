#include "report/write/terminal.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/write/spark.h"

enum {
	NAME = 9,      /* columns of a term's name, with the blank after it */
	LINES_MAX = 3, /* lines of a term; further items are only counted */
	BAR_MIN = 5,
	BAR_MAX = 30,
	CELL_MIN = 8, /* minimum width of a column of text */
	SCRATCH_MAX = 1 << 16,
};

/* ---- characters ---- */

static const char *ascii_of(const char *c, size_t size)
{
	static const struct {
		const char *utf8, *ascii;
	} pairs[] = {
		{"\u00b7", "|"}, {"\u2192", "->"}, {"\u2212", "-"}, {"\u2014", "-"},
		{"\u2026", "~"}, {"\u00b1", "+-"}, {"\u00b0", ""},  {"\u2713", "*"},
		{"\u2717", "!"}, {"\u25b2", "*"},  {"\u25bc", "!"}, {"\u25a0", "*"},
		{"\u25b6", ">"}, {"\u25c6", "*"},  {"\u2716", "x"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (strlen(pairs[i].utf8) == size && !memcmp(pairs[i].utf8, c, size))
			return pairs[i].ascii;
	return "?";
}

/* A text as the terminal shows it: without marks, on one line, without control characters. A view
 * until the next call. */
static const char *shown(struct trk_terminal *t, const char *text)
{
	trk__buf_clear(&t->text);
	for (size_t left = text ? strlen(text) : 0, size; left; text += size, left -= size) {
		size = trk__utf8_length(text, left);
		if (size == 1 && (unsigned char) *text <= TRK_DOC_INSIDE[0])
			continue;
		if (*text == '\n' || *text == '\t')
			trk__buf_putc(&t->text, ' ');
		else if (trk__utf8_is_hidden(text, size) ||
			 (size == 3 && !memcmp(text, "\ufffd", 3)))
			trk__buf_putc(&t->text, '?');
		else if (size > 1 && !t->utf8)
			trk__buf_puts(&t->text, ascii_of(text, size));
		else
			trk__buf_add(&t->text, text, size);
		size = size ? size : 1;
	}
	return t->text.data && !t->text.error ? t->text.data : "";
}

static size_t columns_of(struct trk_terminal *t, const char *text)
{
	return trk__utf8_columns(shown(t, text));
}

static void color(struct trk_terminal *t, enum trk_tone tone)
{
	static const char *const codes[] = {
		[TRK_TONE_STRONG] = "\033[1m", [TRK_TONE_GOOD] = "\033[32m",
		[TRK_TONE_BAD] = "\033[31m",   [TRK_TONE_WARN] = "\033[33m",
		[TRK_TONE_MUTED] = NULL,
	};

	if (t->color && codes[tone])
		trk__buf_puts(t->b, codes[tone]);
}

static void plain(struct trk_terminal *t, enum trk_tone tone)
{
	if (t->color && tone != TRK_TONE_PLAIN && tone != TRK_TONE_MUTED)
		trk__buf_puts(t->b, "\033[0m");
}

/* ---- lines ---- */

static void line_end(struct trk_terminal *t)
{
	while (t->b->len && !t->b->error && t->b->data[t->b->len - 1] == ' ')
		t->b->data[--t->b->len] = '\0';
	trk__buf_putc(t->b, '\n');
	t->at = 0;
	t->lines++;
}

static void go_to(struct trk_terminal *t, size_t column)
{
	for (; t->at < column; t->at++)
		trk__buf_putc(t->b, ' ');
}

void trk__terminal_put(struct trk_terminal *t, const char *text)
{
	trk__buf_puts(t->b, shown(t, text));
	t->at += trk__utf8_columns(t->text.data ? t->text.data : "");
}

/* Write a text right-aligned in `columns` columns. */
static void put_right(struct trk_terminal *t, const char *text, size_t columns)
{
	size_t size = columns_of(t, text);

	go_to(t, t->at + (columns > size ? columns - size : 0));
	trk__terminal_put(t, text);
}

/* Write at most `columns` columns of a text; an ellipsis replaces the rest. */
static void put_cut(struct trk_terminal *t, const char *text, size_t columns)
{
	size_t left, size;

	if (columns_of(t, text) <= columns) {
		trk__terminal_put(t, text);
		return;
	}
	text = shown(t, text);
	for (left = strlen(text); left && columns > 1; text += size, left -= size) {
		size = trk__utf8_length(text, left);
		if (trk__utf8_char_columns(text, size) >= columns)
			break;
		columns -= trk__utf8_char_columns(text, size);
		t->at += trk__utf8_char_columns(text, size);
		trk__buf_add(t->b, text, size);
	}
	trk__buf_puts(t->b, t->utf8 ? "\u2026" : "~");
	t->at++;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a line may end at this blank: not between a number and its unit, nor within "1 h 5 m". */
static bool is_break(const char *text, const char *blank)
{
	size_t next = strcspn(blank + 1, " ");

	if (blank - text >= 3 && strchr("dhm", blank[-1]) && blank[-2] == ' ' &&
	    is_digit(blank[-3]) && is_digit(blank[1]))
		return false;
	return blank == text || !is_digit(blank[-1]) || is_digit(blank[1]) || next == 0 || next > 5;
}

/* Length of the next word, with its unit. */
static size_t word_length(const char *text)
{
	const char *end = text + strcspn(text, " ");

	while (*end == ' ' && !is_break(text, end))
		end += 1 + strcspn(end + 1, " ");
	return (size_t) (end - text);
}

/* A word that is longer than a line is cut at the line's end. */
static void put_word(struct trk_terminal *t, const char *word, size_t len, size_t indent)
{
	for (size_t size; len; word += size, len -= size) {
		size_t columns;

		size = trk__utf8_length(word, len);
		size = size ? size : 1;
		columns = trk__utf8_char_columns(word, size);
		if (t->at + columns > t->width) {
			line_end(t);
			go_to(t, indent);
		}
		trk__buf_add(t->b, word, size);
		t->at += columns;
	}
}

/* Write words from the current column on; continuation lines begin at `indent`. The tone ends after
 * the first word that ends in a colon or a full stop. */
static void put_words(struct trk_terminal *t, const char *text, size_t indent, enum trk_tone tone)
{
	TRK_BUF_LOCAL(copy, SCRATCH_MAX);
	char *at;
	size_t len;
	bool first = true;

	trk__buf_puts(&copy, shown(t, text));
	color(t, tone);
	for (at = copy.error || !copy.len ? NULL : copy.data; at && *at; at += len) {
		char end;
		size_t columns;

		at += strspn(at, " ");
		len = word_length(at);
		end = at[len];
		at[len] = '\0';
		columns = trk__utf8_columns(at);
		if (!first && t->at + 1 + columns > t->width) {
			line_end(t);
			go_to(t, indent);
		} else if (!first) {
			go_to(t, t->at + 1);
		}
		put_word(t, at, len, indent);
		if (len && strchr(":.", at[len - 1])) {
			plain(t, tone);
			tone = TRK_TONE_PLAIN;
		}
		at[len] = end;
		first = false;
	}
	plain(t, tone);
}

void trk__terminal_line(struct trk_terminal *t, const char *text, size_t indent)
{
	put_words(t, text, indent, TRK_TONE_PLAIN);
	line_end(t);
}

/* Write a piece, unbroken if it fits a line, after a separator unless it is the first. With the
 * separator "\n" each piece begins a line. */
static void put_piece(struct trk_terminal *t, const char *separator, const char *text,
		      size_t indent)
{
	size_t size = columns_of(t, text), gap = columns_of(t, separator);

	if (*separator == '\n' && t->at > indent) {
		line_end(t);
		go_to(t, indent);
	} else if (t->at > indent && t->at + gap + size > t->width) {
		bool before = gap && t->at + gap - 1 <= t->width; /* drops its last blank */

		if (before)
			trk__terminal_put(t, separator);
		line_end(t);
		go_to(t, indent);
		if (!before)
			trk__terminal_put(t, separator + strspn(separator, " "));
	} else if (t->at > indent) {
		trk__terminal_put(t, separator);
	}
	put_words(t, text, indent, TRK_TONE_PLAIN);
}

/* ---- the head ---- */

static void head(struct trk_terminal *t, const struct trk_doc *d)
{
	enum { GAP = 3, JOB_MIN = 8 };
	size_t fixed = columns_of(t, d->state) + GAP + GAP + columns_of(t, d->duration) + 2 +
		       columns_of(t, d->id);
	bool fits = fixed + JOB_MIN <= t->width;

	color(t, d->state_tone);
	trk__terminal_put(t, d->state);
	plain(t, d->state_tone);
	if (fits) {
		go_to(t, t->at + GAP);
		put_cut(t, d->job, t->width - fixed);
		go_to(t, t->at + GAP);
		trk__terminal_put(t, d->duration);
		go_to(t, t->width - columns_of(t, d->id));
		trk__terminal_put(t, d->id);
	} else {
		if (t->at + GAP + columns_of(t, d->job) > t->width)
			line_end(t);
		go_to(t, t->at ? t->at + GAP : 2);
		put_cut(t, d->job, t->width - 2);
		put_piece(t, "   ", d->duration, 2);
		put_piece(t, "   ", d->id, 2);
	}
	line_end(t);
	if (d->command) {
		trk__terminal_line(t, d->command, 0);
	}
}

void trk__terminal_mark(struct trk_terminal *t, const char *mark, const char *text,
			enum trk_tone tone)
{
	if (!text || !*text)
		return;
	color(t, tone);
	trk__terminal_put(t, mark);
	plain(t, tone);
	go_to(t, 2);
	put_words(t, text, 2, tone);
	line_end(t);
}

/* Write each line of a text. */
static void troubles(struct trk_terminal *t, const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");
		TRK_BUF_LOCAL(line, SCRATCH_MAX);

		trk__buf_add(&line, text, len);
		if (!line.error && line.data)
			trk__terminal_mark(t, "!", line.data, TRK_TONE_BAD);
		text += len + (text[len] == '\n');
	}
}

/* ---- terms ---- */

static const char *item_text(const struct trk_doc_item *item, int length)
{
	return length == 0 ? item->text : length == 1 ? item->brief : item->bare;
}

static size_t items_columns(struct trk_terminal *t, const struct trk_doc_term *term, int length)
{
	size_t n = 0;

	for (size_t i = 0; i < term->items; i++)
		n += columns_of(t, item_text(&term->item[i], length)) +
		     (i ? columns_of(t, term->separator) : 0);
	return n;
}

static void name_of(struct trk_terminal *t, const char *name)
{
	trk__terminal_put(t, name);
	go_to(t, t->at < NAME ? NAME : t->at + 1);
}

/* How many things the items from `from` on name. */
static size_t count_from(const struct trk_doc_term *term, size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < term->items; i++)
		n += 1 + term->item[i].later;
	return n;
}

static void items(struct trk_terminal *t, const struct trk_doc_term *term)
{
	int length = 0;
	size_t start = t->lines;

	name_of(t, term->name);
	while (length < 2 && t->at + items_columns(t, term, length) > t->width)
		length++;
	for (size_t i = 0; i < term->items; i++) {
		if (*term->separator != '\n' && t->lines - start == LINES_MAX - 1 &&
		    i + 1 < term->items &&
		    t->at + columns_of(t, item_text(&term->item[i], length)) + 18 > t->width) {
			char more[32];

			(void) snprintf(more, sizeof(more), "and %zu more", count_from(term, i));
			put_piece(t, term->separator, more, NAME);
			break;
		}
		put_piece(t, term->separator, item_text(&term->item[i], length), NAME);
	}
	line_end(t);
}

/* Columns of a group of meters. */
struct meters {
	size_t mean, peak, unit, had, percent, bar;
	bool two_lines; /* "of 4 requested" and the bar are below the figures */
	bool loose;     /* values so long that nothing is aligned */
};

static size_t had_columns(struct trk_terminal *t, const struct trk_doc_meter *m)
{
	return m->had ? 3 + columns_of(t, m->had) + (*m->what ? 1 : 0) + columns_of(t, m->what) : 0;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool is_meter(const struct trk_doc_block *b)
{
	return b && b->kind == TRK_BLOCK_TERM && b->term->meter;
}

static struct meters measure(struct trk_terminal *t, const struct trk_doc_block *b)
{
	struct meters w = {.bar = 0};
	size_t left, right, room;

	for (; is_meter(b); b = b->next) {
		const struct trk_doc_meter *m = b->term->meter;
		char percent[TRK_HUMAN_SIZE];

		w.mean = larger(w.mean, columns_of(t, m->mean));
		w.peak = larger(w.peak, columns_of(t, m->peak));
		w.unit = larger(w.unit, columns_of(t, m->unit));
		w.had = larger(w.had, had_columns(t, m));
		if (m->had)
			w.percent =
				larger(w.percent, strlen(trk__human_percent(percent, m->share)));
	}
	left = NAME + w.mean + sizeof(" mean  ") - 1 + w.peak + sizeof(" peak ") - 1 + w.unit;
	right = w.had + 2 + w.percent;
	w.loose = larger(left, NAME + right) > t->width;
	w.two_lines = w.had && left + 2 + right > t->width;
	room = t->width - (w.two_lines ? NAME : left + 2);
	if (w.had && room >= right + BAR_MIN + 1)
		w.bar = room - right - 1 < BAR_MAX ? room - right - 1 : BAR_MAX;
	return w;
}

static void meter_rest(struct trk_terminal *t, const struct meters *w,
		       const struct trk_doc_meter *m)
{
	size_t start = t->at;
	char percent[TRK_HUMAN_SIZE];

	trk__terminal_put(t, "of ");
	trk__terminal_put(t, m->had);
	trk__terminal_put(t, *m->what ? " " : "");
	trk__terminal_put(t, m->what);
	go_to(t, start + w->had + 2);
	if (w->bar) {
		if (t->color)
			trk__buf_puts(t->b, "\033[34m");
		trk__spark_bar(t->b, m->share, w->bar, t->utf8);
		if (t->color)
			trk__buf_puts(t->b, "\033[0m");
		t->at += w->bar;
		go_to(t, t->at + 1);
	}
	put_right(t, trk__human_percent(percent, m->share), w->percent);
}

/* A meter whose figures are pieces, not aligned. */
static void loose_meter(struct trk_terminal *t, const struct trk_doc_meter *m)
{
	char text[4 * TRK_HUMAN_SIZE], percent[TRK_HUMAN_SIZE];

	(void) snprintf(text, sizeof(text), "%s mean", m->mean);
	put_piece(t, "", text, NAME);
	(void) snprintf(text, sizeof(text), "%s peak %s", m->peak, m->unit);
	put_piece(t, "  ", text, NAME);
	if (m->had) {
		(void) snprintf(text, sizeof(text), "of %s %s", m->had, m->what);
		put_piece(t, "  ", text, NAME);
		put_piece(t, "  ", trk__human_percent(percent, m->share), NAME);
	}
	line_end(t);
}

static void meter(struct trk_terminal *t, const struct meters *w, const struct trk_doc_term *term)
{
	const struct trk_doc_meter *m = term->meter;
	size_t end;

	name_of(t, term->name);
	if (w->loose) {
		loose_meter(t, m);
		return;
	}
	put_right(t, m->mean, w->mean);
	trk__terminal_put(t, " mean  ");
	put_right(t, m->peak, w->peak);
	trk__terminal_put(t, " peak ");
	end = t->at + w->unit;
	trk__terminal_put(t, m->unit);
	if (m->had) {
		if (w->two_lines) {
			line_end(t);
			go_to(t, NAME);
		} else {
			go_to(t, end + 2);
		}
		meter_rest(t, w, m);
	}
	line_end(t);
}

/* Write a group of meters with common columns. Returns the last block of the group. */
static const struct trk_doc_block *meters(struct trk_terminal *t, const struct trk_doc_block *b)
{
	struct meters w = measure(t, b);

	for (;; b = b->next) {
		meter(t, &w, b->term);
		if (!is_meter(b->next))
			return b;
	}
}

/* ---- tables ---- */

static const char *cell_text(const struct trk_doc_table *table, size_t row, size_t column)
{
	const char *text = table->cell[row * table->columns + column].text;

	return text ? text : "\u2014";
}

/* The column that is dropped next; 0: none. */
static size_t least_column(const struct trk_doc_table *table, const size_t *width)
{
	size_t least = 0;

	for (size_t c = 1; c < table->columns; c++)
		if (width[c] && (table->rank ? table->rank[c] > table->rank[least]
					     : table->essential && c >= table->essential))
			least = c;
	return least;
}

/* Compute the widths of the columns. Drops blank columns (width 0), then inessential ones, then
 * truncates texts. False: they still do not fit. */
static bool fit_columns(struct trk_terminal *t, const struct trk_doc_table *table, size_t *width)
{
	size_t sum = 0, least;

	for (size_t c = 0; c < table->columns; c++) {
		bool blank = table->rows && trk__doc_is_blank(table, c);

		width[c] = blank ? 0 : columns_of(t, table->column[c].title);
		for (size_t i = 0; i < table->rows && !blank; i++)
			width[c] = larger(width[c], columns_of(t, cell_text(table, i, c)));
		if (width[c])
			sum += width[c] + (c ? 2 : 0);
	}
	while (sum > t->width && (least = least_column(table, width)) > 0) {
		sum -= width[least] + 2;
		width[least] = 0;
	}
	while (sum > t->width) {
		size_t widest = table->columns;

		for (size_t c = table->keeps_names; c < table->columns; c++)
			if (table->column[c].kind == TRK_CELL_TEXT && width[c] > CELL_MIN &&
			    (widest == table->columns || width[c] > width[widest]))
				widest = c;
		if (widest == table->columns)
			return false;
		width[widest]--;
		sum--;
	}
	return true;
}

static void table_row(struct trk_terminal *t, const struct trk_doc_table *table,
		      const size_t *width, size_t row)
{
	for (size_t c = 0, start = 0; c < table->columns;
	     start += width[c] ? width[c] + 2 : 0, c++) {
		const char *text =
			row < table->rows ? cell_text(table, row, c) : table->column[c].title;

		if (!width[c])
			continue;
		go_to(t, start);
		if (table->column[c].kind == TRK_CELL_NUMBER)
			put_right(t, text, width[c]);
		else
			put_cut(t, text, width[c]);
	}
	line_end(t);
}

/* Write a row as one piece per cell, with the title of its column. */
static void table_card(struct trk_terminal *t, const struct trk_doc_table *table, size_t row)
{
	put_words(t, cell_text(table, row, 0), 2, TRK_TONE_PLAIN);
	for (size_t c = 1; c < table->columns; c++) {
		TRK_BUF_LOCAL(piece, SCRATCH_MAX);

		if (!table->cell[row * table->columns + c].text)
			continue;
		trk__buf_printf(&piece, "%s %s", table->column[c].title, cell_text(table, row, c));
		put_piece(t, " \u00b7 ", piece.error ? "" : piece.data, 2);
	}
	line_end(t);
}

void trk__terminal_table(struct trk_terminal *t, const struct trk_doc_table *table)
{
	size_t width[TRK_DOC_COLUMNS];
	bool fits = table->columns <= TRK_DOC_COLUMNS && fit_columns(t, table, width);

	if (table->title && table->rows) {
		line_end(t);
		trk__terminal_line(t, table->title, 0);
	}
	if (fits && table->rows)
		table_row(t, table, width, table->rows);
	for (size_t i = 0; i < table->rows; i++) {
		if (fits)
			table_row(t, table, width, i);
		else
			table_card(t, table, i);
	}
}

/* ---- charts, parts, lines to paste ---- */

static void charts(struct trk_terminal *t, const struct trk_doc *d)
{
	enum { TITLE = 14, TOP = 16 };

	for (size_t i = 0; i < d->charts; i++) {
		const struct trk_doc_chart *c = &d->chart[i];
		size_t cells = t->width - TITLE - TOP;

		put_cut(t, c->title, TITLE - 1);
		go_to(t, TITLE);
		trk__spark_steps(t->b, c->series[0].avg, c->series[0].max, d->buckets, cells,
				 t->utf8);
		t->at += d->buckets < cells ? d->buckets : cells;
		trk__terminal_put(t, " of ");
		trk__terminal_put(t, c->top_text);
		trk__terminal_put(t, " ");
		trk__terminal_put(t, c->unit);
		line_end(t);
	}
	go_to(t, TITLE);
	trk__terminal_put(t, d->first_text);
	trk__terminal_put(t, " to ");
	trk__terminal_put(t, d->last_text);
	line_end(t);
}

static void parts(struct trk_terminal *t, const struct trk_doc_part *part, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		trk__spark_bar(t->b, part[i].share, 10, t->utf8);
		t->at += 10;
		go_to(t, 11);
		put_piece(t, "", part[i].name, 11);
		put_piece(t, " ", part[i].text, 11);
		line_end(t);
	}
}

/* Lines to paste are not wrapped, so that they can be copied. */
static void snippet(struct trk_terminal *t, const struct trk_doc_snippet *s)
{
	const char *at = s->text;

	trk__terminal_put(t, "For ");
	trk__terminal_put(t, s->title);
	line_end(t);
	while (*at) {
		size_t len = strcspn(at, "\n");

		trk__buf_puts(t->b, "    ");
		trk__buf_add(t->b, at, len);
		trk__buf_putc(t->b, '\n');
		at += len + (at[len] == '\n');
	}
}

/* ---- the document ---- */

/* Write a block or a group. Returns the last block that was written. */
static const struct trk_doc_block *block(struct trk_terminal *t, const struct trk_doc *d,
					 const struct trk_doc_block *b)
{
	switch (b->kind) {
	case TRK_BLOCK_TEXT:
	case TRK_BLOCK_NOTE:
		trk__terminal_line(t, b->text, 0);
		break;
	case TRK_BLOCK_TABLE:
		trk__terminal_table(t, b->table);
		break;
	case TRK_BLOCK_PARTS:
		parts(t, b->part, b->count);
		break;
	case TRK_BLOCK_CHARTS:
		charts(t, d);
		break;
	case TRK_BLOCK_LANES: /* the table has the same content */
		break;
	case TRK_BLOCK_SNIPPETS:
		snippet(t, b->snippet);
		break;
	case TRK_BLOCK_TERM:
		if (b->term->meter)
			return meters(t, b);
		items(t, b->term);
		break;
	case TRK_BLOCK_STACKS:
		break;
	}
	return b;
}

void trk__terminal_title(struct trk_terminal *t, const char *title, const char *more)
{
	line_end(t);
	color(t, TRK_TONE_STRONG);
	trk__terminal_put(t, title);
	plain(t, TRK_TONE_STRONG);
	if (*more)
		put_piece(t, "  ", more, 0);
	line_end(t);
}

static void section(struct trk_terminal *t, const struct trk_doc *d,
		    const struct trk_doc_section *s)
{
	if (s->title)
		trk__terminal_title(t, s->title, "");
	for (const struct trk_doc_block *b = s->first; b; b = b->next)
		b = block(t, d, b);
}

struct trk_terminal trk__terminal_start(struct trk_buf *b, const struct trk_terminal_style *style)
{
	size_t width = style->width ? style->width : TRK_TERMINAL_USUAL;
	struct trk_terminal t = {.b = b,
				 .width = width < TRK_TERMINAL_MIN   ? TRK_TERMINAL_MIN
					  : width > TRK_TERMINAL_MAX ? TRK_TERMINAL_MAX
								     : width,
				 .color = style->color,
				 .utf8 = style->utf8};

	trk__buf_init(&t.text, SCRATCH_MAX);
	return t;
}

void trk__terminal_finish(struct trk_terminal *t)
{
	if (t->text.error)
		t->b->error = t->text.error;
	trk__buf_release(&t->text);
}

void trk__write_terminal_lines(struct trk_buf *b, const char *text,
			       const struct trk_terminal_style *style)
{
	struct trk_terminal t = trk__terminal_start(b, style);

	while (*text) {
		size_t len = strcspn(text, "\n"), indent = strspn(text, " ");
		TRK_BUF_LOCAL(line, SCRATCH_MAX);

		trk__buf_add(&line, text, len);
		go_to(&t, indent);
		put_words(&t, line.error || !line.data ? "" : line.data, indent + 2,
			  TRK_TONE_PLAIN);
		line_end(&t);
		text += len + (text[len] == '\n');
	}
	trk__terminal_finish(&t);
}

void trk__write_terminal_table(struct trk_buf *b, struct trk_doc *d,
			       const struct trk_doc_table *rows,
			       const struct trk_terminal_style *style)
{
	struct trk_terminal t = trk__terminal_start(b, style);

	if (d->error)
		b->error = d->error;
	else
		trk__terminal_table(&t, rows);
	trk__terminal_finish(&t);
	trk__doc_release(d);
}

void trk__write_terminal(struct trk_buf *b, const struct trk_doc *d,
			 const struct trk_terminal_style *style)
{
	struct trk_terminal t = trk__terminal_start(b, style);

	if (d->state)
		head(&t, d);
	troubles(&t, d->trouble);
	trk__terminal_mark(&t, d->symbol, d->lead, d->lead_tone);
	if (d->basis && *d->basis) {
		go_to(&t, 2);
		trk__terminal_line(&t, d->basis, 2);
	}
	for (size_t i = 0; i < d->sections; i++)
		section(&t, d, &d->section[i]);
	if (d->more) {
		trk__terminal_line(&t, d->more, 2);
	}
	trk__terminal_finish(&t);
}
