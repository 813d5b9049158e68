/* Whole stacks, for flame graphs. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "lines/write.h"

const char *trk__lines_name(const struct trk_lines *l, uint32_t node, char *text, size_t size)
{
	const struct trk_lines_node *n = &l->node[node];
	const struct trk_lines_function *f = &l->function[n->function];
	const char *slash = strrchr(f->file, '/'), *file = slash ? slash + 1 : f->file;
	char raw[512];
	TRK_BUF_LOCAL(b, sizeof(raw) * 4);

	if (!*file || f->name[0] == '[')
		(void) snprintf(raw, sizeof(raw), "%s", f->name);
	else if (n->line == 0 && f->first_line == 0) /* native code without a line table */
		(void) snprintf(raw, sizeof(raw), "%.200s %.200s()", file, f->name);
	else
		(void) snprintf(raw, sizeof(raw), "%.200s:%d %.200s%s", file, n->line, f->name,
				f->name[0] == '<' ? "" : "()");
	trk__utf8_safe(&b, raw, size - 1, true);
	(void) snprintf(text, size, "%s", b.data ? b.data : "");
	return text;
}

/* The nodes of a stack, the root's child first. */
static size_t path_of(const struct trk_lines *l, uint32_t node, uint32_t path[TRK_LINES_DEPTH])
{
	size_t n = 0;

	for (uint32_t at = node; at != TRK_LINES_ROOT && n < TRK_LINES_DEPTH;
	     at = l->node[at].parent)
		path[n++] = at;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = path[i];

		path[i] = path[n - 1 - i];
		path[n - 1 - i] = swap;
	}
	return n;
}

/* ---- folded ---- */

struct folding {
	struct trk_buf *b;
	const struct trk_lines *lines;
	enum trk_lines_order order;
	struct trk_lines_sums sums; /* of all lanes of a process */
};

static void fold_name(struct trk_buf *b, const char *name)
{
	for (; *name; name++) /* in this format ';' ends a frame, and a blank the stack */
		trk__buf_putc(b, *name == ';' ? ':' : *name);
}

static void fold(void *data, const struct trk_lines_count *c)
{
	struct folding *f = data;
	const struct trk_lines_lane *lane = &f->lines->lane[c->lane];
	uint64_t value = trk__profile_value(&c->amounts, f->order);
	uint32_t path[TRK_LINES_DEPTH];
	size_t n = path_of(f->lines, c->node, path);
	char text[512];

	value = f->order == TRK_LINES_MEMORY ? (value + (1 << 19)) >> 20 : (value + 500) / 1000;
	if (value == 0)
		return;
	trk__utf8_safe(f->b, lane->process, sizeof(lane->process), true);
	trk__buf_printf(f->b, " (%d)", (int) lane->pid);
	for (size_t i = 0; i < n; i++) {
		trk__buf_putc(f->b, ';');
		fold_name(f->b, trk__lines_name(f->lines, path[i], text, sizeof(text)));
	}
	trk__buf_printf(f->b, " %llu\n", (unsigned long long) value);
}

void trk__lines_folded(struct trk_buf *b, const struct trk_lines *l,
		       const struct trk_profile_options *o)
{
	struct folding f = {.b = b, .lines = l, .order = o->order};

	trk__lines_each_count(l, o, fold, &f);
}

/* ---- speedscope ---- */

struct scoping {
	struct trk_json *j;
	const struct trk_lines *lines;
	enum trk_lines_order order;
	uint32_t lane;
	uint64_t sum;
	int what; /* 0: add up, 1: stacks, 2: weights */
};

static void scope(void *data, const struct trk_lines_count *c)
{
	struct scoping *s = data;
	uint64_t value = trk__profile_value(&c->amounts, s->order);
	uint32_t path[TRK_LINES_DEPTH];
	size_t n;

	if (c->lane != s->lane || value == 0)
		return;
	s->sum += value;
	if (s->what == 1) {
		n = path_of(s->lines, c->node, path);
		trk__json_open(s->j, '[');
		for (size_t i = 0; i < n; i++)
			trk__json_u64(s->j, path[i]);
		trk__json_close(s->j, ']');
	} else if (s->what == 2) {
		trk__json_u64(s->j, value);
	}
}

/* Every node is a frame: its function, file and line. */
static void put_frames(struct trk_json *j, const struct trk_lines *l)
{
	trk__json_key_open(j, "shared", '{');
	trk__json_key_open(j, "frames", '[');
	for (size_t i = 0; i < l->nodes; i++) {
		const struct trk_lines_function *f = &l->function[l->node[i].function];

		trk__json_open(j, '{');
		trk__json_key_text(j, "name", f->name);
		if (*f->file)
			trk__json_key_text(j, "file", f->file);
		if (l->node[i].line > 0)
			trk__json_key_i64(j, "line", l->node[i].line);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

static void put_thread(struct scoping *s, const struct trk_profile_options *o)
{
	const struct trk_lines_lane *lane = &s->lines->lane[s->lane];
	char name[80];

	s->sum = 0;
	s->what = 0;
	trk__lines_each_count(s->lines, o, scope, s);
	if (s->sum == 0)
		return;
	(void) snprintf(name, sizeof(name), "%s %d, thread %d", lane->process, (int) lane->pid,
			(int) lane->tid);
	trk__json_open(s->j, '{');
	trk__json_key_text(s->j, "type", "sampled");
	trk__json_key_text(s->j, "name", name);
	trk__json_key_text(s->j, "unit", o->order == TRK_LINES_MEMORY ? "bytes" : "microseconds");
	trk__json_key_u64(s->j, "startValue", 0);
	trk__json_key_u64(s->j, "endValue", s->sum);
	for (s->what = 1; s->what <= 2; s->what++) {
		trk__json_key_open(s->j, s->what == 1 ? "samples" : "weights", '[');
		trk__lines_each_count(s->lines, o, scope, s);
		trk__json_close(s->j, ']');
	}
	trk__json_close(s->j, '}');
}

void trk__lines_speedscope(struct trk_buf *b, const struct trk_lines *l,
			   const struct trk_profile_options *o, const char *name)
{
	struct trk_json j;
	struct scoping s = {.j = &j, .lines = l, .order = o->order};

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	trk__json_key_text(&j, "exporter", "resource-tracker");
	trk__json_key_text(&j, "name", name);
	put_frames(&j, l);
	trk__json_key_open(&j, "profiles", '[');
	for (s.lane = 0; s.lane < l->lanes; s.lane++)
		put_thread(&s, o);
	trk__json_end(&j);
}
