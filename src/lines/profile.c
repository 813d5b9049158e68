#include "lines/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

const char *const trk__lines_by_names[TRK_LINES_BYS] = {"line",   "function", "file",
							"thread", "process",  "phase"};

struct making {
	const struct trk_lines *lines;
	struct trk_profile_options options;
	struct trk_profile *profile;
	uint64_t *key; /* of each row */
	size_t *stamp; /* of each row: number of the last count added to its with_callees */
	size_t cap;
	uint32_t *slot; /* hash: key -> row + 1 */
	size_t slots;
	uint32_t *file; /* of each function: the first function of the same file */
	size_t counts;  /* processed so far */
};

uint64_t trk__profile_value(const struct trk_lines_amounts *a, enum trk_lines_order order)
{
	return order == TRK_LINES_CPU    ? a->cpu_us
	       : order == TRK_LINES_WALL ? a->wall_us
					 : a->sure_bytes + a->between_bytes;
}

uint64_t trk__profile_growth(uint64_t sure_bytes, uint64_t between_bytes, const char **ret_sign)
{
	bool is_sure = between_bytes <= sure_bytes / 4;

	*ret_sign = is_sure ? "+" : "~";
	return is_sure ? sure_bytes : sure_bytes + between_bytes;
}

/* ---- rows ---- */

static size_t hash_key(uint64_t key)
{
	key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
	return (size_t) (key ^ key >> 29);
}

static int grow(struct making *m)
{
	size_t cap = m->cap ? m->cap * 2 : 256, slots = cap * 2;
	struct trk_profile_row *row = realloc(m->profile->row, cap * sizeof(*row));
	uint64_t *key;
	size_t *stamp;
	uint32_t *slot;

	if (!row)
		return -ENOMEM;
	m->profile->row = row;
	key = realloc(m->key, cap * sizeof(*key));
	if (!key)
		return -ENOMEM;
	m->key = key;
	stamp = realloc(m->stamp, cap * sizeof(*stamp));
	if (!stamp)
		return -ENOMEM;
	m->stamp = stamp;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < m->profile->rows; i++) {
		size_t at = hash_key(key[i]) & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t) i + 1;
	}
	free(m->slot);
	m->slot = slot;
	m->slots = slots;
	m->cap = cap;
	return 0;
}

/* Find or add the row with this key, and return its number; SIZE_MAX: no memory. */
static size_t row_of(struct making *m, uint64_t key, uint32_t node, uint32_t lane)
{
	size_t at, i;

	if (m->profile->rows == m->cap && grow(m) < 0)
		return SIZE_MAX;
	at = hash_key(key) & (m->slots - 1);
	for (; m->slot[at]; at = (at + 1) & (m->slots - 1))
		if (m->key[m->slot[at] - 1] == key)
			return m->slot[at] - 1;
	i = m->profile->rows++;
	m->slot[at] = (uint32_t) i + 1;
	m->key[i] = key;
	m->stamp[i] = 0;
	m->profile->row[i] = (struct trk_profile_row){.node = node, .lane = lane};
	return i;
}

static uint64_t key_of(const struct making *m, uint32_t node, uint32_t lane)
{
	const struct trk_lines_node *n = &m->lines->node[node];

	switch (m->options.by) {
	case TRK_LINES_BY_LINE:
		return (uint64_t) n->function << 32 | (uint32_t) n->line;
	case TRK_LINES_BY_FUNCTION:
		return n->function;
	case TRK_LINES_BY_FILE:
		return m->file[n->function];
	case TRK_LINES_BY_THREAD:
		return lane;
	default:
		return (uint64_t) m->lines->lane[lane].pid;
	}
}

/* ---- counts ---- */

static bool is_of_lanes(const struct making *m)
{
	return m->options.by == TRK_LINES_BY_THREAD || m->options.by == TRK_LINES_BY_PROCESS;
}

/* Record the library call with the largest count below a line of the user's code. */
static void note_below(struct making *m, struct trk_profile_row *row,
		       const struct trk_lines_count *c)
{
	if (c->amounts.cpu_us <= row->below_us ||
	    !m->lines->function[m->lines->node[c->node].function].is_library)
		return;
	row->below = c->node;
	row->below_us = c->amounts.cpu_us;
}

static int add_callers(struct making *m, const struct trk_lines_count *c)
{
	for (uint32_t at = c->node; at != TRK_LINES_ROOT; at = m->lines->node[at].parent) {
		const struct trk_lines_node *n = &m->lines->node[at];
		size_t i;

		if (!m->options.all_frames && m->lines->function[n->function].is_library)
			continue;
		i = row_of(m, key_of(m, at, c->lane), at, c->lane);
		if (i == SIZE_MAX)
			return -ENOMEM;
		if (m->stamp[i] == m->counts) /* recursion */
			continue;
		m->stamp[i] = m->counts;
		trk__lines_amounts_add(&m->profile->row[i].with_callees, &c->amounts);
	}
	return 0;
}

static int take_count(struct making *m, const struct trk_lines_count *c)
{
	uint32_t own = m->options.all_frames ? c->node : trk__lines_user(m->lines, c->node);
	size_t i = row_of(m, key_of(m, own, c->lane), own, c->lane);

	if (i == SIZE_MAX)
		return -ENOMEM;
	m->counts++;
	trk__lines_amounts_add(&m->profile->all, &c->amounts);
	trk__lines_amounts_add(&m->profile->row[i].self, &c->amounts);
	if (is_of_lanes(m)) {
		trk__lines_amounts_add(&m->profile->row[i].with_callees, &c->amounts);
		return 0;
	}
	if (own != c->node)
		note_below(m, &m->profile->row[i], c);
	/* A stack that is only library code has no caller in the user's code. */
	if (!m->options.all_frames && m->lines->function[m->lines->node[own].function].is_library) {
		trk__lines_amounts_add(&m->profile->row[i].with_callees, &c->amounts);
		return 0;
	}
	return add_callers(m, c);
}

static bool is_whole_run(const struct trk_profile_options *o)
{
	return o->from_us <= 0 && o->to_us == INT64_MAX;
}

static int take_windows(struct making *m)
{
	struct trk_profile *p = m->profile;

	p->from_us = INT64_MAX;
	for (size_t i = 0; i < m->lines->windows; i++) {
		const struct trk_lines_window *w = &m->lines->window[i];
		int64_t middle = w->from_us / 2 + w->to_us / 2;

		if (middle < m->options.from_us || middle >= m->options.to_us)
			continue;
		p->from_us = w->from_us < p->from_us ? w->from_us : p->from_us;
		p->to_us = w->to_us > p->to_us ? w->to_us : p->to_us;
		for (size_t k = 0; k < w->count; k++) {
			int r = take_count(m, &m->lines->kept[w->first + k]);

			if (r < 0)
				return r;
		}
	}
	if (p->from_us == INT64_MAX)
		p->from_us = 0;
	return 0;
}

static int take_all(struct making *m)
{
	int r = 0;

	for (size_t i = 0; i < m->lines->totals && r == 0; i++)
		r = take_count(m, &m->lines->total[i]);
	if (m->lines->windows)
		m->profile->to_us = m->lines->window[m->lines->windows - 1].to_us;
	return r;
}

/* ---- making ---- */

static int compare_files(const void *a, const void *b, void *data)
{
	const struct trk_lines_function *function = data;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int order = strcmp(function[x].file, function[y].file);

	return order ? order : (x > y) - (x < y);
}

/* For each function the first one of its file. */
static int number_files(struct making *m)
{
	size_t n = m->lines->functions;
	uint32_t *order = malloc(n * sizeof(*order));

	m->file = malloc(n * sizeof(*m->file));
	if (!m->file || !order) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t) i;
	trk__os_sort(order, n, sizeof(*order), compare_files, m->lines->function);
	for (size_t i = 0; i < n; i++)
		m->file[order[i]] = i > 0 && !strcmp(m->lines->function[order[i]].file,
						     m->lines->function[order[i - 1]].file)
					    ? m->file[order[i - 1]]
					    : order[i];
	free(order);
	return 0;
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct trk_profile_row *x = a, *y = b;
	const enum trk_lines_order *order = data;
	uint64_t u = trk__profile_value(&x->self, *order), v = trk__profile_value(&y->self, *order);

	if (u == v) {
		u = trk__profile_value(&x->with_callees, *order);
		v = trk__profile_value(&y->with_callees, *order);
	}
	if (u == v) {
		u = x->self.wall_us;
		v = y->self.wall_us;
	}
	return u != v ? (u < v) - (u > v) : (x->node > y->node) - (x->node < y->node);
}

static int make_rows(const struct trk_lines *l, const struct trk_profile_options *options,
		     struct trk_profile *ret)
{
	struct trk_profile profile = {.row = NULL};
	struct making m = {.lines = l, .options = *options, .profile = &profile};
	enum trk_lines_order order = options->order;
	int r = number_files(&m);

	if (r == 0)
		r = is_whole_run(options) ? take_all(&m) : take_windows(&m);
	free(m.key);
	free(m.stamp);
	free(m.slot);
	free(m.file);
	if (r < 0) {
		free(profile.row);
		return r;
	}
	if (profile.rows)
		trk__os_sort(profile.row, profile.rows, sizeof(*profile.row), compare_rows, &order);
	*ret = profile;
	return 0;
}

/* The use of a phase, and its line that used the most. 0 or -ENOMEM; 1: outside the selected part
 * of the run. */
static int make_phase(const struct trk_lines *l, const struct trk_profile_options *options,
		      const struct trk_lines_phase *phase, struct trk_profile *ret)
{
	struct trk_profile_options o = *options;
	struct trk_profile p;
	int r;

	o.by = TRK_LINES_BY_LINE;
	o.from_us = phase->from_us > o.from_us ? phase->from_us : o.from_us;
	o.to_us = phase->to_us < o.to_us ? phase->to_us : o.to_us;
	if (o.from_us >= o.to_us)
		return 1;
	r = make_rows(l, &o, &p);
	if (r < 0)
		return r;
	ret->row[ret->rows++] = (struct trk_profile_row){
		.node = p.rows ? p.row[0].node : TRK_LINES_ROOT,
		.self = p.all,
		.with_callees = p.all,
		.phase = phase,
	};
	trk__lines_amounts_add(&ret->all, &p.all);
	if (ret->rows == 1)
		ret->from_us = p.from_us;
	ret->to_us = p.to_us > ret->to_us ? p.to_us : ret->to_us;
	trk__profile_release(&p);
	return 0;
}

/* A row for each phase, in the order of time. */
static int make_phases(const struct trk_lines *l, const struct trk_profile_options *options,
		       struct trk_profile *ret)
{
	struct trk_profile p = {.row = calloc(options->phases + 1, sizeof(*p.row))};
	int r = p.row ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < options->phases; i++)
		r = make_phase(l, options, &options->phase[i], &p);
	if (r < 0)
		trk__profile_release(&p);
	else
		*ret = p;
	return r < 0 ? r : 0;
}

int trk__profile_make(const struct trk_lines *l, const struct trk_profile_options *options,
		      struct trk_profile *ret)
{
	return (options->by == TRK_LINES_BY_PHASE ? make_phases : make_rows)(l, options, ret);
}

void trk__profile_release(struct trk_profile *p)
{
	free(p->row);
	memset(p, 0, sizeof(*p));
}
