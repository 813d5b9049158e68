#include "recording/line_record.h"
#include "base/maths.h"

#include <errno.h>
#include <string.h>

enum { NAMES_BYTES = 64 * 1024, AMOUNTS = 6, TEXT_MAX = 2048, RATE_SCALE = 1000 };
enum { FILES_BACK = 64 }; /* recent functions that are searched for the same file */
enum { MORE = 1, MORE_LIBRARY = 2 };

/* ---- names ---- */

static bool is_full(const struct trk_buf *b, size_t start)
{
	return b->len - start > NAMES_BYTES;
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* A file's name: how far back a function of the same file is; else a 0, how many bytes it shares
 * with the last name that was written in full, and the rest. */
static void put_file(struct trk_buf *b, const struct trk_lines *l, size_t number, const char **last)
{
	const char *file = l->function[number].file;
	size_t shared;

	for (size_t back = 1; back <= FILES_BACK && back <= number; back++)
		if (!strcmp(l->function[number - back].file, file)) {
			trk__buf_varint(b, back);
			return;
		}
	shared = common_prefix(*last, file);
	trk__buf_varint(b, 0);
	trk__buf_varint(b, shared);
	trk__buf_text(b, file + shared);
	*last = file;
}

/* A list is its first number, and entries that each begin with a 1; a 0 ends it. A function begins
 * with a 2 if it is of a library and its file's name, kept without its path, does not show that. */
static void put_functions(struct trk_buf *b, size_t start, const struct trk_lines *l, size_t *from)
{
	const char *last = "";

	trk__buf_varint(b, *from);
	for (; *from < l->functions && !is_full(b, start); (*from)++) {
		const struct trk_lines_function *f = &l->function[*from];

		trk__buf_varint(b, f->is_library && !trk__lines_is_library(f->file) ? MORE_LIBRARY
										    : MORE);
		put_file(b, l, *from, &last);
		trk__buf_text(b, f->name);
		trk__buf_varint(b, (uint64_t) f->first_line);
	}
	trk__buf_varint(b, 0);
}

bool trk__format_line_names(struct trk_buf *b, const struct trk_lines *l,
			    struct trk_lines_written *from)
{
	size_t start = b->len;

	if (from->functions >= l->functions && from->nodes >= l->nodes && from->lanes >= l->lanes)
		return false;
	put_functions(b, start, l, &from->functions);
	trk__buf_varint(b, from->nodes);
	/* Write a node only after its function. */
	for (; from->nodes < l->nodes && !is_full(b, start); from->nodes++) {
		const struct trk_lines_node *n = &l->node[from->nodes];

		if (n->function >= from->functions)
			break;
		trk__buf_varint(b, 1);
		trk__buf_varint(b, n->parent);
		trk__buf_varint(b, n->function);
		trk__buf_varint(b, (uint64_t) n->line);
	}
	trk__buf_varint(b, 0);
	trk__buf_varint(b, from->lanes);
	for (; from->lanes < l->lanes && !is_full(b, start); from->lanes++) {
		const struct trk_lines_lane *lane = &l->lane[from->lanes];

		trk__buf_varint(b, 1);
		trk__buf_varint(b, (uint64_t) lane->pid);
		trk__buf_varint(b, (uint64_t) lane->tid);
		trk__buf_text(b, lane->process);
	}
	trk__buf_varint(b, 0);
	return true;
}

static bool another(struct trk_cursor *c)
{
	return trk__cursor_varint(c) == MORE && !c->bad;
}

struct file_name {
	char text[TEXT_MAX]; /* the last one that was written in full, without an end */
	size_t len;
};

/* Returns 0, or -EBADMSG. *ret is valid until the next call. */
static int get_file(struct trk_cursor *c, const struct trk_lines *l, uint64_t number,
		    struct file_name *last, const char **ret, size_t *ret_len)
{
	uint64_t back = trk__cursor_varint(c), shared;
	const char *rest;
	size_t len;

	if (back > number)
		return -EBADMSG;
	if (back) {
		bool is_lost = number - back >= l->functions;

		*ret = is_lost ? "?" : l->function[number - back].file;
		*ret_len = strlen(*ret);
		return 0;
	}
	shared = trk__cursor_varint(c);
	rest = trk__cursor_bytes(c, &len);
	if (c->bad || shared > last->len || len > sizeof(last->text) - shared)
		return -EBADMSG;
	memcpy(last->text + shared, rest, len);
	last->len = (size_t) shared + len;
	*ret = last->text;
	*ret_len = last->len;
	return 0;
}

static int get_functions(struct trk_cursor *c, struct trk_lines *l)
{
	struct file_name last = {.len = 0};
	uint64_t number = trk__cursor_varint(c);
	uint64_t more = trk__cursor_varint(c);
	int r = 0;

	for (; (more == MORE || more == MORE_LIBRARY) && !c->bad && r == 0;
	     more = trk__cursor_varint(c)) {
		struct trk_lines_named f = {.is_library = more == MORE_LIBRARY};
		uint64_t line;

		if (get_file(c, l, number, &last, &f.file, &f.file_len) < 0)
			return -EBADMSG;
		f.name = trk__cursor_bytes(c, &f.name_len);
		line = trk__cursor_varint(c);
		if (c->bad || f.name_len > TEXT_MAX || line > INT32_MAX)
			return -EBADMSG;
		f.first_line = (int) line;
		r = trk__lines_put_function(l, number++, &f);
	}
	return r;
}

static int get_nodes(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t number = trk__cursor_varint(c);
	int r = 0;

	while (another(c) && r == 0) {
		uint64_t parent = trk__cursor_varint(c), function = trk__cursor_varint(c),
			 line = trk__cursor_varint(c);
		struct trk_lines_node n = {(uint32_t) parent, (uint32_t) function, (int) line};

		if (c->bad || parent > UINT32_MAX || function > UINT32_MAX || line > INT32_MAX)
			return -EBADMSG;
		r = trk__lines_put_node(l, number++, &n);
	}
	return r;
}

static int get_lanes(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t number = trk__cursor_varint(c);
	int r = 0;

	while (another(c) && r == 0) {
		uint64_t pid = trk__cursor_varint(c), tid = trk__cursor_varint(c);
		struct trk_lines_lane lane = {.pid = (pid_t) pid, .tid = (pid_t) tid};

		trk__cursor_text(c, lane.process, sizeof(lane.process));
		if (c->bad || pid > INT32_MAX || tid > INT32_MAX)
			return -EBADMSG;
		r = trk__lines_put_lane(l, number++, &lane);
	}
	return r;
}

int trk__parse_line_names(const void *data, size_t len, struct trk_lines *l)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	int r = get_functions(&c, l);

	if (r == 0)
		r = get_nodes(&c, l);
	if (r == 0)
		r = get_lanes(&c, l);
	return r == 0 && c.bad ? -EBADMSG : r;
}

/* ---- counts ---- */

static uint64_t *amount_at(struct trk_lines_amounts *a, int i)
{
	uint64_t *const at[AMOUNTS] = {&a->samples,    &a->cpu_us,        &a->wall_us,
				       &a->sure_bytes, &a->between_bytes, &a->released_bytes};

	return at[i];
}

void trk__format_line_counts(struct trk_buf *b, int64_t from_us, int64_t to_us,
			     const struct trk_lines_count *count, size_t counts)
{
	trk__buf_svarint(b, from_us);
	trk__buf_varint(b, to_us > from_us ? (uint64_t) (to_us - from_us) : 0);
	trk__buf_varint(b, counts);
	for (size_t i = 0; i < counts; i++) {
		struct trk_lines_amounts a = count[i].amounts;
		unsigned int known = 0;

		for (int k = 0; k < AMOUNTS; k++)
			known |= *amount_at(&a, k) ? 1u << k : 0;
		trk__buf_varint(b, known);
		trk__buf_varint(b, count[i].lane);
		trk__buf_varint(b, count[i].node);
		for (int k = 0; k < AMOUNTS; k++)
			if (known >> k & 1)
				trk__buf_varint(b, *amount_at(&a, k));
	}
}

static int get_count(struct trk_cursor *c, struct trk_lines_count *ret)
{
	uint64_t known = trk__cursor_varint(c), lane = trk__cursor_varint(c),
		 node = trk__cursor_varint(c);

	if (c->bad || known >> AMOUNTS || lane >= TRK_LINES_LANES || node >= TRK_LINES_NODES)
		return -EBADMSG;
	*ret = (struct trk_lines_count){.lane = (uint32_t) lane, .node = (uint32_t) node};
	for (int k = 0; k < AMOUNTS; k++) {
		uint64_t value = known >> k & 1 ? trk__cursor_varint(c) : 0;

		if (value > UINT64_MAX >> 12) /* so that no sum of them wraps */
			return -EBADMSG;
		*amount_at(&ret->amounts, k) = value;
	}
	return c->bad ? -EBADMSG : 0;
}

int trk__merge_line_counts(const void *data, size_t len, struct trk_lines_sums *sums,
			   int64_t *from_us, int64_t *to_us)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	int64_t start_us = trk__cursor_svarint(&c);
	uint64_t length = trk__cursor_varint(&c), counts = trk__cursor_varint(&c);
	int r = 0;

	if (c.bad || length > INT64_MAX / 4 || start_us > INT64_MAX / 4 ||
	    start_us < -INT64_MAX / 4 || counts > TRK_LINES_COUNTS)
		return -EBADMSG;
	*from_us = start_us < *from_us ? start_us : *from_us;
	*to_us = start_us + (int64_t) length > *to_us ? start_us + (int64_t) length : *to_us;
	for (uint64_t i = 0; i < counts && r == 0; i++) {
		struct trk_lines_count count;
		struct trk_lines_amounts *sum;

		r = get_count(&c, &count);
		if (r < 0)
			break;
		sum = trk__lines_sum(sums, count.lane, count.node);
		if (!sum)
			return -ENOMEM;
		trk__lines_amounts_add(sum, &count.amounts);
	}
	return r;
}

int trk__parse_line_counts(const void *data, size_t len, struct trk_lines *l)
{
	struct trk_lines_sums sums = {.counts = 0};
	int64_t from_us = INT64_MAX, to_us = INT64_MIN;
	int r = trk__merge_line_counts(data, len, &sums, &from_us, &to_us);

	if (r == 0)
		r = trk__lines_add(l, from_us, to_us, sums.count, sums.counts);
	trk__lines_sums_release(&sums);
	return r;
}

/* ---- state ---- */

void trk__format_line_state(struct trk_buf *b, const struct trk_lines *l)
{
	size_t lasts = 0;

	trk__buf_varint(b, l->samples);
	trk__buf_varint(b, l->torn);
	trk__buf_varint(b, (uint64_t) trk__whole(l->rate_hz * RATE_SCALE + 0.5, 0, INT64_MAX));
	trk__buf_varint(b, l->rounds);
	trk__buf_varint(b, l->cost_us);
	trk__buf_varint(b, l->processes);
	for (size_t i = 0; i < l->processes; i++) {
		const struct trk_lines_process *p = &l->process[i];

		trk__buf_varint(b, (uint64_t) p->pid);
		trk__buf_varint(b, p->why);
		trk__buf_varint(b, p->version);
		trk__buf_text(b, p->name);
	}
	for (size_t i = 0; i < l->lanes; i++)
		lasts += l->last[i].node != TRK_LINES_ROOT;
	trk__buf_varint(b, lasts);
	for (size_t i = 0; i < l->lanes; i++) {
		const struct trk_lines_last *last = &l->last[i];

		if (last->node == TRK_LINES_ROOT)
			continue;
		trk__buf_varint(b, i);
		trk__buf_varint(b, last->node);
		trk__buf_svarint(b, last->at_us);
		trk__buf_varint(b, last->running);
	}
	trk__buf_varint(b, l->native.why);
	trk__buf_varint(b, l->native.samples);
	trk__buf_varint(b, l->native.lost);
	trk__buf_varint(b, (uint64_t) (l->user - TRK_LINES_SEVERAL_USERS));
}

static int get_processes(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t n = trk__cursor_varint(c);

	if (c->bad || n > TRK_LINES_PROCESSES)
		return -EBADMSG;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t pid = trk__cursor_varint(c), why = trk__cursor_varint(c),
			 version = trk__cursor_varint(c);
		struct trk_lines_process p = {.pid = (pid_t) pid,
					      .why = (unsigned int) why,
					      .version = (unsigned int) version};

		trk__cursor_text(c, p.name, sizeof(p.name));
		if (c->bad || pid > INT32_MAX || why > 255 || version > 0xffffff)
			return -EBADMSG;
		trk__lines_process(l, &p);
	}
	return 0;
}

static int get_lasts(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t n = trk__cursor_varint(c);

	if (c->bad || n > TRK_LINES_LANES)
		return -EBADMSG;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t lane = trk__cursor_varint(c), node = trk__cursor_varint(c);
		struct trk_lines_last last = {.at_us = trk__cursor_svarint(c),
					      .running = trk__cursor_varint(c) == 1};

		if (c->bad || lane >= TRK_LINES_LANES || node >= TRK_LINES_NODES)
			return -EBADMSG;
		last.lane = (uint32_t) lane;
		last.node = (uint32_t) node;
		trk__lines_note_last(l, &last);
	}
	return 0;
}

static int get_native(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t why = trk__cursor_varint(c), samples = trk__cursor_varint(c),
		 lost = trk__cursor_varint(c);

	if (c->bad || why > 255)
		return -EBADMSG;
	l->native = (struct trk_lines_native){(unsigned int) why, samples, lost};
	return 0;
}

/* Recordings of older versions end before it. */
static int get_user(struct trk_cursor *c, struct trk_lines *l)
{
	uint64_t user;

	if (c->at == c->end) {
		l->user = TRK_LINES_USER_UNKNOWN;
		return 0;
	}
	user = trk__cursor_varint(c);
	if (c->bad || user > (uint64_t) (UINT32_MAX - (int64_t) TRK_LINES_SEVERAL_USERS))
		return -EBADMSG;
	l->user = (int64_t) user + TRK_LINES_SEVERAL_USERS;
	return 0;
}

int trk__parse_line_state(const void *data, size_t len, struct trk_lines *l)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t samples = trk__cursor_varint(&c), torn = trk__cursor_varint(&c),
		 rate = trk__cursor_varint(&c), rounds = trk__cursor_varint(&c),
		 cost_us = trk__cursor_varint(&c);
	int r;

	if (c.bad || rate > UINT32_MAX)
		return -EBADMSG;
	l->samples = samples;
	l->torn = torn;
	l->rate_hz = (double) rate / RATE_SCALE;
	l->rounds = rounds;
	l->cost_us = cost_us;
	r = get_processes(&c, l);
	if (r == 0)
		r = get_lasts(&c, l);
	if (r == 0)
		r = get_native(&c, l);
	return r == 0 ? get_user(&c, l) : r;
}
