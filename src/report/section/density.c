#include "report/section/density.h"

#include <stdlib.h>

enum {
	ALIVE_MAX = 60000,
	BRIEF_MAX = 1500, /* of a page: 12 kB */
};

/* A start (+1) or an end (-1). */
struct event {
	double at;
	int step;
};

/* An end frees its place before the next start takes one. */
static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at ? 1 : x->step - y->step;
}

static bool is_bar(const struct trk_doc_lane *lane, const struct trk_doc *d,
		   const struct trk_process_span *s)
{
	for (size_t i = 0; i < lane->bars; i++)
		if (lane->bar[i].pid == s->pid &&
		    lane->bar[i].from == trk__lanes_share(d, s->start_ms))
			return true;
	return false;
}

/* Of each bucket the most that were alive at one moment. */
static void count_alive(struct trk_doc *d, const struct event *event, size_t events,
			struct trk_doc_lane *lane)
{
	size_t k = 0;
	int now = 0;

	for (size_t b = 0; b < d->buckets; b++) {
		double end = b + 1 < d->buckets ? (double) (b + 1) / (double) d->buckets : 2;
		int most = now;

		for (; k < events && event[k].at < end; k++) {
			now += event[k].step;
			most = now > most ? now : most;
		}
		lane->alive[b] = (uint16_t) (most < ALIVE_MAX ? most : ALIVE_MAX);
		if (lane->alive[b] > lane->alive_most)
			lane->alive_most = lane->alive[b];
	}
}

/* Those with the most CPU time first, as the story lists them. */
static void add_brief(struct trk_doc *d, const struct trk_process_span *s,
		      struct trk_doc_lane *lane)
{
	double lived_s = (double) (s->end_ms - s->start_ms) / 1e3;
	struct trk_doc_brief *one;

	if (!lane->brief || d->briefs == BRIEF_MAX)
		return;
	one = &lane->brief[lane->briefs++];
	one->from = trk__lanes_share(d, s->start_ms);
	one->to = trk__lanes_share(d, s->end_ms);
	one->cores = lived_s > 0 ? (double) s->cpu_ms / 1e3 / lived_s : 0;
	d->briefs++;
}

void trk__density_make(struct trk_doc *d, const struct trk_program_log *log,
		       const struct trk_program_story *story, struct trk_doc_lane *lane)
{
	struct event *event = calloc(2 * story->spans + 1, sizeof(*event));
	size_t events = 0, room = BRIEF_MAX - d->briefs;

	room = story->spans < room ? story->spans : room;
	lane->alive = trk__doc_alloc(d, d->buckets * sizeof(*lane->alive));
	lane->brief = room ? trk__doc_alloc(d, room * sizeof(*lane->brief)) : NULL;
	for (size_t i = 0; event && lane->alive && i < story->spans; i++) {
		const struct trk_process_span *s = &log->span[story->span[i]];
		int64_t end_ms = s->end_ms > s->start_ms ? s->end_ms : s->start_ms + 1;

		if (is_bar(lane, d, s))
			continue;
		lane->others++;
		add_brief(d, s, lane);
		event[events++] = (struct event){trk__lanes_share(d, s->start_ms), 1};
		event[events++] = (struct event){trk__lanes_share(d, end_ms), -1};
	}
	if (events)
		qsort(event, events, sizeof(*event), by_time);
	if (event && lane->alive)
		count_alive(d, event, events, lane);
	free(event);
}
