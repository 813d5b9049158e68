#include "recording/format.h"

#include <errno.h>
#include <string.h>

#include "base/crc32c.h"

static const unsigned char sync_mark[4] = {0xb5, 'r', 't', 'k'};

static void put_u32(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char) (value >> (8 * i));
}

static uint32_t get_u32(const unsigned char *at)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value |= (uint32_t) at[i] << (8 * i);
	return value;
}

void trk__format_frame(struct trk_buf *out, enum trk_record_type type,
		       const struct trk_buf *payload)
{
	unsigned char head[TRK_FRAME_SIZE];
	uint32_t crc;

	memcpy(head, sync_mark, 4);
	head[4] = (unsigned char) type;
	head[5] = 0;
	put_u32(head + 6, (uint32_t) payload->len);
	crc = trk__crc32c(0, head + 4, 6);
	crc = trk__crc32c(crc, payload->data, payload->len);
	put_u32(head + 10, crc);
	trk__buf_add(out, head, sizeof(head));
	trk__buf_add(out, payload->data, payload->len);
	if (payload->error)
		out->error = payload->error;
}

long trk__parse_frame(const unsigned char *data, size_t len, uint64_t *wasted, int *ret_type,
		      const unsigned char **ret_payload, size_t *ret_len)
{
	uint32_t size;
	uint32_t crc;

	if (memcmp(data, sync_mark, len < 4 ? len : 4) != 0)
		return -EBADMSG;
	if (len < TRK_FRAME_SIZE)
		return 0;
	size = get_u32(data + 6);
	if (size > TRK_PAYLOAD_MAX || *wasted >= TRK_WASTED_MAX)
		return -EBADMSG;
	if (len < TRK_FRAME_SIZE + (size_t) size)
		return 0;
	crc = trk__crc32c(0, data + 4, 6);
	crc = trk__crc32c(crc, data + TRK_FRAME_SIZE, size);
	if (crc != get_u32(data + 10)) {
		*wasted += size;
		return -EBADMSG;
	}
	*ret_type = data[4];
	*ret_payload = data + TRK_FRAME_SIZE;
	*ret_len = size;
	return TRK_FRAME_SIZE + (long) size;
}

/* ---- small pieces ---- */

static void put_double(struct trk_buf *b, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	trk__buf_varint(b, bits);
}

static double get_double(struct trk_cursor *c)
{
	uint64_t bits = trk__cursor_varint(c);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static size_t get_blob(struct trk_cursor *c, char *data, size_t size)
{
	size_t len;
	const char *from = trk__cursor_bytes(c, &len);

	if (len > size) {
		c->bad = 1;
		return 0;
	}
	if (from)
		memcpy(data, from, len);
	return len;
}

static void put_quantity(struct trk_buf *b, const struct trk_quantity *q)
{
	put_double(b, q->value);
	trk__buf_varint(b, q->quality);
	trk__buf_text(b, q->source);
	trk__buf_text(b, q->reason);
}

static void get_quantity(struct trk_cursor *c, struct trk_quantity *q)
{
	q->value = get_double(c);
	q->quality = (enum trk_quality)(trk__cursor_varint(c) & 7);
	trk__cursor_text(c, q->source, sizeof(q->source));
	trk__cursor_text(c, q->reason, sizeof(q->reason));
	if (q->quality > TRK_QUALITY_ESTIMATED || isnan(q->value))
		q->quality = TRK_QUALITY_UNKNOWN;
}

/* ---- limits ---- */

static void put_quantities(struct trk_buf *b, const struct trk_quantity *q, size_t n)
{
	trk__buf_varint(b, n);
	for (size_t i = 0; i < n; i++)
		put_quantity(b, &q[i]);
}

/* Columns that the file lacks are unknown; columns of a newer version are skipped. */
static void get_quantities(struct trk_cursor *c, struct trk_quantity *q, size_t max)
{
	uint64_t n = trk__cursor_varint(c);

	trk__quantities_clear(q, max);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct trk_quantity extra;

		get_quantity(c, i < max ? &q[i] : &extra);
	}
}

void trk__format_limits(struct trk_buf *b, const struct trk_run *run)
{
	put_quantities(b, run->limit, TRK_LIMITS);
	put_quantities(b, run->request, TRK_REQUESTS);
}

int trk__parse_limits(const void *data, size_t len, struct trk_run *run)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	struct trk_quantity limit[TRK_LIMITS], request[TRK_REQUESTS];

	get_quantities(&c, limit, TRK_LIMITS);
	get_quantities(&c, request, TRK_REQUESTS);
	if (c.bad)
		return -EBADMSG;
	memcpy(run->limit, limit, sizeof(limit));
	memcpy(run->request, request, sizeof(request));
	return 0;
}

/* ---- start ---- */

enum { KILL_GROUPS = sizeof(((struct trk_run_kills *) 0)->group) / sizeof(struct trk_run_group) };

static void get_kills(struct trk_cursor *c, struct trk_run_kills *ret)
{
	trk__cursor_text(c, ret->boot, sizeof(ret->boot));
	ret->machine = trk__cursor_varint(c);
	for (size_t i = 0; i < KILL_GROUPS; i++) {
		trk__cursor_text(c, ret->group[i].dir, sizeof(ret->group[i].dir));
		ret->group[i].inode = trk__cursor_varint(c);
		ret->group[i].kills = trk__cursor_varint(c);
	}
}

void trk__format_start(struct trk_buf *b, const struct trk_run *run)
{
	trk__buf_varint(b, TRK_COLUMNS);
	for (int i = 0; i < TRK_COLUMNS; i++) {
		trk__buf_text(b, trk__columns[i].name);
		trk__buf_varint(b, (uint64_t) trk__columns[i].divisor);
	}
	trk__buf_text(b, run->id);
	trk__buf_text(b, run->job);
	trk__buf_text(b, run->kind);
	trk__buf_text(b, run->version);
	trk__buf_bytes(b, run->command, run->command_len);
	trk__buf_bytes(b, run->tags, run->tags_len);
	trk__buf_varint(b, (uint64_t) run->pid);
	trk__buf_varint(b, run->start_ns);
	trk__buf_varint(b, run->interval_ns);
	trk__format_limits(b, run);
	trk__buf_varint(b, run->unlisted);
	trk__buf_varint(b, run->input_bytes);
	trk__buf_varint(b, run->has_scope);
	trk__buf_text(b, run->scope);
	trk__buf_text(b, run->kills.boot);
	trk__buf_varint(b, run->kills.machine);
	for (size_t i = 0; i < KILL_GROUPS; i++) {
		trk__buf_text(b, run->kills.group[i].dir);
		trk__buf_varint(b, run->kills.group[i].inode);
		trk__buf_varint(b, run->kills.group[i].kills);
	}
}

static void parse_schema(struct trk_cursor *c, struct trk_schema *schema)
{
	uint64_t count = trk__cursor_varint(c);

	if (count > TRK_COLUMN_BITS)
		c->bad = 1;
	schema->count = 0;
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		char name[64];
		uint64_t divisor;

		trk__cursor_text(c, name, sizeof(name));
		divisor = trk__cursor_varint(c);
		if (divisor == 0 || divisor > INT64_MAX)
			c->bad = 1;
		schema->column[i] = trk__column_find(name);
		/* A column whose unit has changed is treated as unknown. */
		if (schema->column[i] >= 0 &&
		    trk__columns[schema->column[i]].divisor != (int64_t) divisor)
			schema->column[i] = -1;
		schema->divisor[i] = (int64_t) divisor;
		schema->count++;
	}
}

int trk__parse_start(const void *data, size_t len, struct trk_schema *schema, struct trk_run *run)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};

	memset(run, 0, sizeof(*run));
	parse_schema(&c, schema);
	trk__cursor_text(&c, run->id, sizeof(run->id));
	trk__cursor_text(&c, run->job, sizeof(run->job));
	trk__cursor_text(&c, run->kind, sizeof(run->kind));
	trk__cursor_text(&c, run->version, sizeof(run->version));
	run->command_len = get_blob(&c, run->command, sizeof(run->command) - 1);
	run->tags_len = get_blob(&c, run->tags, sizeof(run->tags) - 1);
	run->pid = (int32_t) trk__cursor_varint(&c);
	run->start_ns = trk__cursor_varint(&c);
	run->interval_ns = trk__cursor_varint(&c);
	get_quantities(&c, run->limit, TRK_LIMITS);
	get_quantities(&c, run->request, TRK_REQUESTS);
	run->unlisted = trk__cursor_varint(&c) & 1;
	run->input_bytes = trk__cursor_varint(&c);
	run->has_scope = trk__cursor_varint(&c) & 1;
	trk__cursor_text(&c, run->scope, sizeof(run->scope));
	get_kills(&c, &run->kills);
	return c.bad || !trk__run_is_id(run->id) ? -EBADMSG : 0;
}

/* ---- rows ---- */

void trk__format_row(struct trk_buf *b, const struct trk_sample *s)
{
	trk__buf_varint(b, (uint64_t) s->known);
	trk__buf_varint(b, (uint64_t) (s->known >> 64));
	for (int i = 0; i < TRK_COLUMNS; i++)
		if (trk__sample_knows(s, i))
			trk__buf_svarint(b, s->value[i]);
}

int trk__parse_row(struct trk_cursor *c, const struct trk_schema *schema, struct trk_sample *ret)
{
	trk_column_bits known = trk__cursor_varint(c);

	/* Files with fewer columns have one 64-bit set of flags. */
	if (schema->count > 64)
		known |= (trk_column_bits) trk__cursor_varint(c) << 64;
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < schema->count; i++) {
		int64_t value;

		if (!(known >> i & 1))
			continue;
		value = trk__cursor_svarint(c);
		if (schema->column[i] >= 0)
			trk__sample_set(ret, schema->column[i], value);
	}
	if (c->bad || (schema->count < TRK_COLUMN_BITS && known >> schema->count))
		return -EBADMSG;
	return 0;
}

void trk__format_thinned(struct trk_buf *b, uint64_t rows, const struct trk_sample *mean,
			 const struct trk_sample *min, const struct trk_sample *max)
{
	trk__buf_varint(b, rows);
	trk__format_row(b, mean);
	trk__format_row(b, min);
	trk__format_row(b, max);
}

int trk__parse_thinned(const void *data, size_t len, const struct trk_schema *schema,
		       uint64_t *ret_rows, struct trk_sample *mean, struct trk_sample *min,
		       struct trk_sample *max)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t rows = trk__cursor_varint(&c);

	if (trk__parse_row(&c, schema, mean) < 0 || trk__parse_row(&c, schema, min) < 0 ||
	    trk__parse_row(&c, schema, max) < 0 || rows == 0 || rows > INT64_MAX || c.at != c.end)
		return -EBADMSG;
	*ret_rows = rows;
	return 0;
}

/* ---- marks ---- */

void trk__format_mark(struct trk_buf *b, const struct trk_mark *m)
{
	trk__buf_varint(b, m->elapsed_ns);
	trk__buf_varint(b, m->time_ns);
	trk__buf_text(b, m->name);
}

int trk__parse_mark(const void *data, size_t len, struct trk_mark *ret)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	struct trk_mark m;

	m.elapsed_ns = trk__cursor_varint(&c);
	m.time_ns = trk__cursor_varint(&c);
	trk__cursor_text(&c, m.name, sizeof(m.name));
	if (c.bad)
		return -EBADMSG;
	*ret = m;
	return 0;
}

/* ---- outcome ---- */

static void put_process(struct trk_buf *b, const struct trk_process_info *p)
{
	trk__buf_varint(b, (uint64_t) p->pid);
	trk__buf_varint(b, p->alive);
	trk__buf_text(b, p->name);
	trk__buf_text(b, p->command);
	trk__buf_varint(b, p->cpu_ns);
	trk__buf_varint(b, p->peak_bytes);
	trk__buf_varint(b, p->read_bytes);
	trk__buf_varint(b, p->write_bytes);
}

static void get_process(struct trk_cursor *c, struct trk_process_info *p)
{
	p->pid = (pid_t) trk__cursor_varint(c);
	p->alive = trk__cursor_varint(c) != 0;
	trk__cursor_text(c, p->name, sizeof(p->name));
	trk__cursor_text(c, p->command, sizeof(p->command));
	p->cpu_ns = trk__cursor_varint(c);
	p->peak_bytes = trk__cursor_varint(c);
	p->read_bytes = trk__cursor_varint(c);
	p->write_bytes = trk__cursor_varint(c);
}

static size_t stuck_listed(const struct trk_outcome *o)
{
	return o->stuck_count < TRK_STUCK_MAX ? o->stuck_count : TRK_STUCK_MAX;
}

static void put_stuck(struct trk_buf *b, const struct trk_outcome *o)
{
	trk__buf_varint(b, o->stuck_count);
	trk__buf_varint(b, stuck_listed(o));
	for (size_t i = 0; i < stuck_listed(o); i++) {
		trk__buf_varint(b, (uint64_t) o->stuck[i].pid);
		trk__buf_text(b, o->stuck[i].name);
		trk__buf_varint(b, o->stuck[i].since_ms);
		trk__buf_varint(b, o->stuck[i].is_over);
	}
}

/* Older recordings end before it. */
static void get_stuck(struct trk_cursor *c, struct trk_outcome *o)
{
	uint64_t n;

	if (c->at == c->end)
		return;
	o->stuck_count = (size_t) trk__cursor_varint(c);
	n = trk__cursor_varint(c);
	for (uint64_t i = 0; i < n && i < TRK_STUCK_MAX && !c->bad; i++) {
		o->stuck[i].pid = (pid_t) trk__cursor_varint(c);
		trk__cursor_text(c, o->stuck[i].name, sizeof(o->stuck[i].name));
		o->stuck[i].since_ms = trk__cursor_varint(c);
		o->stuck[i].is_over = trk__cursor_varint(c) != 0;
	}
	if (o->stuck_count > TRK_STUCK_MAX && n < TRK_STUCK_MAX)
		o->stuck_count = (size_t) n;
}

void trk__format_outcome(struct trk_buf *b, const struct trk_outcome *o)
{
	size_t i;

	trk__buf_varint(b, o->end);
	trk__buf_svarint(b, o->code);
	trk__buf_varint(b, (uint64_t) o->signal);
	trk__buf_text(b, o->evidence);
	trk__buf_varint(b, o->stop_ns);
	trk__buf_varint(b, o->duration_ns);
	trk__buf_varint(b, TRK_TOTALS);
	for (i = 0; i < TRK_TOTALS; i++)
		put_quantity(b, &o->total[i]);
	trk__buf_varint(b, o->top_count);
	for (i = 0; i < o->top_count; i++)
		put_process(b, &o->top[i]);
	trk__buf_varint(b, o->left_behind);
	trk__buf_varint(b, o->missed);
	trk__buf_varint(b, o->late);
	trk__buf_varint(b, o->tracker_cpu_ns);
	trk__buf_varint(b, o->tracker_rss_bytes);
	trk__buf_varint(b, o->source_count);
	for (i = 0; i < o->source_count; i++) {
		trk__buf_text(b, o->sources[i][0]);
		trk__buf_text(b, o->sources[i][1]);
	}
	trk__buf_varint(b, o->suspended_ns);
	put_stuck(b, o);
	trk__buf_varint(b, o->memory_kills);
	trk__buf_varint(b, o->memory_kill_ms);
}

static void parse_counts(struct trk_cursor *c, struct trk_outcome *o)
{
	uint64_t n = trk__cursor_varint(c);

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct trk_quantity extra;

		get_quantity(c, i < TRK_TOTALS ? &o->total[i] : &extra);
	}
	n = trk__cursor_varint(c);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct trk_process_info extra;

		get_process(c, i < TRK_TOP_MAX ? &o->top[i] : &extra);
	}
	o->top_count = n < TRK_TOP_MAX ? (size_t) n : TRK_TOP_MAX;
}

int trk__parse_outcome(const void *data, size_t len, struct trk_outcome *ret)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	struct trk_outcome o;
	uint64_t n;

	memset(&o, 0, sizeof(o));
	for (int i = 0; i < TRK_TOTALS; i++)
		o.total[i].value = NAN;
	o.end = (enum trk_end)(trk__cursor_varint(&c) & 15);
	o.code = (int) trk__cursor_svarint(&c);
	o.signal = (int) trk__cursor_varint(&c);
	trk__cursor_text(&c, o.evidence, sizeof(o.evidence));
	o.stop_ns = trk__cursor_varint(&c);
	o.duration_ns = trk__cursor_varint(&c);
	parse_counts(&c, &o);
	o.left_behind = trk__cursor_varint(&c);
	o.missed = trk__cursor_varint(&c);
	o.late = trk__cursor_varint(&c);
	o.tracker_cpu_ns = trk__cursor_varint(&c);
	o.tracker_rss_bytes = trk__cursor_varint(&c);
	n = trk__cursor_varint(&c);
	for (uint64_t i = 0; i < n && i < TRK_RUN_SOURCES_MAX && !c.bad; i++) {
		trk__cursor_text(&c, o.sources[i][0], sizeof(o.sources[i][0]));
		trk__cursor_text(&c, o.sources[i][1], sizeof(o.sources[i][1]));
		o.source_count++;
	}
	if (o.source_count == n)
		o.suspended_ns = trk__cursor_varint(&c);
	if (o.source_count == n)
		get_stuck(&c, &o);
	if (o.source_count == n && c.at < c.end) {
		o.memory_kills = trk__cursor_varint(&c);
		o.memory_kill_ms = trk__cursor_varint(&c);
	}
	if (c.bad)
		return -EBADMSG;
	*ret = o;
	return 0;
}
