/* Reading the stack of a CPython: line tables, a synthetic process image for each version that has
 * its offsets in the table, and torn images. tests/cli/test_lines.py reads real interpreters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/stack/cpython.h"
#include "probe/stack/interpreter.h"

/* ---- a process image ---- */

enum { IMAGE_BYTES = 1 << 20 };
#define IMAGE_AT UINT64_C(0x500000000000)

static unsigned char image[IMAGE_BYTES];
static uint64_t next_at;
static struct trk_remote *remote;

static int read_image(void *data, uint64_t addr, void *to, size_t len)
{
	(void) data;
	if (addr < IMAGE_AT || addr - IMAGE_AT > IMAGE_BYTES ||
	    len > IMAGE_BYTES - (addr - IMAGE_AT))
		return -EFAULT;
	memcpy(to, image + (addr - IMAGE_AT), len);
	return 0;
}

/* A clock that goes on by a step each time it is read: none, unless a case sets it. */
static uint64_t clock_ns, clock_step_ns;

static uint64_t read_clock(void)
{
	return clock_ns += clock_step_ns;
}

static int set_up(void **state)
{
	memset(image, 0, sizeof(image));
	next_at = IMAGE_AT;
	clock_step_ns = 0;
	remote = malloc(sizeof(*remote));
	assert_non_null(remote);
	trk__remote_init(remote, read_image, NULL);
	remote->cpu_ns = remote->monotonic_ns = read_clock;
	trk__remote_begin(remote);
	return 0;
}

static int tear_down(void **state)
{
	free(remote);
	return 0;
}

static uint64_t take(size_t bytes)
{
	uint64_t addr = next_at;

	next_at += (bytes + 63) / 64 * 64;
	assert_true(next_at < IMAGE_AT + IMAGE_BYTES);
	return addr;
}

static void put(uint64_t addr, int offset, uint64_t value, size_t bytes)
{
	memcpy(image + (addr - IMAGE_AT) + offset, &value, bytes);
}

static uint64_t put_text(const struct trk_cpython_layout *l, uint64_t type, const char *text)
{
	uint64_t addr = take(128 + strlen(text));

	put(addr, l->object_type, type, 8);
	put(addr, l->text_state, 1u << 2 | 1u << 5 | 1u << 6,
	    4); /* one byte a character, compact, ASCII */
	put(addr, l->text_length, strlen(text), 8);
	memcpy(image + (addr - IMAGE_AT) + l->ascii_size, text, strlen(text));
	return addr;
}

static uint64_t put_type(const struct trk_cpython_layout *l, const char *name)
{
	uint64_t type = take(256), text = take(16);

	memcpy(image + (text - IMAGE_AT), name, strlen(name) + 1);
	put(type, l->type_name, text, 8);
	return type;
}

struct made {
	struct trk_cpython_runtime runtime;
	uint64_t code_type, text_type, bytes_type, interpreter, thread, code;
};

/* A code object whose instructions are two bytes each, all on first_line + 1. */
static uint64_t put_code(const struct made *m, const char *file, const char *name, int first_line)
{
	const struct trk_cpython_layout *l = &m->runtime.layout;
	uint64_t code = take(512), table = take(64);
	unsigned char *data = image + (table - IMAGE_AT) + l->bytes_data;

	put(table, l->object_type, m->bytes_type, 8);
	put(table, l->bytes_size, 2, 8);
	if (l->version >= 0x30b) {
		data[0] = 0x80 | 11 << 3 | 7; /* eight units, one line on */
		data[1] = 0;
	} else {
		data[0] = l->version == 0x30a ? 16 : 0;
		data[1] = 1;
	}
	put(code, l->object_type, m->code_type, 8);
	put(code, l->code_file, put_text(l, m->text_type, file), 8);
	put(code, l->code_name, put_text(l, m->text_type, name), 8);
	put(code, l->code_table, table, 8);
	put(code, l->code_first_line, (uint64_t) first_line, 4);
	return code;
}

static uint64_t put_frame(const struct made *m, uint64_t code, uint64_t back)
{
	const struct trk_cpython_layout *l = &m->runtime.layout;
	uint64_t frame = take(128);

	put(frame, l->frame_code, code, 8);
	put(frame, l->frame_back, back, 8);
	if (l->code_bytes >= 0)
		put(frame, l->frame_place, code + (uint64_t) l->code_bytes + 4, 8);
	else
		put(frame, l->frame_place, 4, 4);
	return frame;
}

static void set_frame(const struct made *m, uint64_t frame)
{
	const struct trk_cpython_layout *l = &m->runtime.layout;
	uint64_t cframe;

	if (l->cframe_frame < 0) {
		put(m->thread, l->thread_frame, frame, 8);
		return;
	}
	cframe = take(64);
	put(cframe, l->cframe_frame, frame, 8);
	put(m->thread, l->thread_frame, cframe, 8);
}

static void make(struct made *m, int version)
{
	const struct trk_cpython_layout *l = trk__cpython_layout(version);

	assert_non_null(l);
	*m = (struct made){.runtime = {.addr = take(256), .layout = *l}};
	m->code_type = put_type(l, "code");
	m->text_type = put_type(l, "str");
	m->bytes_type = put_type(l, "bytes");
	m->interpreter = take(512);
	m->thread = take(512);
	put(m->runtime.addr, l->interpreters, m->interpreter, 8);
	put(m->interpreter, l->interpreter_threads, m->thread, 8);
	put(m->thread, l->thread_interpreter, m->interpreter, 8);
	put(m->thread, l->thread_id, IMAGE_AT + 64, 8);
	if (l->thread_native_id >= 0)
		put(m->thread, l->thread_native_id, 4711, 8);
	m->code = put_code(m, "/home/u/train.py", "step", 10);
}

static struct trk_stack seen;
static char seen_name[64], seen_file[64];

static void note(void *data, struct trk_stack *stack)
{
	(void) data;
	seen = *stack;
	(void) snprintf(seen_name, sizeof(seen_name), "%s", stack->frame[0].code->name);
	(void) snprintf(seen_file, sizeof(seen_file), "%s", stack->frame[0].code->file);
}

static const int versions[] = {0x309, 0x30a, 0x30b, 0x30c};
enum { VERSIONS = sizeof(versions) / sizeof(versions[0]) };

/* Check, walk once, and give what the walk returned. */
static int walk(struct made *m, unsigned int *torn)
{
	struct trk_cpython *c;
	int n;

	assert_int_equal(trk__cpython_check(remote, &m->runtime), TRK_STACK_READ);
	c = trk__cpython_new(&m->runtime, getpid(), remote);
	assert_non_null(c);
	n = trk__cpython_walk(c, remote, note, NULL, torn);
	trk__cpython_free(c);
	return n;
}

/* ---- cases ---- */

static void reads_a_stack_in_the_layout_of_each_version(void **state)
{
	for (int i = 0; i < VERSIONS; i++) {
		struct made m;
		unsigned int torn = 1;
		uint64_t outer;

		set_up(state);
		make(&m, versions[i]);
		outer = put_frame(&m, put_code(&m, "/home/u/main.py", "<module>", 1), 0);
		set_frame(&m, put_frame(&m, m.code, outer));
		assert_int_equal(walk(&m, &torn), 1);
		assert_int_equal(torn, 0);
		assert_int_equal(seen.depth, 2);
		assert_string_equal(seen_name, "step");
		assert_string_equal(seen_file, "/home/u/train.py");
		assert_int_equal(seen.frame[0].line, 11);
		assert_int_equal(seen.frame[1].line, 2);
		assert_int_equal(seen.tid, versions[i] >= 0x30b ? 4711 : 0);
		assert_true(seen.is_oldest);
		if (i + 1 < VERSIONS)
			tear_down(state);
	}
}

static void counts_direct_recursion_once(void **state)
{
	struct made m;
	unsigned int torn;
	uint64_t frame = 0;

	make(&m, 0x30c);
	for (int i = 0; i < 5000; i++)
		frame = put_frame(&m, m.code, frame);
	set_frame(&m, frame);
	assert_int_equal(walk(&m, &torn), 1);
	assert_int_equal(seen.depth, 1);
	assert_false(seen.is_cut);
}

static void cuts_a_stack_that_goes_on_for_ever(void **state)
{
	struct made m;
	unsigned int torn;
	uint64_t a, b;

	make(&m, 0x30b);
	a = put_frame(&m, m.code, 0);
	b = put_frame(&m, put_code(&m, "b.py", "b", 1), a);
	put(a, m.runtime.layout.frame_back, b, 8);
	set_frame(&m, a);
	assert_int_equal(walk(&m, &torn), 1);
	assert_int_equal(seen.depth, TRK_STACK_FRAMES);
	assert_true(seen.is_cut);
}

static void counts_a_torn_stack_and_drops_it(void **state)
{
	struct made m;
	unsigned int torn = 0;
	uint64_t frame;

	make(&m, 0x30c);
	frame = put_frame(&m, m.code, put_frame(&m, m.text_type, 0));
	set_frame(&m, frame);
	assert_int_equal(walk(&m, &torn), 0);
	assert_int_equal(torn, 1);
}

static void refuses_what_is_no_code_object(void **state)
{
	struct made m;

	make(&m, 0x30b);
	set_frame(&m, put_frame(&m, m.text_type, 0));
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_UNEXPECTED);
}

static void waits_for_an_interpreter_that_has_not_started(void **state)
{
	struct made m;

	make(&m, 0x30b);
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_STARTING);
	put(m.runtime.addr, m.runtime.layout.interpreters, 0, 8);
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_STARTING);
}

static void notices_that_an_address_is_used_again(void **state)
{
	struct made m;
	struct trk_cpython *c;
	unsigned int torn;
	uint64_t other;

	make(&m, 0x30c);
	set_frame(&m, put_frame(&m, m.code, 0));
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_READ);
	c = trk__cpython_new(&m.runtime, getpid(), remote);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_string_equal(seen_name, "step");
	other = put_code(&m, "/home/u/other.py", "other", 70);
	memcpy(image + (m.code - IMAGE_AT), image + (other - IMAGE_AT), 512);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_string_equal(seen_name, "other");
	assert_int_equal(seen.frame[0].line, 71);
	trk__cpython_free(c);
}

/* All of the next object may lie where the one before was: only its texts tell. */
static void notices_other_texts_at_the_same_addresses(void **state)
{
	struct made m;
	struct trk_cpython *c;
	unsigned int torn;
	uint64_t file;

	make(&m, 0x30c);
	set_frame(&m, put_frame(&m, m.code, 0));
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_READ);
	c = trk__cpython_new(&m.runtime, getpid(), remote);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
		assert_string_equal(seen_file, i % 2 ? "/home/u/other.py" : "/home/u/train.py");
		memcpy(&file, image + (m.code - IMAGE_AT) + m.runtime.layout.code_file, 8);
		memcpy(image + (file - IMAGE_AT) + m.runtime.layout.ascii_size,
		       i % 2 ? "/home/u/train" : "/home/u/other", 13);
	}
	trk__cpython_free(c);
}

static size_t range_bytes;

static size_t read_image_ranges(void *data, const struct iovec *to, const struct iovec *from,
				size_t count)
{
	range_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		if (read_image(data, (uint64_t) (uintptr_t) from[i].iov_base, to[i].iov_base,
			       from[i].iov_len) < 0)
			return i;
		range_bytes += from[i].iov_len;
	}
	return count;
}

static void finds_the_line_of_the_moment_that_was_fetched(void **state)
{
	struct made m;
	struct trk_cpython *c;
	unsigned int torn;
	uint64_t outer, frame;

	make(&m, 0x30c);
	remote->read_ranges = read_image_ranges;
	outer = put_frame(&m, put_code(&m, "/home/u/main.py", "main", 1), 0);
	frame = put_frame(&m, m.code, outer);
	set_frame(&m, frame);
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_READ);
	c = trk__cpython_new(&m.runtime, getpid(), remote);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_true(remote->late > 0); /* the first walk had nothing to read ahead */
	trk__cpython_fetch(c, remote);
	set_frame(&m, outer); /* it returns to its caller */
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_string_equal(seen_name, "step");
	assert_int_equal(remote->late, 0);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_string_equal(seen_name, "main");
	(void) take(2 * TRK_REMOTE_PAGE);
	put(outer, m.runtime.layout.frame_back, put_frame(&m, m.code, 0), 8);
	trk__cpython_fetch(c, remote);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_int_equal(seen.depth, 2);
	assert_true(remote->late > 0); /* no walk had read the page of that frame */
	trk__cpython_free(c);
}

/* Each line that is read may have to come from another CPU's cache. */
static void reads_again_only_what_it_used(void **state)
{
	struct made m;
	struct trk_cpython *c;
	unsigned int torn;
	uint64_t frame = 0;

	make(&m, 0x30c);
	remote->read_ranges = read_image_ranges;
	for (int i = 0; i < 60; i++) { /* more pages than a few, two code objects a page */
		frame = put_frame(&m, put_code(&m, "a.py", "a", i), frame);
		(void) take(TRK_REMOTE_PAGE);
	}
	set_frame(&m, frame);
	assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_READ);
	c = trk__cpython_new(&m.runtime, getpid(), remote);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
		assert_int_equal(seen.depth, 60);
		assert_int_equal(torn, 0);
		/* At first, and now and then, it compares texts, too, and reads nothing ahead. */
		if (i > 8 && i % 64 > 0 && i % 64 < 62) {
			assert_int_equal(remote->reads, 1);
			assert_true(range_bytes < 60 * 2048); /* of 60 * 4096 */
		}
	}
	trk__cpython_free(c);
}

/* ---- memory that changes while it is read ---- */

enum { CHAIN = 250 };
static uint64_t chain[CHAIN], chain_turn;
static struct made chained;

/* The image over and over, so that one code object has any number of addresses. Each time that the
 * first frame is read, all frames have code objects at other addresses. */
static int read_changing(void *data, uint64_t addr, void *to, size_t len)
{
	const struct trk_cpython_layout *l = &chained.runtime.layout;
	unsigned char *out = to;

	(void) data;
	if (addr < IMAGE_AT)
		return -EFAULT;
	if (addr <= chain[0] && chain[0] - addr < len) {
		chain_turn++;
		for (uint64_t i = 0; i < CHAIN; i++) {
			uint64_t code = chained.code + (chain_turn * CHAIN + i) * IMAGE_BYTES;

			put(chain[i], l->frame_code, code, 8);
			put(chain[i], l->frame_place, code + (uint64_t) l->code_bytes + 4, 8);
		}
	}
	for (size_t i = 0; i < len; i++)
		out[i] = image[(addr - IMAGE_AT + i) % IMAGE_BYTES];
	return 0;
}

/* A thread with a chain of such frames. */
static struct trk_cpython *make_changing(void)
{
	uint64_t frame = 0;

	make(&chained, 0x30b);
	(void) take(TRK_REMOTE_PAGE); /* no frame is copied together with the thread */
	for (int i = CHAIN; i-- > 0;)
		chain[i] = frame = put_frame(&chained, chained.code, frame);
	set_frame(&chained, frame);
	remote->read = read_changing;
	trk__remote_begin(remote);
	assert_int_equal(trk__cpython_check(remote, &chained.runtime), TRK_STACK_READ);
	return trk__cpython_new(&chained.runtime, getpid(), remote);
}

static void ends_however_many_code_objects_a_stack_has_while_it_is_read(void **state)
{
	unsigned int torn;
	struct trk_cpython *c;

	c = make_changing();
	put(chain[CHAIN - 1], chained.runtime.layout.frame_owner, 200, 1); /* no such owner */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 0);
		assert_int_equal(torn, 1);
		assert_false(remote->is_spent);
		assert_true(remote->kept_bytes <= TRK_CPYTHON_BYTES);
	}
	trk__cpython_free(c);
	assert_int_equal(remote->kept_bytes, 0);
}

static void code_objects_of_all_processes_have_a_limited_memory(void **state)
{
	enum { PROCESSES = 10, TABLE = 65000 };
	struct trk_cpython *c[PROCESSES];
	unsigned int torn;
	uint64_t table = 0;

	for (int i = 0; i < PROCESSES; i++) {
		memset(image, 0, sizeof(image));
		next_at = IMAGE_AT;
		c[i] = make_changing();
		memcpy(&table,
		       image + (chained.code - IMAGE_AT) + chained.runtime.layout.code_table, 8);
		put(table, chained.runtime.layout.bytes_size, TABLE, 8);
		assert_int_equal(trk__cpython_walk(c[i], remote, note, NULL, &torn), 0);
		assert_true(remote->is_spent);
		assert_true(remote->kept_bytes <= TRK_CPYTHON_ALL_BYTES);
		assert_true(remote->kept_bytes <= (uint64_t) (i + 1) * TRK_CPYTHON_BYTES);
	}
	assert_true(remote->kept_bytes > TRK_CPYTHON_ALL_BYTES / 2);
	/* When the process needs less again, it is read. */
	put(table, chained.runtime.layout.bytes_size, 2, 8);
	assert_int_equal(trk__cpython_walk(c[0], remote, note, NULL, &torn), 1);
	assert_false(remote->is_spent);
	for (int i = 0; i < PROCESSES; i++)
		trk__cpython_free(c[i]);
	assert_int_equal(remote->kept_bytes, 0);
}

/* ---- the budget of a look ---- */

/* A thread is the next one of itself; its stack has 20,000 calls. */
static struct trk_cpython *make_endless(struct made *m)
{
	uint64_t frame;

	make(m, 0x30b);
	frame = put_frame(m, m->code, 0);
	put(frame, m->runtime.layout.frame_back, frame, 8);
	set_frame(m, frame);
	put(m->thread, m->runtime.layout.thread_next, m->thread, 8);
	assert_int_equal(trk__cpython_check(remote, &m->runtime), TRK_STACK_READ);
	return trk__cpython_new(&m->runtime, getpid(), remote);
}

static void a_look_ends_after_a_number_of_steps(void **state)
{
	struct trk_cpython *c;
	unsigned int torn;
	struct made m;

	c = make_endless(&m);
	assert_in_range(trk__cpython_walk(c, remote, note, NULL, &torn), 1, TRK_STACK_THREADS - 1);
	assert_true(remote->is_spent);
	assert_in_range(remote->steps, TRK_REMOTE_LOOK_STEPS, TRK_REMOTE_LOOK_STEPS + 256);
	put(m.thread, m.runtime.layout.thread_next, 0, 8);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 1);
	assert_false(remote->is_spent);
	trk__cpython_free(c);
}

static void a_look_ends_after_a_time_of_either_clock(void **state)
{
	struct trk_cpython *c;
	unsigned int torn;
	struct made m;

	c = make_endless(&m);
	for (int i = 0; i < 2; i++) {
		remote->cpu_ns = i == 0 ? read_clock : trk__clock_thread_cpu_ns;
		remote->monotonic_ns = i == 1 ? read_clock : trk__clock_monotonic_ns;
		clock_step_ns = i == 0 ? TRK_REMOTE_LOOK_CPU_NS / 10 : TRK_REMOTE_LOOK_NS / 10;
		assert_true(trk__cpython_walk(c, remote, note, NULL, &torn) >= 0);
		assert_true(remote->is_spent);
		assert_true(remote->steps < 20 * 256);
	}
	trk__cpython_free(c);
}

static void a_look_ends_after_a_number_of_bytes(void **state)
{
	struct trk_cpython *c;
	unsigned int torn;
	struct made m;
	uint64_t table;

	c = make_endless(&m);
	/* Each reading of the code object copies its table, and then its name is none. */
	memcpy(&table, image + (m.code - IMAGE_AT) + m.runtime.layout.code_table, 8);
	put(table, m.runtime.layout.bytes_size, TRK_CPYTHON_TABLE, 8);
	put(m.code, m.runtime.layout.code_name, table, 8);
	assert_int_equal(trk__cpython_walk(c, remote, note, NULL, &torn), 0);
	assert_true(remote->is_spent);
	assert_in_range(remote->bytes, TRK_REMOTE_LOOK_BYTES,
			TRK_REMOTE_LOOK_BYTES + TRK_CPYTHON_TABLE);
	trk__cpython_free(c);
}

static uint64_t random_state = 88172645463325252;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A word as a process leaves it that goes on meanwhile, or anything. */
static uint64_t wild_word(void)
{
	uint64_t near = IMAGE_AT + random_u64() % (next_at - IMAGE_AT);

	switch (random_u64() % 5) {
	case 0:
		return near & ~UINT64_C(7);
	case 1:
		return near;
	case 2:
		return random_u64();
	case 3:
		return random_u64() % 4096;
	default:
		return ~UINT64_C(0) >> random_u64() % 3;
	}
}

static void check_seen(void *data, struct trk_stack *stack)
{
	unsigned int *stacks = data;

	(*stacks)++;
	assert_in_range(stack->depth, 1, TRK_STACK_FRAMES);
	assert_true(stack->tid >= 0);
	for (unsigned int i = 0; i < stack->depth; i++) {
		assert_true(stack->frame[i].line >= 0);
		assert_true(strlen(stack->frame[i].code->file) < TRK_CPYTHON_TEXT);
		assert_true(strlen(stack->frame[i].code->name) < TRK_CPYTHON_TEXT);
	}
}

/* Before each walk, and between its two reads, some words of the process change. */
static void stays_in_bounds_whatever_the_memory_becomes(void **state)
{
	static unsigned char whole[IMAGE_BYTES];
	enum { ROUNDS = 4000 };

	for (int v = 0; v < VERSIONS; v++) {
		unsigned int stacks = 0, all_torn = 0, torn;
		uint64_t frame = 0;
		struct trk_cpython *c;
		struct made m;
		size_t used;

		memset(image, 0, sizeof(image));
		next_at = IMAGE_AT;
		make(&m, versions[v]);
		remote->read_ranges = read_image_ranges;
		for (int i = 0; i < 12; i++)
			frame = put_frame(&m, put_code(&m, "a.py", "a", i), frame);
		set_frame(&m, frame);
		assert_int_equal(trk__cpython_check(remote, &m.runtime), TRK_STACK_READ);
		c = trk__cpython_new(&m.runtime, getpid(), remote);
		used = (size_t) (next_at - IMAGE_AT);
		memcpy(whole, image, used);
		for (int i = 0; i < ROUNDS; i++) {
			for (uint64_t k = random_u64() % 30; k > 0; k--)
				put(IMAGE_AT + random_u64() % (used / 8) * 8, 0, wild_word(), 8);
			if (i % 2) {
				trk__cpython_fetch(c, remote);
				memcpy(image, whole, used);
			}
			(void) trk__cpython_walk(c, remote, check_seen, &stacks, &torn);
			all_torn += torn;
			memcpy(image, whole, used);
		}
		assert_true(stacks > ROUNDS / 20 && all_torn > ROUNDS / 20);
		trk__cpython_free(c);
	}
}

static void reads_text_of_all_widths(void **state)
{
	const struct trk_cpython_layout *l = trk__cpython_layout(0x30c);
	uint64_t addr = take(256);
	uint16_t wide[] = {'d', 0xe9, 0x20ac, 0xdcff};
	char text[32];

	put(addr, l->text_state, 2u << 2 | 1u << 5, 4);
	put(addr, l->text_length, 4, 8);
	memcpy(image + (addr - IMAGE_AT) + l->ascii_size + 16, wide, sizeof(wide));
	assert_int_equal(trk__cpython_text(remote, l, addr, text, sizeof(text)), 7);
	assert_string_equal(text, "d\xc3\xa9\xe2\x82\xac\xff");
	/* A long one keeps its end. */
	addr = put_text(l, 0, "/a/very/long/path/to/some/place/train.py");
	trk__remote_begin(remote);
	assert_int_equal(trk__cpython_text(remote, l, addr, text, 16), 15);
	assert_string_equal(text, "\xe2\x80\xa6"
				  "ace/train.py");
}

static void finds_the_line_in_each_form_of_table(void **state)
{
	/* Up to 3.9: 6 bytes, +1; 50 bytes, +5; a line back. */
	static const unsigned char lnotab[] = {6, 1, 50, 5, 4, 0xfe};
	/* 3.10: a range without a line between two. */
	static const unsigned char ranges[] = {4, 0, 6, 0x80, 8, 3};
	/* 3.11: two units on the line, one without, three at +3 (signed varint 6), one at +2. */
	static const unsigned char locations[] = {0x80 | 10 << 3 | 1,
						  0x11,
						  0x80 | 15 << 3,
						  0x80 | 13 << 3 | 2,
						  6,
						  0x80 | 12 << 3,
						  1,
						  1};

	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LNOTAB, lnotab, 6, 10, 0), 10);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LNOTAB, lnotab, 6, 10, 6), 11);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LNOTAB, lnotab, 6, 10, 56), 16);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LNOTAB, lnotab, 6, 10, 900), 14);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_RANGES, ranges, 6, 10, 2), 10);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_RANGES, ranges, 6, 10, 4), 0);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_RANGES, ranges, 6, 10, 12), 13);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_RANGES, ranges, 6, 10, 18), 0);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LOCATIONS, locations, 8, 10, 2), 10);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LOCATIONS, locations, 8, 10, 4), 0);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LOCATIONS, locations, 8, 10, 10), 13);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LOCATIONS, locations, 8, 10, 12), 15);
	assert_int_equal(trk__cpython_line(TRK_CPYTHON_LOCATIONS, locations, 8, 10, -1), 10);
}

static void finds_the_files_that_may_hold_an_interpreter(void **state)
{
	struct trk_interpreter_maps maps;

	trk__interpreter_parse(
		"400000-500000 r--p 00000000 fe:01 12   /opt/app (deleted)\n"
		"500000-600000 r-xp 00100000 fe:01 12   /opt/app (deleted)\n"
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
		"7f0000001000-7f0000002000 r--p 00000000 fe:01 9 /lib/libpython3.9.so.1.0\n"
		"7f0000003000-7f0000004000 r--p 00000000 fe:01 9 /lib/libc.so.6\n"
		"7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0 [vdso]",
		&maps);
	assert_int_equal(maps.count, 2);
	assert_true(maps.base[0] == 0x400000 && maps.base[1] == 0x7f0000001000);
	assert_false(maps.other_runtime);
	trk__interpreter_parse("400000-500000 r--p 00000000 fe:01 12   /usr/bin/node\n", &maps);
	assert_int_equal(maps.count, 1);
	assert_true(maps.other_runtime);
	trk__interpreter_parse("nonsense\n-\n12-zz /x\n", &maps);
	assert_int_equal(maps.count, 0);
}

/* This program itself: no Python, but its memory can be read. */
static void says_that_a_process_runs_no_python(void **state)
{
	pid_t pid = getpid();
	struct trk_remote *own = malloc(sizeof(*own));
	struct trk_cpython *c = NULL;
	struct trk_env env;

	assert_non_null(own);
	assert_int_equal(trk__env_init(&env), 0);
	trk__remote_init(own, trk__remote_process, &pid);
	assert_int_equal(trk__interpreter_open(&env, pid, own, &c), TRK_STACK_NOT_PYTHON);
	assert_null(c);
	trk__env_release(&env);
	free(own);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(reads_a_stack_in_the_layout_of_each_version, tear_down),
		CASE(counts_direct_recursion_once),
		CASE(cuts_a_stack_that_goes_on_for_ever),
		CASE(counts_a_torn_stack_and_drops_it),
		CASE(refuses_what_is_no_code_object),
		CASE(waits_for_an_interpreter_that_has_not_started),
		CASE(notices_that_an_address_is_used_again),
		CASE(notices_other_texts_at_the_same_addresses),
		CASE(finds_the_line_of_the_moment_that_was_fetched),
		CASE(reads_again_only_what_it_used),
		CASE(ends_however_many_code_objects_a_stack_has_while_it_is_read),
		CASE(code_objects_of_all_processes_have_a_limited_memory),
		CASE(a_look_ends_after_a_number_of_steps),
		CASE(a_look_ends_after_a_time_of_either_clock),
		CASE(a_look_ends_after_a_number_of_bytes),
		CASE(stays_in_bounds_whatever_the_memory_becomes),
		CASE(reads_text_of_all_widths),
		cmocka_unit_test(finds_the_line_in_each_form_of_table),
		cmocka_unit_test(finds_the_files_that_may_hold_an_interpreter),
		cmocka_unit_test(says_that_a_process_runs_no_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
