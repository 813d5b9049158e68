/* A chart has 2 units of width per bucket and a height of 160 units, for any size on the screen.
 * Whole units keep the file small, and zooming only changes the view box. */
#include "report/write/svg.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "report/write/html_text.h"

enum {
	HEIGHT = 160,
	ROOM = 3,
	NAME_HEIGHT = 24, /* px that the name of an area needs */
	PLOT_WIDTH = 830, /* px, of a chart on a wide screen */
};

#define LETTER 6.8 /* px, the mean width of a letter of a name */

/* ---- charts ---- */

/* A path being written: equal heights are merged into one stroke, repeated commands omit their
 * letter. */
struct pen {
	struct trk_buf *b;
	long flat;  /* pending units of a horizontal stroke */
	bool slope; /* the last command was a slope */
};

static int height_of(uint16_t step)
{
	return HEIGHT - (step * HEIGHT + TRK_DOC_STEPS / 2) / TRK_DOC_STEPS;
}

static void pen_flush(struct pen *p)
{
	if (p->flat) {
		trk__buf_putc(p->b, 'h');
		trk__buf_integer(p->b, p->flat);
		p->slope = false;
	}
	p->flat = 0;
}

static void pen_step(struct pen *p, int dx, int dy)
{
	if (dy == 0) {
		p->flat += dx;
		return;
	}
	pen_flush(p);
	trk__buf_puts(p->b, p->slope ? (dx < 0 ? "" : " ") : "l");
	trk__buf_integer(p->b, dx);
	if (dy >= 0)
		trk__buf_putc(p->b, ' ');
	trk__buf_integer(p->b, dy);
	p->slope = true;
}

/* The end of the known values from bucket `at` on. */
static size_t run_end(const uint16_t *value, size_t at, size_t n)
{
	while (at < n && value[at] != TRK_DOC_GAP)
		at++;
	return at;
}

static void draw_forward(struct pen *p, const uint16_t *value, size_t from, size_t to)
{
	p->flat = 1;
	for (size_t i = from + 1; i < to; i++)
		pen_step(p, 2, height_of(value[i]) - height_of(value[i - 1]));
	p->flat++;
	pen_flush(p);
}

static void draw_back(struct pen *p, const uint16_t *value, size_t from, size_t to)
{
	p->flat = -1;
	p->slope = false;
	for (size_t i = to - 1; i > from; i--)
		pen_step(p, -2, height_of(value[i - 1]) - height_of(value[i]));
	p->flat--;
	pen_flush(p);
}

static void draw_line(struct trk_buf *b, const uint16_t *value, size_t n)
{
	for (size_t at = 0, end; at < n; at = end + 1) {
		struct pen p = {b, 0, false};

		end = run_end(value, at, n);
		if (end == at)
			continue;
		trk__buf_printf(b, "M%zu %d", 2 * at, height_of(value[at]));
		draw_forward(&p, value, at, end);
	}
}

/* Draw the area between two lists of heights, where `known` is set. */
static void draw_between(struct trk_buf *b, const uint16_t *high, const uint16_t *low,
			 const uint16_t *known, size_t n)
{
	for (size_t at = 0, end; at < n; at = end + 1) {
		struct pen p = {b, 0, false};

		end = run_end(known, at, n);
		if (end == at)
			continue;
		trk__buf_printf(b, "M%zu %d", 2 * at, height_of(high[at]));
		draw_forward(&p, high, at, end);
		trk__buf_printf(b, "V%d", height_of(low[end - 1]));
		draw_back(&p, low, at, end);
		trk__buf_putc(b, 'z');
	}
}

static void draw_series(struct trk_buf *b, const struct trk_doc_series *s, size_t n, bool alone,
			bool stacked)
{
	const char *name = s->is_job ? "job" : alone ? "machine alone" : "machine";

	if (s->has_band && !stacked && (s->is_job || alone)) {
		trk__buf_printf(b, "<path class=\"band %s\" d=\"", name);
		draw_between(b, s->max, s->min, s->avg, n);
		trk__buf_puts(b, "\"/>");
	}
	trk__buf_printf(b, "<path class=\"line %s\" d=\"", name);
	draw_line(b, s->avg, n);
	trk__buf_puts(b, "\"/>");
}

static void draw_area(struct trk_buf *b, const struct trk_doc_area *a, size_t n)
{
	trk__buf_printf(b, "<path class=\"area p%d\" d=\"", a->color);
	draw_between(b, a->high, a->low, a->high, n);
	trk__buf_puts(b, "\"/>");
}

/* Textures distinguish the programs without colour. */
void trk__svg_patterns(struct trk_buf *b)
{
	trk__buf_puts(
		b, "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
		   "<pattern id=\"p2\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
		   "patternTransform=\"rotate(45)\"><rect class=\"g p2\" width=\"8\" height=\"8\"/>"
		   "<rect class=\"t p2\" width=\"1.6\" height=\"8\"/></pattern>"
		   "<pattern id=\"p3\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
		   "<rect class=\"g p3\" width=\"8\" height=\"8\"/><circle class=\"t p3\" cx=\"4\" "
		   "cy=\"4\" r=\"1\"/></pattern>"
		   "<pattern id=\"p4\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
		   "<rect class=\"g p4\" width=\"8\" height=\"8\"/><rect class=\"t p4\" y=\"3\" "
		   "width=\"8\" height=\"1\"/></pattern>"
		   "<pattern id=\"p5\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
		   "<rect class=\"g p5\" width=\"8\" height=\"8\"/><rect class=\"t p5\" x=\"3\" "
		   "width=\"1.2\" height=\"8\"/></pattern></defs></svg>");
}

/* Position of a value in the frame, in percent from the top. */
static double place_of(const struct trk_doc_chart *c, double value)
{
	return (ROOM + HEIGHT * (1 - value / c->top)) / (HEIGHT + 2 * ROOM) * 100;
}

/* ---- names in areas ---- */

/* Height of the area that is free over `width` buckets from `at` on, in steps; *ret_middle: its
 * middle. */
static int room_at(const struct trk_doc_area *a, size_t at, size_t width, double *ret_middle)
{
	int top = TRK_DOC_STEPS, base = 0;

	for (size_t i = at; i < at + width; i++) {
		if (a->high[i] == TRK_DOC_GAP)
			return 0;
		top = a->high[i] < top ? a->high[i] : top;
		base = a->low[i] > base ? a->low[i] : base;
	}
	*ret_middle = (top + base) / 2.0;
	return top - base;
}

/* Write the name in the middle of the longest stretch with at least 60 % of the maximum height; not
 * if a line of text does not fit. */
static void name_area(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c,
		      const struct trk_doc_area *a)
{
	size_t width = (size_t) ((LETTER * (double) strlen(a->name) + LETTER) *
				 (double) d->buckets / PLOT_WIDTH) +
		       1;
	size_t longest = 0, middle_at = 0;
	int most = NAME_HEIGHT * TRK_DOC_STEPS / HEIGHT;
	double middle = 0, share;

	for (size_t i = 0; i + width <= d->buckets; i++) {
		int room = room_at(a, i, width, &middle);

		most = room > most ? room : most;
	}
	for (size_t i = 0, start = 0; i + width <= d->buckets; i++) {
		int room = room_at(a, i, width, &middle);

		if (room * 5 < most * 3 || room < NAME_HEIGHT * TRK_DOC_STEPS / HEIGHT) {
			start = i + 1;
		} else if (i + 1 - start > longest) {
			longest = i + 1 - start;
			middle_at = start + longest / 2;
		}
	}
	if (!longest)
		return;
	(void) room_at(a, middle_at, width, &middle);
	share = ((double) middle_at + (double) width / 2) / (double) d->buckets;
	trk__buf_printf(b, "<text class=\"program\" x=\"%.1f%%\" y=\"%.1f%%\" dy=\".35em\">",
			share * 100, place_of(c, middle / TRK_DOC_STEPS * c->top));
	trk__html_text(b, a->name);
	trk__buf_puts(b, "</text>");
}

void trk__svg_levels(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__buf_puts(b, "<svg class=\"levels\" width=\"100%\" height=\"100%\" "
			 "aria-hidden=\"true\">");
	for (size_t i = 0; i < c->levels; i++)
		trk__buf_printf(b, "<text x=\"-7\" y=\"%.1f%%\" dy=\".35em\">%s</text>",
				place_of(c, c->level[i].at), c->level[i].text);
	if (c->is_large)
		trk__buf_printf(b, "<text x=\"-7\" y=\"%.1f%%\" dy=\".2em\">0</text>",
				place_of(c, 0));
	for (size_t i = 0; i < c->areas; i++)
		name_area(b, d, c, &c->area[i]);
	for (size_t i = 0; i < d->odds; i++)
		if (!strcmp(d->odd[i].key, c->key))
			trk__buf_printf(b, "<text class=\"odd\" x=\"%.2f%%\" y=\"15\">%s</text>",
					d->odd[i].at * 100, d->odd[i].number);
	if (c->limit_text && !c->is_far) {
		double y = place_of(c, c->limit);

		trk__buf_printf(b,
				"<text class=\"limit\" x=\"100%%\" dx=\"-5\" y=\"%.1f%%\" "
				"dy=\"%s\">",
				y, y < 16 ? "1.1em" : "-.35em");
		trk__html_text(b, c->limit_text);
		trk__buf_puts(b, "</text>");
	}
	trk__buf_puts(b, "</svg>");
}

void trk__svg_chart(struct trk_buf *b, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	size_t width = 2 * d->buckets;

	trk__buf_printf(b,
			"<svg class=\"plot\" viewBox=\"0 %d %zu %d\" preserveAspectRatio=\"none\" "
			"aria-hidden=\"true\"><path class=\"grid\" d=\"",
			-ROOM, width, HEIGHT + 2 * ROOM);
	for (size_t i = 0; i < c->levels; i++)
		trk__buf_printf(b, "M0 %.1fH%zu", HEIGHT * (1 - c->level[i].at / c->top), width);
	trk__buf_puts(b, "\"/>");
	for (size_t i = 0; i < c->areas; i++)
		draw_area(b, &c->area[i], d->buckets);
	if (c->usual) {
		trk__buf_puts(b, "<path class=\"usual\" d=\"");
		draw_between(b, c->usual->high, c->usual->low, c->usual->high, d->buckets);
		trk__buf_puts(b, "\"/><path class=\"usual halo\" d=\"");
		draw_line(b, c->usual->middle, d->buckets);
		trk__buf_puts(b, "\"/><path class=\"usual middle\" d=\"");
		draw_line(b, c->usual->middle, d->buckets);
		trk__buf_puts(b, "\"/>");
	}
	trk__buf_printf(b, "<path class=\"floor\" d=\"M0 %dH%zu\"/>", HEIGHT, width);
	for (size_t i = c->count; i-- > 0;)
		draw_series(b, &c->series[i], d->buckets, c->count == 1, c->areas > 0);
	if (!isnan(c->limit))
		trk__buf_printf(b, "<path class=\"limit\" d=\"M0 %.1fH%zu\"/>",
				HEIGHT - c->limit / c->top * HEIGHT, width);
	if (d->phases) {
		trk__buf_puts(b, "<path class=\"mark\" d=\"");
		for (size_t i = 0; i < d->phases; i++)
			if (d->phase[i].from > 0)
				trk__buf_printf(b, "M%.1f %dv%d", d->phase[i].from * (double) width,
						-ROOM, HEIGHT + 2 * ROOM);
		trk__buf_puts(b, "\"/>");
	}
	trk__buf_puts(b, "</svg>");
}

/* Whether name and length of a phase fit, by an upper bound of their width in a strip of usual
 * width; the script measures exactly. */
static const char *room_for(const struct trk_doc_phase *p)
{
	double room = (p->to - p->from) * 1000 - 12;
	double name = 7.5 * (double) strlen(p->name);

	return room < name                                        ? "bare"
	       : room < name + 6.5 * (double) strlen(p->text) + 4 ? "brief"
								  : "";
}

void trk__svg_phases(struct trk_buf *b, const struct trk_doc *d)
{
	trk__buf_puts(b, "<svg class=\"phases\" width=\"100%\" height=\"24\" role=\"img\" "
			 "aria-label=\"Phases: ");
	for (size_t i = 0; i < d->phases; i++) {
		trk__buf_puts(b, i ? ", " : "");
		trk__html_text(b, d->phase[i].name);
		trk__buf_printf(b, " %s", d->phase[i].text);
	}
	trk__buf_puts(b, "\">");
	for (size_t i = 0; i < d->phases; i++) {
		trk__buf_printf(b,
				"<svg class=\"%s\" x=\"%.3f%%\" width=\"%.3f%%\" "
				"height=\"24\"><rect width=\"100%%\" height=\"24\"/><text "
				"x=\"6\" y=\"16\"><tspan class=\"name\">",
				room_for(&d->phase[i]), d->phase[i].from * 100,
				(d->phase[i].to - d->phase[i].from) * 100);
		trk__html_text(b, d->phase[i].name);
		trk__buf_printf(b, "</tspan><tspan class=\"long\"> %s</tspan></text></svg>",
				d->phase[i].text);
	}
	trk__buf_puts(b, "</svg>");
}

static double within(double share)
{
	return share >= 1 ? 100 : share > 0 ? share * 100 : 0;
}

void trk__svg_bar(struct trk_buf *b, double peak, double mean)
{
	trk__buf_printf(b,
			"<svg class=\"bar\" width=\"104\" height=\"14\" aria-hidden=\"true\"><rect "
			"class=\"box\" x=\".5\" y=\"3.5\" width=\"103\" height=\"8\"/>");
	if (mean > 0)
		trk__buf_printf(b, "<rect class=\"fill\" y=\"4\" width=\"%.1f\" height=\"7\"/>",
				within(mean) * 1.04);
	if (peak >= 0 && peak != mean)
		trk__buf_printf(
			b, "<rect class=\"tick\" x=\"%.1f\" y=\"1\" width=\"2\" height=\"13\"/>",
			within(peak) * 1.02);
	trk__buf_puts(b, "</svg>");
}

/* Each item has a pattern in addition to its colour. */
static const char wall_patterns[] =
	"<defs><pattern id=\"w-disk\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
	"patternTransform=\"rotate(45)\"><rect class=\"ground\" width=\"7\" height=\"7\"/><rect "
	"class=\"disk\" width=\"4\" height=\"7\"/></pattern>"
	"<pattern id=\"w-memory_stall\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
	"<rect class=\"ground\" width=\"6\" height=\"6\"/><circle class=\"memory_stall\" cx=\"3\" "
	"cy=\"3\" r=\"2\"/></pattern>"
	"<pattern id=\"w-cpu_wait\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect "
	"class=\"ground\" width=\"5\" height=\"5\"/><rect class=\"cpu_wait\" width=\"2\" "
	"height=\"5\"/></pattern>"
	"<pattern id=\"w-gpu\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
	"class=\"ground\" width=\"6\" height=\"6\"/><path class=\"gpu\" "
	"d=\"M0 0H6V2H0zM0 2H2V6H0z\"/></pattern></defs>";

void trk__svg_parts(struct trk_buf *b, const struct trk_doc_part *part, size_t count)
{
	double at = 0;

	trk__buf_puts(b, "<svg class=\"wall\" width=\"100%\" height=\"26\" role=\"img\" "
			 "aria-label=\"");
	for (size_t i = 0; i < count; i++)
		trk__buf_printf(b, "%s%s %s", i ? "; " : "", part[i].name, part[i].text);
	trk__buf_printf(b, "\">%s", wall_patterns);
	for (size_t i = 0; i < count; i++) {
		trk__buf_printf(b,
				"<rect class=\"item %s\" x=\"%.2f%%\" width=\"%.2f%%\" "
				"height=\"26\"/>",
				part[i].key, at, part[i].share * 100);
		at += part[i].share * 100;
	}
	trk__buf_puts(b, "</svg>");
}

/* ---- lanes ---- */

/* The lanes of processes: a row of figures, and a drawing with 2 units of width per bucket, so that
 * the script zooms it like the charts by the view box. Its height is in screen pixels. */
enum { BAR = 18, SMALL_BAR = 13, GAP = 2, DENSITY = 24, MANY = DENSITY - 3, NAMED_BARS = 12 };

static int bar_height(const struct trk_doc_lane *l)
{
	return l->rows > 1 ? SMALL_BAR : BAR;
}

static int lane_height(const struct trk_doc_lane *l)
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
		int now = (int) trk__whole(value[i] / most * height + 0.5, 0, height);

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

	trk__buf_printf(b, " data-high=\"%d\" data-of=\"%zu\" data-brief=\"", MANY, l->others);
	for (size_t i = 0; i < l->briefs; i++) {
		const struct trk_doc_brief *one = &l->brief[i];
		double from = one->from * (parts - 1), length = (one->to - one->from) * parts;

		trk__html_packed(b, (uint32_t) trk__whole(from, 0, (1 << 24) - 1), 4);
		trk__html_packed(b, (uint32_t) trk__whole(length, 0, (1 << 18) - 1), 3);
		trk__html_packed(b, (uint32_t) trk__whole(one->cores * 63, 0, 63), 1);
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
	int height = lane_height(l), each = bar_height(l);

	open_drawing(b, d, height);
	if (l->briefs)
		write_briefs(b, l);
	trk__buf_putc(b, '>');
	for (size_t i = 0; i < l->bars; i++)
		draw_bar(b, d, &l->bar[i], each, (int) l->bar[i].row * (each + GAP),
			 l->bars <= NAMED_BARS);
	if (l->alive_most)
		draw_many(b, d, l->alive, l->alive_most, MANY, height - 1);
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
