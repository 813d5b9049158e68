#include "sample/stack_growth.h"

#include "base/clock.h"

#define STEP_MIN     (UINT64_C(1) << 19) /* of new heights, between two looks */
#define STEP_SHIFT   9                   /* and a part of 512 of the whole */
#define UNSEEN_PARTS 8
#define HOT_MIN      (UINT64_C(1) << 18)
#define HOT_NS       TRK_NS_PER_S
#define PERIOD_MIN   TRK_NS_PER_MS
#define LOOSE_MAX_NS (30 * TRK_NS_PER_S) /* until growth is charged to a line without a sign */
#define KEPT_NS      (40 * TRK_NS_PER_S) /* a line that was not seen for this time is forgotten */
#define SIGNS_MIN    16.0                /* signs by which growth is divided */
#define HITS_MIN     2                   /* for sure growth */
#define STAYS_MIN    3                   /* for fast growth */
#define FADING       0.9                 /* of signs, at each settling */

/* ---- lines ---- */

static bool is_line(const struct trk_lines *l, const struct trk_growth_line *line, uint32_t node,
		    uint32_t lane)
{
	return line->lane == lane && trk__lines_same(l, line->node, node);
}

/* The deepest common node of both stacks, but not above the line of the user's code. */
static uint32_t node_of_both(const struct trk_lines *l, uint32_t a, uint32_t b)
{
	uint32_t common = trk__lines_common(l, a, b);

	return trk__lines_user(l, common) == trk__lines_user(l, b) ? common : b;
}

/* Growth without a known line: all code that ran meanwhile is at or below `node`. Stacks of two
 * threads have no common node: then the thread that did not sleep counts. */
static void loosen(struct trk_growth *g, const struct trk_lines *l, uint64_t bytes,
		   const struct trk_growth_line *at)
{
	uint32_t common = trk__lines_common(l, g->loose_node, at->node);

	if (bytes == 0)
		return;
	if (g->loose_bytes == 0)
		g->loose_ns = g->settled_ns;
	if (g->loose_bytes > 0 && common != TRK_LINES_ROOT) {
		g->loose_node = common;
		g->loose_lane = at->lane;
		g->loose_sleeps = g->loose_sleeps && at->sleeps;
	} else if (g->loose_bytes == 0 || g->loose_sleeps || !at->sleeps) {
		g->loose_node = at->node;
		g->loose_lane = at->lane;
		g->loose_sleeps = at->sleeps;
	}
	g->loose_bytes += bytes;
}

/* Growth between samples on two lines. */
static void loosen_between(struct trk_growth *g, const struct trk_lines *l, uint64_t bytes,
			   const struct trk_growth_line *before, const struct trk_growth_line *now)
{
	struct trk_growth_line both = *now;

	both.node = trk__lines_common(l, before->node, now->node);
	both.sleeps = before->sleeps && now->sleeps;
	if (both.node != TRK_LINES_ROOT)
		loosen(g, l, bytes, &both);
	else
		loosen(g, l, bytes, now->sleeps && !before->sleeps ? before : now);
}

/* The index for a new line: a free one, else that of the least recently seen line. */
static size_t make_room(struct trk_growth *g, const struct trk_lines *l)
{
	size_t oldest = g->at == 0 ? 1 : 0;

	if (g->lines < TRK_GROWTH_LINES)
		return g->lines++;
	for (size_t i = 0; i < g->lines; i++)
		if (i != g->at && g->line[i].seen_ns < g->line[oldest].seen_ns)
			oldest = i;
	loosen(g, l, g->line[oldest].stay_bytes, &g->line[oldest]);
	return oldest;
}

static size_t find_line(struct trk_growth *g, const struct trk_lines *l, uint32_t node,
			uint32_t lane, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < g->lines; i++)
		if (is_line(l, &g->line[i], node, lane))
			break;
	if (i == g->lines) {
		i = make_room(g, l);
		g->line[i] = (struct trk_growth_line){.node = node, .lane = lane};
	}
	g->line[i].node = node_of_both(l, g->line[i].node, node);
	g->line[i].seen_ns = now_ns;
	return i;
}

/* ---- samples ---- */

bool trk__growth_is_hot(const struct trk_growth *g, uint64_t now_ns)
{
	return now_ns < g->hot_ns;
}

void trk__growth_note(struct trk_growth *g, const struct trk_lines *l, uint32_t node, uint32_t lane,
		      unsigned int sign, uint64_t now_ns)
{
	size_t i = find_line(g, l, node, lane, now_ns);

	g->line[i].signs += sign;
	if (i != g->at && g->at < g->lines) /* it was left since the last sample */
		g->line[g->at].visits++;
}

/* The sum of signs of the lines that ran since the loose growth began. */
static double signs_on(const struct trk_growth *g, const struct trk_growth_line *line)
{
	return g->loose_bytes && line->seen_ns < g->loose_ns ? 0 : line->signs;
}

static double signs_of(const struct trk_growth *g)
{
	double signs = 0;

	for (size_t i = 0; i < g->lines; i++)
		signs += signs_on(g, &g->line[i]);
	return signs;
}

/* Predict when memory will have grown by the next step, at its recent pace. Steps are smaller while
 * the line is not known. */
static void plan(struct trk_growth *g, const struct trk_growth_sample *s)
{
	uint64_t part = s->bytes >> STEP_SHIFT, step = part > STEP_MIN ? part : STEP_MIN;

	if (!g->has_memory || s->bytes >= g->bytes + HOT_MIN)
		g->hot_ns = s->now_ns + HOT_NS;
	if (!trk__growth_is_hot(g, s->now_ns))
		g->period_ns = 0;
	if (g->has_memory && s->bytes < g->high_bytes + HOT_MIN)
		return;
	if (g->has_memory) {
		uint64_t over_ns = s->now_ns - g->high_ns;

		if (signs_of(g) < SIGNS_MIN)
			step /= UNSEEN_PARTS;
		over_ns = over_ns < HOT_NS ? over_ns : HOT_NS;
		g->period_ns = (uint64_t) ((double) step / (double) (s->bytes - g->high_bytes) *
					   (double) over_ns);
		if (g->period_ns < PERIOD_MIN)
			g->period_ns = PERIOD_MIN;
	}
	g->high_bytes = s->bytes;
	g->high_ns = s->now_ns;
}

static void stay(struct trk_growth_line *line, const struct trk_growth_sample *s, uint64_t bytes)
{
	line->stay_bytes += bytes;
	line->stays++;
	line->slow_stays += s->sleeps || bytes < s->cpu_ns;
}

void trk__growth_take(struct trk_growth *g, const struct trk_lines *l,
		      const struct trk_growth_sample *s, struct trk_lines_sums *ret_sums)
{
	size_t before = g->has_memory ? g->at : SIZE_MAX;
	size_t now = find_line(g, l, s->node, s->lane, s->now_ns);
	struct trk_growth_line *line = &g->line[now];
	uint64_t grown = g->has_memory && s->bytes > g->bytes ? s->bytes - g->bytes : 0;
	struct trk_lines_amounts *sum;

	plan(g, s);
	line->sleeps = s->sleeps;
	line->visits += now != before;
	line->looks += s->is_look;
	line->hits += s->is_look && s->sign >= TRK_GROWTH_CLEAR;
	line->signs += s->sign;
	if (now == before && s->alone && g->was_alone) {
		stay(line, s, grown);
	} else if (grown) {
		loosen_between(g, l, grown, before < g->lines ? &g->line[before] : line, line);
	}
	if (g->has_memory && s->bytes < g->bytes) {
		sum = trk__lines_sum(ret_sums, s->lane, s->node);
		if (sum)
			sum->released_bytes += g->bytes - s->bytes;
	}
	g->at = now;
	g->has_memory = true;
	g->was_alone = s->alone;
	g->bytes = s->bytes;
}

/* ---- settling ---- */

static void add_between(struct trk_lines_sums *sums, uint32_t lane, uint32_t node, uint64_t bytes)
{
	struct trk_lines_amounts *sum = bytes ? trk__lines_sum(sums, lane, node) : NULL;

	if (sum)
		sum->between_bytes += bytes;
}

/* The process stayed on the line, which allocated memory in at least half of the looks at it, and
 * in at least two. */
static bool is_sure(const struct trk_growth_line *line)
{
	return line->visits <= 1 && line->hits >= HITS_MIN && line->hits * 2 >= line->looks;
}

/* The process stayed on the line, and memory grew by more than 1 GB per second of CPU time between
 * any two samples: the kernel provides pages that fast only to code that does little else. */
static bool is_fast(const struct trk_growth_line *line)
{
	return line->visits <= 1 && line->stays >= STAYS_MIN && line->slow_stays == 0;
}

static void settle_stays(struct trk_growth *g, const struct trk_lines *l,
			 struct trk_lines_sums *sums)
{
	for (size_t i = 0; i < g->lines; i++) {
		struct trk_growth_line *line = &g->line[i];
		struct trk_lines_amounts *sum = NULL;

		if (line->stay_bytes && is_sure(line))
			sum = trk__lines_sum(sums, line->lane, line->node);
		if (sum)
			sum->sure_bytes += line->stay_bytes;
		else if (is_fast(line))
			add_between(sums, line->lane, line->node, line->stay_bytes);
		else
			loosen(g, l, line->stay_bytes, line);
		line->stay_bytes = 0;
		line->stays = line->slow_stays = 0;
		line->looks = line->hits = 0;
		line->visits = i == g->at;
	}
}

/* Divide the growth without a line by the page faults that were seen. */
static void share_out(struct trk_growth *g, double signs, struct trk_lines_sums *sums)
{
	uint64_t left = g->loose_bytes;
	size_t most = 0;

	for (size_t i = 0; i < g->lines; i++) {
		const struct trk_growth_line *line = &g->line[i];
		double own = signs_on(g, line);
		uint64_t part = (uint64_t) ((double) g->loose_bytes * (own / signs));

		if (own > signs_on(g, &g->line[most]))
			most = i;
		part = part < left ? part : left;
		left -= part;
		add_between(sums, line->lane, line->node, part);
	}
	add_between(sums, g->line[most].lane, g->line[most].node, left);
	g->loose_bytes = 0;
}

static void forget_old_lines(struct trk_growth *g, uint64_t now_ns)
{
	for (size_t i = g->lines; i-- > 0;) {
		g->line[i].signs *= FADING;
		if (i == g->at || g->line[i].seen_ns + KEPT_NS > now_ns)
			continue;
		g->lines--;
		g->line[i] = g->line[g->lines];
		if (g->at == g->lines)
			g->at = i;
	}
}

void trk__growth_settle(struct trk_growth *g, const struct trk_lines *l, uint64_t now_ns, bool last,
			struct trk_lines_sums *ret_sums)
{
	bool is_due;
	double signs;

	settle_stays(g, l, ret_sums);
	signs = signs_of(g);
	is_due = last || now_ns - g->loose_ns >= LOOSE_MAX_NS;
	if (g->loose_bytes && (signs >= SIGNS_MIN || (is_due && signs > 0))) {
		share_out(g, signs, ret_sums);
	} else if (g->loose_bytes && is_due) {
		add_between(ret_sums, g->loose_lane, g->loose_node, g->loose_bytes);
		g->loose_bytes = 0;
	}
	forget_old_lines(g, now_ns);
	g->settled_ns = now_ns;
}
