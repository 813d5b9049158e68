#include "fleet/clusters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/maths.h"
#include "fleet/statistics.h"

enum { ELSEWHERE_RUNS_MIN = 5, ELSEWHERE_DAYS = 28 };

static const double holm = 0.001;

/* The runs of the period, and which failures have been explained. */
struct window {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_run **run; /* by job, as in rows */
	size_t *first;                    /* of a job in run[]; of the next one: its end */
	bool *explained;
	size_t count;
	double from_s; /* failures are looked at from here on; runs without may be older */
	/* For one cause and one trait: by value, the recent runs and the failures of this cause;
	 * their sums. */
	uint32_t *runs_of, *failed_of;
	size_t known, known_failed, failures;
	const struct trk_fleet_run **failure;
	/* Jobs in which runs with the current value failed for this cause. */
	bool *job_has;
	uint32_t *job;
	size_t jobs;
	uint32_t *tally; /* by value */
	size_t values;
	struct trk_fleet_cluster *found;
	size_t found_count, found_cap, tested;
};

static int allocate(struct window *w)
{
	const struct trk_fleet_rows *rows = w->rows;

	w->values = rows->texts.count > rows->jobs ? rows->texts.count : rows->jobs;
	w->values = w->values > 24 ? w->values : 24;
	w->run = calloc(rows->count + 1, sizeof(const struct trk_fleet_run *));
	w->failure = calloc(rows->count + 1, sizeof(const struct trk_fleet_run *));
	w->explained = calloc(rows->count + 1, sizeof(*w->explained));
	w->first = calloc(rows->jobs + 1, sizeof(*w->first));
	w->job_has = calloc(rows->jobs + 1, sizeof(*w->job_has));
	w->job = calloc(rows->jobs + 1, sizeof(*w->job));
	w->runs_of = calloc(w->values + 1, sizeof(*w->runs_of));
	w->failed_of = calloc(w->values + 1, sizeof(*w->failed_of));
	w->tally = calloc(w->values + 1, sizeof(*w->tally));
	return w->run && w->failure && w->explained && w->first && w->job_has && w->job &&
			       w->runs_of && w->failed_of && w->tally
		       ? 0
		       : -ENOMEM;
}

static void release(struct window *w)
{
	free(w->run);
	free(w->failure);
	free(w->explained);
	free(w->first);
	free(w->job_has);
	free(w->job);
	free(w->runs_of);
	free(w->failed_of);
	free(w->tally);
	free(w->found);
}

static int gather(struct window *w)
{
	const struct trk_fleet_rows *rows = w->rows;
	double from_s = rows->now_s - ELSEWHERE_DAYS * 86400.0;
	int r = allocate(w);

	w->from_s = rows->now_s - TRK_FLEET_CLUSTER_DAYS * 86400.0;
	for (size_t job = 0; r == 0 && job < rows->jobs; job++) {
		const struct trk_fleet_run *run = rows->run + rows->job[job].first;

		for (size_t i = 0; i < rows->job[job].count; i++)
			if (run[i].past.start_s >= from_s && run[i].end != TRK_FLEET_RUNNING &&
			    run[i].end != TRK_FLEET_STOPPED)
				w->run[w->count++] = &run[i];
		w->first[job + 1] = w->count;
	}
	return r;
}

/* False: not known of this run. */
static bool value_of(const struct window *w, const struct trk_fleet_run *run, int by, uint32_t *ret)
{
	double hours;

	if (by < TRK_FLEET_TRAITS) {
		*ret = run->trait[by];
		return *ret != 0;
	}
	hours = trk__floor((run->past.start_s + w->rows->utc_offset_s) / 3600);
	*ret = by == TRK_FLEET_BY_JOB
		       ? run->job
		       : (uint32_t) trk__whole(hours - 24 * trk__floor(hours / 24), 0, 23);
	return true;
}

/* Whether a recent run with the value failed for this cause. */
static bool is_failure_of(const struct window *w, const struct trk_fleet_run *run,
			  const struct trk_fleet_cluster *c)
{
	uint32_t value;

	return run->end == (int) c->cause && run->past.start_s >= w->from_s &&
	       value_of(w, run, c->by, &value) && value == c->value;
}

/* Count the runs with and without the value; `alike`: those without are of the same jobs. */
static void count(const struct window *w, struct trk_fleet_cluster *c, bool alike)
{
	c->runs = w->runs_of[c->value];
	c->failed = w->failed_of[c->value];
	c->runs_without = alike ? 0 : w->known - c->runs;
	c->failed_without = alike ? 0 : w->known_failed - c->failed;
	for (size_t k = 0; alike && k < w->jobs; k++)
		for (size_t i = w->first[w->job[k]]; i < w->first[w->job[k] + 1]; i++) {
			uint32_t value;

			if (!value_of(w, w->run[i], c->by, &value) || value == c->value)
				continue;
			c->runs_without++;
			c->failed_without += w->run[i]->end == (int) c->cause;
		}
}

static void find_jobs(struct window *w, struct trk_fleet_cluster *c)
{
	for (size_t k = 0; k < w->jobs; k++)
		w->job_has[w->job[k]] = false;
	w->jobs = 0;
	c->since_s = INFINITY;
	for (size_t i = 0; i < w->failures; i++) {
		const struct trk_fleet_run *run = w->failure[i];
		uint32_t value;

		if (!value_of(w, run, c->by, &value) || value != c->value)
			continue;
		c->since_s = run->past.start_s < c->since_s ? run->past.start_s : c->since_s;
		if (w->job_has[run->job])
			continue;
		w->job_has[run->job] = true;
		if (w->jobs < TRK_FLEET_CLUSTER_JOBS_MAX)
			c->job[w->jobs] = run->job;
		w->job[w->jobs++] = run->job;
	}
	c->jobs = w->jobs;
}

/* Of the values with which the same jobs never failed for this cause, the most frequent one. */
static void find_instead(const struct window *w, struct trk_fleet_cluster *c)
{
	if (c->by >= TRK_FLEET_TRAITS)
		return;
	memset(w->tally, 0, w->values * sizeof(*w->tally));
	for (size_t k = 0; k < w->jobs; k++)
		for (size_t i = w->first[w->job[k]]; i < w->first[w->job[k] + 1]; i++) {
			uint32_t value = w->run[i]->trait[c->by];

			if (value == 0 || value == c->value)
				continue;
			if (w->run[i]->end == (int) c->cause)
				w->tally[value] = UINT32_MAX / 2; /* failed with it as well */
			else
				w->tally[value]++;
		}
	for (size_t v = 0; v < w->values; v++)
		if (w->tally[v] > c->instead_runs && w->tally[v] < UINT32_MAX / 2) {
			c->instead = (uint32_t) v;
			c->instead_runs = w->tally[v];
		}
}

static double p_of(const struct trk_fleet_cluster *c)
{
	return trk__fisher_tail((uint32_t) c->failed, (uint32_t) c->runs,
				(uint32_t) (c->failed + c->failed_without),
				(uint32_t) (c->runs + c->runs_without));
}

static int test(struct window *w, enum trk_fleet_end cause, int by, uint32_t value)
{
	struct trk_fleet_cluster c = {.cause = cause, .by = by, .value = value};
	bool alike = by != TRK_FLEET_BY_JOB;

	find_jobs(w, &c);
	count(w, &c, alike);
	c.p = c.p_all = p_of(&c);
	if (c.runs_without < ELSEWHERE_RUNS_MIN) {
		/* All traits of a single failing job would be listed: list the job instead. */
		if (c.jobs == 1 && by != TRK_FLEET_BY_JOB)
			return 0;
		alike = false;
		count(w, &c, alike);
		c.p = c.p_all = p_of(&c);
	}
	w->tested++;
	if (c.p >= holm || c.failed < 4 || (c.jobs < 2 && c.failed < 5))
		return 0;
	if (alike) {
		struct trk_fleet_cluster all = c;

		count(w, &all, false);
		c.p_all = p_of(&all);
	}
	find_instead(w, &c);
	if (trk__array_reserve(&w->found, &w->found_cap, w->found_count + 1, sizeof(*w->found)) < 0)
		return -ENOMEM;
	w->found[w->found_count++] = c;
	return 0;
}

/* One pass over all recent runs. Lists each value with at least two failures. */
static size_t tally_values(struct window *w, enum trk_fleet_end cause, int by, uint32_t *ret_values)
{
	size_t n = 0;

	memset(w->runs_of, 0, w->values * sizeof(*w->runs_of));
	memset(w->failed_of, 0, w->values * sizeof(*w->failed_of));
	w->known = w->known_failed = w->failures = 0;
	for (size_t i = 0; i < w->count; i++) {
		const struct trk_fleet_run *run = w->run[i];
		uint32_t value;

		if (run->past.start_s < w->from_s || !value_of(w, run, by, &value))
			continue;
		w->runs_of[value]++;
		w->known++;
		if (run->end != (int) cause)
			continue;
		w->failure[w->failures++] = run;
		w->known_failed++;
		if (++w->failed_of[value] == 2)
			ret_values[n++] = value;
	}
	return n;
}

static int test_values(struct window *w, enum trk_fleet_end cause, int by)
{
	uint32_t *values = calloc(w->values, sizeof(*values));
	size_t n = values ? tally_values(w, cause, by, values) : 0;
	int r = values ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = test(w, cause, by, values[i]);
	free(values);
	return r;
}

static int by_p(const void *a, const void *b)
{
	const struct trk_fleet_cluster *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Order by p_all; of equal ones, the trait that is easier to change comes first. */
static int by_reach(const void *a, const void *b)
{
	static const int rank[TRK_FLEET_BYS] = {
		[TRK_FLEET_IMAGE] = 0,  [TRK_FLEET_CODE] = 1,   [TRK_FLEET_MACHINE] = 2,
		[TRK_FLEET_SERVER] = 3, [TRK_FLEET_BY_JOB] = 4, [TRK_FLEET_USER] = 5,
		[TRK_FLEET_TEAM] = 6,   [TRK_FLEET_WHERE] = 7,  [TRK_FLEET_BY_HOUR] = 8,
	};
	const struct trk_fleet_cluster *x = a, *y = b;

	if (x->p_all != y->p_all)
		return x->p_all > y->p_all ? 1 : -1;
	return rank[x->by] - rank[y->by];
}

/* Add it if it explains failures that no cluster with a smaller p does. */
static void take(struct window *w, const struct trk_fleet_cluster *c,
		 struct trk_fleet_clusters *ret)
{
	size_t fresh = 0;

	for (size_t i = 0; i < w->count; i++)
		fresh += !w->explained[i] && is_failure_of(w, w->run[i], c) ? 1u : 0u;
	if (fresh * 2 < c->failed || fresh < 4 || ret->count == TRK_FLEET_CLUSTERS_MAX)
		return;
	for (size_t i = 0; i < w->count; i++)
		if (is_failure_of(w, w->run[i], c))
			w->explained[i] = true;
	ret->cluster[ret->count++] = *c;
}

/* Holm's correction: the smallest p is compared with the bound for all tests, the next for all but
 * one, and so on. */
static void keep_sure(struct window *w)
{
	size_t n = 0;

	if (w->found_count)
		qsort(w->found, w->found_count, sizeof(*w->found), by_p);
	while (n < w->found_count && w->found[n].p * (double) (w->tested - n) < holm)
		n++;
	w->found_count = n;
	if (n)
		qsort(w->found, n, sizeof(*w->found), by_reach);
}

static int make(const struct trk_fleet_rows *rows, struct trk_fleet_clusters *ret)
{
	static const enum trk_fleet_end causes[] = {TRK_FLEET_OUT_OF_MEMORY, TRK_FLEET_FAILED,
						    TRK_FLEET_TIME_LIMIT};
	struct trk_fleet_clusters clusters = {.made = true};
	struct window w = {.rows = rows};
	int r = gather(&w);

	for (size_t i = 0; r == 0 && i < sizeof(causes) / sizeof(causes[0]); i++)
		for (int by = 0; r == 0 && by < TRK_FLEET_BYS; by++)
			r = test_values(&w, causes[i], by);
	if (r == 0)
		keep_sure(&w);
	for (size_t i = 0; r == 0 && i < w.found_count; i++)
		take(&w, &w.found[i], &clusters);
	clusters.tested = w.tested;
	release(&w);
	if (r == 0)
		*ret = clusters;
	return r;
}

const struct trk_fleet_clusters *trk__fleet_clusters(const struct trk_fleet_rows *rows)
{
	static const struct trk_fleet_clusters none;
	struct trk_fleet_clusters *c = rows->clusters;

	if (rows->count == 0)
		return &none;
	return c && (c->made || make(rows, c) == 0) ? c : NULL;
}
