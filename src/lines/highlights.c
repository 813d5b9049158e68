#include "lines/highlights.h"

#include <math.h>

#include "base/bytes.h"
#include "lines/write.h"

enum {
	GROWTH_MIN = 8 << 20,
	LAST_US = 1000 * 1000, /* "the last second" */
};

/* ---- growth ---- */

static bool is_larger(const struct trk_lines_growth *a, const struct trk_lines_growth *b)
{
	/* Certain growth weighs more than probable growth. */
	return a->sure_bytes * 2 + a->between_bytes > b->sure_bytes * 2 + b->between_bytes;
}

static void take_growth(struct trk_lines_highlights *h, const struct trk_profile_row *row)
{
	struct trk_lines_growth g = {row->node, row->self.sure_bytes, row->self.between_bytes};
	size_t at = h->growths;

	if (g.sure_bytes + g.between_bytes < GROWTH_MIN)
		return;
	while (at > 0 && is_larger(&g, &h->growth[at - 1])) {
		if (at < TRK_HIGHLIGHTS_GROWTH)
			h->growth[at] = h->growth[at - 1];
		at--;
	}
	if (at < TRK_HIGHLIGHTS_GROWTH)
		h->growth[at] = g;
	if (h->growths < TRK_HIGHLIGHTS_GROWTH)
		h->growths++;
}

bool trk__lines_growth_counts(const struct trk_lines_growth *g, double peak_bytes)
{
	double bytes = (double) (g->sure_bytes + g->between_bytes);

	return bytes >= 32 * TRK_MIB || bytes >= 0.05 * peak_bytes;
}

/* ---- the last second ---- */

static bool is_of(const struct trk_lines *l, size_t lane, pid_t pid)
{
	return l->last[lane].node != TRK_LINES_ROOT && (pid == 0 || l->lane[lane].pid == pid);
}

static int64_t newest_of(const struct trk_lines *l, pid_t pid)
{
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < l->lanes; i++)
		if (is_of(l, i, pid) && l->last[i].at_us > newest)
			newest = l->last[i].at_us;
	return newest;
}

static void take_standing(struct trk_lines_highlights *h, const struct trk_lines *l,
			  const struct trk_lines_last *last)
{
	uint32_t node = trk__lines_user(l, last->node);
	const struct trk_lines_node *n = &l->node[node];
	struct trk_lines_standing *s;

	for (size_t i = 0; i < h->lasts; i++) {
		const struct trk_lines_node *other = &l->node[h->last[i].node];

		s = &h->last[i];
		if (other->function != n->function || other->line != n->line)
			continue;
		s->threads++;
		s->running += last->running;
		return;
	}
	if (h->lasts == TRK_HIGHLIGHTS_LAST) {
		h->more_threads++;
		return;
	}
	s = &h->last[h->lasts++];
	*s = (struct trk_lines_standing){node, last->node, 1, last->running};
}

static void take_lasts(struct trk_lines_highlights *h, const struct trk_lines *l, pid_t pid)
{
	int64_t newest = newest_of(l, pid);

	if (newest == INT64_MIN && pid != 0) {
		pid = 0;
		newest = newest_of(l, pid);
	}
	if (newest == INT64_MIN)
		return;
	h->last_us = newest;
	for (int running = 1; running >= 0; running--)
		for (size_t i = 0; i < l->lanes; i++)
			if (l->last[i].running == running && is_of(l, i, pid) &&
			    l->last[i].at_us >= newest - LAST_US)
				take_standing(h, l, &l->last[i]);
}

/* ---- all of it ---- */

int trk__lines_highlights_of(const struct trk_lines *l, pid_t pid, struct trk_lines_highlights *ret)
{
	const struct trk_profile_options options = {.to_us = INT64_MAX};
	struct trk_lines_highlights h = {.hottest = TRK_LINES_ROOT};
	struct trk_profile p;
	int r;

	if (!l) {
		*ret = h;
		return 0;
	}
	r = trk__profile_make(l, &options, &p);
	if (r < 0)
		return r;
	h.cpu_us = p.all.cpu_us;
	for (size_t i = 0; i < p.rows && p.row[i].self.cpu_us && h.hottest == TRK_LINES_ROOT; i++) {
		const struct trk_lines_function *f = &l->function[l->node[p.row[i].node].function];

		if (trk__lines_is_native(f, NULL, NULL)) /* its symbol was not looked up */
			continue;
		h.hottest = p.row[i].node;
		h.hottest_cpu_us = p.row[i].self.cpu_us;
	}
	for (size_t i = 0; i < p.rows; i++)
		take_growth(&h, &p.row[i]);
	trk__profile_release(&p);
	take_lasts(&h, l, pid);
	*ret = h;
	return 0;
}

/* ---- JSON ---- */

static void put_hottest(struct trk_json *j, const struct trk_lines *l,
			const struct trk_lines_highlights *h)
{
	if (!trk__json_key_object(j, "hottest", h->hottest != TRK_LINES_ROOT))
		return;
	trk__lines_place_json(j, l, h->hottest, TRK_LINES_BY_LINE);
	trk__json_key_double(j, "cpu_s", (double) h->hottest_cpu_us / 1e6);
	trk__json_close(j, '}');
}

static void put_growth(struct trk_json *j, const struct trk_lines *l,
		       const struct trk_lines_highlights *h)
{
	trk__json_key_open(j, "growth", '[');
	for (size_t i = 0; i < h->growths; i++) {
		trk__json_open(j, '{');
		trk__lines_place_json(j, l, h->growth[i].node, TRK_LINES_BY_LINE);
		trk__json_key_double(j, "growth_mib", (double) h->growth[i].sure_bytes / TRK_MIB);
		trk__json_key_double(j, "growth_between_mib",
				     (double) h->growth[i].between_bytes / TRK_MIB);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void put_last(struct trk_json *j, const struct trk_lines *l,
		     const struct trk_lines_highlights *h)
{
	trk__json_key_open(j, "last", '[');
	for (size_t i = 0; i < h->lasts; i++) {
		trk__json_open(j, '{');
		trk__lines_place_json(j, l, h->last[i].node, TRK_LINES_BY_LINE);
		trk__json_key_u64(j, "threads", h->last[i].threads);
		trk__json_key_u64(j, "running", h->last[i].running);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_double(j, "last_at_s", h->lasts ? (double) h->last_us / 1e6 : (double) NAN);
}

static void put_not_read(struct trk_json *j, const struct trk_lines *l)
{
	trk__json_key_open(j, "not_read", '[');
	for (size_t i = 0; i < l->processes; i++) {
		const struct trk_lines_process *p = &l->process[i];

		if (p->why == TRK_STACK_READ || p->why == TRK_STACK_NOT_PYTHON)
			continue;
		trk__json_open(j, '{');
		trk__json_key_i64(j, "pid", p->pid);
		trk__json_key_text(j, "name", p->name[0] ? p->name : NULL);
		trk__json_key_text(j, "reason", trk__stack_why_text(p->why));
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

void trk__lines_highlights_json(struct trk_json *j, const struct trk_lines *l, pid_t pid)
{
	struct trk_lines_highlights h;

	trk__json_key(j, "lines");
	if (!l || !trk__lines_has_interpreter(l) || trk__lines_highlights_of(l, pid, &h) < 0) {
		trk__json_null(j);
		return;
	}
	trk__json_open(j, '{');
	trk__json_key_u64(j, "stacks", l->samples);
	trk__json_key_double(j, "rate_hz", l->rate_hz);
	trk__json_key_double(j, "cpu_s", (double) h.cpu_us / 1e6);
	put_hottest(j, l, &h);
	put_growth(j, l, &h);
	put_last(j, l, &h);
	put_not_read(j, l);
	trk__json_close(j, '}');
}
