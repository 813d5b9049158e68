/* The report as JSON, schema "resource-tracker.report/1": the struct as it is. Marks in texts are left
 * out. */
#include <string.h>

#include "base/json.h"
#include "report/report_private.h"

/* Text without the marks. */
static void put_text(struct trk_json *j, const char *value)
{
	struct trk_buf b;

	if (!value) {
		trk__json_null(j);
		return;
	}
	trk__buf_init(&b, 1 << 20);
	for (; *value; value++)
		if ((unsigned char) *value > 4)
			trk__buf_putc(&b, *value);
	trk__json_text_n(j, b.data ? b.data : "", b.len);
	if (b.error)
		j->buf->error = b.error;
	trk__buf_release(&b);
}

static void text(struct trk_json *j, const char *key, const char *value)
{
	trk__json_key(j, key);
	put_text(j, value);
}

static void texts(struct trk_json *j, const char *key, const char *const *list, size_t n)
{
	trk__json_key(j, key);
	trk__json_open(j, '[');
	for (size_t i = 0; i < n; i++)
		put_text(j, list[i]);
	trk__json_close(j, ']');
}

static void row(struct trk_json *j, const struct trk_report_table *t, size_t at)
{
	trk__json_open(j, '{');
	for (size_t c = 0; c < t->columns; c++) {
		const struct trk_report_cell *cell = &t->cell[at * t->columns + c];

		if (t->column[c].kind == TRK_CELL_TEXT || t->column[c].kind == TRK_CELL_CODE) {
			text(j, t->column[c].key, cell->text);
			continue;
		}
		trk__json_key(j, t->column[c].key);
		trk__json_open(j, '{');
		trk__json_key_double(j, "value", cell->value);
		text(j, "text", cell->text);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

static void table(struct trk_json *j, const struct trk_report_table *t)
{
	text(j, "title", t->title);
	trk__json_key(j, "columns");
	trk__json_open(j, '{');
	for (size_t c = 0; c < t->columns; c++)
		text(j, t->column[c].key, t->column[c].title);
	trk__json_close(j, '}');
	trk__json_key(j, "rows");
	trk__json_open(j, '[');
	for (size_t i = 0; i < t->rows; i++)
		row(j, t, i);
	trk__json_close(j, ']');
}

static void part(struct trk_json *j, const struct trk_report_section *s)
{
	trk__json_key(j, s->key);
	trk__json_open(j, '{');
	text(j, "title", s->title);
	trk__json_key(j, "empty");
	trk__json_bool(j, s->empty);
	texts(j, "lines", s->line, s->lines);
	trk__json_key(j, "tables");
	trk__json_open(j, '{');
	for (size_t i = 0; i < s->tables; i++) {
		trk__json_key(j, s->table[i].key);
		trk__json_open(j, '{');
		table(j, &s->table[i]);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
	texts(j, "notes", s->note, s->notes);
	trk__json_close(j, '}');
}

static void values(struct trk_json *j, const char *key, const uint16_t *list, size_t n, double top)
{
	trk__json_key(j, key);
	trk__json_open(j, '[');
	for (size_t i = 0; i < n; i++)
		trk__json_double(j, list[i] == TRK_REPORT_GAP ? (double) NAN
							      : top * list[i] / TRK_REPORT_STEPS);
	trk__json_close(j, ']');
}

static void chart(struct trk_json *j, const struct trk_report *r, const struct trk_report_chart *c)
{
	unsigned int indent = j->indent;

	trk__json_open(j, '{');
	text(j, "key", c->key);
	text(j, "title", c->title);
	text(j, "unit", c->unit);
	text(j, "summary", c->summary);
	trk__json_key_double(j, "top", c->top);
	text(j, "top_text", c->top_text);
	trk__json_key_double(j, "limit", c->limit);
	text(j, "limit_text", c->limit_text);
	trk__json_key(j, "series");
	trk__json_open(j, '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct trk_report_series *s = &c->series[i];

		trk__json_open(j, '{');
		text(j, "of", s->name);
		text(j, "text", s->text);
		trk__json_key_double(j, "mean", s->mean);
		trk__json_key_double(j, "p95", s->p95);
		trk__json_key_double(j, "peak", s->peak);
		j->indent = 0;
		values(j, "bucket_min", s->min, r->buckets, c->top);
		values(j, "bucket_mean", s->avg, r->buckets, c->top);
		values(j, "bucket_max", s->max, r->buckets, c->top);
		j->indent = indent;
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

static void timeline(struct trk_json *j, const struct trk_report *r)
{
	trk__json_key(j, "axis");
	trk__json_open(j, '{');
	trk__json_key_double(j, "start_time", r->start_s);
	trk__json_key_double(j, "duration_s", r->duration_s);
	trk__json_key(j, "buckets");
	trk__json_u64(j, r->buckets);
	texts(j, "ticks", r->tick, r->charts ? TRK_REPORT_TICKS : 0);
	trk__json_close(j, '}');
	trk__json_key(j, "phases");
	trk__json_open(j, '[');
	for (size_t i = 0; i < r->phases; i++) {
		trk__json_open(j, '{');
		text(j, "name", r->phase[i].name);
		text(j, "text", r->phase[i].text);
		trk__json_key_double(j, "from", r->phase[i].from);
		trk__json_key_double(j, "to", r->phase[i].to);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key(j, "charts");
	trk__json_open(j, '[');
	for (size_t i = 0; i < r->charts; i++)
		chart(j, r, &r->chart[i]);
	trk__json_close(j, ']');
}

static void wall(struct trk_json *j, const struct trk_report *r)
{
	trk__json_key(j, "wall_time");
	trk__json_open(j, '[');
	for (size_t i = 0; i < r->walls; i++) {
		trk__json_open(j, '{');
		text(j, "key", r->wall[i].key);
		text(j, "name", r->wall[i].name);
		text(j, "text", r->wall[i].text);
		trk__json_key_double(j, "share", r->wall[i].share);
		trk__json_key_double(j, "seconds", r->wall[i].seconds);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void verdict(struct trk_json *j, const struct trk_report *r)
{
	trk__json_key(j, "verdict");
	trk__json_open(j, '{');
	text(j, "sizing", r->sizing);
	text(j, "lead", r->lead);
	text(j, "basis", r->basis);
	text(j, "trouble", r->trouble);
	trk__json_key(j, "request");
	trk__json_open(j, '{');
	trk__json_key_double(j, "cpu", r->request_cpu);
	trk__json_key_double(j, "memory_mib", r->request_memory_mib);
	trk__json_key_double(j, "gpus", r->request_gpus);
	trk__json_key_double(j, "vram_mib", r->request_vram_mib);
	trk__json_close(j, '}');
	trk__json_key_double(j, "cost_usd", r->cost_usd);
	trk__json_key_double(j, "paid_usd", r->paid_usd);
	trk__json_key(j, "snippets");
	trk__json_open(j, '{');
	for (size_t i = 0; i < r->snippets; i++)
		text(j, r->snippet[i].kind, r->snippet[i].text);
	trk__json_close(j, '}');
	trk__json_close(j, '}');
}

void trk__report_json(struct trk_buf *b, const struct trk_report *r)
{
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	text(&j, "schema", "resource-tracker.report/1");
	trk__json_key(&j, "run");
	trk__json_open(&j, '{');
	text(&j, "id", r->id);
	text(&j, "job", r->job);
	text(&j, "command", r->command);
	text(&j, "facts", r->facts);
	text(&j, "state", r->state_key);
	text(&j, "state_text", r->state);
	trk__json_close(&j, '}');
	verdict(&j, r);
	trk__json_key(&j, "sections");
	trk__json_open(&j, '{');
	for (int i = 0; i < TRK_PARTS; i++)
		part(&j, &r->part[i]);
	trk__json_close(&j, '}');
	wall(&j, r);
	timeline(&j, r);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}
