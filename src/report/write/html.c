/* The HTML page: one self-contained file, whose content security policy forbids loading anything.
 * It is readable without its script, which adds the crosshair, the zoom and the copy buttons. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/columns.h"
#include "report/write/html_text.h"
#include "report/write/page.h"
#include "report/write/svg.h"
#include "report/write/write.h"

static void element(struct trk_buf *b, const char *open, const char *text, const char *close)
{
	if (!text || !*text)
		return;
	trk__buf_puts(b, open);
	trk__html_rich(b, text);
	trk__buf_puts(b, close);
}

/* ---- tables ---- */

static void cell_class(struct trk_buf *b, const struct trk_doc_cell *c, enum trk_cell_kind kind)
{
	const char *shape = kind == TRK_CELL_NUMBER ? "n" : kind == TRK_CELL_BAR ? "b" : "";

	if (*shape || c->tone || !c->text)
		trk__buf_printf(b, " class=\"%s%s%s%s\"", shape, c->text ? "" : " none",
				c->tone ? " " : "", trk__html_tones[c->tone]);
}

static void cell_content(struct trk_buf *b, const struct trk_doc_cell *c, enum trk_cell_kind kind)
{
	bool code = kind == TRK_CELL_CODE;

	if (!c->text) {
		trk__buf_puts(b, "\u2014");
		return;
	}
	if (kind == TRK_CELL_BAR)
		trk__svg_bar(b, c->value, c->second);
	trk__buf_puts(b, code ? "<code>" : "");
	trk__html_rich(b, c->text);
	trk__buf_puts(b, code ? "</code>" : "");
}

/* label: of the column, for narrow windows, where a row becomes a card; or NULL. */
static void cell(struct trk_buf *b, const struct trk_doc_cell *c, enum trk_cell_kind kind,
		 const char *label, bool head, bool sortable)
{
	trk__buf_printf(b, "<%s", head ? "th scope=\"row\"" : "td");
	if (label && !head) {
		trk__buf_puts(b, " data-label=\"");
		trk__html_text(b, label);
		trk__buf_putc(b, '"');
	}
	if (sortable && !isnan(c->value))
		trk__buf_printf(b, " data-v=\"%.6g\"", c->value);
	cell_class(b, c, kind);
	trk__buf_putc(b, '>');
	cell_content(b, c, kind);
	trk__buf_puts(b, head ? "</th>" : "</td>");
}

static void rows_of(struct trk_buf *b, const struct trk_doc_table *t, bool cards)
{
	for (size_t i = 0; i < t->rows; i++) {
		trk__buf_puts(b, "<tr>");
		for (size_t c = 0; c < t->columns; c++)
			if (!trk__doc_is_blank(t, c))
				cell(b, &t->cell[i * t->columns + c], t->column[c].kind,
				     cards ? t->column[c].title : NULL, c == 0, t->sortable);
		trk__buf_puts(b, "</tr>\n");
	}
}

static void table(struct trk_buf *b, const struct trk_doc_section *s, const struct trk_doc_table *t)
{
	/* The charts' values stay a table of numbers. */
	bool cards = strcmp(t->key, "slices") != 0;

	if (!t->rows)
		return;
	if (t->folded)
		trk__buf_printf(b, "<details><summary>%s</summary>", t->title);
	trk__buf_printf(b,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
			"<table class=\"%s%s%s\"><thead><tr>",
			t->folded ? t->title : s->title, cards ? "cards " : "",
			t->sortable ? "sortable " : "", t->key);
	for (size_t c = 0; c < t->columns; c++) {
		if (trk__doc_is_blank(t, c))
			continue;
		trk__buf_printf(b, "<th scope=\"col\"%s>",
				t->column[c].kind == TRK_CELL_NUMBER ? " class=\"n\"" : "");
		trk__html_rich(b, t->column[c].title);
		trk__buf_puts(b, "</th>");
	}
	trk__buf_puts(b, "</tr></thead><tbody>\n");
	rows_of(b, t, cards);
	trk__buf_printf(b, "</tbody></table></div>%s\n", t->folded ? "</details>" : "");
}

/* ---- what single sections have in addition to tables ---- */

/* A button for each of `count`, and a link to the others; the script copies the text from elements
 * below. */
static void copy_buttons(struct trk_buf *b, const struct trk_doc_snippet *snippet, size_t count,
			 bool more)
{
	trk__buf_puts(b, "<div class=\"copy\" hidden><span>Copy for</span>");
	for (size_t i = 0; i < count; i++)
		trk__buf_printf(b, "<button type=\"button\" data-copy=\"snippet-%s\">%s</button>",
				snippet[i].kind, snippet[i].title);
	trk__buf_puts(b, more ? "<a href=\"#snippets\">more</a>" : "");
	trk__buf_puts(b, "<span role=\"status\" class=\"copied\"></span></div>");
}

static void snippets(struct trk_buf *b, const struct trk_doc_snippet *snippet, size_t count)
{
	copy_buttons(b, snippet, count, false);
	trk__buf_puts(b, "<details id=\"snippets\"><summary>Lines to paste</summary>");
	for (size_t i = 0; i < count; i++) {
		trk__buf_printf(b,
				"<h3>%s</h3><pre tabindex=\"0\" aria-label=\"%s\" "
				"id=\"snippet-%s\">",
				snippet[i].title, snippet[i].title, snippet[i].kind);
		trk__html_rich(b, snippet[i].text);
		trk__buf_puts(b, "</pre>\n");
	}
	trk__buf_puts(b, "</details>\n");
}

static void parts(struct trk_buf *b, const struct trk_doc_part *part, size_t count)
{
	trk__svg_parts(b, part, count);
	trk__buf_puts(b, "<ul class=\"legend\">");
	for (size_t i = 0; i < count; i++)
		trk__buf_printf(b,
				"<li><svg class=\"key\" width=\"14\" height=\"14\" "
				"aria-hidden=\"true\"><rect class=\"item %s\" width=\"14\" "
				"height=\"14\"/></svg> %s <strong>%s</strong></li>",
				part[i].key, part[i].name, part[i].text);
	trk__buf_puts(b, "</ul>\n");
}

/* A name and its items, or its meter in words. */
static void term(struct trk_buf *b, const struct trk_doc_term *t)
{
	trk__buf_puts(b, "<p><strong>");
	trk__html_text(b, t->name);
	trk__buf_puts(b, "</strong> ");
	if (t->meter) {
		trk__svg_bar(b, t->meter->share, NAN);
		trk__buf_putc(b, ' ');
		trk__doc_meter_text(b, t->meter);
	}
	for (size_t i = 0; i < t->items; i++) {
		trk__html_text(b, i ? t->separator : "");
		trk__html_rich(b, t->item[i].text);
	}
	trk__buf_puts(b, "</p>\n");
}

static void legend(struct trk_buf *b, const struct trk_doc_chart *c)
{
	char text[TRK_HUMAN_SIZE], other[TRK_HUMAN_SIZE];

	if (!c->areas)
		return;
	trk__buf_puts(b, "<ul class=\"who\"><li class=\"head\"><span class=\"name\">by program"
			 "</span> <span class=\"m\">mean</span> <span class=\"m\">peak</span> "
			 "<span class=\"now\"></span></li>");
	for (size_t i = c->areas; i-- > 0;) {
		trk__buf_printf(b,
				"<li><svg class=\"key\" width=\"11\" height=\"11\" "
				"aria-hidden=\"true\"><rect class=\"area p%d\" width=\"11\" "
				"height=\"11\"/></svg> <span class=\"name\">",
				c->area[i].color);
		trk__html_rich(b, c->area[i].name);
		trk__buf_printf(b,
				"</span> <span class=\"m\">%s</span> <span class=\"m\">%s</span> "
				"<span class=\"now\"></span></li>",
				trk__human_number(text, c->area[i].mean),
				trk__human_number(other, c->area[i].peak));
	}
	trk__buf_puts(b, "</ul>");
}

static void chart(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__buf_printf(b, "<figure class=\"chart%s%s\"><figcaption><strong>%s</strong>",
			c->is_large ? " large" : "", c->areas ? " stacked" : "", c->title);
	for (size_t i = 0; i < c->count; i++) {
		const struct trk_doc_series *s = &c->series[i];

		trk__buf_printf(b, "<span class=\"stats %s\">%s%s", s->is_job ? "job" : "machine",
				s->is_job ? "" : s->name, s->is_job ? "" : " ");
		trk__html_rich(b, s->text);
		trk__buf_puts(b, "</span>");
	}
	legend(b, c);
	trk__buf_puts(
		b,
		"<span class=\"read\"></span></figcaption><div class=\"box\"><div class=\"frame\" "
		"role=\"img\" aria-label=\"");
	trk__html_text(b, c->summary);
	trk__buf_puts(b, "\">");
	trk__svg_chart(b, d, c);
	trk__svg_levels(b, d, c);
	trk__buf_puts(b, "</div>");
	if (c->limit_text && c->is_far) {
		trk__buf_puts(b, "<button type=\"button\" class=\"tag\" disabled>");
		trk__html_text(b, c->limit_text);
		trk__buf_puts(b, " \u2191</button>");
	}
	trk__buf_puts(b, "</div></figure>\n");
}

static void timeline(struct trk_buf *b, const struct trk_doc *d)
{
	bool any_areas = false;

	for (size_t i = 0; i < d->charts; i++)
		any_areas |= d->chart[i].areas > 0;
	if (any_areas)
		trk__svg_patterns(b);
	trk__buf_printf(
		b,
		"<div class=\"tools\" hidden><button type=\"button\" id=\"zoom-in\">Zoom "
		"in</button><button type=\"button\" id=\"zoom-out\">Zoom out</button>"
		"<button type=\"button\" id=\"reset\">Whole run</button>"
		"<button type=\"button\" id=\"limits\" aria-pressed=\"false\">To the limit"
		"</button>%s<button type=\"button\" id=\"clock\" aria-pressed=\"%s\"%s>Clock time"
		"</button><button type=\"button\" id=\"print\" hidden>Print this part</button>"
		"<span id=\"range\" role=\"status\"></span></div>\n"
		"<div class=\"charts\" id=\"charts\">",
		any_areas ? "<button type=\"button\" id=\"lines\" aria-pressed=\"false\">Plain "
			    "lines</button>"
			  : "",
		d->clock ? "true" : "false", d->start_s > 0 ? "" : " hidden");
	if (d->phases)
		trk__svg_phases(b, d);
	for (size_t i = 0; i < d->charts; i++)
		if (!d->chart[i].is_quiet)
			chart(b, d, &d->chart[i]);
	trk__html_axis(b, d);
	trk__buf_puts(b, "</div>\n<p class=\"note help\" hidden>Drag: zoom \u00b7 double click, 0: "
			 "whole run "
			 "\u00b7 click, tap, Enter: hold the line \u00b7 arrow keys: move it "
			 "\u00b7 + \u2212: "
			 "zoom \u00b7 [ ]: phases \u00b7 Esc: free. The address keeps range and "
			 "scale.</p>\n");
}

/* ---- the values of the charts ---- */

enum {
	PAGE_MAX = 150000, /* bytes of a page without an embedded recording */
	ROOM = 1000,       /* bytes for all but values */
};

/* Two characters per value. */
static void pack(struct trk_buf *b, uint16_t value)
{
	trk__html_packed(b, value, 2);
}

/* Minimum, mean and maximum of the job's series (or the only one); the mean of the machine's. */
static size_t lists_of(const struct trk_doc_chart *c, size_t series)
{
	return series == 0 && c->series[0].has_band ? 3 : 1;
}

static size_t size_of(const struct trk_doc *d, size_t buckets)
{
	size_t size = 0;

	for (size_t i = 0; i < d->charts; i++)
		for (size_t s = 0; !d->chart[i].is_quiet && s < d->chart[i].count; s++)
			size += lists_of(&d->chart[i], s) * (2 * buckets + 4);
	return size;
}

/* How many values each drawn bucket has here. */
static size_t finer_of(const struct trk_doc *d, size_t written)
{
	size_t used = written + strlen(trk__page_js) + ROOM;

	for (size_t finer = d->finer; finer > 1; finer--)
		if (d->finer % finer == 0 && used + size_of(d, d->buckets * finer) <= PAGE_MAX)
			return finer;
	return 1;
}

static void write_list(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_series *s,
		       size_t finer, int which)
{
	size_t each = d->finer / finer;

	trk__buf_puts(b, which ? ",\"" : "\"");
	for (size_t i = 0; i < d->buckets * finer; i++) {
		struct trk_doc_steps steps = trk__doc_merge(each ? s->fine + i * each : NULL, each);

		pack(b, which == 0 ? steps.avg : which == 1 ? steps.min : steps.max);
	}
	trk__buf_putc(b, '"');
}

/* How to read an embedded recording: name of the column, factor of the unit, and whether it is an
 * amount, shown as a rate. */
static void write_columns(struct trk_buf *b, const struct trk_doc_chart *c)
{
	trk__buf_puts(b, ",\"columns\":[");
	for (size_t s = 0; s < c->count; s++)
		trk__buf_printf(b, "%s[\"%s\",%.17g,%s]", s ? "," : "",
				trk__columns[c->series[s].column].name, c->series[s].factor,
				trk__columns[c->series[s].column].kind == TRK_KIND_DELTA ? "true"
											 : "false");
	trk__buf_putc(b, ']');
}

/* Each program's part of the job's series, the lowest area first. */
static void write_areas(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__buf_puts(b, ",\"areas\":[");
	for (size_t i = 0; i < c->areas; i++) {
		const struct trk_doc_area *a = &c->area[i];

		trk__buf_puts(b, i ? ",\"" : "\"");
		for (size_t k = 0; k < d->buckets; k++)
			pack(b, a->high[k] == TRK_DOC_GAP ? TRK_DOC_GAP
							  : (uint16_t) (a->high[k] - a->low[k]));
		trk__buf_putc(b, '"');
	}
	trk__buf_putc(b, ']');
}

static void write_chart(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c,
			size_t finer)
{
	trk__buf_printf(b, "{\"unit\":\"%s\",\"top\":%.17g", c->unit, c->top);
	if (!isnan(c->limit))
		trk__buf_printf(b, ",\"limit\":%.17g", c->limit);
	if (c->areas)
		write_areas(b, d, c);
	if (d->raw)
		write_columns(b, c);
	trk__buf_puts(b, ",\"series\":[");
	for (size_t s = 0; s < c->count; s++) {
		trk__buf_puts(b, s ? ",[" : "[");
		for (int which = 0; which < (int) lists_of(c, s); which++)
			write_list(b, d, &c->series[s], finer, which);
		trk__buf_putc(b, ']');
	}
	trk__buf_puts(b, "]}");
}

/* The charts' values as JSON for the script of the page, for the crosshair and for zooming, at the
 * finest resolution that the size limit of a page allows: each bucket of the drawn chart has
 * several values here. */
static void data(struct trk_buf *b, const struct trk_doc *d)
{
	size_t finer = finer_of(d, b->len);

	trk__buf_printf(b,
			"<script type=\"application/json\" id=\"data\">{\"start\":%.3f,"
			"\"seconds\":%.6f,\"interval\":%.6f,\"drawn\":%zu,\"n\":%zu,"
			"\"clock\":%s,\"dates\":%s,\"steps\":%d,\"above\":%g,\"levels\":%d,"
			"\"timeSteps\":",
			d->start_s, d->duration_s, d->interval_s, d->buckets, d->buckets * finer,
			d->clock ? "true" : "false", d->dates ? "true" : "false", TRK_DOC_STEPS,
			TRK_DOC_ABOVE_PEAK, TRK_DOC_LEVELS);
	for (size_t i = 0; i < TRK_DOC_TIME_STEPS; i++)
		trk__buf_printf(b, "%c%g", i ? ',' : '[', trk__doc_time_steps[i]);
	trk__buf_puts(b, "],\"charts\":[");
	for (size_t i = 0, n = 0; i < d->charts; i++) {
		if (d->chart[i].is_quiet)
			continue;
		if (n++)
			trk__buf_putc(b, ',');
		write_chart(b, d, &d->chart[i], finer);
	}
	trk__buf_puts(b, "]}</script>\n");
}

/* ---- the chart of stacks ---- */

/* `text` for a page with stacks, else "": the policy of a page with stacks allows more. */
static const char *if_stacks(const struct trk_doc *d, const char *text)
{
	return trk__doc_first(d, TRK_BLOCK_STACKS) ? text : "";
}

static void add_stacks(struct trk_buf *b, const char *json)
{
	trk__buf_puts(
		b,
		"<div id=\"stacks\" hidden><h3>Stacks <span class=\"note\">width: CPU time; from "
		"the program down to what it called</span></h3>\n<div class=\"tools\">"
		"<button type=\"button\" class=\"whole\">Whole tree</button><input type=\"search\" "
		"placeholder=\"Search functions, files\" aria-label=\"Search functions, files\">"
		"<span role=\"status\"></span></div>\n<div class=\"icicle\" role=\"tree\" "
		"aria-label=\"Stacks by CPU time. Arrow keys move, Enter zooms in, Escape shows "
		"the "
		"whole tree, a slash searches.\"></div>\n<p class=\"note\"><span "
		"class=\"own\"></span> "
		"your code <span class=\"library\"></span> libraries. Select a box to zoom in; "
		"with a "
		"box in focus: arrow keys, Enter, Escape, and / to search.</p></div>\n"
		"<script type=\"application/json\" id=\"stacks-data\">");
	trk__buf_puts(b, json);
	trk__buf_puts(b, "</script>\n");
}

static void block(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_section *s,
		  const struct trk_doc_block *block)
{
	switch (block->kind) {
	case TRK_BLOCK_TEXT:
		element(b, s->empty ? "<p class=\"empty\">" : "<p>", block->text, "</p>\n");
		break;
	case TRK_BLOCK_NOTE:
		element(b, "<p class=\"note\">", block->text, "</p>\n");
		break;
	case TRK_BLOCK_TABLE:
		table(b, s, block->table);
		break;
	case TRK_BLOCK_PARTS:
		parts(b, block->part, block->count);
		break;
	case TRK_BLOCK_CHARTS:
		timeline(b, d);
		break;
	case TRK_BLOCK_LANES:
		trk__html_lanes(b, d);
		break;
	case TRK_BLOCK_SNIPPETS:
		snippets(b, block->snippet, block->count);
		break;
	case TRK_BLOCK_TERM:
		term(b, block->term);
		break;
	case TRK_BLOCK_STACKS:
		add_stacks(b, block->text);
		break;
	}
}

static void section(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_section *s)
{
	trk__buf_printf(b, "<section id=\"%s\"><h2>%s</h2>\n", s->key, s->title);
	for (const struct trk_doc_block *at = s->first; at; at = at->next)
		block(b, d, s, at);
	trk__buf_puts(b, "</section>\n");
}

/* ---- the page ---- */

/* Titles of the navigation: shorter than those of the sections. */
static const char *short_title(const struct trk_doc_section *s)
{
	static const char *const names[][2] = {{"wall_time", "Where the time went"},
					       {"changed", "Changes"},
					       {"servers", "Servers"},
					       {"machine", "Machine"},
					       {"measured", "Notes"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(s->key, names[i][0]))
			return names[i][1];
	return s->title;
}

static void contents(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "<nav class=\"contents\" aria-label=\"Contents\">");
	for (size_t i = 0; i < d->sections; i++)
		trk__buf_printf(b, "<a href=\"#%s\">%s</a>", d->section[i].key,
				short_title(&d->section[i]));
	trk__buf_puts(b, "</nav>\n");
}

static void start(struct trk_buf *b, const struct trk_doc *d)
{
	char live[80] = "";

	if (d->live_s > 0)
		(void) snprintf(live, sizeof(live), " data-live=\"%.3f\" data-last=\"%.3f\"",
				d->live_s, d->last_s);
	trk__buf_printf(
		b,
		"<!doctype html>\n<html lang=\"en\"%s><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s%s%s'; script-src '%s%s%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		live, trk__page_css_hash, if_stacks(d, "' '"),
		if_stacks(d, trk__lines_page_css_hash), trk__page_js_hash, if_stacks(d, "' '"),
		if_stacks(d, trk__lines_page_js_hash));
	trk__html_text(b, d->job);
	trk__buf_puts(b, " \u00b7 ");
	trk__html_text(b, d->state);
	/* Not by printf(), which splits a long text. */
	trk__buf_puts(b, "</title>\n<style>");
	trk__buf_puts(b, trk__page_css);
	trk__buf_puts(b, "</style>");
	trk__buf_puts(b, if_stacks(d, "<style>"));
	trk__buf_puts(b, if_stacks(d, trk__lines_page_css));
	trk__buf_puts(b, if_stacks(d, "</style>"));
	trk__buf_puts(b, "</head>\n<body>");
}

/* The column of that key; t->columns: none. */
static size_t column_of(const struct trk_doc_table *t, const char *key)
{
	size_t c = 0;

	while (c < t->columns && strcmp(t->column[c].key, key) != 0)
		c++;
	return c;
}

/* Text next to the lead, from the table of right-sizing: what the job had and what to
 * request. */
static void next_request(struct trk_buf *b, const struct trk_doc *d)
{
	const struct trk_doc_section *s = trk__doc_section(d, "sizing");
	const struct trk_doc_block *block = s ? trk__doc_next(s->first, TRK_BLOCK_TABLE) : NULL;
	const struct trk_doc_table *t = block ? block->table : NULL;
	size_t had = t ? column_of(t, "requested") : 0, next = t ? column_of(t, "next") : 0;

	if (!t || had == t->columns || next == t->columns || trk__doc_is_blank(t, next))
		return;
	trk__buf_puts(b, "<section id=\"next\" aria-label=\"Next request\"><table><thead><tr>"
			 "<th scope=\"col\">Next request</th><th scope=\"col\" class=\"n\">Now"
			 "</th><th scope=\"col\" class=\"n\">Ask for</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < t->rows; i++) {
		const struct trk_doc_cell *row = &t->cell[i * t->columns];

		if (!row[next].text)
			continue;
		trk__buf_puts(b, "<tr>");
		cell(b, &row[0], TRK_CELL_TEXT, NULL, true, false);
		cell(b, &row[had], TRK_CELL_NUMBER, NULL, false, false);
		cell(b, &row[next], TRK_CELL_NUMBER, NULL, false, false);
		trk__buf_puts(b, "</tr>\n");
	}
	trk__buf_puts(b, "</tbody></table>");
	block = trk__doc_next(s->first, TRK_BLOCK_SNIPPETS);
	if (block)
		copy_buttons(b, block->snippet, block->count < 2 ? block->count : 2,
			     block->count > 2);
	trk__buf_puts(b, "</section>\n");
}

static void head(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "<header><h1>");
	trk__html_rich(b, d->job);
	trk__buf_printf(b, "</h1> <span class=\"state %s\">%s</span>\n<p class=\"facts\">",
			trk__html_tones[d->state_tone], d->state);
	element(b, "<code>", d->command, "</code> \u00b7 ");
	element(b, "run <code>", d->id, "</code> \u00b7 ");
	trk__html_rich(b, d->facts);
	trk__buf_printf(
		b,
		"</p></header>\n<main>\n<div class=\"first\"><section id=\"verdict\" class=\"%s\" "
		"aria-label=\"Verdict\"><p class=\"lead\"><span class=\"symbol\" "
		"aria-hidden=\"true\">%s</span> ",
		trk__html_tones[d->lead_tone], d->symbol);
	trk__html_rich(b, d->lead);
	trk__buf_puts(b, "</p>\n");
	element(b, "<p class=\"trouble\">", d->trouble, "</p>\n");
	element(b, "<p class=\"basis\">", d->basis, "</p>\n");
	trk__buf_puts(b, "</section>\n");
	next_request(b, d);
	trk__buf_puts(b, "</div>\n");
}

void trk__write_html(struct trk_buf *b, const struct trk_doc *d)
{
	start(b, d);
	contents(b, d);
	head(b, d);
	for (size_t i = 0; i < d->sections; i++)
		section(b, d, &d->section[i]);
	trk__buf_puts(b, "</main>\n<footer><p>resource-tracker " TRK_BUILD_VERSION " \u00b7 ");
	element(b, "from <code>", d->integration, "</code> \u00b7 ");
	trk__buf_puts(b, "this file is self-contained and loads nothing from the network");
	if (d->raw) {
		trk__buf_puts(b, "</p><p class=\"raw\" hidden><button type=\"button\" "
				 "id=\"save\">Save the recording</button> all samples, for "
				 "resource-tracker export");
	}
	trk__buf_puts(b, "</p></footer>\n");
	trk__buf_puts(b, if_stacks(d, "<script>"));
	trk__buf_puts(b, if_stacks(d, trk__lines_page_js));
	trk__buf_puts(b, if_stacks(d, "</script>\n"));
	if (d->charts)
		data(b, d);
	if (d->raw) {
		trk__buf_puts(b, "<script type=\"application/octet-stream;base64\" id=\"raw\">");
		trk__buf_base64(b, d->raw, d->raw_len);
		trk__buf_puts(b, "</script>\n");
	}
	trk__buf_puts(b, "<script>");
	trk__buf_puts(b, trk__page_js);
	trk__buf_puts(b, "</script>\n</body></html>\n");
}
