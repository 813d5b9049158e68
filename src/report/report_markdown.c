/* The report as Markdown, for the summary of a CI job: tables and bars of text, no HTML. What comes
 * from outside has all that could mean something escaped, so that it can neither link nor call anyone. */
#include <string.h>

#include "report/report_private.h"

enum { BAR = 10, SPARK = 48, FOLDED_ROWS_MAX = 40 };

/* Emphasis, links, tables, HTML, formulas between dollars, and what the sites make references of: @name, #1, !1, %1, www. */
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
		if (*text == TRK_REPORT_STRONG[0] || *text == TRK_REPORT_PLAIN[0])
			trk__buf_puts(b, "**");
		else if (*text == TRK_REPORT_OUTSIDE[0] || *text == TRK_REPORT_INSIDE[0])
			outside = first = *text == TRK_REPORT_OUTSIDE[0];
		else if (outside ? is_active(text, first) : strchr("<|`[*_$", *text) != NULL)
			trk__buf_printf(b, "\\%c", *text);
		else
			trk__buf_putc(b, *text);
		if ((unsigned char) *text > 4)
			first = *text == ' ' && first;
	}
}

static void paragraph(struct trk_buf *b, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	trk__buf_puts(b, before);
	rich(b, text);
	trk__buf_puts(b, "\n\n");
}

static void bar(struct trk_buf *b, double share)
{
	int filled = share >= 1 ? BAR : share > 0 ? (int) (share * BAR + 0.5) : 0;

	for (int i = 0; i < BAR; i++)
		trk__buf_puts(b, i < filled ? "\u2588" : "\u2591");
	trk__buf_putc(b, ' ');
}

static void cell(struct trk_buf *b, const struct trk_report_cell *c, enum trk_report_kind kind)
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

static void table(struct trk_buf *b, const struct trk_report_table *t)
{
	if (!t->rows)
		return;
	if (t->title)
		paragraph(b, "", t->title);
	for (size_t c = 0; c < t->columns; c++) {
		trk__buf_puts(b, "| ");
		rich(b, t->column[c].title);
		trk__buf_putc(b, ' ');
	}
	trk__buf_puts(b, "|\n");
	for (size_t c = 0; c < t->columns; c++)
		trk__buf_puts(b, t->column[c].kind == TRK_CELL_NUMBER ? "|---:" : "|---");
	trk__buf_puts(b, "|\n");
	for (size_t i = 0; i < t->rows && i < FOLDED_ROWS_MAX; i++) {
		for (size_t c = 0; c < t->columns; c++) {
			trk__buf_puts(b, "| ");
			cell(b, &t->cell[i * t->columns + c], t->column[c].kind);
			trk__buf_putc(b, ' ');
		}
		trk__buf_puts(b, "|\n");
	}
	trk__buf_putc(b, '\n');
}

static void wall(struct trk_buf *b, const struct trk_report *r)
{
	for (size_t i = 0; i < r->walls; i++) {
		trk__buf_puts(b, "- ");
		bar(b, r->wall[i].share);
		trk__buf_printf(b, "%s **%s**\n", r->wall[i].name, r->wall[i].text);
	}
	trk__buf_puts(b, r->walls ? "\n" : "");
}

/* The peaks over time, in eighths. */
static void spark(struct trk_buf *b, const struct trk_report *r, const struct trk_report_series *s)
{
	size_t n = r->buckets < SPARK ? r->buckets : SPARK;

	for (size_t i = 0; i < n; i++) {
		unsigned int most = 0;
		bool known = false;

		for (size_t k = r->buckets * i / n; k < r->buckets * (i + 1) / n; k++)
			if (s->avg[k] != TRK_REPORT_GAP) {
				known = true;
				most = s->max[k] > most ? s->max[k] : most;
			}
		if (known) /* U+2581 to U+2588 */
			trk__buf_printf(b, "\xe2\x96%c",
					(char) (0x81 + most * 7 / TRK_REPORT_STEPS));
		else
			trk__buf_putc(b, ' ');
	}
}

static void timeline(struct trk_buf *b, const struct trk_report *r)
{
	if (!r->charts)
		return;
	trk__buf_puts(b, "```\n");
	for (size_t i = 0; i < r->charts; i++) {
		trk__buf_printf(b, "%-12s ", r->chart[i].title);
		spark(b, r, &r->chart[i].series[0]);
		trk__buf_printf(b, " of %s %s\n", r->chart[i].top_text, r->chart[i].unit);
	}
	trk__buf_printf(b, "%-12s %s to %s\n```\n\n", "", r->tick[0],
			r->tick[TRK_REPORT_TICKS - 1]);
	for (size_t i = 0; i < r->charts; i++) {
		const struct trk_report_series *s = &r->chart[i].series[0];

		trk__buf_printf(b, "- %s%s: ", r->chart[i].title,
				s->is_job ? "" : ", whole machine");
		rich(b, s->text);
		if (r->chart[i].limit_text)
			trk__buf_printf(b, "; %s", r->chart[i].limit_text);
		trk__buf_putc(b, '\n');
	}
	for (size_t i = 0; i < r->phases; i++) {
		trk__buf_puts(b, i ? ", " : "- Phases: ");
		rich(b, r->phase[i].name);
		trk__buf_printf(b, " %s", r->phase[i].text);
	}
	trk__buf_puts(b, r->phases ? "\n\n" : "\n");
}

static void section(struct trk_buf *b, const struct trk_report *r, int part)
{
	const struct trk_report_section *s = &r->part[part];

	trk__buf_printf(b, "## %s\n\n", s->title);
	for (size_t i = 0; i < s->lines; i++)
		paragraph(b, "", s->line[i]);
	if (part == TRK_PART_WALL)
		wall(b, r);
	if (part == TRK_PART_TIMELINE)
		timeline(b, r);
	for (size_t i = 0; i < s->tables; i++)
		if (part != TRK_PART_TIMELINE) /* its table is in the lines above */
			table(b, &s->table[i]);
	if (part == TRK_PART_SIZING && r->snippets)
		trk__buf_printf(b, "For %s:\n\n```\n%s```\n\n", r->snippet[0].title,
				r->snippet[0].text);
	if (part != TRK_PART_TIMELINE)
		for (size_t i = 0; i < s->notes; i++)
			paragraph(b, "", s->note[i]);
}

void trk__report_markdown(struct trk_buf *b, const struct trk_report *r)
{
	trk__buf_puts(b, "# ");
	rich(b, r->job);
	trk__buf_printf(b, ": %s\n\n", r->state);
	if (r->command)
		paragraph(b, "", r->command);
	trk__buf_puts(b, "Run ");
	rich(b, r->id);
	trk__buf_puts(b, " \u00b7 ");
	paragraph(b, "", r->facts);
	trk__buf_printf(b, "> %s ", r->symbol);
	rich(b, r->lead);
	trk__buf_puts(b, "\n");
	if (r->trouble) {
		trk__buf_puts(b, ">\n> ");
		rich(b, r->trouble);
		trk__buf_putc(b, '\n');
	}
	trk__buf_putc(b, '\n');
	paragraph(b, "", r->basis);
	for (int i = 0; i < TRK_PARTS; i++)
		section(b, r, i);
}
