#include "probe/stack/cpython.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/stack/elf_symbol.h"

enum {
	OFFSET_MAX = 1 << 20, /* of a field */
	INTERPRETERS_MAX = 16,
	OWNERS = 5, /* kinds of owner of a frame; from 3 on: the interpreter */
	OWNER_GENERATOR = 1,
	OWNER_OF_NO_CODE = 3,
	CODE_BYTES_MAX = 1 << 26,
	OFFSETS_WORDS = 96,   /* of struct _Py_DebugOffsets that are read */
	PTHREAD_BYTES = 1536, /* searched in struct pthread for the thread id */
	PID_LIMIT = 1 << 22,
	RETRIES = 7,      /* of a torn stack */
	WALKS_YOUNG = 8,  /* a code object is read completely in so many walks */
	WALKS_AHEAD = 64, /* then one walk reads nothing ahead, to drop unused parts */
	MUCH_BYTES = TRK_CPYTHON_ALL_BYTES / 4 * 3, /* of all processes; then each one keeps */
	PART_BYTES = MUCH_BYTES / 64,               /* this much at most */
	ALLOCATED_BYTES = 64,                       /* by the allocator for a code object */
	TABLE_STEP = 64,                            /* bytes of a line table */
};

static const struct trk_cpython_layout layouts[] = {
#include "probe/stack/cpython_layouts.h"
};

/* ---- finding the runtime ---- */

const struct trk_cpython_layout *trk__cpython_layout(int version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}

/* Replace the word indices by the offsets in the process. */
static enum trk_stack_why take_own_offsets(struct trk_remote *r, struct trk_cpython_runtime *t)
{
	enum { COOKIE, VERSION, FREE_THREADED };
	uint64_t word[OFFSETS_WORDS];
	int *field = &t->layout.interpreters;
	size_t fields = (sizeof(t->layout) - offsetof(struct trk_cpython_layout, interpreters)) /
			sizeof(int);

	if (trk__remote_get(r, t->addr, word, sizeof(word)) < 0 ||
	    memcmp(&word[COOKIE], "xdebugpy", 8) != 0 ||
	    (t->hexversion && word[VERSION] >> 16 != t->hexversion >> 16))
		return TRK_STACK_UNEXPECTED;
	if (word[FREE_THREADED])
		return TRK_STACK_FREE_THREADED;
	for (size_t i = 0; i < fields; i++) {
		if (field[i] < 0)
			continue;
		if (field[i] >= OFFSETS_WORDS || word[field[i]] > OFFSET_MAX)
			return TRK_STACK_UNEXPECTED;
		field[i] = (int) word[field[i]];
	}
	return TRK_STACK_READ;
}

/* Py_Version exists from 3.11 on; older versions are recognised by symbols that they added. */
static uint32_t version_of(struct trk_remote *r, const struct trk_elf *e)
{
	uint64_t addr = trk__elf_symbol(r, e, "Py_Version");

	if (addr)
		return (uint32_t) trk__remote_u64(r, addr);
	if (trk__elf_symbol(r, e, "PyIter_Send"))
		return 0x030a0000;
	return trk__elf_symbol(r, e, "PyFrame_GetBack") ? 0x03090000 : 0x03080000;
}

enum trk_stack_why trk__cpython_find(struct trk_remote *r, uint64_t base,
				     struct trk_cpython_runtime *ret)
{
	struct trk_cpython_runtime t = {0};
	const struct trk_cpython_layout *layout;
	enum trk_stack_why why = TRK_STACK_READ;
	struct trk_elf e;

	if (trk__elf_open(r, base, &e) < 0)
		return TRK_STACK_NOT_PYTHON;
	t.addr = trk__elf_symbol(r, &e, "_PyRuntime");
	if (!t.addr)
		return trk__elf_symbol(r, &e, "Py_IsInitialized") ? TRK_STACK_NO_SYMBOL
								  : TRK_STACK_NOT_PYTHON;
	t.hexversion = version_of(r, &e);
	if (t.hexversion < 0x03090000)
		return TRK_STACK_OLD;
	layout = trk__cpython_layout((int) (t.hexversion >> 16));
	if (!layout)
		return TRK_STACK_NEW;
	t.layout = *layout;
	if (t.layout.version >= 0x30d)
		why = take_own_offsets(r, &t);
	if (why == TRK_STACK_READ)
		*ret = t;
	return why;
}

/* ---- the chain ---- */

/* True if the object's type has this name. */
static bool is_type(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t object,
		    const char *name)
{
	uint64_t type = trk__remote_u64(r, object + (uint64_t) l->object_type);
	uint64_t at = type ? trk__remote_u64(r, type + (uint64_t) l->type_name) : 0;
	size_t len = strlen(name) + 1;
	char text[16];

	return at && len <= sizeof(text) && trk__remote_get(r, at, text, len) == 0 &&
	       memcmp(text, name, len) == 0;
}

static uint64_t first_frame(struct trk_remote *r, const struct trk_cpython_layout *l,
			    uint64_t thread)
{
	uint64_t frame = trk__remote_u64(r, thread + (uint64_t) l->thread_frame);

	if (frame && l->cframe_frame >= 0)
		frame = trk__remote_u64(r, frame + (uint64_t) l->cframe_frame);
	return frame;
}

/* The code object of a frame; *ret 0: none. False for an invalid frame. */
static bool code_of(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t frame,
		    uint64_t *ret)
{
	unsigned char owner = 0;

	if (l->frame_owner >= 0 &&
	    (trk__remote_get(r, frame + (uint64_t) l->frame_owner, &owner, 1) < 0 ||
	     owner >= OWNERS))
		return false;
	*ret = 0;
	if (owner >= OWNER_OF_NO_CODE)
		return true;
	if (trk__remote_get(r, frame + (uint64_t) l->frame_code, ret, 8) < 0)
		return false;
	if (l->version >= 0x30e)
		*ret &= ~UINT64_C(3); /* tags of _PyStackRef */
	return *ret != 0;
}

/* Check the type of the code object and store its address. */
static enum trk_stack_why check_code(struct trk_remote *r, struct trk_cpython_runtime *t,
				     uint64_t code)
{
	const struct trk_cpython_layout *l = &t->layout;
	uint64_t file, name, table;

	if (!is_type(r, l, code, "code"))
		return TRK_STACK_UNEXPECTED;
	file = trk__remote_u64(r, code + (uint64_t) l->code_file);
	name = trk__remote_u64(r, code + (uint64_t) l->code_name);
	table = trk__remote_u64(r, code + (uint64_t) l->code_table);
	if (!file || !name || !table || !is_type(r, l, file, "str") ||
	    !is_type(r, l, name, "str") || !is_type(r, l, table, "bytes"))
		return TRK_STACK_UNEXPECTED;
	t->code_type = trk__remote_u64(r, code + (uint64_t) l->object_type);
	return TRK_STACK_READ;
}

/* Check the first code object of a thread's frames. */
static enum trk_stack_why check_thread(struct trk_remote *r, struct trk_cpython_runtime *t,
				       uint64_t thread)
{
	uint64_t frame = first_frame(r, &t->layout, thread), code;

	for (int i = 0; frame && i < TRK_STACK_FRAMES; i++) {
		if (!code_of(r, &t->layout, frame, &code))
			return TRK_STACK_UNEXPECTED;
		if (code)
			return check_code(r, t, code);
		frame = trk__remote_u64(r, frame + (uint64_t) t->layout.frame_back);
	}
	return TRK_STACK_STARTING;
}

enum trk_stack_why trk__cpython_check(struct trk_remote *r, struct trk_cpython_runtime *runtime)
{
	const struct trk_cpython_layout *l = &runtime->layout;
	enum trk_stack_why why = TRK_STACK_STARTING;
	uint64_t interpreter, thread;

	trk__remote_again(r);
	interpreter = trk__remote_u64(r, runtime->addr + (uint64_t) l->interpreters);
	if (!interpreter)
		return TRK_STACK_STARTING;
	thread = trk__remote_u64(r, interpreter + (uint64_t) l->interpreter_threads);
	for (int i = 0; thread && i < TRK_STACK_THREADS; i++) {
		if (trk__remote_u64(r, thread + (uint64_t) l->thread_interpreter) != interpreter)
			return TRK_STACK_UNEXPECTED;
		why = check_thread(r, runtime, thread);
		if (why != TRK_STACK_STARTING)
			return why;
		thread = trk__remote_u64(r, thread + (uint64_t) l->thread_next);
	}
	return why;
}

/* ---- a process ---- */

struct trk_cpython {
	struct trk_cpython_runtime runtime;
	pid_t pid;
	int tid_offset; /* in struct pthread; 0: not searched yet, -1: not found */
	uint32_t round;
	/* Cached code objects, owned: a hash table by address, with at least half of it NULL. */
	struct trk_cpython_code **code;
	size_t codes, cap; /* cap: a power of two */
	/* Memory of the table and its objects, which is a part of r->kept_bytes, too. */
	uint64_t kept_bytes;
	struct trk_remote *r;   /* borrowed */
	struct trk_stack stack; /* scratch */
	/* Memory that the last walks used, threads and frames first. */
	struct trk_remote_part part[TRK_REMOTE_PAGES];
	size_t parts, moving;
	bool is_fetched; /* for the next walk */
};

struct trk_cpython *trk__cpython_new(const struct trk_cpython_runtime *runtime, pid_t pid,
				     struct trk_remote *r)
{
	struct trk_cpython *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->runtime = *runtime;
	c->pid = pid;
	c->round = 1;
	c->r = r;
	return c;
}

unsigned int trk__cpython_version(const struct trk_cpython *c)
{
	return c->runtime.hexversion >> 8;
}

/* ---- cached code objects ---- */

static uint64_t bytes_of(const struct trk_cpython_code *code)
{
	return sizeof(*code) + ALLOCATED_BYTES + strlen(code->file) + strlen(code->name) +
	       code->table_len;
}

/* Count memory that the cache takes. False: there is no room for it. */
static bool keep_bytes(struct trk_cpython *c, uint64_t bytes)
{
	if (c->kept_bytes + bytes > TRK_CPYTHON_BYTES ||
	    c->r->kept_bytes + bytes > TRK_CPYTHON_ALL_BYTES)
		return false;
	c->kept_bytes += bytes;
	c->r->kept_bytes += bytes;
	return true;
}

static void release_bytes(struct trk_cpython *c, uint64_t bytes)
{
	c->kept_bytes -= bytes;
	c->r->kept_bytes -= bytes;
}

static void free_code(struct trk_cpython_code *code)
{
	if (code)
		trk__cpython_forget_code(code);
	free(code);
}

static void forget_all(struct trk_cpython *c)
{
	for (size_t i = 0; i < c->cap; i++)
		free_code(c->code[i]);
	free(c->code);
	c->code = NULL;
	c->codes = c->cap = 0;
	release_bytes(c, c->kept_bytes);
}

void trk__cpython_free(struct trk_cpython *c)
{
	if (!c)
		return;
	forget_all(c);
	free(c);
}

/* Empty a cache that may lack room for the new objects of one more walk: one that takes half of its
 * room, or more than its part while all caches take much. */
static void trim(struct trk_cpython *c)
{
	if (c->codes > TRK_CPYTHON_CODES / 2 || c->kept_bytes > TRK_CPYTHON_BYTES / 2 ||
	    (c->r->kept_bytes > MUCH_BYTES && c->kept_bytes > PART_BYTES))
		forget_all(c);
}

/* The place of an address in a table: of its code object, or an empty one where it may be put. NULL:
 * there is neither. */
static struct trk_cpython_code **place_of(struct trk_cpython_code **table, size_t cap,
					  uint64_t addr)
{
	size_t first = (size_t) (addr * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (size_t i = 0; i < cap; i++) {
		struct trk_cpython_code **place = &table[(first + i) & (cap - 1)];

		if (!*place || (*place)->addr == addr)
			return place;
	}
	return NULL;
}

/* Make room for one more code object in the table. False: there is none. */
static bool grow(struct trk_cpython *c)
{
	enum { FIRST_CAP = 128, SLOT_BYTES = sizeof(void *) };
	size_t cap = c->cap ? c->cap * 2 : FIRST_CAP;
	struct trk_cpython_code **table;

	if ((c->codes + 1) * 2 <= c->cap)
		return true;
	if (cap > (size_t) TRK_CPYTHON_CODES * 2 || !keep_bytes(c, (cap - c->cap) * SLOT_BYTES))
		return false;
	table = calloc(cap, SLOT_BYTES);
	if (!table) {
		release_bytes(c, (cap - c->cap) * SLOT_BYTES);
		return false;
	}
	for (size_t i = 0; i < c->cap; i++) {
		struct trk_cpython_code **place =
			c->code[i] ? place_of(table, cap, c->code[i]->addr) : NULL;

		if (place)
			*place = c->code[i];
	}
	free(c->code);
	c->code = table;
	c->cap = cap;
	return true;
}

/* Put a code object into the table, instead of another one at its address. Takes it if there is
 * room. */
static bool put_code(struct trk_cpython *c, struct trk_cpython_code *fresh)
{
	struct trk_cpython_code **place = grow(c) ? place_of(c->code, c->cap, fresh->addr) : NULL;

	if (!place || !keep_bytes(c, bytes_of(fresh)))
		return false;
	if (*place)
		release_bytes(c, bytes_of(*place));
	else
		c->codes++;
	free_code(*place);
	*place = fresh;
	return true;
}

static bool has_same_texts(const struct trk_cpython_code *a, const struct trk_cpython_code *b)
{
	return a->table_len == b->table_len && !memcmp(a->table, b->table, a->table_len) &&
	       !strcmp(a->file, b->file) && !strcmp(a->name, b->name);
}

/* Read the object and its texts, unless it was recently found unchanged several times: a new object
 * may have the addresses of a freed one, but old objects are rarely freed. NULL: not a code object,
 * or there is no room for it, which ends the look. */
static struct trk_cpython_code *read_code(struct trk_cpython *c, struct trk_remote *r,
					  uint64_t addr, struct trk_cpython_code *code)
{
	bool is_same = code && trk__cpython_same_code(r, &c->runtime, code);
	struct trk_cpython_code *fresh;
	int error;

	if (is_same && ++code->walks > WALKS_YOUNG && code->walks % WALKS_AHEAD > 0)
		return code;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return NULL;
	fresh->addr = addr;
	r->once = true;
	error = trk__cpython_read_code(r, &c->runtime, fresh);
	r->once = false;
	if (error == 0 && !(is_same && has_same_texts(fresh, code))) {
		if (put_code(c, fresh))
			return fresh;
		r->is_spent = true;
		error = -E2BIG;
	}
	free_code(fresh);
	return error < 0 ? NULL : code;
}

/* The cached code object at an address, read if new or changed. NULL: not a code object. */
static struct trk_cpython_code *get_code(struct trk_cpython *c, struct trk_remote *r, uint64_t addr)
{
	struct trk_cpython_code **place = place_of(c->code, c->cap, addr);
	struct trk_cpython_code *code = place ? *place : NULL;

	if (code && code->checked == c->round)
		return code;
	r->moves = false;
	code = read_code(c, r, addr, code);
	if (!code)
		return NULL;
	code->checked = c->round;
	r->moves = true;
	return code;
}

/* ---- stacks ---- */

/* Offset of a frame's instruction in the byte code; below 0: not started. */
static bool place_in_code(const struct trk_cpython *c, struct trk_remote *r, uint64_t frame,
			  uint64_t code, int *ret)
{
	const struct trk_cpython_layout *l = &c->runtime.layout;
	uint64_t at = frame + (uint64_t) l->frame_place;
	int32_t last;
	uint64_t instruction;
	int64_t offset;

	if (l->code_bytes < 0) { /* up to 3.9 in bytes, in 3.10 in units of two bytes */
		if (trk__remote_get(r, at, &last, sizeof(last)) < 0 || last > CODE_BYTES_MAX / 2)
			return false;
		*ret = last < 0 ? -1 : l->version == 0x30a ? last * 2 : last;
		return true;
	}
	if (trk__remote_get(r, at, &instruction, sizeof(instruction)) < 0)
		return false;
	offset = (int64_t) (instruction - code - (uint64_t) l->code_bytes);
	if (offset < -2 || offset > CODE_BYTES_MAX)
		return false;
	*ret = offset < 0 ? -1 : (int) offset;
	return true;
}

/* Add a frame, unless it equals the one before (direct recursion on one line). */
static void add_frame(struct trk_stack *s, struct trk_cpython_code *code, int line)
{
	const struct trk_stack_frame *last = s->depth ? &s->frame[s->depth - 1] : NULL;

	if (last && last->code == code && last->line == line)
		return;
	s->frame[s->depth++] = (struct trk_stack_frame){code, line};
}

/* A running generator has a caller. One without was suspended since the walk began. */
static bool is_generator(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t frame)
{
	unsigned char owner = 0;

	return frame && l->frame_owner >= 0 &&
	       trk__remote_get(r, frame + (uint64_t) l->frame_owner, &owner, 1) == 0 &&
	       owner == OWNER_GENERATOR;
}

static bool walk_frames(struct trk_cpython *c, struct trk_remote *r, uint64_t thread)
{
	const struct trk_cpython_layout *l = &c->runtime.layout;
	uint64_t frame = first_frame(r, l, thread), last = 0, addr;

	c->stack.depth = 0;
	c->stack.is_cut = false;
	for (int i = 0; frame; i++) {
		struct trk_cpython_code *code;
		int offset;

		if (c->stack.depth == TRK_STACK_FRAMES || i == TRK_STACK_WALKED) {
			c->stack.is_cut = true;
			return true;
		}
		last = frame;
		if (!code_of(r, l, frame, &addr))
			return false;
		if (addr) {
			code = get_code(c, r, addr);
			if (!code || trk__remote_spend(r, code->table_len / TABLE_STEP) < 0 ||
			    !place_in_code(c, r, frame, addr, &offset))
				return false;
			add_frame(&c->stack, code, trk__cpython_code_line(l, code, offset));
		}
		if (trk__remote_get(r, frame + (uint64_t) l->frame_back, &frame, 8) < 0)
			return false;
	}
	return !is_generator(r, l, last);
}

/* Read a stack; retry if it changes meanwhile. */
static bool walk_thread(struct trk_cpython *c, struct trk_remote *r, uint64_t thread)
{
	r->moves = true;
	for (int i = 0; !walk_frames(c, r, thread); i++) {
		if (i == RETRIES || r->is_spent)
			return false;
		trk__remote_again(r);
		trk__remote_prefetch(r, c->part, c->parts);
		r->moves = true;
	}
	return true;
}

/* Find the offset of the thread id in struct pthread: the oldest thread has the id of its process,
 * so its struct is searched for that number. */
static void look_for_tid(struct trk_cpython *c, struct trk_remote *r, uint64_t oldest)
{
	uint32_t word[PTHREAD_BYTES / 4];
	uint64_t pthread = trk__remote_u64(r, oldest + (uint64_t) c->runtime.layout.thread_id);

	c->tid_offset = -1;
	if (trk__remote_get(r, pthread, word, sizeof(word)) < 0)
		return;
	for (int i = 0; i < PTHREAD_BYTES / 4; i++)
		if (word[i] == (uint32_t) c->pid) {
			c->tid_offset = i * 4;
			return;
		}
}

static void name_thread(struct trk_cpython *c, struct trk_remote *r, uint64_t thread)
{
	const struct trk_cpython_layout *l = &c->runtime.layout;
	uint64_t tid = 0;

	c->stack.thread = trk__remote_u64(r, thread + (uint64_t) l->thread_id);
	if (l->thread_native_id >= 0)
		tid = trk__remote_u64(r, thread + (uint64_t) l->thread_native_id);
	else if (c->tid_offset > 0)
		tid = trk__remote_u32(r, c->stack.thread + (uint64_t) c->tid_offset);
	c->stack.tid = tid < PID_LIMIT ? (pid_t) tid : 0;
}

/* The threads of an interpreter, the newest first. -EFAULT: the list is torn. */
static int list_threads(const struct trk_cpython *c, struct trk_remote *r, uint64_t interpreter,
			uint64_t list[TRK_STACK_THREADS])
{
	const struct trk_cpython_layout *l = &c->runtime.layout;
	uint64_t thread;
	int n = 0;

	if (trk__remote_get(r, interpreter + (uint64_t) l->interpreter_threads, &thread, 8) < 0)
		return -EFAULT;
	while (thread && n < TRK_STACK_THREADS) {
		if (trk__remote_u64(r, thread + (uint64_t) l->thread_interpreter) != interpreter)
			return -EFAULT;
		list[n++] = thread;
		if (trk__remote_get(r, thread + (uint64_t) l->thread_next, &thread, 8) < 0)
			return -EFAULT;
	}
	return n;
}

static int walk_threads(struct trk_cpython *c, struct trk_remote *r, uint64_t interpreter,
			trk_stack_fn *on_stack, void *data, unsigned int *torn)
{
	uint64_t list[TRK_STACK_THREADS];
	int n = list_threads(c, r, interpreter, list), stacks = 0;

	if (n < 0) {
		(*torn)++;
		return 0;
	}
	if (n > 0 && c->runtime.layout.thread_native_id < 0 && c->tid_offset == 0)
		look_for_tid(c, r, list[n - 1]);
	for (int i = 0; i < n && !r->is_spent; i++) {
		name_thread(c, r, list[i]);
		c->stack.is_oldest = i == n - 1;
		if (!walk_thread(c, r, list[i])) {
			(*torn)++;
		} else if (c->stack.depth > 0) {
			on_stack(data, &c->stack);
			stacks++;
		}
	}
	return stacks;
}

void trk__cpython_fetch(struct trk_cpython *c, struct trk_remote *r)
{
	trk__remote_begin(r);
	trk__remote_prefetch(r, c->part, c->moving);
	c->is_fetched = true;
}

int trk__cpython_walk(struct trk_cpython *c, struct trk_remote *r, trk_stack_fn *on_stack,
		      void *data, unsigned int *ret_torn)
{
	const struct trk_cpython_layout *l = &c->runtime.layout;
	uint64_t interpreter;
	int stacks = 0, error;

	trim(c);
	/* Compare each code object once per walk: imports free addresses that others reuse. */
	c->round++;
	if (c->is_fetched) {
		trk__remote_prefetch(r, c->part + c->moving, c->parts - c->moving);
	} else {
		trk__remote_begin(r);
		trk__remote_prefetch(r, c->part, c->parts);
	}
	c->is_fetched = false;
	*ret_torn = 0;
	error = trk__remote_get(r, c->runtime.addr + (uint64_t) l->interpreters, &interpreter, 8);
	for (int i = 0; error == 0 && interpreter && i < INTERPRETERS_MAX && !r->is_spent; i++) {
		stacks += walk_threads(c, r, interpreter, on_stack, data, ret_torn);
		interpreter = trk__remote_u64(r, interpreter + (uint64_t) l->interpreter_next);
	}
	c->parts = trk__remote_parts(r, c->part, &c->moving);
	if (c->round % WALKS_AHEAD == 0 || r->is_spent)
		c->parts = c->moving = 0;
	return error < 0 && !r->is_spent ? error : stacks;
}
