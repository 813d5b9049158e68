/* The drawings: SVG without a style of its own (the page's policy allows none), so that CSS colours
 * them and a script moves only their view.
 *
 * A chart is 2 units wide a bucket and 160 high whatever its size on the screen: steps of whole units
 * keep it small, and a zoom is another view box. */
#include <string.h>

#include "report/report_private.h"

enum { HEIGHT = 160, ROOM = 3 };

/* A path while it is written: equal heights become one stroke, repeated commands lose their letter. */
struct pen {
	struct trk_buf *b;
	long flat;  /* units yet to be drawn straight ahead */
	bool slope; /* the last command was a slope */
};

static int height_of(uint16_t step)
{
	return HEIGHT - (step * HEIGHT + TRK_REPORT_STEPS / 2) / TRK_REPORT_STEPS;
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

/* From bucket `at` on, as long as something is known: the end. */
static size_t run_end(const uint16_t *value, size_t at, size_t n)
{
	while (at < n && value[at] != TRK_REPORT_GAP)
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

static void draw_band(struct trk_buf *b, const struct trk_report_series *s, size_t n)
{
	for (size_t at = 0, end; at < n; at = end + 1) {
		struct pen p = {b, 0, false};

		end = run_end(s->avg, at, n);
		if (end == at)
			continue;
		trk__buf_printf(b, "M%zu %d", 2 * at, height_of(s->max[at]));
		draw_forward(&p, s->max, at, end);
		trk__buf_printf(b, "V%d", height_of(s->min[end - 1]));
		draw_back(&p, s->min, at, end);
		trk__buf_putc(b, 'z');
	}
}

static void draw_series(struct trk_buf *b, const struct trk_report_series *s, size_t n, bool alone)
{
	const char *name = s->is_job ? "job" : alone ? "machine alone" : "machine";

	if (s->has_band && (s->is_job || alone)) {
		trk__buf_printf(b, "<path class=\"band %s\" d=\"", name);
		draw_band(b, s, n);
		trk__buf_puts(b, "\"/>");
	}
	trk__buf_printf(b, "<path class=\"line %s\" d=\"", name);
	draw_line(b, s->avg, n);
	trk__buf_puts(b, "\"/>");
}

void trk__report_svg_chart(struct trk_buf *b, const struct trk_report *r,
			   const struct trk_report_chart *c)
{
	size_t width = 2 * r->buckets;

	trk__buf_printf(
		b,
		"<svg class=\"plot\" viewBox=\"0 %d %zu %d\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><path class=\"grid\" d=\"M0 0H%zuM0 %dH%zuM0 %dH%zu\"/>",
		-ROOM, width, HEIGHT + 2 * ROOM, width, HEIGHT / 2, width, HEIGHT, width);
	for (size_t i = c->count; i-- > 0;)
		draw_series(b, &c->series[i], r->buckets, c->count == 1);
	if (!isnan(c->limit))
		trk__buf_printf(b, "<path class=\"limit\" d=\"M0 %.1fH%zu\"/>",
				HEIGHT - c->limit / c->top * HEIGHT, width);
	if (r->phases) {
		trk__buf_puts(b, "<path class=\"mark\" d=\"");
		for (size_t i = 0; i < r->phases; i++)
			if (r->phase[i].from > 0)
				trk__buf_printf(b, "M%.1f %dv%d", r->phase[i].from * (double) width,
						-ROOM, HEIGHT + 2 * ROOM);
		trk__buf_puts(b, "\"/>");
	}
	trk__buf_puts(b, "</svg>");
}

/* Whether name and length of a phase have room, by what letters are wide at most in a strip of usual
 * width; the script measures them. */
static const char *room_for(const struct trk_report_phase *p)
{
	double room = (p->to - p->from) * 1000 - 12;
	double name = 7.5 * (double) strlen(p->name);

	return room < name                                        ? "bare"
	       : room < name + 6.5 * (double) strlen(p->text) + 4 ? "brief"
								  : "";
}

void trk__report_svg_phases(struct trk_buf *b, const struct trk_report *r)
{
	trk__buf_puts(b, "<svg class=\"phases\" width=\"100%\" height=\"24\" role=\"img\" "
			 "aria-label=\"Phases: ");
	for (size_t i = 0; i < r->phases; i++) {
		trk__buf_puts(b, i ? ", " : "");
		trk__report_html_text(b, r->phase[i].name);
		trk__buf_printf(b, " %s", r->phase[i].text);
	}
	trk__buf_puts(b, "\">");
	for (size_t i = 0; i < r->phases; i++) {
		trk__buf_printf(b,
				"<svg class=\"%s\" x=\"%.3f%%\" width=\"%.3f%%\" "
				"height=\"24\"><rect width=\"100%%\" height=\"24\"/><text "
				"x=\"6\" y=\"16\"><tspan class=\"name\">",
				room_for(&r->phase[i]), r->phase[i].from * 100,
				(r->phase[i].to - r->phase[i].from) * 100);
		trk__report_html_text(b, r->phase[i].name);
		trk__buf_printf(b, "</tspan><tspan class=\"long\"> %s</tspan></text></svg>",
				r->phase[i].text);
	}
	trk__buf_puts(b, "</svg>");
}

static double within(double share)
{
	return share >= 1 ? 100 : share > 0 ? share * 100 : 0;
}

void trk__report_svg_bar(struct trk_buf *b, double peak, double mean)
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

/* Each item has a pattern beside its colour. */
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

void trk__report_svg_wall(struct trk_buf *b, const struct trk_report *r)
{
	double at = 0;

	trk__buf_puts(b, "<svg class=\"wall\" width=\"100%\" height=\"26\" role=\"img\" "
			 "aria-label=\"");
	for (size_t i = 0; i < r->walls; i++)
		trk__buf_printf(b, "%s%s %s", i ? "; " : "", r->wall[i].name, r->wall[i].text);
	trk__buf_printf(b, "\">%s", wall_patterns);
	for (size_t i = 0; i < r->walls; i++) {
		trk__buf_printf(b,
				"<rect class=\"item %s\" x=\"%.2f%%\" width=\"%.2f%%\" "
				"height=\"26\"/>",
				r->wall[i].key, at, r->wall[i].share * 100);
		at += r->wall[i].share * 100;
	}
	trk__buf_puts(b, "</svg>");
}
