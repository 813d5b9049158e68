#include "lines/cut.h"
#include "base/maths.h"

#include <stdlib.h>

/* Length of the compared parts, at least one window each. A window that ends up to a second after
 * the cut counts as before it. */
enum { STRETCH_US = 30 * 1000000, SLACK_US = 1000000 };
/* Shares in percent: from MOST on a line runs throughout; up to LEAST it does not run. */
enum { MOST = 60, LEAST = 10 };

struct stretch {
	size_t first, end; /* windows */
	uint64_t *wall_us; /* of each node, callees included, on one thread */
};

static struct stretch windows_before(const struct trk_lines *l, int64_t at_us)
{
	struct stretch s = {0};

	while (s.end < l->windows && l->window[s.end].to_us <= at_us + SLACK_US)
		s.end++;
	s.first = s.end;
	while (s.first > 0 &&
	       (s.first == s.end || l->window[s.first - 1].from_us >= at_us - STRETCH_US))
		s.first--;
	return s;
}

static struct stretch windows_after(const struct trk_lines *l, int64_t at_us)
{
	struct stretch s = {0};

	while (s.first < l->windows && l->window[s.first].from_us < at_us - SLACK_US)
		s.first++;
	s.end = s.first;
	while (s.end < l->windows &&
	       (s.end == s.first || l->window[s.end].to_us <= at_us + STRETCH_US))
		s.end++;
	return s;
}

static const struct trk_lines_count *counts_of(const struct trk_lines *l, const struct stretch *s,
					       size_t *ret_count)
{
	*ret_count = 0;
	if (s->first == s->end)
		return NULL;
	for (size_t i = s->first; i < s->end; i++)
		*ret_count += l->window[i].count;
	return l->kept + l->window[s->first].first;
}

/* The first main thread from `lane` on with samples in the part; 0: none. */
static uint32_t main_thread(const struct trk_lines *l, const struct stretch *s, uint32_t lane)
{
	size_t n;
	const struct trk_lines_count *count = counts_of(l, s, &n);
	uint32_t best = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t of = count[i].lane;

		if (of >= lane && (!best || of < best) && l->lane[of].pid == l->lane[of].tid)
			best = of;
	}
	return best;
}

/* The first main thread with samples in both parts. */
static uint32_t common_thread(const struct trk_lines *l, const struct stretch *before,
			      const struct stretch *after)
{
	uint32_t a = main_thread(l, before, 1), b = main_thread(l, after, 1);

	while (a && b && a != b) {
		if (a < b)
			a = main_thread(l, before, b);
		else
			b = main_thread(l, after, a);
	}
	return a && b ? a : 0;
}

static void add_up(const struct trk_lines *l, uint32_t lane, struct stretch *s)
{
	size_t n;
	const struct trk_lines_count *count = counts_of(l, s, &n);

	for (size_t i = 0; i < n; i++)
		if (count[i].lane == lane)
			s->wall_us[count[i].node] += count[i].amounts.wall_us;
	for (size_t i = l->nodes; i-- > 1;) /* a parent has a smaller number */
		s->wall_us[l->node[i].parent] += s->wall_us[i];
}

static bool has_share(const struct stretch *s, uint32_t node, uint64_t percent)
{
	return s->wall_us[node] > 0 && s->wall_us[node] * 100 >= s->wall_us[0] * percent;
}

static uint32_t heaviest_child(const struct trk_lines *l, const struct stretch *s, uint32_t parent)
{
	uint32_t best = TRK_LINES_ROOT;

	for (uint32_t i = parent + 1; i < l->nodes; i++)
		if (l->node[i].parent == parent &&
		    (best == TRK_LINES_ROOT || s->wall_us[i] > s->wall_us[best]))
			best = i;
	return best;
}

/* The first line of the function of `left`, called from the same place, that runs only after the
 * cut. */
static uint32_t line_after(const struct trk_lines *l, const struct stretch *before,
			   const struct stretch *after, uint32_t left)
{
	const struct trk_lines_node *n = &l->node[left];
	uint32_t best = TRK_LINES_ROOT;

	for (uint32_t i = n->parent + 1; i < l->nodes; i++)
		if (l->node[i].parent == n->parent && l->node[i].function == n->function &&
		    l->node[i].line > 0 && has_share(after, i, LEAST) &&
		    !has_share(before, i, LEAST) &&
		    (best == TRK_LINES_ROOT || l->node[i].line < l->node[best].line))
			best = i;
	return best;
}

static uint32_t descend(const struct trk_lines *l, const struct stretch *before,
			const struct stretch *after)
{
	uint32_t at = TRK_LINES_ROOT;

	for (;;) {
		uint32_t next = heaviest_child(l, before, at);

		if (next == TRK_LINES_ROOT || !has_share(before, next, MOST) ||
		    l->function[l->node[next].function].is_library)
			return TRK_LINES_ROOT;
		if (!has_share(after, next, MOST))
			return line_after(l, before, after, next);
		at = next;
	}
}

uint32_t trk__lines_cut(const struct trk_lines *l, double at_s)
{
	int64_t at_us = trk__whole(at_s * 1e6, 0, INT64_MAX);
	struct stretch before = windows_before(l, at_us), after = windows_after(l, at_us);
	uint32_t lane = common_thread(l, &before, &after), found = TRK_LINES_ROOT;

	before.wall_us = calloc(l->nodes, sizeof(*before.wall_us));
	after.wall_us = calloc(l->nodes, sizeof(*after.wall_us));
	if (lane && before.wall_us && after.wall_us) {
		add_up(l, lane, &before);
		add_up(l, lane, &after);
		found = descend(l, &before, &after);
	}
	free(before.wall_us);
	free(after.wall_us);
	return found;
}
