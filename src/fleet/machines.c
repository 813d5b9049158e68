#include "fleet/machines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fleet/statistics.h"

enum { RATIO_RUNS_MIN = 10, RATIO_JOBS_MIN = 3, ELSEWHERE_MIN = 5, JOB_RUNS_MAX = 200 };

static const double slow_from = 1.05;

/* A successful run relative to its job's median elsewhere. */
struct ratio {
	size_t place;
	uint32_t job;
	double value;
};

struct making {
	const struct trk_fleet_rows *rows;
	double since_s;
	bool by_machine;
	struct trk_fleet_place *place;
	size_t count, cap;
	struct ratio *ratio;
	size_t ratios;
	size_t unknown;
};

static bool is_same(const struct trk_fleet_place *p, uint32_t name, const struct trk_fleet_run *run)
{
	if (name || p->name)
		return p->name == name;
	return p->cores == run->asked_cores && p->bytes == run->asked_bytes;
}

/* The place of a run; SIZE_MAX: not known, or no memory. A size is a server's only where nothing
 * was requested or limited. */
static size_t place_of(struct making *m, const struct trk_fleet_run *run)
{
	uint32_t name = run->trait[m->by_machine ? TRK_FLEET_MACHINE : TRK_FLEET_SERVER];

	if (!name && (m->by_machine || run->stated_cores || run->stated_memory ||
		      isnan(run->asked_cores) || isnan(run->asked_bytes)))
		return SIZE_MAX;
	for (size_t i = 0; i < m->count; i++)
		if (is_same(&m->place[i], name, run))
			return i;
	if (trk__array_reserve(&m->place, &m->cap, m->count + 1, sizeof(*m->place)) < 0)
		return SIZE_MAX;
	m->place[m->count] = (struct trk_fleet_place){
		.name = name,
		.cores = run->asked_cores,
		.bytes = run->asked_bytes,
		.usd_hour = NAN,
		.ratio = NAN,
		.p = 1,
	};
	return m->count++;
}

/* The median run time of the job's good runs elsewhere than at `place`; NaN: too few. */
static double elsewhere(const struct trk_fleet_run *run, const size_t *at, size_t n, size_t place)
{
	double v[JOB_RUNS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i] != place && at[i] != SIZE_MAX && run[i].end == TRK_FLEET_OK &&
		    run[i].past.duration_s > 0)
			v[count++] = run[i].past.duration_s;
	return count >= ELSEWHERE_MIN ? trk__median(v, count) : (double) NAN;
}

/* The same, computed once for each place of the job. */
struct known {
	size_t place[JOB_RUNS_MAX];
	double usual[JOB_RUNS_MAX];
	size_t count;
};

static double recall(struct known *k, const struct trk_fleet_run *run, const size_t *at, size_t n,
		     size_t place)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->place[i] == place)
			return k->usual[i];
	k->place[k->count] = place;
	k->usual[k->count] = elsewhere(run, at, n, place);
	return k->usual[k->count++];
}

static void compare_job(struct making *m, const struct trk_fleet_run *run, const size_t *at,
			size_t n)
{
	struct known k = {.count = 0};
	bool one = true;

	for (size_t i = 1; i < n; i++)
		one = one && at[i] == at[0];
	for (size_t i = 0; !one && i < n; i++) {
		double usual;

		if (at[i] == SIZE_MAX || run[i].end != TRK_FLEET_OK ||
		    !(run[i].past.duration_s > 0))
			continue;
		usual = recall(&k, run, at, n, at[i]);
		if (!isnan(usual))
			m->ratio[m->ratios++] =
				(struct ratio){at[i], run[i].job, run[i].past.duration_s / usual};
	}
}

static void take_job(struct making *m, const struct trk_fleet_name *job)
{
	size_t at[JOB_RUNS_MAX], n = 0, first = job->first + job->count;

	while (first > job->first && n < JOB_RUNS_MAX &&
	       m->rows->run[first - 1].past.start_s >= m->since_s) {
		first--;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		at[i] = place_of(m, &m->rows->run[first + i]);
	for (size_t i = 0; i < n; i++) {
		const struct trk_fleet_run *run = &m->rows->run[first + i];

		if (run->end == TRK_FLEET_RUNNING)
			continue;
		if (at[i] == SIZE_MAX) {
			m->unknown++;
			continue;
		}
		trk__fleet_sum_add(&m->place[at[i]].sum, run);
	}
	for (size_t i = 0; i < n; i++) {
		bool seen = at[i] == SIZE_MAX;

		for (size_t k = 0; k < i && !seen; k++)
			seen = at[k] == at[i];
		if (!seen)
			m->place[at[i]].jobs++;
	}
	compare_job(m, m->rows->run + first, at, n);
}

/* ---- what the ratios say ---- */

static int by_place(const void *a, const void *b)
{
	const struct ratio *x = a, *y = b;

	if (x->place != y->place)
		return x->place > y->place ? 1 : -1;
	return (x->job > y->job) - (x->job < y->job);
}

static void judge(struct trk_fleet_place *p, const struct ratio *ratio, size_t n, double *v)
{
	uint32_t above = 0, below = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = ratio[i].value;
		above += v[i] > 1;
		below += v[i] < 1;
		p->ratio_jobs += i == 0 || ratio[i].job != ratio[i - 1].job;
	}
	p->ratio_runs = n;
	if (n < RATIO_RUNS_MIN || p->ratio_jobs < RATIO_JOBS_MIN)
		return;
	p->ratio = trk__median(v, n);
	p->p = trk__sign_tail(p->ratio > 1 ? above : below, above + below);
	p->slow = p->ratio >= slow_from && p->p < 0.01;
}

static int judge_all(struct making *m)
{
	double *v = calloc(m->ratios + 1, sizeof(*v));
	size_t end;

	if (!v)
		return -ENOMEM;
	if (m->ratios)
		qsort(m->ratio, m->ratios, sizeof(*m->ratio), by_place);
	for (size_t i = 0; i < m->ratios; i = end) {
		for (end = i; end < m->ratios && m->ratio[end].place == m->ratio[i].place;)
			end++;
		judge(&m->place[m->ratio[i].place], m->ratio + i, end - i, v);
	}
	for (size_t i = 0; i < m->count; i++) {
		struct trk_fleet_sum *sum = &m->place[i].sum;

		if (sum->usd > 0 && sum->run_s > 0)
			m->place[i].usd_hour = sum->usd / (sum->run_s / 3600);
	}
	free(v);
	return 0;
}

static int by_spend(const void *a, const void *b)
{
	const struct trk_fleet_place *x = a, *y = b;

	if (x->sum.usd != y->sum.usd)
		return x->sum.usd > y->sum.usd ? -1 : 1;
	if (x->sum.run_s != y->sum.run_s)
		return x->sum.run_s > y->sum.run_s ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int by_slowness(const void *a, const void *b)
{
	const struct trk_fleet_place *x = a, *y = b;

	if (x->slow != y->slow)
		return x->slow ? -1 : 1;
	if (x->sum.runs != y->sum.runs)
		return x->sum.runs > y->sum.runs ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int make(const struct trk_fleet_rows *rows, double since_s, bool by_machine,
		struct making *ret)
{
	struct making m = {.rows = rows, .since_s = since_s, .by_machine = by_machine};
	int r = -ENOMEM;

	m.ratio = calloc(rows->count + 1, sizeof(*m.ratio));
	for (size_t i = 0; m.ratio && i < rows->jobs; i++)
		take_job(&m, &rows->job[i]);
	if (m.ratio)
		r = judge_all(&m);
	free(m.ratio);
	m.ratio = NULL;
	if (r < 0)
		free(m.place);
	else if (m.count)
		qsort(m.place, m.count, sizeof(*m.place), by_machine ? by_slowness : by_spend);
	if (r == 0)
		*ret = m;
	return r;
}

int trk__fleet_machines_make(const struct trk_fleet_rows *rows, double since_s,
			     struct trk_fleet_machines *ret)
{
	struct making servers = {.count = 0}, machines = {.count = 0};
	struct trk_fleet_machines made = {.since_s = since_s};
	int r = make(rows, since_s, false, &servers);

	if (r < 0)
		return r;
	r = make(rows, since_s, true, &machines);
	if (r < 0) {
		free(servers.place);
		return r;
	}
	made.server = servers.place;
	made.servers = servers.count;
	made.unknown = servers.unknown;
	made.machine = machines.place;
	made.machines = machines.count;
	for (size_t i = 0; i < made.machines; i++)
		made.tested += isnan(made.machine[i].ratio) ? 0 : 1;
	*ret = made;
	return 0;
}

void trk__fleet_machines_release(struct trk_fleet_machines *machines)
{
	free(machines->server);
	free(machines->machine);
	*machines = (struct trk_fleet_machines){.servers = 0};
}
