/* The report as JSON, schema "resource-tracker.report/1", with the structure of struct trk_doc.
 * Marks in texts are left out. */
#include <math.h>

#include "base/json.h"
#include "report/write/write.h"

/* Text without the marks. */
static void put_text(struct trk_json *j, const char *value)
{
	TRK_BUF_LOCAL(b, 1 << 20);

	if (!value) {
		trk__json_null(j);
		return;
	}
	for (; *value; value++)
		if ((unsigned char) *value > 4)
			trk__buf_putc(&b, *value);
	trk__json_text_n(j, b.data ? b.data : "", b.len);
	if (b.error)
		j->buf->error = b.error;
}

static void text(struct trk_json *j, const char *key, const char *value)
{
	trk__json_key(j, key);
	put_text(j, value);
}

/* The texts of the blocks of one kind. */
static void lines(struct trk_json *j, const char *key, const struct trk_doc_section *s,
		  enum trk_block_kind kind)
{
	const struct trk_doc_block *b = trk__doc_next(s->first, kind);

	trk__json_key_open(j, key, '[');
	for (; b; b = trk__doc_next(b->next, kind))
		put_text(j, b->text);
	trk__json_close(j, ']');
}

static void row(struct trk_json *j, const struct trk_doc_table *t, size_t at)
{
	trk__json_open(j, '{');
	for (size_t c = 0; c < t->columns; c++) {
		const struct trk_doc_cell *cell = &t->cell[at * t->columns + c];

		if (t->column[c].kind == TRK_CELL_TEXT || t->column[c].kind == TRK_CELL_CODE) {
			text(j, t->column[c].key, cell->text);
			continue;
		}
		trk__json_key_open(j, t->column[c].key, '{');
		trk__json_key_double(j, "value", cell->value);
		text(j, "text", cell->text);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

static void table(struct trk_json *j, const struct trk_doc_table *t)
{
	text(j, "title", t->title);
	trk__json_key_open(j, "columns", '{');
	for (size_t c = 0; c < t->columns; c++)
		text(j, t->column[c].key, t->column[c].title);
	trk__json_close(j, '}');
	trk__json_key_open(j, "units", '{');
	for (size_t c = 0; c < t->columns; c++)
		if (t->column[c].unit)
			text(j, t->column[c].key, t->column[c].unit);
	trk__json_close(j, '}');
	trk__json_key_open(j, "rows", '[');
	for (size_t i = 0; i < t->rows; i++)
		row(j, t, i);
	trk__json_close(j, ']');
}

static void section(struct trk_json *j, const struct trk_doc_section *s)
{
	const struct trk_doc_block *b = trk__doc_next(s->first, TRK_BLOCK_TABLE);

	trk__json_key_open(j, s->key, '{');
	text(j, "title", s->title);
	trk__json_key_bool(j, "empty", s->empty);
	lines(j, "lines", s, TRK_BLOCK_TEXT);
	trk__json_key_open(j, "tables", '{');
	for (; b; b = trk__doc_next(b->next, TRK_BLOCK_TABLE)) {
		trk__json_key_open(j, b->table->key, '{');
		table(j, b->table);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
	lines(j, "notes", s, TRK_BLOCK_NOTE);
	trk__json_close(j, '}');
}

/* On one line. */
static void values(struct trk_json *j, const char *key, const uint16_t *list, size_t n, double top)
{
	unsigned int indent = j->indent;

	j->indent = 0;
	trk__json_key_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		trk__json_double(j, list[i] == TRK_DOC_GAP ? (double) NAN
							   : top * list[i] / TRK_DOC_STEPS);
	trk__json_close(j, ']');
	j->indent = indent;
}

/* Each program's part of the job's series. */
static void areas(struct trk_json *j, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__json_key_open(j, "programs", '[');
	for (size_t i = 0; i < c->areas; i++) {
		const struct trk_doc_area *a = &c->area[i];

		trk__json_open(j, '{');
		text(j, "program", a->name);
		text(j, "text", a->text);
		trk__json_key_double(j, "mean", a->mean);
		trk__json_key_double(j, "peak", a->peak);
		values(j, "bucket_low", a->low, d->buckets, c->top);
		values(j, "bucket_high", a->high, d->buckets, c->top);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void chart(struct trk_json *j, const struct trk_doc *d, const struct trk_doc_chart *c)
{
	trk__json_open(j, '{');
	text(j, "key", c->key);
	text(j, "title", c->title);
	text(j, "unit", c->unit);
	text(j, "summary", c->summary);
	trk__json_key_double(j, "top", c->top);
	text(j, "top_text", c->top_text);
	trk__json_key_open(j, "levels", '[');
	for (size_t i = 0; i < c->levels; i++)
		trk__json_text(j, c->level[i].text);
	trk__json_close(j, ']');
	trk__json_key_bool(j, "drawn", !c->is_quiet);
	areas(j, d, c);
	if (c->usual) {
		values(j, "usual_p10", c->usual->low, d->buckets, c->top);
		values(j, "usual_p50", c->usual->middle, d->buckets, c->top);
		values(j, "usual_p90", c->usual->high, d->buckets, c->top);
	}
	trk__json_key_double(j, "limit", c->limit);
	text(j, "limit_text", c->limit_text);
	trk__json_key_open(j, "series", '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct trk_doc_series *s = &c->series[i];

		trk__json_open(j, '{');
		text(j, "of", s->name);
		text(j, "text", s->text);
		trk__json_key_double(j, "mean", s->mean);
		trk__json_key_double(j, "p95", s->p95);
		trk__json_key_double(j, "peak", s->peak);
		values(j, "bucket_min", s->min, d->buckets, c->top);
		values(j, "bucket_mean", s->avg, d->buckets, c->top);
		values(j, "bucket_max", s->max, d->buckets, c->top);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

static void timeline(struct trk_json *j, const struct trk_doc *d)
{
	trk__json_key_open(j, "axis", '{');
	trk__json_key_double(j, "start_time", d->start_s);
	trk__json_key_double(j, "duration_s", d->duration_s);
	trk__json_key_u64(j, "buckets", d->buckets);
	trk__json_key_open(j, "ticks", '[');
	for (size_t i = 0; i < d->ticks; i++)
		trk__json_text(j, d->tick[i].text);
	trk__json_close(j, ']');
	trk__json_close(j, '}');
	trk__json_key_open(j, "phases", '[');
	for (size_t i = 0; i < d->phases; i++) {
		trk__json_open(j, '{');
		text(j, "name", d->phase[i].name);
		text(j, "text", d->phase[i].text);
		trk__json_key_double(j, "from", d->phase[i].from);
		trk__json_key_double(j, "to", d->phase[i].to);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_open(j, "charts", '[');
	for (size_t i = 0; i < d->charts; i++)
		chart(j, d, &d->chart[i]);
	trk__json_close(j, ']');
}

static void bar(struct trk_json *j, const struct trk_doc *d, const struct trk_doc_bar *bar,
		double cores)
{
	trk__json_open(j, '{');
	trk__json_key_double(j, "pid", (double) bar->pid);
	trk__json_key_double(j, "from_s", bar->from * d->duration_s);
	trk__json_key_double(j, "to_s", bar->to * d->duration_s);
	trk__json_key_double(j, "cpu_s", bar->cpu_s);
	trk__json_key_double(j, "peak_memory_mib", bar->peak_mib);
	text(j, "command", bar->text);
	if (bar->use) {
		trk__json_key_double(j, "first_bucket", (double) bar->first);
		values(j, "cores", bar->use, bar->count, cores);
	}
	trk__json_close(j, '}');
}

static void bars(struct trk_json *j, const char *key, const struct trk_doc *d,
		 const struct trk_doc_bar *list, size_t count, double cores)
{
	trk__json_key_open(j, key, '[');
	for (size_t i = 0; i < count; i++)
		bar(j, d, &list[i], cores);
	trk__json_close(j, ']');
}

static void lane(struct trk_json *j, const struct trk_doc *d, const struct trk_doc_lane *l)
{
	unsigned int indent = j->indent;

	trk__json_open(j, '{');
	text(j, "program", l->name);
	text(j, "count_text", l->count);
	text(j, "cpu_text", l->cpu);
	text(j, "memory_text", l->memory);
	text(j, "scale_text", l->cores_text);
	trk__json_key_u64(j, "processes", l->processes);
	trk__json_key_double(j, "cpu_s", l->cpu_s);
	trk__json_key_double(j, "peak_memory_mib", l->memory_mib);
	bars(j, "bars", d, l->bar, l->bars, l->cores);
	bars(j, "largest", d, l->member, l->members, l->cores);
	text(j, "more", l->more);
	if (l->use)
		values(j, "cores", l->use, d->buckets, l->use_most);
	if (l->alive) {
		j->indent = 0;
		trk__json_key_open(j, "alive_at_once", '[');
		for (size_t b = 0; b < d->buckets; b++)
			trk__json_u64(j, l->alive[b]);
		trk__json_close(j, ']');
		j->indent = indent;
	}
	trk__json_close(j, '}');
}

static void lanes(struct trk_json *j, const struct trk_doc *d)
{
	trk__json_key_open(j, "process_timeline", '[');
	for (size_t i = 0; i < d->lanes; i++)
		lane(j, d, &d->lane[i]);
	trk__json_close(j, ']');
}

static void wall_time(struct trk_json *j, const struct trk_doc *d)
{
	const struct trk_doc_block *b = trk__doc_first(d, TRK_BLOCK_PARTS);

	trk__json_key_open(j, "wall_time", '[');
	for (size_t i = 0; b && i < b->count; i++) {
		trk__json_open(j, '{');
		text(j, "key", b->part[i].key);
		text(j, "name", b->part[i].name);
		text(j, "text", b->part[i].text);
		trk__json_key_double(j, "share", b->part[i].share);
		trk__json_key_double(j, "seconds", b->part[i].seconds);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void verdict(struct trk_json *j, const struct trk_doc *d)
{
	const struct trk_doc_block *b = trk__doc_first(d, TRK_BLOCK_SNIPPETS);

	trk__json_key_open(j, "verdict", '{');
	text(j, "sizing", d->sizing);
	text(j, "lead", d->lead);
	text(j, "basis", d->basis);
	text(j, "trouble", d->trouble);
	trk__json_key_open(j, "request", '{');
	trk__json_key_double(j, "cpu", d->request_cpu);
	trk__json_key_double(j, "memory_mib", d->request_memory_mib);
	trk__json_key_double(j, "gpus", d->request_gpus);
	trk__json_key_double(j, "vram_mib", d->request_vram_mib);
	trk__json_close(j, '}');
	trk__json_key_double(j, "cost_usd", d->cost_usd);
	trk__json_key_double(j, "paid_usd", d->paid_usd);
	trk__json_key_open(j, "snippets", '{');
	for (size_t i = 0; b && i < b->count; i++)
		text(j, b->snippet[i].kind, b->snippet[i].text);
	trk__json_close(j, '}');
	trk__json_close(j, '}');
}

void trk__write_json(struct trk_buf *b, const struct trk_doc *d)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.report/1");
	trk__json_key_open(&j, "run", '{');
	text(&j, "id", d->id);
	text(&j, "job", d->job);
	text(&j, "command", d->command);
	text(&j, "facts", d->facts);
	text(&j, "state", d->state_key);
	text(&j, "state_text", d->state);
	text(&j, "integration", d->integration);
	trk__json_close(&j, '}');
	verdict(&j, d);
	trk__json_key_open(&j, "sections", '{');
	for (size_t i = 0; i < d->sections; i++)
		section(&j, &d->section[i]);
	trk__json_close(&j, '}');
	wall_time(&j, d);
	timeline(&j, d);
	lanes(&j, d);
	trk__json_end(&j);
}
