#include "model/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *trk__stack_why_text(unsigned int why)
{
	static const char *const texts[TRK_STACK_WHYS] = {
#define X(name, text) [TRK_STACK_##name] = text,
		TRK_STACK_LIST(X)
#undef X
	};

	return why < TRK_STACK_WHYS ? texts[why] : "unknown";
}

const char *trk__native_why_text(unsigned int why)
{
	static const char *const texts[TRK_NATIVE_WHYS] = {
#define X(name, text) [TRK_NATIVE_##name] = text,
		TRK_NATIVE_LIST(X)
#undef X
	};

	return why < TRK_NATIVE_WHYS ? texts[why] : "unknown";
}

/* ---- native code ---- */

static const char native_prefix[] = "[native";

void trk__lines_native_name(char name[TRK_LINES_NATIVE_SIZE], const char *build_id)
{
	(void) snprintf(name, TRK_LINES_NATIVE_SIZE, "%s%s%s]", native_prefix, *build_id ? " " : "",
			build_id);
}

bool trk__lines_is_native(const struct trk_lines_function *f, const char **ret_id, size_t *ret_len)
{
	size_t prefix = sizeof(native_prefix) - 1, len;
	const char *id;

	if (strncmp(f->name, native_prefix, prefix) != 0 || f->first_line != 0)
		return false;
	id = f->name + prefix;
	id += *id == ' ';
	len = strcspn(id, "]");
	if (ret_id) {
		*ret_id = id;
		*ret_len = len;
	}
	return id[len] == ']' && id[len + 1] == '\0';
}

/* ---- growing ---- */

/* Make room for one more of `size` bytes in a list that doubles. */
static int reserve(void *list, size_t count, size_t max, size_t size)
{
	void **at = list, *more;

	if (count >= max)
		return -ENOSPC;
	if (count != 0 && (count < 16 || (count & (count - 1)) != 0))
		return 0;
	more = realloc(*at, (count < 16 ? 16 : count * 2) * size);
	if (!more)
		return -ENOMEM;
	*at = more;
	return 0;
}

static size_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	h = (h ^ h >> 32 ^ b) * 0xc4ceb9fe1a85ec53u;
	return (size_t) (h ^ h >> 29);
}

typedef size_t hash_fn(const void *owner, size_t number);

/* Room for one more number in a table that is at most half full. */
static int grow_table(struct trk_lines_table *t, size_t count, hash_fn *hash, const void *owner)
{
	size_t slots = t->slots ? t->slots : 32;
	uint32_t *slot;

	while (slots < (count + 1) * 2)
		slots *= 2;
	if (slots == t->slots)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = hash(owner, i) & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t) i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	return 0;
}

static void enter(struct trk_lines_table *t, size_t hash, size_t number)
{
	size_t at = hash & (t->slots - 1);

	while (t->slot[at])
		at = (at + 1) & (t->slots - 1);
	t->slot[at] = (uint32_t) number + 1;
}

/* ---- functions, nodes, lanes ---- */

static size_t hash_text(const char *text)
{
	uint64_t h = 1469598103934665603u;

	for (; *text; text++)
		h = (h ^ (unsigned char) *text) * 1099511628211u;
	return (size_t) h;
}

static size_t hash_named(const char *file, const char *name, int first_line)
{
	return mix(hash_text(file), hash_text(name) + (uint64_t) first_line);
}

static size_t hash_function(const void *owner, size_t i)
{
	const struct trk_lines_function *f = &((const struct trk_lines *) owner)->function[i];

	return hash_named(f->file, f->name, f->first_line);
}

static size_t hash_called(uint32_t parent, uint32_t function, int line)
{
	return mix((uint64_t) parent << 32 | function, (uint64_t) line);
}

static size_t hash_node(const void *owner, size_t i)
{
	const struct trk_lines_node *n = &((const struct trk_lines *) owner)->node[i];

	return hash_called(n->parent, n->function, n->line);
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

bool trk__lines_is_library(const char *file)
{
	const char *lib = strstr(file, "/lib/python");

	if (!strncmp(file, "<frozen ", 8) || !strncmp(file, "<__array_function__", 19))
		return true;
	if (has(file, "/site-packages/") || has(file, "/dist-packages/"))
		return true;
	/* /usr/lib/python3.11/json/decoder.py; the installed packages of Debian are above. */
	return lib && lib[11] >= '0' && lib[11] <= '9';
}

static int add_function(struct trk_lines *l, const struct trk_lines_named *named)
{
	struct trk_lines_function f = {.first_line = named->first_line};
	int r = reserve(&l->function, l->functions, TRK_LINES_FUNCTIONS, sizeof(f));

	if (r == 0)
		r = grow_table(&l->function_at, l->functions, hash_function, l);
	if (r < 0)
		return r;
	f.file = strndup(named->file, named->file_len);
	f.name = strndup(named->name, named->name_len);
	if (!f.file || !f.name) {
		free(f.file);
		free(f.name);
		return -ENOMEM;
	}
	f.is_library = named->is_library || trk__lines_is_library(f.file) ||
		       trk__lines_is_native(&f, NULL, NULL);
	l->function[l->functions] = f;
	enter(&l->function_at, hash_named(f.file, f.name, f.first_line), l->functions);
	l->functions++;
	return 0;
}

uint32_t trk__lines_function_of(struct trk_lines *l, const char *file, bool is_library,
				const char *name, int first_line)
{
	const struct trk_lines_named named = {.file = file,
					      .name = name,
					      .file_len = strlen(file),
					      .name_len = strlen(name),
					      .first_line = first_line,
					      .is_library = is_library};
	size_t at = hash_named(file, name, first_line) & (l->function_at.slots - 1);

	for (; l->function_at.slot[at]; at = (at + 1) & (l->function_at.slots - 1)) {
		uint32_t i = l->function_at.slot[at] - 1;
		const struct trk_lines_function *f = &l->function[i];

		if (f->first_line == first_line && f->is_library == is_library &&
		    !strcmp(f->name, name) && !strcmp(f->file, file))
			return i;
	}
	return add_function(l, &named) < 0 ? TRK_LINES_OTHER : (uint32_t) l->functions - 1;
}

uint32_t trk__lines_function(struct trk_lines *l, const char *file, const char *name,
			     int first_line)
{
	return trk__lines_function_of(l, file, trk__lines_is_library(file), name, first_line);
}

uint32_t trk__lines_base_function(struct trk_lines *l, const char *path, const char *name,
				  int first_line)
{
	const char *slash = strrchr(path, '/');

	return trk__lines_function_of(l, slash ? slash + 1 : path, trk__lines_is_library(path),
				      name, first_line);
}

static int add_node(struct trk_lines *l, const struct trk_lines_node *n)
{
	int r = reserve(&l->node, l->nodes, TRK_LINES_NODES, sizeof(*n));

	if (r == 0)
		r = grow_table(&l->node_at, l->nodes, hash_node, l);
	if (r < 0)
		return r;
	l->node[l->nodes] = *n;
	enter(&l->node_at, hash_called(n->parent, n->function, n->line), l->nodes);
	l->nodes++;
	return 0;
}

uint32_t trk__lines_node(struct trk_lines *l, uint32_t parent, uint32_t function, int line)
{
	const struct trk_lines_node wanted = {parent, function, line};
	size_t at = hash_called(parent, function, line) & (l->node_at.slots - 1);

	for (; l->node_at.slot[at]; at = (at + 1) & (l->node_at.slots - 1)) {
		uint32_t i = l->node_at.slot[at] - 1;
		const struct trk_lines_node *n = &l->node[i];

		if (i != TRK_LINES_ROOT && n->parent == parent && n->function == function &&
		    n->line == line)
			return i;
	}
	return add_node(l, &wanted) < 0 ? parent : (uint32_t) l->nodes - 1;
}

static int add_lane(struct trk_lines *l, const struct trk_lines_lane *lane)
{
	int r = reserve(&l->lane, l->lanes, TRK_LINES_LANES, sizeof(*lane));

	if (r == 0)
		l->lane[l->lanes++] = *lane;
	return r;
}

uint32_t trk__lines_lane(struct trk_lines *l, pid_t pid, pid_t tid, const char *process)
{
	struct trk_lines_lane lane = {.pid = pid, .tid = tid};

	for (size_t i = 1; i < l->lanes; i++)
		if (l->lane[i].pid == pid && l->lane[i].tid == tid)
			return (uint32_t) i;
	(void) snprintf(lane.process, sizeof(lane.process), "%s", process);
	return add_lane(l, &lane) < 0 ? TRK_LINES_OTHER : (uint32_t) l->lanes - 1;
}

int trk__lines_put_function(struct trk_lines *l, uint64_t number, const struct trk_lines_named *f)
{
	static const struct trk_lines_named lost = {"?", "?", 1, 1, 0, false};
	int r = 0;

	if (number < l->functions)
		return 0; /* present already */
	if (number >= TRK_LINES_FUNCTIONS || f->first_line < 0)
		return -EBADMSG;
	while (r == 0 && l->functions < number) /* functions of a damaged record */
		r = add_function(l, &lost);
	return r < 0 ? r : add_function(l, f);
}

int trk__lines_put_node(struct trk_lines *l, uint64_t number, const struct trk_lines_node *node)
{
	static const struct trk_lines_node lost = {TRK_LINES_ROOT, TRK_LINES_OTHER, 0};
	int r = 0;

	if (number < l->nodes)
		return 0;
	if (number >= TRK_LINES_NODES || node->parent >= number || node->line < 0 ||
	    node->function >= TRK_LINES_FUNCTIONS)
		return -EBADMSG;
	while (r == 0 && l->nodes < number)
		r = add_node(l, &lost);
	/* If the lost functions were the last ones, their numbers do not exist. */
	if (r == 0 && node->function >= l->functions)
		return add_node(l, &(struct trk_lines_node){node->parent, TRK_LINES_OTHER, 0});
	return r < 0 ? r : add_node(l, node);
}

int trk__lines_put_lane(struct trk_lines *l, uint64_t number, const struct trk_lines_lane *lane)
{
	static const struct trk_lines_lane lost = {.process = "?"};
	int r = 0;

	if (number < l->lanes)
		return 0;
	if (number >= TRK_LINES_LANES)
		return -EBADMSG;
	while (r == 0 && l->lanes < number)
		r = add_lane(l, &lost);
	return r < 0 ? r : add_lane(l, lane);
}

/* ---- sums ---- */

void trk__lines_amounts_add(struct trk_lines_amounts *to, const struct trk_lines_amounts *more)
{
	to->samples += more->samples;
	to->cpu_us += more->cpu_us;
	to->wall_us += more->wall_us;
	to->sure_bytes += more->sure_bytes;
	to->between_bytes += more->between_bytes;
	to->released_bytes += more->released_bytes;
}

static size_t hash_pair(uint32_t lane, uint32_t node)
{
	return mix((uint64_t) lane << 32 | node, 1);
}

static size_t hash_count(const void *owner, size_t i)
{
	const struct trk_lines_count *c = owner;

	return hash_pair(c[i].lane, c[i].node);
}

/* The amounts of a pair in a list with a table; NULL: no room. */
static struct trk_lines_amounts *find_or_add(struct trk_lines_table *t,
					     struct trk_lines_count **list, size_t *count,
					     uint32_t lane, uint32_t node)
{
	size_t hash = hash_pair(lane, node);

	if (t->slots)
		for (size_t at = hash & (t->slots - 1); t->slot[at];
		     at = (at + 1) & (t->slots - 1)) {
			struct trk_lines_count *c = &(*list)[t->slot[at] - 1];

			if (c->lane == lane && c->node == node)
				return &c->amounts;
		}
	if (reserve(list, *count, TRK_LINES_COUNTS, sizeof(**list)) < 0 ||
	    grow_table(t, *count, hash_count, *list) < 0)
		return NULL;
	(*list)[*count] = (struct trk_lines_count){.lane = lane, .node = node};
	enter(t, hash, *count);
	return &(*list)[(*count)++].amounts;
}

struct trk_lines_amounts *trk__lines_sum(struct trk_lines_sums *s, uint32_t lane, uint32_t node)
{
	return find_or_add(&s->at, &s->count, &s->counts, lane, node);
}

void trk__lines_sums_release(struct trk_lines_sums *s)
{
	free(s->count);
	free(s->at.slot);
	memset(s, 0, sizeof(*s));
}

void trk__lines_keep(struct trk_lines *l, int64_t from_us, int64_t to_us,
		     const struct trk_lines_count *count, size_t counts)
{
	struct trk_lines_window w = {from_us, to_us, l->kepts, 0};

	if (reserve(&l->window, l->windows, TRK_LINES_KEPT, sizeof(w)) < 0)
		return;
	for (size_t i = 0; i < counts; i++) {
		if (reserve(&l->kept, l->kepts, TRK_LINES_KEPT, sizeof(*l->kept)) < 0)
			break;
		l->kept[l->kepts++] = count[i];
		w.count++;
	}
	l->window[l->windows++] = w;
}

int trk__lines_add(struct trk_lines *l, int64_t from_us, int64_t to_us,
		   const struct trk_lines_count *count, size_t counts)
{
	for (size_t i = 0; i < counts; i++) {
		const struct trk_lines_count *c = &count[i];
		struct trk_lines_amounts *sum;

		if (c->node >= l->nodes || c->lane >= l->lanes)
			return -EBADMSG;
		sum = find_or_add(&l->total_at, &l->total, &l->totals, c->lane, c->node);
		if (!sum)
			return -ENOMEM;
		trk__lines_amounts_add(sum, &c->amounts);
	}
	if (l->keeps_windows)
		trk__lines_keep(l, from_us, to_us, count, counts);
	return 0;
}

/* ---- notes ---- */

void trk__lines_process(struct trk_lines *l, const struct trk_lines_process *process)
{
	/* A process that ends, or executes another program, no longer has an interpreter. */
	bool has_none = process->why == TRK_STACK_NOT_PYTHON || process->why == TRK_STACK_STARTING;

	for (size_t i = 0; i < l->processes; i++)
		if (l->process[i].pid == process->pid) {
			if (!has_none || l->process[i].why != TRK_STACK_READ)
				l->process[i] = *process;
			return;
		}
	if (l->processes < TRK_LINES_PROCESSES)
		l->process[l->processes++] = *process;
}

const char *trk__lines_process_name(const struct trk_lines_process *process)
{
	return process->name[0] ? process->name : "process";
}

void trk__lines_add_user(struct trk_lines *l, int64_t uid)
{
	if (l->user != uid)
		l->user = l->user == TRK_LINES_USER_UNKNOWN ? uid : TRK_LINES_SEVERAL_USERS;
}

bool trk__lines_has_any(const struct trk_lines *l)
{
	return l->native.samples > 0 || trk__lines_has_interpreter(l);
}

bool trk__lines_has_interpreter(const struct trk_lines *l)
{
	for (size_t i = 0; i < l->processes; i++)
		if (l->process[i].why != TRK_STACK_NOT_PYTHON)
			return true;
	return false;
}

void trk__lines_note_last(struct trk_lines *l, const struct trk_lines_last *last)
{
	if (last->lane < TRK_LINES_LANES && last->lane < l->lanes && last->node < l->nodes)
		l->last[last->lane] = *last;
}

uint32_t trk__lines_user(const struct trk_lines *l, uint32_t node)
{
	uint32_t at = node;

	while (at != TRK_LINES_ROOT) {
		const struct trk_lines_node *n = &l->node[at];

		if (n->function != TRK_LINES_OTHER && !l->function[n->function].is_library)
			return at;
		at = n->parent;
	}
	return node;
}

bool trk__lines_same(const struct trk_lines *l, uint32_t a, uint32_t b)
{
	const struct trk_lines_node *x = &l->node[trk__lines_user(l, a)],
				    *y = &l->node[trk__lines_user(l, b)];

	return x == y || (x->function == y->function && x->line == y->line && x->line > 0);
}

uint32_t trk__lines_common(const struct trk_lines *l, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b) /* a parent's number is smaller than its children's */
			a = l->node[a].parent;
		else
			b = l->node[b].parent;
	}
	return a;
}

/* ---- life ---- */

struct trk_lines *trk__lines_new(void)
{
	static const struct trk_lines_node root = {TRK_LINES_ROOT, TRK_LINES_OTHER, 0};
	static const struct trk_lines_lane others = {.process = "(others)"};
	static const struct trk_lines_named other = {"", "(others)", 0, 8, 0, false};
	struct trk_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->user = TRK_LINES_USER_UNKNOWN;
	l->last = calloc(TRK_LINES_LANES, sizeof(*l->last));
	if (!l->last || add_function(l, &other) < 0 || add_node(l, &root) < 0 ||
	    add_lane(l, &others) < 0) {
		trk__lines_free(l);
		return NULL;
	}
	return l;
}

void trk__lines_free(struct trk_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->functions; i++) {
		free(l->function[i].file);
		free(l->function[i].name);
	}
	free(l->function);
	free(l->node);
	free(l->lane);
	free(l->function_at.slot);
	free(l->node_at.slot);
	free(l->total_at.slot);
	free(l->total);
	free(l->window);
	free(l->kept);
	free(l->last);
	for (size_t i = 0; i < l->symbol_files; i++)
		free(l->symbols[i].file);
	free(l->symbols);
	free(l);
}
