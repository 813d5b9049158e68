#include "report/document.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/maths.h"
#include "base/utf8.h"

enum { CHUNK_SIZE = 64 * 1024 };

struct trk_doc_chunk {
	struct trk_doc_chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

void *trk__doc_alloc(struct trk_doc *d, size_t size)
{
	struct trk_doc_chunk *c = d->chunk;
	size_t whole = (size + 15) & ~(size_t) 15;
	void *at;

	if (!c || c->size - c->used < whole) {
		size_t room = whole > CHUNK_SIZE ? whole : CHUNK_SIZE;

		c = calloc(1, sizeof(*c) + room);
		if (!c) {
			d->error = -ENOMEM;
			return NULL;
		}
		c->size = room;
		c->next = d->chunk;
		d->chunk = c;
	}
	at = c->data + c->used;
	c->used += whole;
	return at;
}

void trk__doc_release(struct trk_doc *d)
{
	while (d->chunk) {
		struct trk_doc_chunk *next = d->chunk->next;

		free(d->chunk);
		d->chunk = next;
	}
}

static const char *__attribute__((format(printf, 2, 0)))
print(struct trk_doc *d, const char *format, va_list args)
{
	va_list again;
	char first[256], *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(first, sizeof(first), format, args);
	text = n < 0 ? NULL : trk__doc_alloc(d, (size_t) n + 1);
	if (text && (size_t) n < sizeof(first))
		memcpy(text, first, (size_t) n + 1);
	else if (text)
		(void) vsnprintf(text, (size_t) n + 1, format, again);
	va_end(again);
	return text ? text : "";
}

const char *trk__doc_print(struct trk_doc *d, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(d, format, args);
	va_end(args);
	return text;
}

const char *trk__doc_safe_n(struct trk_doc *d, const char *text, size_t len, size_t max)
{
	size_t room = (len < 4 * max ? len : 4 * max) * 3 + 8, used = 0, at = 0, chars = 0;
	char *out = trk__doc_alloc(d, room);

	if (!out)
		return "";
	out[used++] = TRK_DOC_OUTSIDE[0];
	while (at < len && chars < max) {
		size_t size = trk__utf8_length(text + at, len - at);

		if (text[at] == '\n' || text[at] == '\t') {
			out[used++] = ' ';
			at++;
		} else if (trk__utf8_is_hidden(text + at, size)) {
			memcpy(out + used, "\xef\xbf\xbd", 3);
			used += 3;
			at += size ? size : 1;
		} else {
			memcpy(out + used, text + at, size);
			used += size;
			at += size;
		}
		chars++;
	}
	if (at < len) {
		memcpy(out + used, "\xe2\x80\xa6", 3);
		used += 3;
	}
	out[used++] = TRK_DOC_INSIDE[0];
	out[used] = '\0';
	return out;
}

const char *trk__doc_safe(struct trk_doc *d, const char *text, size_t max)
{
	return trk__doc_safe_n(d, text, strlen(text), max);
}

const char *trk__doc_value(struct trk_doc *d, trk_human_fn *words, double value)
{
	char text[TRK_HUMAN_SIZE];

	return trk__doc_print(d, "%s", words(text, value));
}

const char *trk__doc_local(struct trk_doc *d, double wall_s)
{
	time_t at = (time_t) trk__whole(wall_s, 0, UINT32_MAX);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&at, &tm))
		(void) strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	return trk__doc_print(d, "%s", text);
}

const char *trk__doc_upper(struct trk_doc *d, const char *text)
{
	bool lower = *text >= 'a' && *text <= 'z';

	return trk__doc_print(d, "%c%s", lower ? *text - 32 : *text, text + 1);
}

const char *trk__doc_take(struct trk_doc *d, struct trk_buf *b)
{
	const char *text = b->error || !b->len ? NULL : trk__doc_print(d, "%s", b->data);

	trk__buf_release(b);
	return text;
}

const char *trk__doc_date(struct trk_doc *d, unsigned int yyyymmdd)
{
	return trk__doc_print(d, "%04u-%02u-%02u", yyyymmdd / 10000, yyyymmdd / 100 % 100,
			      yyyymmdd % 100);
}

/* ---- sections and blocks ---- */

const struct trk_doc_section *trk__doc_section(const struct trk_doc *d, const char *key)
{
	for (size_t i = 0; i < d->sections; i++)
		if (!strcmp(d->section[i].key, key))
			return &d->section[i];
	return NULL;
}

const struct trk_doc_block *trk__doc_next(const struct trk_doc_block *b, enum trk_block_kind kind)
{
	while (b && b->kind != kind)
		b = b->next;
	return b;
}

const struct trk_doc_block *trk__doc_first(const struct trk_doc *d, enum trk_block_kind kind)
{
	for (size_t i = 0; i < d->sections; i++) {
		const struct trk_doc_block *b = trk__doc_next(d->section[i].first, kind);

		if (b)
			return b;
	}
	return NULL;
}

static struct trk_doc_block *add_block(struct trk_doc *d, struct trk_doc_section *s,
				       enum trk_block_kind kind)
{
	struct trk_doc_block *b = trk__doc_alloc(d, sizeof(*b));

	if (!b)
		return NULL;
	b->kind = kind;
	if (s->last)
		s->last->next = b;
	else
		s->first = b;
	s->last = b;
	return b;
}

static void add_text(struct trk_doc *d, struct trk_doc_section *s, enum trk_block_kind kind,
		     const char *text)
{
	struct trk_doc_block *b = text && *text ? add_block(d, s, kind) : NULL;

	if (b)
		b->text = text;
}

void trk__doc_text(struct trk_doc *d, struct trk_doc_section *s, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(d, format, args);
	va_end(args);
	add_text(d, s, TRK_BLOCK_TEXT, text);
}

void trk__doc_note(struct trk_doc *d, struct trk_doc_section *s, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(d, format, args);
	va_end(args);
	add_text(d, s, TRK_BLOCK_NOTE, text);
}

void trk__doc_empty(struct trk_doc *d, struct trk_doc_section *s, const char *text)
{
	s->empty = true;
	s->first = s->last = NULL;
	add_text(d, s, TRK_BLOCK_TEXT, text);
}

void trk__doc_list(struct trk_doc *d, struct trk_doc_section *s, enum trk_block_kind kind,
		   const void *list, size_t count)
{
	struct trk_doc_block *b = count ? add_block(d, s, kind) : NULL;

	if (!b)
		return;
	b->count = count;
	if (kind == TRK_BLOCK_PARTS)
		b->part = list;
	else
		b->snippet = list;
}

void trk__doc_stacks(struct trk_doc *d, struct trk_doc_section *s, const char *json)
{
	add_text(d, s, TRK_BLOCK_STACKS, json);
}

void trk__doc_drawing(struct trk_doc *d, struct trk_doc_section *s, enum trk_block_kind kind)
{
	if (kind == TRK_BLOCK_CHARTS ? d->charts : d->lanes)
		(void) add_block(d, s, kind);
}

struct trk_doc_table *trk__doc_table(struct trk_doc *d, struct trk_doc_section *s, const char *key,
				     const char *title, const struct trk_doc_column *columns,
				     size_t count)
{
	struct trk_doc_table *t = trk__doc_alloc(d, sizeof(*t));
	struct trk_doc_block *b = t ? add_block(d, s, TRK_BLOCK_TABLE) : NULL;

	if (b)
		b->table = t;
	else
		t = &d->spare;
	*t = (struct trk_doc_table){.key = key,
				    .title = title,
				    .column = columns,
				    .columns = count,
				    .folded = title != NULL};
	return t;
}

struct trk_doc_cell *trk__doc_row(struct trk_doc *d, struct trk_doc_table *t)
{
	struct trk_doc_cell *row;

	if (t->rows == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 8;
		struct trk_doc_cell *bigger = trk__doc_alloc(d, cap * t->columns * sizeof(*bigger));

		if (bigger && t->rows)
			memcpy(bigger, t->cell, t->rows * t->columns * sizeof(*bigger));
		t->cell = bigger ? bigger : t->cell;
		t->cap = bigger ? cap : t->cap;
	}
	row = t->rows < t->cap ? t->cell + t->rows++ * t->columns : d->spare_row;
	for (size_t i = 0; i < t->columns; i++)
		row[i] = trk__doc_cell(NULL, NAN);
	return row;
}

void trk__doc_meter_text(struct trk_buf *b, const struct trk_doc_meter *m)
{
	trk__buf_printf(b, "mean %s, peak %s %s", m->mean, m->peak, m->unit);
	if (m->had)
		trk__buf_printf(b, " of %s %s", m->had, m->what);
}

uint16_t trk__doc_steps(double share)
{
	double steps = share * TRK_DOC_STEPS + 0.5;

	return isnan(steps) ? TRK_DOC_GAP : (uint16_t) trk__whole(steps, 0, TRK_DOC_STEPS);
}

struct trk_doc_steps trk__doc_merge(const struct trk_doc_steps *bucket, size_t count)
{
	struct trk_doc_steps all = {TRK_DOC_GAP, TRK_DOC_GAP, 0};
	unsigned int sum = 0, n = 0;

	for (size_t i = 0; i < count; i++) {
		if (bucket[i].avg == TRK_DOC_GAP)
			continue;
		sum += bucket[i].avg;
		n++;
		all.min = bucket[i].min < all.min ? bucket[i].min : all.min;
		all.max = bucket[i].max > all.max ? bucket[i].max : all.max;
	}
	if (n)
		all.avg = (uint16_t) ((sum + n / 2) / n);
	else
		all.max = TRK_DOC_GAP;
	return all;
}

bool trk__doc_is_blank(const struct trk_doc_table *t, size_t column)
{
	for (size_t i = 0; i < t->rows; i++)
		if (t->cell[i * t->columns + column].text)
			return false;
	return true;
}

struct trk_doc_cell trk__doc_cell(const char *text, double value)
{
	return (struct trk_doc_cell){.text = text, .value = value, .second = NAN};
}

struct trk_doc_cell trk__doc_figure(struct trk_doc *d, trk_human_fn *words, double value)
{
	return trk__doc_cell(isnan(value) ? NULL : trk__doc_value(d, words, value), value);
}

struct trk_doc_cell trk__doc_tone(struct trk_doc_cell cell, enum trk_tone tone)
{
	cell.tone = tone;
	return cell;
}

/* ---- terms ---- */

struct trk_doc_term *trk__doc_term(struct trk_doc *d, struct trk_doc_section *s, const char *name,
				   const char *separator)
{
	struct trk_doc_term *t = trk__doc_alloc(d, sizeof(*t));
	struct trk_doc_block *b = t ? add_block(d, s, TRK_BLOCK_TERM) : NULL;

	if (b)
		b->term = t;
	else
		t = &d->spare_term;
	*t = (struct trk_doc_term){.name = name, .separator = separator};
	return t;
}

void trk__doc_item_of(struct trk_doc *d, struct trk_doc_term *t, struct trk_doc_item item)
{
	if (t->items == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 4;
		struct trk_doc_item *bigger = trk__doc_alloc(d, cap * sizeof(*bigger));

		if (!bigger)
			return;
		if (t->items)
			memcpy(bigger, t->item, t->items * sizeof(*bigger));
		t->item = bigger;
		t->cap = cap;
	}
	item.brief = item.brief ? item.brief : item.text;
	item.bare = item.bare ? item.bare : item.brief;
	t->item[t->items++] = item;
}

void trk__doc_item(struct trk_doc *d, struct trk_doc_term *t, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = print(d, format, args);
	va_end(args);
	trk__doc_item_of(d, t, (struct trk_doc_item){.text = text});
}

void trk__doc_meter(struct trk_doc *d, struct trk_doc_section *s, const char *name,
		    const struct trk_doc_meter *meter)
{
	struct trk_doc_meter *copy = trk__doc_alloc(d, sizeof(*copy));

	if (!copy)
		return;
	*copy = *meter;
	trk__doc_term(d, s, name, "")->meter = copy;
}
