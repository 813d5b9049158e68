/* The report's memory and words. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "report/report_private.h"
#include "report/summary.h"

enum { CHUNK_SIZE = 64 * 1024 };

struct trk_report_chunk {
	struct trk_report_chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

void *trk__report_alloc(struct trk_report *r, size_t size)
{
	struct trk_report_chunk *c = r->chunk;
	size_t whole = (size + 15) & ~(size_t) 15;
	void *at;

	if (!c || c->size - c->used < whole) {
		size_t room = whole > CHUNK_SIZE ? whole : CHUNK_SIZE;

		c = calloc(1, sizeof(*c) + room);
		if (!c) {
			r->error = -ENOMEM;
			return NULL;
		}
		c->size = room;
		c->next = r->chunk;
		r->chunk = c;
	}
	at = c->data + c->used;
	c->used += whole;
	return at;
}

void trk__report_release(struct trk_report *r)
{
	while (r->chunk) {
		struct trk_report_chunk *next = r->chunk->next;

		free(r->chunk);
		r->chunk = next;
	}
}

const char *trk__report_print(struct trk_report *r, const char *format, ...)
{
	va_list args, again;
	char first[256], *text;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(first, sizeof(first), format, args);
	va_end(args);
	text = n < 0 ? NULL : trk__report_alloc(r, (size_t) n + 1);
	if (text && (size_t) n < sizeof(first))
		memcpy(text, first, (size_t) n + 1);
	else if (text)
		(void) vsnprintf(text, (size_t) n + 1, format, again);
	va_end(again);
	return text ? text : "";
}

static uint32_t code_point(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *) text;
	uint32_t code = size > 1 ? s[0] & (0xffu >> (size + 1)) : s[0];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code;
}

/* Control characters, those that turn the direction of what follows, and those that are not seen; and
 * what is no UTF-8 (size 0). */
static bool is_hidden(const char *text, size_t size)
{
	static const uint32_t ranges[][2] = {
		{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
	};
	uint32_t code = code_point(text, size);

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return size == 0;
}

const char *trk__report_safe_n(struct trk_report *r, const char *text, size_t len, size_t max)
{
	size_t room = (len < 4 * max ? len : 4 * max) * 3 + 8, used = 0, at = 0, chars = 0;
	char *out = trk__report_alloc(r, room);

	if (!out)
		return "";
	out[used++] = TRK_REPORT_OUTSIDE[0];
	while (at < len && chars < max) {
		size_t size = trk__utf8_length(text + at, len - at);

		if (text[at] == '\n' || text[at] == '\t') {
			out[used++] = ' ';
			at++;
		} else if (is_hidden(text + at, size)) {
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
	out[used++] = TRK_REPORT_INSIDE[0];
	out[used] = '\0';
	return out;
}

const char *trk__report_safe(struct trk_report *r, const char *text, size_t max)
{
	return trk__report_safe_n(r, text, strlen(text), max);
}

/* ---- sections and tables ---- */

void trk__report_line(struct trk_report_section *s, const char *text)
{
	if (text && *text && s->lines < TRK_REPORT_LINES_MAX)
		s->line[s->lines++] = text;
}

void trk__report_note(struct trk_report_section *s, const char *text)
{
	if (text && *text && s->notes < TRK_REPORT_LINES_MAX)
		s->note[s->notes++] = text;
}

void trk__report_empty(struct trk_report_section *s, const char *text)
{
	s->empty = true;
	s->lines = s->notes = s->tables = 0;
	trk__report_line(s, text);
}

struct trk_report_table *trk__report_table(struct trk_report_section *s, const char *key,
					   const char *title,
					   const struct trk_report_column *columns, size_t count)
{
	struct trk_report_table *t = &s->table[s->tables++];

	*t = (struct trk_report_table){.key = key,
				       .title = title,
				       .column = columns,
				       .columns = count,
				       .folded = title != NULL};
	return t;
}

struct trk_report_cell *trk__report_row(struct trk_report *r, struct trk_report_table *t)
{
	struct trk_report_cell *row;

	if (t->rows == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 8;
		struct trk_report_cell *bigger =
			trk__report_alloc(r, cap * t->columns * sizeof(*bigger));

		if (!bigger)
			return NULL;
		if (t->rows)
			memcpy(bigger, t->cell, t->rows * t->columns * sizeof(*bigger));
		t->cell = bigger;
		t->cap = cap;
	}
	row = t->cell + t->rows++ * t->columns;
	for (size_t i = 0; i < t->columns; i++)
		row[i] = trk__report_cell(NULL, NAN);
	return row;
}

struct trk_report_cell trk__report_cell(const char *text, double value)
{
	return (struct trk_report_cell){.text = text, .value = value, .second = NAN};
}

struct trk_report_cell trk__report_tone(struct trk_report_cell cell, enum trk_report_tone tone)
{
	cell.tone = tone;
	return cell;
}

/* ---- words ---- */

const char *trk__report_number(struct trk_report *r, double value)
{
	double size = value < 0 ? -value : value;

	if (isnan(value))
		return "-";
	if (value == 0)
		return "0";
	if (size < 0.01)
		return value < 0 ? "> -0.01" : "< 0.01";
	if (size >= 1e15 || isinf(value))
		return trk__report_print(r, "%.3g", value);
	if (size >= 99.95)
		return trk__report_print(r, "%.0f", value);
	return trk__report_print(r, size < 0.995 ? "%.2f" : "%.1f", value);
}

const char *trk__report_amount(struct trk_report *r, double value)
{
	return value > -1e15 && value < 1e15 && value == (double) (int64_t) value
		       ? trk__report_print(r, "%.0f", value)
		       : trk__report_number(r, value);
}

const char *trk__report_percent(struct trk_report *r, double share)
{
	if (isnan(share))
		return "-";
	if (share > 0 && share < 0.005)
		return "< 1 %";
	return trk__report_print(r, "%.0f %%", share * 100);
}

const char *trk__report_change(struct trk_report *r, double share)
{
	if (isnan(share))
		return "-";
	if (share > -0.0005 && share < 0.0005)
		return "0 %";
	return trk__report_print(r, "%s%.*f %%", share < 0 ? "\u2212" : "+",
				 share > -0.0995 && share < 0.0995 ? 1 : 0,
				 (share < 0 ? -share : share) * 100);
}

const char *trk__report_memory(struct trk_report *r, double mib)
{
	static const char *const units[] = {"MiB", "GiB", "TiB", "PiB"};
	size_t unit = 0;

	if (isnan(mib))
		return "-";
	while (mib >= 1024 && unit < 3) {
		mib /= 1024;
		unit++;
	}
	return trk__report_print(r, "%s %s", trk__report_amount(r, mib), units[unit]);
}

const char *trk__report_bytes(struct trk_report *r, double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	size_t unit = 0;

	if (isnan(bytes))
		return "-";
	while (bytes >= 999.5 && unit < 5) {
		bytes /= 1000;
		unit++;
	}
	if (unit == 0)
		return trk__report_print(r, "%.0f B", bytes);
	return trk__report_print(r, "%s %s", trk__report_number(r, bytes), units[unit]);
}

const char *trk__report_seconds(struct trk_report *r, double seconds)
{
	char text[48];

	if (isnan(seconds))
		return "-";
	if (seconds >= 48 * 3600 && seconds < 1e15) {
		uint64_t hours = (uint64_t) (seconds / 3600 + 0.5);

		return trk__report_print(r, "%llu d %u h", (unsigned long long) (hours / 24),
					 (unsigned int) (hours % 24));
	}
	if (seconds >= 3599.5 && seconds < 1e15) { /* seconds of hours tell nothing */
		uint64_t minutes = (uint64_t) (seconds / 60 + 0.5);

		return trk__report_print(r, "%llu h %u m", (unsigned long long) (minutes / 60),
					 (unsigned int) (minutes % 60));
	}
	trk__duration_text(text, sizeof(text), seconds);
	return trk__report_print(r, "%s", text);
}

const char *trk__report_usd(struct trk_report *r, double usd)
{
	if (isnan(usd))
		return "-";
	if (usd > 0 && usd < 0.0995)
		return trk__report_print(r, "$%.*f",
					 usd < 0.000995  ? 5
					 : usd < 0.00995 ? 4
							 : 3,
					 usd);
	return trk__report_print(r, "$%.2f", usd);
}

/* The first `digits` of the time of day, "hh:mm:ss". */
static const char *print_moment(struct trk_report *r, double wall_s, int digits)
{
	char text[32];

	if (!(wall_s > 0) || wall_s > 1.8e10)
		return "-";
	trk__clock_iso8601((uint64_t) (wall_s * 1e9), text);
	return trk__report_print(r, "%.10s %.*s UTC", text, digits, text + 11);
}

const char *trk__report_moment(struct trk_report *r, double wall_s)
{
	return print_moment(r, wall_s, 5);
}

const char *trk__report_second(struct trk_report *r, double wall_s)
{
	return print_moment(r, wall_s, 8);
}

const char *trk__report_date(struct trk_report *r, unsigned int yyyymmdd)
{
	return trk__report_print(r, "%04u-%02u-%02u", yyyymmdd / 10000, yyyymmdd / 100 % 100,
				 yyyymmdd % 100);
}
