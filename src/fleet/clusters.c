#include "fleet/clusters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "fleet/statistics.h"

enum { ELSEWHERE_RUNS_MIN = 5, ELSEWHERE_DAYS = 28 };

static const double holm = 0.001;

/* The runs that are looked at, and which failures have been explained. */
struct window {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_run **run;
	bool *explained;
	size_t count;
	double from_s; /* failures are looked at from here on; runs without may be older */
	/* By value of the trait in question. */
	uint32_t *failed;
	bool *job_has; /* by job */
	size_t values;
	struct trk_fleet_cluster *found;
	size_t found_count, found_cap, tested;
};

static int gather(struct window *w)
{
	const struct trk_fleet_rows *rows = w->rows;
	double from_s = rows->now_s - ELSEWHERE_DAYS * 86400.0;

	w->from_s = rows->now_s - TRK_FLEET_CLUSTER_DAYS * 86400.0;
	w->values = rows->texts > rows->jobs ? rows->texts : rows->jobs;
	w->values = w->values > 24 ? w->values : 24;
	w->run = calloc(rows->count + 1, sizeof(const struct trk_fleet_run *));
	w->explained = calloc(rows->count + 1, sizeof(*w->explained));
	w->failed = calloc(w->values + 1, sizeof(*w->failed));
	w->job_has = calloc(rows->jobs + 1, sizeof(*w->job_has));
	if (!w->run || !w->explained || !w->failed || !w->job_has)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->run[i].start_s >= from_s && rows->run[i].end != TRK_FLEET_RUNNING &&
		    rows->run[i].end != TRK_FLEET_STOPPED)
			w->run[w->count++] = &rows->run[i];
	return 0;
}

/* False: not known of this run. */
static bool value_of(const struct window *w, const struct trk_fleet_run *run, int by, uint32_t *ret)
{
	double hours;

	if (by < TRK_FLEET_TRAITS) {
		*ret = run->trait[by];
		return *ret != 0;
	}
	hours = trk__floor((run->start_s + w->rows->utc_offset_s) / 3600);
	*ret = by == TRK_FLEET_BY_JOB ? run->job : (uint32_t) (hours - 24 * trk__floor(hours / 24));
	return true;
}

/* Whether a run failed so, lately, with the value. */
static bool is_failure_of(const struct window *w, const struct trk_fleet_run *run,
			  const struct trk_fleet_cluster *c, uint32_t *value)
{
	return run->end == (int) c->cause && run->start_s >= w->from_s &&
	       value_of(w, run, c->by, value) && *value == c->value;
}

/* Count the runs with and without the value; `alike`: those without are of the same jobs. */
static void count(const struct window *w, struct trk_fleet_cluster *c, bool alike)
{
	c->failed = c->runs = c->failed_without = c->runs_without = 0;
	for (size_t i = 0; i < w->count; i++) {
		uint32_t value;
		bool failed = w->run[i]->end == (int) c->cause;
		bool recent = w->run[i]->start_s >= w->from_s;

		if (!value_of(w, w->run[i], c->by, &value) ||
		    (!recent && (!alike || value == c->value)))
			continue;
		if (value == c->value) {
			c->runs++;
			c->failed += failed;
		} else if (!alike || w->job_has[w->run[i]->job]) {
			c->runs_without++;
			c->failed_without += failed;
		}
	}
}

static void find_jobs(struct window *w, struct trk_fleet_cluster *c)
{
	memset(w->job_has, 0, w->rows->jobs * sizeof(*w->job_has));
	c->jobs = 0;
	c->since_s = INFINITY;
	for (size_t i = 0; i < w->count; i++) {
		const struct trk_fleet_run *run = w->run[i];
		uint32_t value;

		if (!is_failure_of(w, run, c, &value))
			continue;
		c->since_s = run->start_s < c->since_s ? run->start_s : c->since_s;
		if (w->job_has[run->job])
			continue;
		w->job_has[run->job] = true;
		if (c->jobs < TRK_FLEET_CLUSTER_JOBS_MAX)
			c->job[c->jobs] = run->job;
		c->jobs++;
	}
}

/* What the same jobs had when they did not fail so. */
static void find_instead(const struct window *w, struct trk_fleet_cluster *c)
{
	memset(w->failed, 0, w->values * sizeof(*w->failed));
	for (size_t i = 0; c->by < TRK_FLEET_TRAITS && i < w->count; i++) {
		uint32_t value = w->run[i]->trait[c->by];

		if (!w->job_has[w->run[i]->job] || value == 0 || value == c->value)
			continue;
		if (w->run[i]->end == (int) c->cause)
			w->failed[value] = UINT32_MAX / 2; /* failed with it as well */
		else
			w->failed[value]++;
	}
	for (size_t v = 0; c->by < TRK_FLEET_TRAITS && v < w->values; v++)
		if (w->failed[v] > c->instead_runs && w->failed[v] < UINT32_MAX / 2) {
			c->instead = (uint32_t) v;
			c->instead_runs = w->failed[v];
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
		/* All that one job uses is accused with it: that is the job. */
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
	if (w->found_count == w->found_cap) {
		size_t cap = w->found_cap ? w->found_cap * 2 : 32;
		struct trk_fleet_cluster *more = realloc(w->found, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		w->found = more;
		w->found_cap = cap;
	}
	w->found[w->found_count++] = c;
	return 0;
}

/* Every value with which at least two runs failed so; one failure has nothing in common. */
static int test_values(struct window *w, enum trk_fleet_end cause, int by)
{
	uint32_t *values = calloc(w->values, sizeof(*values)), value;
	size_t n = 0;
	int r = values ? 0 : -ENOMEM;

	memset(w->failed, 0, w->values * sizeof(*w->failed));
	for (size_t i = 0; r == 0 && i < w->count; i++)
		if (w->run[i]->end == (int) cause && w->run[i]->start_s >= w->from_s &&
		    value_of(w, w->run[i], by, &value) && ++w->failed[value] == 2)
			values[n++] = value;
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

/* What explains most beside all runs first; of equals what a person can change sooner. */
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

/* Take it if it explains failures that no surer one does. */
static void take(struct window *w, const struct trk_fleet_cluster *c,
		 struct trk_fleet_clusters *ret)
{
	size_t fresh = 0;
	uint32_t value;

	for (size_t i = 0; i < w->count; i++)
		fresh += !w->explained[i] && is_failure_of(w, w->run[i], c, &value) ? 1u : 0u;
	if (fresh * 2 < c->failed || fresh < 4 || ret->count == TRK_FLEET_CLUSTERS_MAX)
		return;
	for (size_t i = 0; i < w->count; i++)
		if (is_failure_of(w, w->run[i], c, &value))
			w->explained[i] = true;
	ret->cluster[ret->count++] = *c;
}

/* Holm: the surest must be surer than all tests together ask for, the next than all but one. */
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

int trk__fleet_clusters_make(const struct trk_fleet_rows *rows, struct trk_fleet_clusters *ret)
{
	static const enum trk_fleet_end causes[] = {TRK_FLEET_OUT_OF_MEMORY, TRK_FLEET_FAILED,
						    TRK_FLEET_TIME_LIMIT};
	struct trk_fleet_clusters clusters = {.count = 0};
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
	free(w.run);
	free(w.explained);
	free(w.failed);
	free(w.job_has);
	free(w.found);
	if (r == 0)
		*ret = clusters;
	return r;
}
