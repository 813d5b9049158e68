#include "fleet/changed.h"

#include <math.h>
#include <stdio.h>

#include "fleet/words.h"

enum { RUNS_LEAST = 3, BEFORE_RUNS = 20 };

static bool is_equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool has_request_of(const struct trk_fleet_run *a, const struct trk_fleet_run *b)
{
	return is_equal(a->asked_cores, b->asked_cores) && is_equal(a->asked_mib, b->asked_mib);
}

/* The mean cost of the good runs in first .. last, of which at most `most` count, newest first. */
static double mean_usd(const struct trk_fleet_run *run, size_t first, size_t last, size_t most,
		       size_t *ret_runs)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = last; i > first && n < most; i--) {
		if (run[i - 1].end != TRK_FLEET_OK || !(run[i - 1].usd >= 0))
			continue;
		sum += run[i - 1].usd;
		n++;
	}
	*ret_runs = n;
	return sum / (double) n;
}

bool trk__fleet_changed(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			double since_s, struct trk_fleet_changed *ret)
{
	const struct trk_fleet_run *run = rows->run + job->name->first;
	size_t count = job->name->count, at = count, first;

	while (at > 1 && has_request_of(&run[at - 1], &run[count - 1]))
		at--;
	if (at == 0 || at == count || has_request_of(&run[at - 1], &run[count - 1]) ||
	    run[at].start_s < since_s)
		return false;
	for (first = at; first > 0 && has_request_of(&run[first - 1], &run[at - 1]);)
		first--;
	*ret = (struct trk_fleet_changed){
		.from_s = run[at].start_s, .before = &run[at - 1], .since = &run[at]};
	ret->usd_before = mean_usd(run, first, at, BEFORE_RUNS, &ret->runs_before);
	ret->usd_since = mean_usd(run, at, count, count, &ret->runs_since);
	ret->saves_usd_month =
		(ret->usd_before - ret->usd_since) * job->runs_a_day * TRK_FLEET_MONTH_DAYS;
	return ret->runs_before >= RUNS_LEAST && ret->runs_since >= RUNS_LEAST;
}

void trk__fleet_changed_text(const struct trk_fleet_rows *rows, const struct trk_fleet_changed *c,
			     char text[TRK_FLEET_TEXT_SIZE])
{
	char word[8][TRK_FLEET_WORD_SIZE];
	double saves = c->saves_usd_month;

	(void) snprintf(
		text, TRK_FLEET_TEXT_SIZE,
		"from %s cores, %s to %s cores, %s on %s: %s -> %s a run (%zu runs before, %zu "
		"since), %s a month %s.",
		trk__fleet_cores(word[0], c->before->asked_cores),
		trk__fleet_memory(word[1], c->before->asked_mib),
		trk__fleet_cores(word[2], c->since->asked_cores),
		trk__fleet_memory(word[3], c->since->asked_mib),
		trk__fleet_date(word[4], trk__fleet_day(rows, c->from_s)),
		trk__fleet_usd(word[5], c->usd_before), trk__fleet_usd(word[6], c->usd_since),
		c->runs_before, c->runs_since, trk__fleet_usd(word[7], fabs(saves)),
		saves >= 0 ? "less" : "more");
}
