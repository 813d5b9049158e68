/* The simulator: every run gets the memory that the rule derives from the runs before it. An
 * attempt with too little memory is paid in full, or until the second at which memory first
 * exceeded it. */
#include "replay.h"

/* Share of the run (0 to 1) at which memory first exceeds `request`. */
static double share_until(const struct past *p, double request)
{
	double last = 0, end = 0, first = NAN;
	char *next;

	for (const char *at = p->curve; at && *at; at = *next ? next + 1 : next) {
		double dt = strtod(at, &next), value;

		if (*next != ':')
			break;
		value = strtod(next + 1, &next);
		end = dt;
		if (isnan(first) && value > request)
			first = dt;
	}
	last = end > 0 ? end : 1;
	return isnan(first) ? 1 : first / last;
}

void score_step(struct score *sum, const struct step *s, const struct rule *rule, size_t first,
		size_t last, bool to_failure)
{
	for (size_t i = first > 1 ? first : 1; i < s->count && i <= last; i++) {
		const struct past *p = &s->past[i];
		double request;

		if (rule->needs_user && isnan(p->user))
			continue;
		request = rule->request(s, i);
		sum->runs++;
		sum->used += p->y * p->t;
		for (int attempt = 0; request < p->y && attempt < 60; attempt++) {
			double share = to_failure && p->curve ? share_until(p, request) : 1;

			sum->fails++;
			sum->failed_runs += attempt == 0;
			sum->lost += p->y * p->t;
			sum->paid += request * p->t * share;
			request = rule->retry ? rule->retry(s, i, request) : 2 * request;
		}
		sum->paid += request * p->t;
	}
}

struct score score_family(const struct family *f, const struct rule *rule, size_t first,
			  size_t last, bool to_failure)
{
	struct score sum = {0};

	for (size_t i = 0; i < f->count; i++)
		score_step(&sum, &f->step[i], rule, first, last, to_failure);
	return sum;
}

/* --- ours ------------------------------------------------------------------------------------ */

struct ours ours;

void ours_reset(void)
{
	ours = (struct ours){.tuning = trk__memory_tuning,
			     .risk = TRK_RISK_DEFAULT,
			     .input = true,
			     .rows_max = 200};
}

static size_t past_of(const struct step *s, size_t at, struct trk_past_run *runs,
		      struct trk_memory_options *options)
{
	size_t first = at > TRK_MEMORY_RUNS_MAX ? at - TRK_MEMORY_RUNS_MAX : 0;

	for (size_t i = first; i < at; i++)
		runs[i - first] =
			past_run_of(s->past[i].y * MIB, s->past[i].t,
				    ours.input ? s->past[i].x * MIB : NAN, NAN, TRK_PAST_SUCCEEDED);
	*options =
		(struct trk_memory_options){.risk = ours.risk,
					    .input_bytes = ours.input ? s->past[at].x * MIB : NAN,
					    .machine_bytes = NAN,
					    .tuning = &ours.tuning};
	return at - first;
}

double ours_request(const struct step *s, size_t at)
{
	struct trk_past_run runs[TRK_MEMORY_RUNS_MAX];
	struct trk_memory_options options;
	struct trk_memory_advice advice;
	size_t n = past_of(s, at, runs, &options);

	if (trk__memory_advise(runs, n, &options, &advice) < 0)
		exit(3);
	return advice.request_bytes / MIB;
}

double ours_retry(const struct step *s, size_t at, double failed)
{
	struct trk_past_run runs[TRK_MEMORY_RUNS_MAX];
	struct trk_memory_options options;
	size_t n = past_of(s, at, runs, &options);
	double rung;

	if (trk__memory_next_rung(runs, n, &options, failed * MIB, &rung) < 0)
		exit(3);
	return rung / MIB;
}
