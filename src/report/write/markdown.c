/* The report as Markdown, for the summary of a CI job: tables and bars of text, no HTML. Untrusted
 * text is escaped, so that it can neither contain links nor notify users. */
#include <string.h>

#include "base/maths.h"
#include "report/write/spark.h"
#include "report/write/write.h"

enum { BAR = 10, SPARK = 48, FOLDED_ROWS_MAX = 40 };

/* Whether a character is markup: emphasis, links, tables, HTML, formulas between dollars, and
 * references on hosting sites: @name, #1, !1, %1, www. */
static bool is_active(const char *text, bool first)
{
	if (first && strchr("+-=.>)", *text))
		return true;
	return strchr("\\`*_{}[]<>#|~&@!$^%", *text) || (*text == ':' && text[1] == '/') ||
	       (*text == '.' && !first && (text[-1] | 0x20) == 'w');
}

static void rich(struct trk_buf *b, const char *text)
{
	bool outside = false, first = true;

	for (; *text; text++) {
		if (*text == TRK_DOC_STRONG[0] || *text == TRK_DOC_PLAIN[0])
			trk__buf_puts(b, "**");
		else if (*text == TRK_DOC_OUTSIDE[0] || *text == TRK_DOC_INSIDE[0])
			outside = first = *text == TRK_DOC_OUTSIDE[0];
		else if (outside ? is_active(text, first) : strchr("<|`[*_$", *text) != NULL)
			trk__buf_printf(b, "\\%c", *text);
		else
			trk__buf_putc(b, *text);
		if ((unsigned char) *text > 4)
			first = *text == ' ' && first;
	}
}

static void paragraph(struct trk_buf *b, const char *text)
{
	if (!text || !*text)
		return;
	rich(b, text);
	trk__buf_puts(b, "\n\n");
}

static void bar(struct trk_buf *b, double share)
{
	int filled = (int) trk__whole(share * BAR + 0.5, 0, BAR);

	for (int i = 0; i < BAR; i++)
		trk__buf_puts(b, i < filled ? "\u2588" : "\u2591");
	trk__buf_putc(b, ' ');
}

static void cell(struct trk_buf *b, const struct trk_doc_cell *c, enum trk_cell_kind kind)
{
	bool strong = c->text && *c->text && c->tone == TRK_TONE_STRONG;

	if (!c->text) {
		trk__buf_puts(b, "\u2014");
		return;
	}
	if (kind == TRK_CELL_BAR)
		bar(b, c->value);
	trk__buf_puts(b, strong ? "**" : "");
	rich(b, c->text);
	trk__buf_puts(b, strong ? "**" : "");
}

static void table(struct trk_buf *b, const struct trk_doc_table *t)
{
	if (!t->rows)
		return;
	if (t->title)
		paragraph(b, t->title);
	for (size_t c = 0; c < t->columns; c++) {
		if (trk__doc_is_blank(t, c))
			continue;
		trk__buf_puts(b, "| ");
		rich(b, t->column[c].title);
		trk__buf_putc(b, ' ');
	}
	trk__buf_puts(b, "|\n");
	for (size_t c = 0; c < t->columns; c++)
		if (!trk__doc_is_blank(t, c))
			trk__buf_puts(b, t->column[c].kind == TRK_CELL_NUMBER ? "|---:" : "|---");
	trk__buf_puts(b, "|\n");
	for (size_t i = 0; i < t->rows && i < FOLDED_ROWS_MAX; i++) {
		for (size_t c = 0; c < t->columns; c++) {
			if (trk__doc_is_blank(t, c))
				continue;
			trk__buf_puts(b, "| ");
			cell(b, &t->cell[i * t->columns + c], t->column[c].kind);
			trk__buf_putc(b, ' ');
		}
		trk__buf_puts(b, "|\n");
	}
	if (t->rows > FOLDED_ROWS_MAX)
		trk__buf_printf(b, "\n%zu more rows: the page has them.\n",
				t->rows - FOLDED_ROWS_MAX);
	trk__buf_putc(b, '\n');
}

static void parts(struct trk_buf *b, const struct trk_doc_part *part, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		trk__buf_puts(b, "- ");
		bar(b, part[i].share);
		trk__buf_printf(b, "%s **%s**\n", part[i].name, part[i].text);
	}
	trk__buf_putc(b, '\n');
}

static void term(struct trk_buf *b, const struct trk_doc_term *t)
{
	trk__buf_printf(b, "- **%s** ", t->name);
	if (t->meter) {
		bar(b, t->meter->share);
		trk__doc_meter_text(b, t->meter);
	}
	for (size_t i = 0; i < t->items; i++) {
		trk__buf_puts(b, i ? t->separator : "");
		rich(b, t->item[i].text);
	}
	trk__buf_putc(b, '\n');
}

/* Charts without activity are left out; a sentence below names them. */
static void timeline(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "```\n");
	for (size_t i = 0; i < d->charts; i++) {
		if (d->chart[i].is_quiet)
			continue;
		trk__buf_printf(b, "%-12s ", d->chart[i].title);
		trk__spark_steps(b, d->chart[i].series[0].avg, d->chart[i].series[0].max,
				 d->buckets, SPARK, true);
		trk__buf_printf(b, " of %s %s\n", d->chart[i].top_text, d->chart[i].unit);
	}
	trk__buf_printf(b, "%-12s %s to %s\n```\n\n", "", d->first_text, d->last_text);
	for (size_t i = 0; i < d->charts; i++) {
		const struct trk_doc_series *s = &d->chart[i].series[0];

		if (d->chart[i].is_quiet)
			continue;
		trk__buf_printf(b, "- %s%s: ", d->chart[i].title,
				s->is_job ? "" : ", whole machine");
		rich(b, s->text);
		if (d->chart[i].limit_text)
			trk__buf_printf(b, "; %s%s", d->chart[i].limit_text,
					d->chart[i].is_far ? ", above the scale" : "");
		trk__buf_putc(b, '\n');
	}
	for (size_t i = 0; i < d->phases; i++) {
		trk__buf_puts(b, i ? ", " : "- Phases: ");
		rich(b, d->phase[i].name);
		trk__buf_printf(b, " %s", d->phase[i].text);
	}
	trk__buf_puts(b, d->phases ? "\n\n" : "\n");
}

/* A curve of the CPU cores of each program; the table below has the figures. */
static void lanes(struct trk_buf *b, const struct trk_doc *d)
{
	for (size_t i = 0; i < d->lanes; i++) {
		const struct trk_doc_lane *l = &d->lane[i];

		if (!l->use)
			continue;
		trk__buf_puts(b, "- `");
		trk__spark_steps(b, l->use, l->use, d->buckets, SPARK, true);
		trk__buf_puts(b, "` ");
		rich(b, l->name);
		trk__buf_printf(b, "%s%s, %s CPU", l->count ? " " : "", l->count ? l->count : "",
				l->cpu);
		if (l->memory)
			trk__buf_printf(b, ", %s", l->memory);
		trk__buf_putc(b, '\n');
	}
	trk__buf_putc(b, '\n');
}

/* Whether a block is shown already: after charts, whose lines include table and notes, only terms
 * and sentences follow. */
static bool is_told(const struct trk_doc_block *block, bool charts)
{
	return charts && (block->kind == TRK_BLOCK_TABLE || block->kind == TRK_BLOCK_NOTE);
}

static void block(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_block *block)
{
	switch (block->kind) {
	case TRK_BLOCK_TEXT:
	case TRK_BLOCK_NOTE:
		paragraph(b, block->text);
		break;
	case TRK_BLOCK_TABLE:
		table(b, block->table);
		break;
	case TRK_BLOCK_PARTS:
		parts(b, block->part, block->count);
		break;
	case TRK_BLOCK_CHARTS:
		timeline(b, d);
		break;
	case TRK_BLOCK_LANES:
		lanes(b, d);
		break;
	case TRK_BLOCK_SNIPPETS:
		trk__buf_printf(b, "For %s:\n\n```\n%s```\n\n", block->snippet->title,
				block->snippet->text);
		break;
	case TRK_BLOCK_TERM:
		term(b, block->term);
		if (!block->next || block->next->kind != TRK_BLOCK_TERM)
			trk__buf_putc(b, '\n');
		break;
	case TRK_BLOCK_STACKS:
		break;
	}
}

static void section(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_section *s)
{
	bool charts = false;

	if (s->title)
		trk__buf_printf(b, "## %s\n\n", s->title);
	for (const struct trk_doc_block *at = s->first; at; at = at->next) {
		if (!is_told(at, charts))
			block(b, d, at);
		charts |= at->kind == TRK_BLOCK_CHARTS;
	}
}

static void head(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "# ");
	rich(b, d->job);
	trk__buf_printf(b, ": %s\n\n", d->state);
	if (d->command)
		paragraph(b, d->command);
	trk__buf_puts(b, "Run ");
	rich(b, d->id);
	trk__buf_puts(b, " \u00b7 ");
	paragraph(b, d->facts);
	trk__buf_printf(b, "> %s ", d->symbol);
	rich(b, d->lead);
	trk__buf_puts(b, "\n");
	if (d->trouble) {
		trk__buf_puts(b, ">\n> ");
		rich(b, d->trouble);
		trk__buf_putc(b, '\n');
	}
	trk__buf_putc(b, '\n');
	paragraph(b, d->basis);
}

void trk__write_markdown(struct trk_buf *b, const struct trk_doc *d)
{
	if (d->job)
		head(b, d);
	for (size_t i = 0; i < d->sections; i++)
		section(b, d, &d->section[i]);
}
