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
	uint32_t *first; /* of each node or lane: the first one of the same row */
	uint32_t *row;   /* of those: row + 1; 0: none yet */
	size_t *stamp;   /* of each row: number of the last count added to its with_callees */
	size_t counts;   /* processed so far */
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

static bool is_of_lanes(const struct making *m)
{
	return m->options.by == TRK_LINES_BY_THREAD || m->options.by == TRK_LINES_BY_PROCESS;
}

/* Of two nodes, or of two lanes: 0 if they belong to the same row. */
static int compare_places(const struct making *m, uint32_t x, uint32_t y)
{
	const struct trk_lines *l = m->lines;
	uint32_t a, b;

	if (m->options.by == TRK_LINES_BY_THREAD)
		return (x > y) - (x < y);
	if (m->options.by == TRK_LINES_BY_PROCESS)
		return (l->lane[x].pid > l->lane[y].pid) - (l->lane[x].pid < l->lane[y].pid);
	a = l->node[x].function;
	b = l->node[y].function;
	if (m->options.by == TRK_LINES_BY_FILE)
		return strcmp(l->function[a].file, l->function[b].file);
	if (a != b || m->options.by == TRK_LINES_BY_FUNCTION)
		return (a > b) - (a < b);
	return (l->node[x].line > l->node[y].line) - (l->node[x].line < l->node[y].line);
}

static int compare_numbers(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
	int order = compare_places(data, x, y);

	return order ? order : (x > y) - (x < y);
}

/* Find which nodes or lanes share a row, and make room for all rows. */
static int prepare_rows(struct making *m)
{
	size_t n = is_of_lanes(m) ? m->lines->lanes : m->lines->nodes;
	uint32_t *order = malloc(n * sizeof(*order));

	m->first = malloc(n * sizeof(*m->first));
	m->row = calloc(n, sizeof(*m->row));
	m->stamp = calloc(n, sizeof(*m->stamp));
	m->profile->row = malloc(n * sizeof(*m->profile->row));
	if (!order || !m->first || !m->row || !m->stamp || !m->profile->row) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t) i;
	trk__os_sort(order, n, sizeof(*order), compare_numbers, m);
	for (size_t i = 0; i < n; i++)
		m->first[order[i]] = i > 0 && compare_places(m, order[i - 1], order[i]) == 0
					     ? m->first[order[i - 1]]
					     : order[i];
	free(order);
	return 0;
}

/* Find or add the row of a node or lane, and return its number. */
static size_t row_of(struct making *m, uint32_t node, uint32_t lane)
{
	uint32_t *row = &m->row[m->first[is_of_lanes(m) ? lane : node]];

	if (*row == 0) {
		m->profile->row[m->profile->rows++] =
			(struct trk_profile_row){.node = node, .lane = lane};
		*row = (uint32_t) m->profile->rows;
	}
	return *row - 1;
}

/* ---- counts ---- */

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

static void add_callers(struct making *m, const struct trk_lines_count *c)
{
	for (uint32_t at = c->node; at != TRK_LINES_ROOT; at = m->lines->node[at].parent) {
		const struct trk_lines_node *n = &m->lines->node[at];
		size_t i;

		if (!m->options.all_frames && m->lines->function[n->function].is_library)
			continue;
		i = row_of(m, at, c->lane);
		if (m->stamp[i] == m->counts) /* recursion */
			continue;
		m->stamp[i] = m->counts;
		trk__lines_amounts_add(&m->profile->row[i].with_callees, &c->amounts);
	}
}

static void take_count(void *data, const struct trk_lines_count *c)
{
	struct making *m = data;
	uint32_t own = m->options.all_frames ? c->node : trk__lines_user(m->lines, c->node);
	struct trk_profile_row *row = &m->profile->row[row_of(m, own, c->lane)];

	m->counts++;
	trk__lines_amounts_add(&m->profile->all, &c->amounts);
	trk__lines_amounts_add(&row->self, &c->amounts);
	if (own != c->node && !is_of_lanes(m))
		note_below(m, row, c);
	/* A stack that is only library code has no caller in the user's code. */
	if (is_of_lanes(m) ||
	    (!m->options.all_frames && m->lines->function[m->lines->node[own].function].is_library))
		trk__lines_amounts_add(&row->with_callees, &c->amounts);
	else
		add_callers(m, c);
}

static bool is_whole_run(const struct trk_profile_options *o)
{
	return o->from_us <= 0 && o->to_us == INT64_MAX;
}

static bool is_in_part(const struct trk_lines_window *w, const struct trk_profile_options *o)
{
	int64_t middle = w->from_us / 2 + w->to_us / 2;

	return middle >= o->from_us && middle < o->to_us;
}

void trk__lines_each_count(const struct trk_lines *l, const struct trk_profile_options *o,
			   trk_lines_count_fn *fn, void *data)
{
	for (size_t i = 0; is_whole_run(o) && i < l->totals; i++)
		fn(data, &l->total[i]);
	for (size_t i = 0; !is_whole_run(o) && i < l->windows; i++)
		for (size_t k = 0; is_in_part(&l->window[i], o) && k < l->window[i].count; k++)
			fn(data, &l->kept[l->window[i].first + k]);
}

static void find_range(const struct trk_lines *l, const struct trk_profile_options *o,
		       struct trk_profile *p)
{
	int64_t from_us = INT64_MAX;

	for (size_t i = 0; i < l->windows && !is_whole_run(o); i++) {
		const struct trk_lines_window *w = &l->window[i];

		if (!is_in_part(w, o))
			continue;
		from_us = w->from_us < from_us ? w->from_us : from_us;
		p->to_us = w->to_us > p->to_us ? w->to_us : p->to_us;
	}
	p->from_us = from_us == INT64_MAX ? 0 : from_us;
	if (is_whole_run(o) && l->windows)
		p->to_us = l->window[l->windows - 1].to_us;
}

/* ---- making ---- */

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
	int r = prepare_rows(&m);

	if (r == 0)
		trk__lines_each_count(l, options, take_count, &m);
	free(m.first);
	free(m.row);
	free(m.stamp);
	if (r < 0) {
		free(profile.row);
		return r;
	}
	find_range(l, options, &profile);
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
