#include "report/change.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/utf8.h"

/* If the run time has changed, a change of memory by a smaller share is not reported. */
#define MEMORY_SHARE_MIN 0.05

enum { NAME_SHOWN_MAX = 16 };

const struct trk_change_name trk__change_names[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, floor) [TRK_CHANGE_##id] = {key, title, words},
	TRK_CHANGE_LIST(X)
#undef X
};

static double value_of(const struct trk_history_run *run, int figure)
{
	static const size_t offsets[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, floor)                                                    \
	[TRK_CHANGE_##id] = offsetof(struct trk_history_run, member),
		TRK_CHANGE_LIST(X)
#undef X
	};
	double value;

	memcpy(&value, (const char *) run + offsets[figure], sizeof(value));
	return value;
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
static bool counts(const struct trk_history_run *run, const struct trk_history_run *now)
{
	return run->start_s < now->start_s && run->code <= 0 && strcmp(run->id, now->id) != 0;
}

void trk__change_from_history(const struct trk_history_run *now, const struct trk_history_run *runs,
			      size_t count, struct trk_change *ret)
{
	static const double floors[TRK_CHANGE_FIGURES] = {
#define X(id, key, title, words, member, floor) [TRK_CHANGE_##id] = (floor),
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
			.verdict = TRK_ANOMALY_TOO_FEW, .noise_share = NAN, .median = NAN};

		for (size_t k = first, at = 0; k < count; k++)
			if (counts(&runs[k], now))
				earlier[at++] = value_of(&runs[k], i);
		ret->figure[i].now = value_of(now, i);
		(void) trk__anomaly_judge(earlier, n, ret->figure[i].now, floors[i], &odd);
		ret->figure[i].before = is_all_zero(earlier, n) ? 0 : odd.median;
		ret->figure[i].share = share_of(ret->figure[i].now, ret->figure[i].before);
		ret->figure[i].noise_share = odd.noise_share;
		ret->figure[i].verdict = odd.verdict;
		earlier[n] = ret->figure[i].now;
		ret->figure[i].drift = 0;
		(void) trk__anomaly_drift(earlier, n + 1, floors[i], &ret->figure[i].drift);
	}
}

void trk__change_from_run(const struct trk_history_run *now, const struct trk_history_run *before,
			  struct trk_change *ret)
{
	ret->time_phase = ret->memory_phase = (struct trk_change_phase){.runs = 0};
	ret->runs = 1;
	for (int i = 0; i < TRK_CHANGE_FIGURES; i++) {
		ret->figure[i].now = value_of(now, i);
		ret->figure[i].before = value_of(before, i);
		ret->figure[i].share = share_of(ret->figure[i].now, ret->figure[i].before);
		ret->figure[i].noise_share = NAN;
		ret->figure[i].verdict = TRK_ANOMALY_TOO_FEW;
		ret->figure[i].drift = 0;
	}
}

const char *trk__change_words(const struct trk_change *c, enum trk_change_figure figure)
{
	double drift = c->figure[figure].drift;

	switch (c->figure[figure].verdict) {
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

void trk__change_phase_name(struct trk_buf *b, const struct trk_change_phase *p, size_t max,
			    bool utf8)
{
	if (p->name[0])
		trk__utf8_safe(b, p->name, max, utf8);
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
	trk__json_key(j, "number");
	if (p->number)
		trk__json_u64(j, p->number);
	else
		trk__json_null(j);
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
	if (c->figure[TRK_CHANGE_DURATION].verdict == TRK_ANOMALY_NO &&
	    c->figure[TRK_CHANGE_DURATION].drift != 0)
		trk__buf_printf(b, ", %s", trk__change_words(c, TRK_CHANGE_DURATION));
	if (c->time_phase.runs) {
		trk__buf_puts(b, ": ");
		trk__change_phase_name(b, &c->time_phase, NAME_SHOWN_MAX, true);
		signed_duration(b, c->time_phase.now - c->time_phase.before);
	}
	if (!(fabs(memory) >= MEMORY_SHARE_MIN))
		return;
	trk__buf_printf(b, ", %+.1f %% memory", memory * 100);
	if (c->memory_phase.runs) {
		trk__buf_puts(b, " in ");
		trk__change_phase_name(b, &c->memory_phase, NAME_SHOWN_MAX, true);
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
