#include "recording/program_record.h"
#include "base/maths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	KEYFRAME = 256,
	FRAME_BYTES = 14,
	HAS_ALIVE = 1,
	HAS_ENDED = 2,
	SPAN_ENDED = 1,
	SPAN_LISTED = 2,
	SPAN_COMMAND = 4,
	SHORT_MS = 1000,
	USE_BYTES = 8,     /* of a program, about */
	COMMAND_REST = 64, /* bytes of a command line after the shared part */
	/* Smaller changes of memory are not written: 1/256 of it, at least 32 KiB. */
	MEMORY_PART = 256,
	MEMORY_MIN_KIB = 32,
};

/* ---- writing ---- */

/* Bytes left for this row. */
static int64_t room(const struct trk_programs_written *w)
{
	return TRK_PROGRAMS_START_BYTES + (int64_t) (w->rows * TRK_PROGRAMS_TICK_BYTES) -
	       (int64_t) w->bytes;
}

struct news {
	uint8_t index[TRK_PROGRAMS_MAX];
	uint64_t weight[TRK_PROGRAMS_MAX];
	size_t count;
};

static uint64_t cpu_news(const struct trk_programs_written *w, const struct trk_program *p,
			 size_t i)
{
	uint64_t cpu_ms = p->cpu_ns / 1000000;

	return cpu_ms > w->program[i].cpu_ms ? cpu_ms - w->program[i].cpu_ms : 0;
}

/* The size of the changes of a program, in ms of CPU time or MiB; 0: none. */
static uint64_t weigh(const struct trk_programs_written *w, const struct trk_program *p, size_t i,
		      bool all)
{
	uint64_t kib = p->memory_bytes / 1024, before = w->program[i].memory_kib;
	uint64_t moved = kib > before ? kib - before : before - kib;
	uint64_t least = before / MEMORY_PART;
	uint64_t weight = cpu_news(w, p, i);

	if (moved >= (least > MEMORY_MIN_KIB ? least : MEMORY_MIN_KIB) || (moved && kib == 0))
		weight += 1 + moved / 1024;
	if (p->alive != w->program[i].alive || p->ended != w->program[i].ended)
		weight += 1;
	return weight + (all && (kib || p->alive));
}

static void find_news(const struct trk_programs_written *w, const struct trk_programs_now *now,
		      bool all, struct news *ret)
{
	ret->count = 0;
	for (size_t i = 0; i < now->count && i < TRK_PROGRAMS_MAX; i++) {
		uint64_t weight = weigh(w, &now->program[i], i, all);
		size_t at = ret->count;

		if (weight == 0)
			continue;
		for (; at > 0 && ret->weight[at - 1] < weight; at--) {
			ret->weight[at] = ret->weight[at - 1];
			ret->index[at] = ret->index[at - 1];
		}
		ret->weight[at] = weight;
		ret->index[at] = (uint8_t) i;
		ret->count++;
	}
}

static bool is_used(const struct trk_program *p)
{
	return p->cpu_ns || p->memory_bytes || p->alive || p->ended;
}

static void put_names(struct trk_buf *b, struct trk_programs_written *w,
		      const struct trk_programs_now *now, bool all)
{
	uint64_t count = 0;

	for (size_t i = 1; i < now->count; i++)
		count += is_used(&now->program[i]) && (all || !w->program[i].named);
	trk__buf_varint(b, count);
	for (size_t i = 1; i < now->count; i++) {
		const struct trk_program *p = &now->program[i];

		if (!is_used(p) || (!all && w->program[i].named))
			continue;
		trk__buf_varint(b, i);
		trk__buf_varint(b, p->kind);
		trk__buf_text(b, p->name);
		w->program[i].named = true;
	}
}

static void put_use(struct trk_buf *b, struct trk_programs_written *w, const struct trk_program *p,
		    size_t i)
{
	uint64_t cpu_ms = cpu_news(w, p, i), ended = p->ended - w->program[i].ended;
	bool has_alive = p->alive != w->program[i].alive;

	trk__buf_varint(b, i << 2 | (has_alive ? HAS_ALIVE : 0) | (ended ? HAS_ENDED : 0));
	trk__buf_varint(b, cpu_ms);
	trk__buf_varint(b, p->memory_bytes / 1024);
	if (has_alive)
		trk__buf_varint(b, p->alive);
	if (ended)
		trk__buf_varint(b, ended);
	w->program[i].cpu_ms += cpu_ms;
	w->program[i].memory_kib = p->memory_bytes / 1024;
	w->program[i].alive = p->alive;
	w->program[i].ended = p->ended;
}

/* A keyframe has the number of processes of every program. */
static void put_uses(struct trk_buf *b, struct trk_programs_written *w,
		     const struct trk_programs_now *now, bool all)
{
	int64_t most = (room(w) - (int64_t) b->len - FRAME_BYTES) / USE_BYTES;
	struct news news;
	size_t count;

	find_news(w, now, all, &news);
	count = most < 1 ? 1 : (size_t) most;
	if (count > news.count)
		count = news.count;
	trk__buf_varint(b, count);
	for (size_t i = 0; i < count; i++) {
		size_t index = news.index[i];

		if (all)
			w->program[index].alive = UINT32_MAX;
		put_use(b, w, &now->program[index], index);
	}
}

/* Write the number of bytes that it shares with the first one, and the beginning of the rest. */
static void put_command(struct trk_buf *b, struct trk_first_commands *first,
			const struct trk_process_span *s)
{
	char *known = first->text[s->program];
	size_t shared = 0, rest;

	while (s->command[shared] && s->command[shared] == known[shared])
		shared++;
	rest = strlen(s->command + shared);
	trk__buf_varint(b, shared);
	if (known[0] && rest > COMMAND_REST)
		rest = COMMAND_REST;
	trk__buf_bytes(b, s->command + shared, rest);
	if (!known[0])
		memcpy(known, s->command, sizeof(s->command));
}

static void put_span(struct trk_buf *b, const struct trk_process_span *s, int64_t elapsed_ms,
		     struct trk_first_commands *first)
{
	bool has_command = first && s->command[0] != '\0';

	trk__buf_varint(b, s->program);
	trk__buf_varint(b, (uint64_t) s->pid);
	trk__buf_svarint(b, elapsed_ms - s->start_ms);
	trk__buf_varint(b, (s->ended ? SPAN_ENDED : 0) | (s->listed ? SPAN_LISTED : 0) |
				   (has_command ? SPAN_COMMAND : 0));
	trk__buf_svarint(b, elapsed_ms - s->end_ms);
	trk__buf_varint(b, s->cpu_ms);
	trk__buf_varint(b, s->peak_bytes / 1024);
	if (has_command)
		put_command(b, first, s);
}

static bool is_short(const struct trk_process_span *s)
{
	return s->ended && !s->listed && !s->command[0] && s->end_ms - s->start_ms < SHORT_MS;
}

/* May it be listed with this many bytes left? Short processes only while there is room, and only in
 * the first half of the list of a recording; the other half is for long-lived processes. */
static bool may_list(const struct trk_process_span *s, int64_t left, uint64_t spans)
{
	if (is_short(s))
		return left > 0 && spans < TRK_SPANS_MAX / 2;
	return left > -TRK_PROGRAMS_LAST_BYTES && (s->listed || spans < TRK_SPANS_MAX);
}

static void put_spans(struct trk_buf *b, struct trk_programs_written *w,
		      const struct trk_programs_now *now, int64_t elapsed_ms)
{
	int64_t left = room(w) - (int64_t) b->len - FRAME_BYTES;
	uint64_t count = 0;
	TRK_BUF_LOCAL(list, b->max);

	for (size_t i = 0; i < now->spans; i++) {
		int64_t rest = left - (int64_t) list.len;

		if (!may_list(&now->span[i], rest, w->spans + count)) {
			w->left_out += now->span[i].ended && !now->span[i].listed;
			continue;
		}
		put_span(&list, &now->span[i], elapsed_ms, rest > 0 ? &w->first : NULL);
		count++;
	}
	trk__buf_varint(b, count);
	trk__buf_add(b, list.data, list.len);
	if (list.error)
		b->error = list.error;
	w->spans += count;
}

static bool has_news(const struct trk_programs_written *w, const struct trk_programs_now *now)
{
	for (size_t i = 0; i < now->count && i < TRK_PROGRAMS_MAX; i++)
		if (weigh(w, &now->program[i], i, false))
			return true;
	return now->spans > 0;
}

void trk__format_programs(struct trk_buf *b, struct trk_programs_written *w,
			  const struct trk_programs_now *now, int64_t elapsed_ms, bool is_last)
{
	bool all = w->records % KEYFRAME == KEYFRAME - 1;
	uint64_t unseen = now->unseen_pids == UINT64_MAX ? 0 : now->unseen_pids;
	uint64_t unlisted;
	size_t before = b->len;

	w->rows++;
	if (!has_news(w, now) && !is_last)
		return;
	trk__buf_varint(b, (uint64_t) elapsed_ms);
	put_names(b, w, now, all);
	put_uses(b, w, now, all);
	put_spans(b, w, now, elapsed_ms);
	unlisted = now->unlisted + w->left_out;
	trk__buf_varint(b, unlisted - w->unlisted);
	trk__buf_varint(b, unseen > w->unseen ? unseen - w->unseen : 0);
	w->unlisted = unlisted;
	w->unseen = unseen > w->unseen ? unseen : w->unseen;
	w->bytes += b->len - before + FRAME_BYTES;
	w->records++;
}

/* ---- reading ---- */

static void get_names(struct trk_cursor *c, struct trk_program_log *log)
{
	uint64_t count = trk__cursor_varint(c);

	for (uint64_t k = 0; k < count && !c->bad; k++) {
		uint64_t i = trk__cursor_varint(c), kind = trk__cursor_varint(c);
		char name[TRK_PROGRAM_NAME_SIZE];

		trk__cursor_text(c, name, sizeof(name));
		if (c->bad || i == TRK_PROGRAM_REST || i >= TRK_PROGRAMS_MAX) {
			c->bad = 1;
			return;
		}
		memcpy(log->program[i].name, name, sizeof(name));
		log->program[i].kind =
			kind < TRK_PROGRAM_KINDS ? (enum trk_program_kind) kind : TRK_PROGRAM_PLAIN;
		if (i >= log->count)
			log->count = (size_t) i + 1;
	}
}

static void get_uses(struct trk_cursor *c, struct trk_program_log *log)
{
	uint64_t count = trk__cursor_varint(c);

	for (uint64_t k = 0; k < count && !c->bad; k++) {
		uint64_t head = trk__cursor_varint(c), i = head >> 2;
		uint64_t cpu_ms = trk__cursor_varint(c), kib = trk__cursor_varint(c);
		uint64_t alive = head & HAS_ALIVE ? trk__cursor_varint(c) : UINT64_MAX;
		uint64_t ended = head & HAS_ENDED ? trk__cursor_varint(c) : 0;
		struct trk_program *p = &log->program[i < TRK_PROGRAMS_MAX ? i : 0];

		if (c->bad || i >= TRK_PROGRAMS_MAX || kib > UINT64_MAX / 1024 ||
		    cpu_ms > (1ull << 40)) {
			c->bad = 1;
			return;
		}
		log->cpu_ms[i] = cpu_ms;
		p->cpu_ns += cpu_ms * 1000000;
		p->memory_bytes = kib * 1024;
		p->ended += ended;
		if (alive != UINT64_MAX)
			p->alive = alive < UINT32_MAX ? (uint32_t) alive : UINT32_MAX;
		if (log->peak_bytes[i] < p->memory_bytes)
			log->peak_bytes[i] = p->memory_bytes;
		if (i >= log->count)
			log->count = (size_t) i + 1;
	}
}

static void get_command(struct trk_cursor *c, struct trk_program_log *log,
			struct trk_process_span *s)
{
	uint64_t shared = trk__cursor_varint(c);
	char *known = log->first->text[s->program], rest[TRK_SPAN_COMMAND_SIZE];

	trk__cursor_text(c, rest, sizeof(rest));
	if (c->bad)
		return;
	if (shared > strlen(known)) /* the first one was damaged */
		(void) snprintf(s->command, sizeof(s->command), "...%s", rest);
	else
		(void) snprintf(s->command, sizeof(s->command), "%.*s%s", (int) shared, known,
				rest);
	if (shared == 0 && !known[0])
		memcpy(known, s->command, sizeof(s->command));
}

static void get_spans(struct trk_cursor *c, struct trk_program_log *log)
{
	uint64_t count = trk__cursor_varint(c);

	for (uint64_t k = 0; k < count && !c->bad; k++) {
		struct trk_process_span s = {.program = (unsigned int) trk__cursor_varint(c)};
		uint64_t flags, kib;

		s.pid = (pid_t) trk__cursor_varint(c);
		s.start_ms =
			(int64_t) ((uint64_t) log->elapsed_ms - (uint64_t) trk__cursor_svarint(c));
		flags = trk__cursor_varint(c);
		s.end_ms =
			(int64_t) ((uint64_t) log->elapsed_ms - (uint64_t) trk__cursor_svarint(c));
		s.cpu_ms = trk__cursor_varint(c);
		kib = trk__cursor_varint(c);
		s.ended = flags & SPAN_ENDED;
		s.listed = flags & SPAN_LISTED;
		if (flags & SPAN_COMMAND && s.program < TRK_PROGRAMS_MAX)
			get_command(c, log, &s);
		if (c->bad || s.program >= TRK_PROGRAMS_MAX || kib > UINT64_MAX / 1024 ||
		    s.end_ms < s.start_ms) {
			c->bad = 1;
			return;
		}
		s.peak_bytes = kib * 1024;
		if (log->program[s.program].largest_bytes < s.peak_bytes)
			log->program[s.program].largest_bytes = s.peak_bytes;
		trk__program_log_span(log, &s);
	}
}

int trk__parse_programs(const void *data, size_t len, struct trk_program_log *log)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t elapsed_ms = trk__cursor_varint(&c);

	if (c.bad || elapsed_ms > INT64_MAX / 4)
		return -EBADMSG;
	if (trk__program_log_init(log) < 0)
		return -ENOMEM;
	memset(log->cpu_ms, 0, sizeof(log->cpu_ms));
	log->elapsed_ms = (int64_t) elapsed_ms;
	log->rows++;
	get_names(&c, log);
	if (!c.bad)
		get_uses(&c, log);
	if (!c.bad)
		get_spans(&c, log);
	if (!c.bad) {
		uint64_t unlisted = trk__cursor_varint(&c), unseen = trk__cursor_varint(&c);

		if (!c.bad) { /* additions of a newer version are skipped */
			log->unlisted += unlisted;
			log->unseen += unseen;
		}
	}
	return c.bad ? -EBADMSG : 0;
}

/* ---- merging rows ---- */

void trk__programs_merge(struct trk_programs_merged *m, double seconds, bool is_new)
{
	const struct trk_program_log *log = m->log;

	m->seconds += seconds;
	for (size_t i = 0; i < log->count; i++) {
		if (is_new)
			m->cpu_ms[i] += log->cpu_ms[i];
		m->memory_s[i] += (double) log->program[i].memory_bytes / 1024 * seconds;
	}
	m->any |= is_new;
}

static void put_merged_names(struct trk_buf *b, struct trk_programs_merged *m)
{
	const struct trk_program_log *log = m->log;
	size_t from = m->records % KEYFRAME == 0 || m->named == 0 ? 1 : m->named;

	trk__buf_varint(b, log->count > from ? log->count - from : 0);
	for (size_t i = from; i < log->count; i++) {
		trk__buf_varint(b, i);
		trk__buf_varint(b, log->program[i].kind);
		trk__buf_text(b, log->program[i].name);
	}
	m->named = log->count;
}

static void put_merged_uses(struct trk_buf *b, struct trk_programs_merged *m)
{
	const struct trk_program_log *log = m->log;
	double seconds = m->seconds > 0 ? m->seconds : 1;
	uint64_t kib[TRK_PROGRAMS_MAX], count = 0;
	bool has[TRK_PROGRAMS_MAX];

	for (size_t i = 0; i < log->count; i++) {
		kib[i] = (uint64_t) trk__whole(m->memory_s[i] / seconds + 0.5, 0, INT64_MAX);
		has[i] = m->cpu_ms[i] || kib[i] != m->memory_kib[i] ||
			 log->program[i].ended != m->ended_before[i];
		count += has[i];
	}
	trk__buf_varint(b, count);
	for (size_t i = 0; i < log->count; i++) {
		if (!has[i])
			continue;
		trk__buf_varint(b, i << 2 | HAS_ALIVE | HAS_ENDED);
		trk__buf_varint(b, m->cpu_ms[i]);
		trk__buf_varint(b, kib[i]);
		trk__buf_varint(b, log->program[i].alive);
		trk__buf_varint(b, log->program[i].ended - m->ended_before[i]);
		m->memory_kib[i] = kib[i];
		m->ended_before[i] = log->program[i].ended;
	}
}

static void put_merged(struct trk_buf *b, struct trk_programs_merged *m)
{
	struct trk_program_log *log = m->log;

	trk__buf_varint(b, (uint64_t) log->elapsed_ms);
	put_merged_names(b, m);
	put_merged_uses(b, m);
	trk__buf_varint(b, log->spans);
	for (size_t i = 0; i < log->spans; i++)
		put_span(b, &log->span[i], log->elapsed_ms, &m->first);
	log->spans = 0; /* a later end is appended; written records are not changed */
	trk__buf_varint(b, log->unlisted - m->unlisted_done);
	trk__buf_varint(b, log->unseen - m->unseen_done);
	m->unlisted_done = log->unlisted;
	m->unseen_done = log->unseen;
	m->records++;
}

void trk__programs_merge_end(struct trk_buf *b, struct trk_programs_merged *m)
{
	if (m->any)
		put_merged(b, m);
	memset(m->cpu_ms, 0, sizeof(m->cpu_ms));
	memset(m->memory_s, 0, sizeof(m->memory_s));
	m->seconds = 0;
	m->any = false;
}
