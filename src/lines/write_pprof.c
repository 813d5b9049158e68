/* The format of pprof: a protocol buffer, github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * A field is a number with its wire type (0: varint, 2: bytes with their length), then its value.
 * Every node is a location of one line; a sample lists its locations from the innermost out. */
#include <string.h>

#include "base/utf8.h"
#include "lines/write.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION,
	PROFILE_STRING
};
enum { PROFILE_DURATION_NS = 10, PROFILE_DEFAULT_TYPE = 14 };
enum { PART_MAX = 64 * 1024 };

/* The first texts of the table; two for each function follow. */
enum {
	TEXT_NONE,
	TEXT_SAMPLES,
	TEXT_COUNT,
	TEXT_CPU,
	TEXT_NS,
	TEXT_WALL,
	TEXT_GROWTH,
	TEXT_BYTES,
	TEXT_PROCESS,
	TEXT_PID,
	TEXTS
};
static const char *const texts[TEXTS] = {"",     "samples", "count", "cpu",     "nanoseconds",
					 "wall", "growth",  "bytes", "process", "pid"};

static void put_number(struct trk_buf *b, unsigned int field, uint64_t value)
{
	trk__buf_varint(b, field << 3);
	trk__buf_varint(b, value);
}

static void put_bytes(struct trk_buf *b, unsigned int field, const char *data, size_t len)
{
	trk__buf_varint(b, field << 3 | 2);
	trk__buf_varint(b, len);
	trk__buf_add(b, data, len);
}

/* A message inside another; `part` is empty again after it. */
static void put_part(struct trk_buf *b, unsigned int field, struct trk_buf *part)
{
	put_bytes(b, field, part->data ? part->data : "", part->len);
	if (part->error)
		b->error = part->error;
	part->len = 0;
}

static void put_text(struct trk_buf *b, const char *text)
{
	TRK_BUF_LOCAL(safe, PART_MAX);

	trk__utf8_safe(&safe, text, strlen(text), true);
	put_bytes(b, PROFILE_STRING, safe.data ? safe.data : "", safe.len);
}

static void put_type(struct trk_buf *b, struct trk_buf *part, uint64_t what, uint64_t unit)
{
	put_number(part, 1, what);
	put_number(part, 2, unit);
	put_part(b, PROFILE_SAMPLE_TYPE, part);
}

static void put_label(struct trk_buf *part, struct trk_buf *label, uint64_t key, unsigned int field,
		      uint64_t value)
{
	put_number(label, 1, key);
	put_number(label, field, value);
	put_part(part, 3, label);
}

struct pprof {
	struct trk_buf *b;
	const struct trk_lines *lines;
	struct trk_buf part, inner;
};

static void put_sample(void *data, const struct trk_lines_count *c)
{
	struct pprof *p = data;
	const struct trk_lines_amounts *a = &c->amounts;
	const uint64_t values[] = {a->samples, a->cpu_us * 1000, a->wall_us * 1000,
				   a->sure_bytes + a->between_bytes};
	unsigned int depth = 0;

	for (uint32_t at = c->node; at != TRK_LINES_ROOT && depth++ < TRK_LINES_DEPTH;
	     at = p->lines->node[at].parent)
		put_number(&p->part, 1, at);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_number(&p->part, 2, values[i]);
	put_label(&p->part, &p->inner, TEXT_PID, 3, (uint64_t) p->lines->lane[c->lane].pid);
	put_label(&p->part, &p->inner, TEXT_PROCESS, 2, TEXTS + 2 * p->lines->functions + c->lane);
	put_part(p->b, PROFILE_SAMPLE, &p->part);
}

static void put_places(struct pprof *p)
{
	const struct trk_lines *l = p->lines;

	for (size_t i = 1; i < l->nodes; i++) {
		put_number(&p->inner, 1, l->node[i].function + UINT64_C(1));
		put_number(&p->inner, 2, (uint64_t) l->node[i].line);
		put_number(&p->part, 1, i);
		put_part(&p->part, 4, &p->inner);
		put_part(p->b, PROFILE_LOCATION, &p->part);
	}
	for (size_t i = 0; i < l->functions; i++) {
		put_number(&p->part, 1, i + 1);
		put_number(&p->part, 2, TEXTS + 2 * i);
		put_number(&p->part, 3, TEXTS + 2 * i);
		put_number(&p->part, 4, TEXTS + 2 * i + 1);
		put_number(&p->part, 5, (uint64_t) l->function[i].first_line);
		put_part(p->b, PROFILE_FUNCTION, &p->part);
	}
}

void trk__lines_pprof(struct trk_buf *b, const struct trk_lines *l,
		      const struct trk_profile_options *o)
{
	struct pprof p = {.b = b, .lines = l};
	int64_t end_us = l->windows ? l->window[l->windows - 1].to_us : 0;

	trk__buf_init(&p.part, PART_MAX);
	trk__buf_init(&p.inner, PART_MAX);
	put_type(b, &p.part, TEXT_SAMPLES, TEXT_COUNT);
	put_type(b, &p.part, TEXT_CPU, TEXT_NS);
	put_type(b, &p.part, TEXT_WALL, TEXT_NS);
	put_type(b, &p.part, TEXT_GROWTH, TEXT_BYTES);
	trk__lines_each_count(l, o, put_sample, &p);
	put_places(&p);
	for (int i = 0; i < TEXTS; i++)
		put_text(b, texts[i]);
	for (size_t i = 0; i < l->functions; i++) {
		put_text(b, l->function[i].name);
		put_text(b, l->function[i].file);
	}
	for (size_t i = 0; i < l->lanes; i++)
		put_text(b, l->lane[i].process);
	put_number(b, PROFILE_DURATION_NS, end_us > 0 ? (uint64_t) end_us * 1000 : 0);
	put_number(b, PROFILE_DEFAULT_TYPE,
		   o->order == TRK_LINES_MEMORY ? TEXT_GROWTH
		   : o->order == TRK_LINES_WALL ? TEXT_WALL
						: TEXT_CPU);
	trk__buf_release(&p.part);
	trk__buf_release(&p.inner);
}
