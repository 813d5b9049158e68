/* The course of a run as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/course.h"
#include "report/text.h"

#define GIB 1073741824.0

/* ---- text ---- */

void trk__course_wall_text(struct trk_buf *b, const struct trk_course *c, bool utf8)
{
	static const char *const words[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "on CPU",      [TRK_WALL_GPU] = "on GPU",
		[TRK_WALL_DISK] = "disk",          [TRK_WALL_MEMORY_STALL] = "memory",
		[TRK_WALL_CPU_WAIT] = "for a CPU", [TRK_WALL_OTHER] = "other",
	};
	const char *dot = utf8 ? " \u00b7 " : " | ";
	bool told[TRK_WALL_ITEMS] = {false}, first = true;

	for (int n = 0; n < TRK_WALL_ITEMS; n++) {
		int best = TRK_WALL_OTHER;

		for (int i = 0; i < TRK_WALL_OTHER; i++)
			if (!told[i] && c->wall.share[i] >= 0.005 &&
			    (best == TRK_WALL_OTHER || c->wall.share[i] > c->wall.share[best]))
				best = i;
		told[best] = true;
		if (!(c->wall.share[best] >= 0.005))
			return;
		trk__buf_printf(b, "%s%.0f %% %s", first ? "" : dot, c->wall.share[best] * 100,
				words[best]);
		first = false;
		if (best == TRK_WALL_OTHER)
			return;
	}
}

/* How much is told of each phase, from the most to the least. */
enum detail { WITH_FIGURES, WITH_WORDS, BARE };

static void phase_text(struct trk_buf *b, const struct trk_course_phase *p, enum detail detail,
		       bool utf8)
{
	const char *word = trk__bottleneck_word(p->bound);
	bool figures =
		detail == WITH_FIGURES && p->bound != TRK_BOUND_ONE_CORE && p->cores_mean >= 0.05;
	char duration[32];

	trk__text_rough_duration(duration, sizeof(duration), p->end_s - p->start_s);
	if (p->name[0]) {
		trk__text_safe(b, p->name, 24, utf8);
		trk__buf_putc(b, ' ');
	}
	trk__buf_puts(b, duration);
	if (figures)
		trk__buf_printf(b, " (%.2g CPU%s%s)", p->cores_mean, *word ? ", " : "", word);
	else if (*word && detail != BARE)
		trk__buf_printf(b, " (%s)", word);
}

/* All of them; past `columns`, if that is not 0, the rest is counted. */
static void phases_text(struct trk_buf *b, const struct trk_course *c, enum detail detail,
			size_t columns, bool utf8)
{
	const char *arrow = utf8 ? " \u2192 " : " -> ";
	size_t start = b->len;

	for (size_t i = 0; i < c->phase_count && !b->error; i++) {
		size_t before = b->len;

		if (i > 0)
			trk__buf_puts(b, arrow);
		phase_text(b, &c->phase[i], detail, utf8);
		if (b->error || columns == 0 || i == 0 ||
		    trk__text_columns(b->data + start) <= columns)
			continue;
		b->len = before;
		b->data[before] = '\0';
		trk__buf_printf(b, "%sand %zu more", arrow, c->phase_count - i);
		return;
	}
}

void trk__course_phases_text(struct trk_buf *b, const struct trk_course *c, size_t columns,
			     bool utf8)
{
	size_t start = b->len;

	for (int detail = WITH_FIGURES; detail <= BARE; detail++) {
		phases_text(b, c, (enum detail) detail, 0, utf8);
		if (b->error || trk__text_columns(b->data + start) <= columns)
			return;
		b->len = start;
		b->data[start] = '\0';
	}
	phases_text(b, c, BARE, columns - sizeof(" -> and 12 more"), utf8);
}

void trk__course_split_text(struct trk_buf *b, const struct trk_course *c, bool utf8)
{
	const struct trk_split *s = &c->split;
	char duration[32];

	trk__buf_printf(b, "%.0f %% cheaper as %zu steps: ", s->saving * 100, s->piece_count);
	for (size_t i = 0; i < s->piece_count; i++) {
		const struct trk_piece *p = &s->piece[i];

		if (i == 2 && s->piece_count > 2) {
			trk__buf_puts(b, utf8 ? " \u2192 \u2026" : " -> ...");
			return;
		}
		trk__text_rough_duration(duration, sizeof(duration), p->seconds);
		trk__buf_printf(b, "%s%s on %.4g CPU, %.4g GiB",
				i == 0 ? ""
				: utf8 ? " \u2192 "
				       : " -> ",
				duration, p->cores, p->request_bytes / GIB);
	}
}

/* ---- JSON ---- */

static void shares_json(struct trk_json *j, const struct trk_wall_split *split)
{
	static const char *const keys[TRK_WALL_ITEMS] = {
		[TRK_WALL_ON_CPU] = "on_cpu",    [TRK_WALL_GPU] = "on_gpu",
		[TRK_WALL_DISK] = "disk",        [TRK_WALL_MEMORY_STALL] = "memory",
		[TRK_WALL_CPU_WAIT] = "for_cpu", [TRK_WALL_OTHER] = "other",
	};

	trk__json_key(j, "share");
	trk__json_open(j, '{');
	for (int i = 0; i < TRK_WALL_ITEMS; i++)
		trk__json_key_double(j, keys[i], split->share[i]);
	trk__json_close(j, '}');
}

static void bound_json(struct trk_json *j, enum trk_bottleneck bound)
{
	const char *word = trk__bottleneck_word(bound);

	trk__json_key_text(j, "bound", *word ? word : NULL);
}

static void wall_json(struct trk_json *j, const struct trk_course *c)
{
	trk__json_key(j, "wall");
	if (!c->has_wall) {
		trk__json_null(j);
		return;
	}
	trk__json_open(j, '{');
	trk__json_key_double(j, "seconds", c->seconds);
	trk__json_key_text(j, "quality", "estimated");
	shares_json(j, &c->wall);
	trk__json_key(j, "other_holds_unknown");
	trk__json_bool(j, c->wall.other_holds_unknown);
	bound_json(j, c->bound);
	trk__json_key_text(j, "bottleneck", c->bottleneck);
	trk__json_close(j, '}');
}

static void phases_json(struct trk_json *j, const struct trk_course *c)
{
	trk__json_key(j, "phases");
	trk__json_open(j, '[');
	for (size_t i = 0; i < c->phase_count; i++) {
		const struct trk_course_phase *p = &c->phase[i];

		trk__json_open(j, '{');
		trk__json_key_text(j, "name", p->name[0] ? p->name : NULL);
		trk__json_key_text(j, "from", c->marked ? "mark" : "figures");
		trk__json_key_double(j, "start_s", p->start_s);
		trk__json_key_double(j, "end_s", p->end_s);
		trk__json_key_double(j, "cpu_mean", p->cores_mean);
		trk__json_key_double(j, "peak_memory_mib", p->memory_peak_mib);
		shares_json(j, &p->split);
		bound_json(j, p->bound);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void split_json(struct trk_json *j, const struct trk_course *c)
{
	const struct trk_split *s = &c->split;

	trk__json_key(j, "split");
	if (!c->has_split) {
		trk__json_null(j);
		return;
	}
	trk__json_open(j, '{');
	trk__json_key(j, "pays");
	trk__json_bool(j, s->pays);
	trk__json_key_double(j, "saving", s->saving);
	trk__json_key_text(j, "hint", s->hint[0] ? s->hint : NULL);
	trk__json_key(j, "pieces");
	trk__json_open(j, '[');
	for (size_t i = 0; i < s->piece_count; i++) {
		trk__json_open(j, '{');
		trk__json_key_double(j, "seconds", s->piece[i].seconds);
		trk__json_key_double(j, "cpu", s->piece[i].cores);
		trk__json_key_double(j, "memory_mib", s->piece[i].request_bytes / GIB * 1024);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

void trk__course_json(struct trk_json *j, const struct trk_course *c)
{
	wall_json(j, c);
	phases_json(j, c);
	split_json(j, c);
}
