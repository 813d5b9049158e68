#include "answer/change.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/maths.h"
#include "base/utf8.h"

/* If the run time has changed, a change of memory by a smaller share is not reported. */
#define MEMORY_SHARE_MIN 0.05

/* Minimum change that is notable without enough runs for the noise, and minimum part of it in one
 * phase. */
#define NOTABLE_SHARE 0.05
#define PHASE_SHARE   0.5

enum { NAME_SHOWN_MAX = 16 };

const struct trk_change_name trk__change_names[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, unit, floor) [TRK_CHANGE_##id] = {key, title, words},
	TRK_CHANGE_LIST(X)
#undef X
};

static double value_of(const struct trk_past_run *run, int figure)
{
	static const size_t offsets[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, unit, floor)                                              \
	[TRK_CHANGE_##id] = offsetof(struct trk_past_run, member),
		TRK_CHANGE_LIST(X)
#undef X
	};
	static const double units[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, unit, floor) [TRK_CHANGE_##id] = (unit),
		TRK_CHANGE_LIST(X)
#undef X
	};
	double value;

	memcpy(&value, (const char *) run + offsets[figure], sizeof(value));
	return value / units[figure];
}

/* Medians are computed on logarithms, which excludes zeros. */
static bool is_all_zero(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i] != 0)
			return false;
	return n > 0;
}

static double share_of(double now, double before)
{
	return before > 0 ? now / before - 1 : (double) NAN;
}

/* Whether this run is compared with an earlier one. */
static bool counts(const struct trk_past_run *run, const struct trk_past_run *now)
{
	return run->start_s < now->start_s && run->code <= 0 && strcmp(run->id, now->id) != 0;
}

void trk__change_from_history(const struct trk_past_run *now, const struct trk_past_run *runs,
			      size_t count, struct trk_change *ret)
{
	static const double floors[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, unit, floor) [TRK_CHANGE_##id] = (floor),
		TRK_CHANGE_LIST(X)
#undef X
	};
	double earlier[TRK_CHANGE_EARLIER_MAX + 1] = {0};
	size_t first = count, n = 0;

	while (first > 0 && n < TRK_CHANGE_EARLIER_MAX)
		n += counts(&runs[--first], now);
	ret->runs = n;
	ret->time_phase = ret->memory_phase = (struct trk_change_phase){.runs = 0};
	for (int i = 0; i < TRK_CHANGE_FIGURES; i++) {
		struct trk_anomaly odd = {
			.kind = TRK_ANOMALY_TOO_FEW, .noise_share = NAN, .median = NAN};

		for (size_t k = first, at = 0; k < count; k++)
			if (counts(&runs[k], now))
				earlier[at++] = value_of(&runs[k], i);
		ret->figure[i].now = value_of(now, i);
		(void) trk__anomaly_judge(earlier, n, ret->figure[i].now, floors[i], &odd);
		ret->figure[i].before = is_all_zero(earlier, n) ? 0 : odd.median;
		ret->figure[i].share = share_of(ret->figure[i].now, ret->figure[i].before);
		ret->figure[i].noise_share = odd.noise_share;
		ret->figure[i].kind = odd.kind;
		earlier[n] = ret->figure[i].now;
		ret->figure[i].drift = 0;
		(void) trk__anomaly_drift(earlier, n + 1, floors[i], &ret->figure[i].drift);
	}
}

void trk__change_from_run(const struct trk_past_run *now, const struct trk_past_run *before,
			  struct trk_change *ret)
{
	ret->time_phase = ret->memory_phase = (struct trk_change_phase){.runs = 0};
	ret->runs = 1;
	for (int i = 0; i < TRK_CHANGE_FIGURES; i++) {
		ret->figure[i].now = value_of(now, i);
		ret->figure[i].before = value_of(before, i);
		ret->figure[i].share = share_of(ret->figure[i].now, ret->figure[i].before);
		ret->figure[i].noise_share = NAN;
		ret->figure[i].kind = TRK_ANOMALY_TOO_FEW;
		ret->figure[i].drift = 0;
	}
}

/* ---- in which phase ---- */

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

	if (c->figure[figure].kind == TRK_ANOMALY_TOO_FEW)
		return fabs(share) >= NOTABLE_SHARE;
	return c->figure[figure].kind != TRK_ANOMALY_NO || c->figure[figure].drift != 0;
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

/* ---- words ---- */

const char *trk__change_words(const struct trk_change *c, enum trk_change_figure figure)
{
	double drift = c->figure[figure].drift;

	switch (c->figure[figure].kind) {
	case TRK_ANOMALY_HIGH:
		return "higher than usual";
	case TRK_ANOMALY_LOW:
		return "lower than usual";
	case TRK_ANOMALY_NO:
		return drift > 0 ? "rising" : drift < 0 ? "falling" : "as usual";
	default:
		return "";
	}
}

/* The name of a phase, or its number. */
static void phase_name(struct trk_buf *b, const struct trk_change_phase *p)
{
	if (p->name[0])
		trk__utf8_safe(b, p->name, NAME_SHOWN_MAX, true);
	else
		trk__buf_printf(b, "phase %zu", p->number);
}

static void signed_duration(struct trk_buf *b, double seconds)
{
	char text[TRK_HUMAN_SIZE];

	trk__buf_printf(b, " %c%s", seconds < 0 ? '-' : '+',
			trk__human_rough_seconds(text, fabs(seconds)));
}

static void phase_json(struct trk_json *j, const char *key, const struct trk_change_phase *p,
		       const char *before, const char *now)
{
	if (!trk__json_key_object(j, key, p->runs))
		return;
	trk__json_key_or_null(j, "name", p->name);
	trk__json_key_double(j, "number", p->number ? (double) p->number : (double) NAN);
	trk__json_key_double(j, before, p->before);
	trk__json_key_double(j, now, p->now);
	trk__json_key_u64(j, "runs", p->runs);
	trk__json_close(j, '}');
}

void trk__change_phases_json(struct trk_json *j, const struct trk_change *c)
{
	phase_json(j, "phase", &c->time_phase, "before_s", "now_s");
	phase_json(j, "memory_phase", &c->memory_phase, "before_mib", "now_mib");
}

static void usual(struct trk_buf *b, double noise_share)
{
	if (!isnan(noise_share))
		trk__buf_printf(b, " (usual \u00b1%.1f %%)", noise_share * 100);
}

void trk__change_text(struct trk_buf *b, const struct trk_change *c)
{
	double time = c->figure[TRK_CHANGE_DURATION].share;
	double memory = c->figure[TRK_CHANGE_PEAK_MEMORY].share;

	if (c->runs == 0 || isnan(time))
		return;
	if (time >= 1)
		trk__buf_printf(b, "%.1f times the time", time + 1);
	else
		trk__buf_printf(b, "%+.1f %% time", time * 100);
	if (c->runs == 1)
		trk__buf_puts(b, " vs the run before");
	else
		trk__buf_printf(b, " vs median of %zu runs", c->runs);
	usual(b, c->figure[TRK_CHANGE_DURATION].noise_share);
	if (c->figure[TRK_CHANGE_DURATION].kind == TRK_ANOMALY_NO &&
	    c->figure[TRK_CHANGE_DURATION].drift != 0)
		trk__buf_printf(b, ", %s", trk__change_words(c, TRK_CHANGE_DURATION));
	if (c->time_phase.runs) {
		trk__buf_puts(b, ": ");
		phase_name(b, &c->time_phase);
		signed_duration(b, c->time_phase.now - c->time_phase.before);
	}
	if (!(fabs(memory) >= MEMORY_SHARE_MIN))
		return;
	trk__buf_printf(b, ", %+.1f %% memory", memory * 100);
	if (c->memory_phase.runs) {
		trk__buf_puts(b, " in ");
		phase_name(b, &c->memory_phase);
	}
}

void trk__change_json(struct trk_json *j, const struct trk_change *c)
{
	trk__json_open(j, '{');
	trk__json_key_u64(j, "runs", c->runs);
	trk__json_key_open(j, "figures", '{');
	for (int i = 0; i < TRK_CHANGE_FIGURES; i++) {
		const char *words = trk__change_words(c, (enum trk_change_figure) i);

		trk__json_key_open(j, trk__change_names[i].key, '{');
		trk__json_key_double(j, "before", c->figure[i].before);
		trk__json_key_double(j, "now", c->figure[i].now);
		trk__json_key_double(j, "change", c->figure[i].share);
		trk__json_key_double(j, "noise", c->figure[i].noise_share);
		trk__json_key_or_null(j, "words", words);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
	trk__change_phases_json(j, c);
	trk__json_close(j, '}');
}
