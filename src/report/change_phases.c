/* In which phase a change happened. */
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "report/change.h"

/* Minimum change that is notable without enough runs for the noise, and minimum part of it in one
 * phase. */
#define NOTABLE_SHARE 0.05
#define PHASE_SHARE   0.5

/* The phases of one name together. */
struct part {
	const char *name; /* "": by number */
	size_t number;
	double seconds, peak_mib;
};

struct parts {
	struct part of[TRK_PHASES_MAX];
	size_t count;
	bool marked;
	bool merged; /* a phase holds later ones: it is no part */
};

bool trk__change_is_notable(const struct trk_change *c, enum trk_change_figure figure)
{
	double share = c->figure[figure].share;

	if (c->figure[figure].verdict == TRK_ANOMALY_TOO_FEW)
		return fabs(share) >= NOTABLE_SHARE;
	return c->figure[figure].verdict != TRK_ANOMALY_NO || c->figure[figure].drift != 0;
}

static void parts_of(const struct trk_time_breakdown *times, struct parts *ret)
{
	ret->count = 0;
	ret->marked = times->marked;
	ret->merged = false;
	for (size_t i = 0; i < times->phase_count; i++) {
		const struct trk_run_phase *p = &times->phase[i];
		struct part *part = NULL;

		if (p->later) {
			ret->merged = true;
			continue;
		}
		for (size_t k = 0; p->name[0] && k < ret->count && !part; k++)
			if (!strcmp(ret->of[k].name, p->name))
				part = &ret->of[k];
		if (!part) {
			part = &ret->of[ret->count++];
			*part = (struct part){p->name, i + 1, 0, NAN};
		}
		part->seconds += p->end_s - p->start_s;
		if (!(p->memory_peak_mib <= part->peak_mib))
			part->peak_mib = p->memory_peak_mib;
	}
}

static const struct part *find(const struct parts *in, const struct part *part)
{
	for (size_t i = 0; i < in->count; i++)
		if (part->name[0] ? !strcmp(in->of[i].name, part->name)
				  : !in->of[i].name[0] && in->of[i].number == part->number)
			return &in->of[i];
	return NULL;
}

static bool are_alike(const struct parts *a, const struct parts *b)
{
	return a->count > 0 && b->count > 0 && a->marked == b->marked && a->merged == b->merged &&
	       (a->marked || a->count == b->count);
}

static double figure_of(const struct part *part, bool memory)
{
	double value = !part ? 0 : memory ? part->peak_mib : part->seconds;

	return isnan(value) ? 0 : value;
}

static double median_before(const struct parts *earlier, size_t count, const struct part *part,
			    bool memory)
{
	double v[TRK_CHANGE_PHASE_RUNS] = {0};

	for (size_t i = 0; i < count; i++)
		v[i] = figure_of(find(&earlier[i], part), memory);
	return trk__median(v, count);
}

struct search {
	const struct parts *now, *earlier;
	size_t count;
	bool memory;
	double change;
};

/* Choose `part` as the phase if it has more of the change than the present choice. */
static void offer(const struct search *s, const struct part *part, struct trk_change_phase *best)
{
	const struct part *mine = find(s->now, part);
	double before = median_before(s->earlier, s->count, part, s->memory);
	double after = figure_of(mine, s->memory);

	if (best->runs && (after - before) / s->change <= (best->now - best->before) / s->change)
		return;
	*best = (struct trk_change_phase){
		.number = mine ? mine->number : 0,
		.before = before,
		.now = after,
		.runs = s->count,
	};
	memcpy(best->name, part->name, strlen(part->name) + 1);
}

static void find_phase(const struct trk_change *c, enum trk_change_figure figure, struct search s,
		       struct trk_change_phase *ret)
{
	struct trk_change_phase best = {.runs = 0};

	s.memory = figure == TRK_CHANGE_PEAK_MEMORY;
	s.change = c->figure[figure].now - c->figure[figure].before;
	if (isnan(s.change) || s.count == 0 || !trk__change_is_notable(c, figure))
		return;
	for (size_t i = 0; i < s.now->count; i++)
		offer(&s, &s.now->of[i], &best);
	/* A phase that this run lacks: only by name, as other phases take over its number. */
	for (size_t i = 0; s.now->marked && i < s.earlier[0].count; i++)
		if (s.earlier[0].of[i].name[0] && !find(s.now, &s.earlier[0].of[i]))
			offer(&s, &s.earlier[0].of[i], &best);
	if (best.runs && (best.now - best.before) / s.change >= PHASE_SHARE)
		*ret = best;
}

void trk__change_find_phases(struct trk_change *c, const struct trk_time_breakdown *now,
			     const struct trk_time_breakdown *earlier, size_t count)
{
	struct parts mine, theirs[TRK_CHANGE_PHASE_RUNS];
	struct search s = {.now = &mine, .earlier = theirs};

	parts_of(now, &mine);
	for (size_t i = 0; i < count && s.count < TRK_CHANGE_PHASE_RUNS; i++) {
		parts_of(&earlier[i], &theirs[s.count]);
		s.count += are_alike(&mine, &theirs[s.count]);
	}
	find_phase(c, TRK_CHANGE_DURATION, s, &c->time_phase);
	find_phase(c, TRK_CHANGE_PEAK_MEMORY, s, &c->memory_phase);
}
