/* The page: one file that asks for nothing, with a policy that lets it ask for nothing. All of it can
 * be read without its script, which adds the crosshair, the zoom and the copy buttons. */
#include <stdio.h>
#include <string.h>

#include "report/report_private.h"

static const char *const tones[] = {"", "strong", "good", "bad", "warn", "muted"};

void trk__report_html_text(struct trk_buf *b, const char *text)
{
	for (; *text; text++) {
		size_t plain = strcspn(text, "&<>\"'\x01\x02\x03\x04");

		trk__buf_add(b, text, plain);
		text += plain;
		switch (*text) {
		case '\0':
			return;
		case '&':
			trk__buf_puts(b, "&amp;");
			break;
		case '<':
			trk__buf_puts(b, "&lt;");
			break;
		case '>':
			trk__buf_puts(b, "&gt;");
			break;
		case '"':
			trk__buf_puts(b, "&quot;");
			break;
		case '\'':
			trk__buf_puts(b, "&#39;");
			break;
		default: /* a mark */
			break;
		}
	}
}

/* Text with its marks as elements. */
static void rich(struct trk_buf *b, const char *text)
{
	static const char *const elements[] = {"<strong>", "</strong>", "<bdi>", "</bdi>"};

	char piece[256];

	while (*text) {
		size_t plain = strcspn(text, "\x01\x02\x03\x04");

		if (plain >= sizeof(piece))
			plain = sizeof(piece) - 1;
		memcpy(piece, text, plain);
		piece[plain] = '\0';
		trk__report_html_text(b, piece);
		text += plain;
		if (*text && (unsigned char) *text <= 4)
			trk__buf_puts(b, elements[*text++ - 1]);
	}
}

static void element(struct trk_buf *b, const char *open, const char *text, const char *close)
{
	if (!text || !*text)
		return;
	trk__buf_puts(b, open);
	rich(b, text);
	trk__buf_puts(b, close);
}

/* ---- tables ---- */

/* label: of the column, for windows so narrow that a row is a card; or NULL. */
static void cell(struct trk_buf *b, const struct trk_report_cell *c, enum trk_report_kind kind,
		 const char *label, bool head)
{
	bool right = kind == TRK_CELL_NUMBER;

	trk__buf_printf(b, "<%s", head ? "th scope=\"row\"" : "td");
	if (label && !head) {
		trk__buf_puts(b, " data-label=\"");
		trk__report_html_text(b, label);
		trk__buf_putc(b, '"');
	}
	if (right || c->tone || kind == TRK_CELL_BAR || !c->text)
		trk__buf_printf(b, " class=\"%s%s%s\"",
				right                  ? "n"
				: kind == TRK_CELL_BAR ? "b"
				: !c->text             ? "none"
						       : "",
				c->tone ? " " : "", tones[c->tone]);
	trk__buf_putc(b, '>');
	if (!c->text) {
		trk__buf_puts(b, "\u2014");
	} else {
		if (kind == TRK_CELL_BAR)
			trk__report_svg_bar(b, c->value, c->second);
		if (kind == TRK_CELL_CODE)
			trk__buf_puts(b, "<code>");
		rich(b, c->text);
		if (kind == TRK_CELL_CODE)
			trk__buf_puts(b, "</code>");
	}
	trk__buf_puts(b, head ? "</th>" : "</td>");
}

static void rows_of(struct trk_buf *b, const struct trk_report_table *t, bool cards)
{
	for (size_t i = 0; i < t->rows; i++) {
		trk__buf_puts(b, "<tr>");
		for (size_t c = 0; c < t->columns; c++)
			cell(b, &t->cell[i * t->columns + c], t->column[c].kind,
			     cards ? t->column[c].title : NULL, c == 0);
		trk__buf_puts(b, "</tr>\n");
	}
}

static void table(struct trk_buf *b, const struct trk_report_section *s,
		  const struct trk_report_table *t)
{
	/* The charts' values are a grid of numbers: that stays one. */
	bool cards = strcmp(t->key, "slices") != 0;

	if (!t->rows)
		return;
	if (t->folded)
		trk__buf_printf(b, "<details><summary>%s</summary>", t->title);
	trk__buf_printf(b,
			"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
			"<table class=\"%s%s\"><thead><tr>",
			t->folded ? t->title : s->title, cards ? "cards " : "", t->key);
	for (size_t c = 0; c < t->columns; c++) {
		trk__buf_printf(b, "<th scope=\"col\"%s>",
				t->column[c].kind == TRK_CELL_NUMBER ? " class=\"n\"" : "");
		rich(b, t->column[c].title);
		trk__buf_puts(b, "</th>");
	}
	trk__buf_puts(b, "</tr></thead><tbody>\n");
	rows_of(b, t, cards);
	trk__buf_printf(b, "</tbody></table></div>%s\n", t->folded ? "</details>" : "");
}

/* ---- what single sections have beside tables ---- */

static void snippets(struct trk_buf *b, const struct trk_report *r)
{
	if (!r->snippets)
		return;
	trk__buf_puts(b, "<div class=\"copy\" hidden><span>Copy for</span>");
	for (size_t i = 0; i < r->snippets; i++)
		trk__buf_printf(b, "<button type=\"button\" data-copy=\"snippet-%s\">%s</button>",
				r->snippet[i].kind, r->snippet[i].title);
	trk__buf_puts(b, "<span role=\"status\" class=\"copied\"></span></div>"
			 "<details><summary>Lines to paste</summary>");
	for (size_t i = 0; i < r->snippets; i++) {
		trk__buf_printf(b,
				"<h3>%s</h3><pre tabindex=\"0\" aria-label=\"%s\" "
				"id=\"snippet-%s\">",
				r->snippet[i].title, r->snippet[i].title, r->snippet[i].kind);
		rich(b, r->snippet[i].text);
		trk__buf_puts(b, "</pre>\n");
	}
	trk__buf_puts(b, "</details>\n");
}

static void wall(struct trk_buf *b, const struct trk_report *r)
{
	if (!r->walls)
		return;
	trk__report_svg_wall(b, r);
	trk__buf_puts(b, "<ul class=\"legend\">");
	for (size_t i = 0; i < r->walls; i++)
		trk__buf_printf(b,
				"<li><svg class=\"key\" width=\"14\" height=\"14\" "
				"aria-hidden=\"true\"><rect class=\"item %s\" width=\"14\" "
				"height=\"14\"/></svg> %s <strong>%s</strong></li>",
				r->wall[i].key, r->wall[i].name, r->wall[i].text);
	trk__buf_puts(b, "</ul>\n");
}

static void chart(struct trk_buf *b, const struct trk_report *r, const struct trk_report_chart *c)
{
	trk__buf_printf(b, "<figure class=\"chart\"><figcaption><strong>%s</strong>", c->title);
	for (size_t i = 0; i < c->count; i++) {
		const struct trk_report_series *s = &c->series[i];

		trk__buf_printf(b, "<span class=\"stats %s\">%s%s", s->is_job ? "job" : "machine",
				s->is_job ? "" : s->name, s->is_job ? "" : " ");
		rich(b, s->text);
		trk__buf_puts(b, "</span>");
	}
	trk__buf_printf(b, "<span class=\"read\"></span></figcaption><div class=\"frame\" "
			   "role=\"img\" aria-label=\"");
	trk__report_html_text(b, c->summary);
	trk__buf_puts(b, "\">");
	trk__report_svg_chart(b, r, c);
	trk__buf_printf(b, "<span class=\"top\">%s</span>", c->top_text);
	if (c->limit_text)
		trk__buf_printf(b, "<span class=\"limit%s\">%s</span>",
				c->limit > 0.85 * c->top ? ""
				: isnan(c->limit)        ? " far"
							 : " low",
				c->limit_text);
	trk__buf_puts(b, "</div></figure>\n");
}

static void timeline(struct trk_buf *b, const struct trk_report *r)
{
	if (!r->charts)
		return;
	trk__buf_puts(b,
		      "<div class=\"tools\" hidden><button type=\"button\" id=\"zoom-in\">Zoom "
		      "in</button><button type=\"button\" id=\"zoom-out\">Zoom out</button>"
		      "<button type=\"button\" id=\"reset\">Whole run</button><span id=\"range\" "
		      "role=\"status\"></span></div>\n<div class=\"charts\" id=\"charts\">");
	if (r->phases)
		trk__report_svg_phases(b, r);
	for (size_t i = 0; i < r->charts; i++)
		chart(b, r, &r->chart[i]);
	trk__buf_puts(b, "<div class=\"axis\">");
	for (int i = 0; i < TRK_REPORT_TICKS; i++)
		trk__buf_printf(b, "<span>%s</span>", r->tick[i]);
	trk__buf_puts(
		b, "</div></div>\n<p class=\"note help\" hidden>Drag to zoom, double-click "
		   "to see the whole run. With the charts in focus: arrow keys move the line, "
		   "+ and \u2212 zoom, 0 shows the whole run. The address keeps the range.</p>\n");
}

static void section(struct trk_buf *b, const struct trk_report *r, int part)
{
	const struct trk_report_section *s = &r->part[part];

	trk__buf_printf(b, "<section id=\"%s\"><h2>%s</h2>\n", s->key, s->title);
	for (size_t i = 0; i < s->lines; i++)
		element(b, s->empty ? "<p class=\"empty\">" : "<p>", s->line[i], "</p>\n");
	if (part == TRK_PART_WALL)
		wall(b, r);
	if (part == TRK_PART_TIMELINE)
		timeline(b, r);
	for (size_t i = 0; i < s->tables; i++)
		table(b, s, &s->table[i]);
	if (part == TRK_PART_SIZING)
		snippets(b, r);
	for (size_t i = 0; i < s->notes; i++)
		element(b, "<p class=\"note\">", s->note[i], "</p>\n");
	trk__buf_puts(b, "</section>\n");
}

/* ---- the page ---- */

static void base64(struct trk_buf *b, const unsigned char *data, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned int word = (unsigned int) data[i] << 16;

		word |= left > 1 ? (unsigned int) data[i + 1] << 8 : 0;
		word |= left > 2 ? data[i + 2] : 0;
		trk__buf_putc(b, digits[word >> 18 & 63]);
		trk__buf_putc(b, digits[word >> 12 & 63]);
		trk__buf_putc(b, left > 1 ? digits[word >> 6 & 63] : '=');
		trk__buf_putc(b, left > 2 ? digits[word & 63] : '=');
	}
}

static void start(struct trk_buf *b, const struct trk_report *r)
{
	char live[80] = "";

	if (r->live_s > 0)
		(void) snprintf(live, sizeof(live), " data-live=\"%.3f\" data-last=\"%.3f\"",
				r->live_s, r->last_s);
	trk__buf_printf(
		b,
		"<!doctype html>\n<html lang=\"en\"%s><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		live, trk__report_css_hash, trk__report_js_hash);
	trk__report_html_text(b, r->job);
	trk__buf_puts(b, " \u00b7 ");
	trk__report_html_text(b, r->state);
	/* Not by printf, which takes a long text apart. */
	trk__buf_puts(b, "</title>\n<style>");
	trk__buf_puts(b, trk__report_css);
	trk__buf_puts(b, "</style></head>\n<body>");
}

static void head(struct trk_buf *b, const struct trk_report *r)
{
	trk__buf_puts(b, "<header><h1>");
	rich(b, r->job);
	trk__buf_printf(b, "</h1> <span class=\"state %s\">%s</span>\n<p class=\"facts\">",
			tones[r->state_tone], r->state);
	element(b, "<code>", r->command, "</code> \u00b7 ");
	element(b, "run <code>", r->id, "</code> \u00b7 ");
	rich(b, r->facts);
	trk__buf_printf(b,
			"</p></header>\n<main>\n<section id=\"verdict\" class=\"%s\" "
			"aria-label=\"Verdict\"><p class=\"lead\"><span class=\"symbol\" "
			"aria-hidden=\"true\">%s</span> ",
			tones[r->verdict_tone], r->symbol);
	rich(b, r->lead);
	trk__buf_puts(b, "</p>\n");
	element(b, "<p class=\"trouble\">", r->trouble, "</p>\n");
	element(b, "<p class=\"basis\">", r->basis, "</p>\n");
	trk__buf_puts(b, "</section>\n");
}

void trk__report_html(struct trk_buf *b, const struct trk_report *r)
{
	start(b, r);
	head(b, r);
	for (int i = 0; i < TRK_PARTS; i++)
		section(b, r, i);
	trk__buf_puts(b, "</main>\n<footer><p>resource-tracker " TRK_BUILD_VERSION
			 " \u00b7 this file holds all that it shows and asks no network");
	if (r->raw) {
		trk__buf_puts(b, "</p><p class=\"raw\" hidden><button type=\"button\" "
				 "id=\"save\">Save the recording</button> all samples, for "
				 "resource-tracker export");
	}
	trk__buf_puts(b, "</p></footer>\n");
	if (r->charts)
		trk__report_html_data(b, r);
	if (r->raw) {
		trk__buf_puts(b, "<script type=\"application/octet-stream;base64\" id=\"raw\">");
		base64(b, r->raw, r->raw_len);
		trk__buf_puts(b, "</script>\n");
	}
	trk__buf_puts(b, "<script>");
	trk__buf_puts(b, trk__report_js);
	trk__buf_puts(b, "</script>\n</body></html>\n");
}
