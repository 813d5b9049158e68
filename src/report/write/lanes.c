/* The lanes of processes as HTML: a row of figures, and a drawing with 2 units of width per bucket,
 * so that the script zooms it like the charts by the view box. Its height is in screen pixels. */
#include <math.h>

#include "report/write/html_text.h"
#include "report/write/page.h"

enum { BAR = 18, SMALL_BAR = 13, GAP = 2, DENSITY = 24, NAMED_BARS = 12 };

static int bar_height(const struct trk_doc_lane *l)
{
	return l->rows > 1 ? SMALL_BAR : BAR;
}

static int height_of(const struct trk_doc_lane *l)
{
	int height = (int) l->rows * (bar_height(l) + GAP);

	height += l->alive_most ? DENSITY : 0;
	return height > 0 ? height : BAR + GAP;
}

/* Draw steps of whole pixels from a base line, between two edges: `most` has the height
 * `height`. */
static void draw_steps(struct trk_buf *b, const uint16_t *value, size_t first, size_t count,
		       double from, double to, double most, int height, int base)
{
	int was = 0;

	trk__buf_printf(b, "M%.6g %d", from, base);
	for (size_t i = 0; i < count; i++) {
		int now = (int) (value[i] / most * height + 0.5);

		if (now != was) {
			if (i)
				trk__buf_printf(b, "H%zu", 2 * (first + i));
			trk__buf_printf(b, "V%d", base - now);
		}
		was = now;
	}
	trk__buf_printf(b, "H%.6gV%dz", to, base);
}

static void draw_many(struct trk_buf *b, const struct trk_doc *d, const uint16_t *value,
		      double most, int height, int base)
{
	trk__buf_puts(b, "<path class=\"many\" d=\"");
	draw_steps(b, value, 0, d->buckets, 0, 2.0 * (double) d->buckets, most, height, base);
	trk__buf_puts(b, "\"/>");
}

/* Write start, length and mean CPU use of each: four, three and one characters. */
static void write_briefs(struct trk_buf *b, const struct trk_doc_lane *l)
{
	const double parts = 1 << 24;

	trk__buf_printf(b, " data-of=\"%zu\" data-brief=\"", l->others);
	for (size_t i = 0; i < l->briefs; i++) {
		const struct trk_doc_brief *one = &l->brief[i];
		double from = one->from * (parts - 1), length = (one->to - one->from) * parts;
		double use = one->cores < 1 ? one->cores * 63 : 63;

		trk__html_packed(b, (uint32_t) from, 4);
		trk__html_packed(b, length < (1 << 18) - 1 ? (uint32_t) length : (1 << 18) - 1, 3);
		trk__html_packed(b, (uint32_t) use, 1);
	}
	trk__buf_putc(b, '"');
}

static void title(struct trk_buf *b, const struct trk_doc_bar *bar)
{
	trk__buf_puts(b, "<title>");
	trk__html_text(b, bar->text);
	trk__buf_puts(b, "</title>");
}

static void draw_bar(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_bar *bar,
		     int height, int top, bool named)
{
	double units = 2.0 * (double) d->buckets, wide = (bar->to - bar->from) * units;

	trk__buf_printf(b, "<path class=\"whole\" d=\"M%.1f %dh%.2fv%dH%.1fz\"", bar->from * units,
			top, wide > 0.1 ? wide : 0.1, height, bar->from * units);
	if (named) {
		trk__buf_putc(b, '>');
		title(b, bar);
		trk__buf_puts(b, "</path>");
	} else {
		trk__buf_puts(b, "/>");
	}
	if (!bar->use || !bar->count)
		return;
	trk__buf_puts(b, "<path class=\"use\" d=\"");
	draw_steps(b, bar->use, bar->first, bar->count, bar->from * units, bar->to * units,
		   TRK_DOC_STEPS, height, top + height);
	trk__buf_puts(b, "\"/>");
}

static void open_drawing(struct trk_buf *b, const struct trk_doc *d, int height)
{
	trk__buf_printf(b,
			"<svg class=\"bars\" viewBox=\"0 0 %zu %d\" height=\"%d\" "
			"preserveAspectRatio=\"none\" aria-hidden=\"true\"",
			2 * d->buckets, height, height);
}

static void drawing(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_lane *l)
{
	int height = height_of(l), each = bar_height(l);

	open_drawing(b, d, height);
	if (l->briefs)
		write_briefs(b, l);
	trk__buf_putc(b, '>');
	for (size_t i = 0; i < l->bars; i++)
		draw_bar(b, d, &l->bar[i], each, (int) l->bar[i].row * (each + GAP),
			 l->bars <= NAMED_BARS);
	if (l->alive_most)
		draw_many(b, d, l->alive, l->alive_most, DENSITY - 3, height - 1);
	else if (!l->bars && l->use)
		draw_many(b, d, l->use, TRK_DOC_STEPS, height - 2, height - 1);
	trk__buf_puts(b, "</svg>");
}

static void figure(struct trk_buf *b, const char *text)
{
	trk__buf_puts(b, "<span class=\"n\">");
	trk__html_text(b, text ? text : "");
	trk__buf_puts(b, "</span>");
}

static void row(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_lane *l)
{
	trk__buf_printf(b,
			"<span class=\"what\"><svg class=\"key\" width=\"11\" height=\"11\" "
			"aria-hidden=\"true\"><rect class=\"area p%d\" width=\"11\" height=\"11\"/>"
			"</svg> ",
			l->color);
	trk__html_rich(b, l->name);
	trk__buf_puts(b, "</span>");
	figure(b, l->count);
	figure(b, l->cpu);
	figure(b, l->memory);
	trk__buf_puts(b, "<span class=\"full\">");
	if (l->alive_most)
		trk__buf_printf(b, "up to %u", l->alive_most);
	else if (l->bars)
		trk__html_text(b, l->cores_text);
	trk__buf_puts(b, "</span>");
	drawing(b, d, l);
}

static void member(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_bar *bar)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_puts(b, "<div class=\"row one\"><code class=\"what\">");
	trk__html_rich(b, bar->text);
	trk__buf_puts(b, "</code><span class=\"n\"></span>");
	figure(b, trk__human_seconds(text, bar->cpu_s));
	figure(b, isnan(bar->peak_mib) ? NULL : trk__human_memory(text, bar->peak_mib));
	trk__buf_puts(b, "<span class=\"full\"></span>");
	open_drawing(b, d, SMALL_BAR);
	trk__buf_putc(b, '>');
	draw_bar(b, d, bar, SMALL_BAR - 1, 0, false);
	trk__buf_puts(b, "</svg></div>\n");
}

static void lane(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_lane *l)
{
	if (!l->members) {
		trk__buf_printf(b, "<div class=\"lane p%d\"><div class=\"row\">", l->color);
		row(b, d, l);
		trk__buf_puts(b, "</div></div>\n");
		return;
	}
	trk__buf_printf(b, "<details class=\"lane p%d\"><summary class=\"row\">", l->color);
	row(b, d, l);
	trk__buf_puts(b, "</summary>\n");
	for (size_t i = 0; i < l->members; i++)
		member(b, d, &l->member[i]);
	if (l->more)
		trk__buf_printf(b, "<p class=\"note\">%s</p>\n", l->more);
	trk__buf_puts(b, "</details>\n");
}

void trk__html_axis(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "<svg class=\"axis\" width=\"100%\" height=\"19\">");
	for (size_t i = 0; i < d->ticks; i++)
		trk__buf_printf(
			b,
			"<svg class=\"tick\" x=\"%.3f%%\" overflow=\"visible\"><path d=\"M0 0V4\"/>"
			"<text class=\"when\" y=\"15\" text-anchor=\"%s\">%s</text></svg>",
			d->tick[i].at * 100,
			d->tick[i].at < 0.02   ? "start"
			: d->tick[i].at > 0.97 ? "end"
					       : "middle",
			d->tick[i].text);
	trk__buf_puts(b, "</svg>");
}

void trk__html_lanes(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "<div class=\"lanes\" id=\"lanes\"><div class=\"row head\" "
			 "aria-hidden=\"true\"><span class=\"what\">Program</span><span "
			 "class=\"n\">Count</span><span class=\"n\">CPU</span><span class=\"n\">"
			 "Memory</span></div>\n");
	for (size_t i = 0; i < d->lanes; i++)
		lane(b, d, &d->lane[i]);
	trk__html_axis(b, d);
	trk__buf_puts(b, "</div>\n");
}
