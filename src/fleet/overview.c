#include "fleet/overview.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "fleet/statistics.h"
#include "fleet/words.h"

enum { SOON_DAYS = 30, SOON_RUNS = 10, NODE_SHOWN = 3, GPU_RUNS_LEAST = 5 };
static const double GPU_HOURS_LEAST = 50, GPU_UNUSED_SHARE = 0.001, GPU_LOW_SHARE = 0.15,
		    GPU_SMALL_BYTES = 10e9;

const char *const trk__fleet_finding_names[TRK_FLEET_FINDING_KINDS] = {
	"will_fail", "failing", "slower", "faster", "slow_machine", "gpu_unused", "gpu_too_big",
};

/* The inputs and the state of one overview. */
struct making {
	const struct trk_fleet_rows *rows;
	const struct trk_fleet_jobs *jobs;
	const struct trk_fleet_machines *machines;
	struct trk_fleet_overview *o;
	double bound; /* the largest p that is reported */
};

/* ---- sums over jobs ---- */

static void take_jobs(struct making *m)
{
	struct trk_fleet_overview *o = m->o;
	double *cores = calloc(m->jobs->count + 1, sizeof(*cores));
	double *memory = calloc(m->jobs->count + 1, sizeof(*memory));
	size_t n = 0, k = 0;

	for (size_t i = 0; i < m->jobs->count; i++) {
		const struct trk_fleet_job *job = &m->jobs->job[i];

		o->jobs += job->period.runs > 0;
		o->ratings[job->rating]++;
		o->running += job->last->end == TRK_FLEET_RUNNING;
		trk__fleet_sum_merge(&o->before, &job->before);
		if (cores && job->cores / job->asked_cores >= 0)
			cores[n++] = job->cores / job->asked_cores;
		if (memory && job->peak_bytes / job->asked_bytes >= 0)
			memory[k++] = job->peak_bytes / job->asked_bytes;
		if (!(job->saves_usd_month >= TRK_FLEET_SAVES_MIN_USD))
			continue;
		o->changes_all++;
		o->saves_all_usd_month += job->saves_usd_month;
		if (o->changes == TRK_FLEET_CHANGES_SHOWN)
			continue;
		o->saves_usd_month += job->saves_usd_month;
		o->change[o->changes++] = job;
	}
	o->median_cores_share = trk__median(cores, n);
	o->median_memory_share = trk__median(memory, k);
	free(cores);
	free(memory);
}

static int by_spend(const void *a, const void *b)
{
	const struct trk_fleet_group *x = a, *y = b;

	if (x->sum.usd != y->sum.usd)
		return x->sum.usd > y->sum.usd ? -1 : 1;
	return y->sum.runs > x->sum.runs ? 1 : y->sum.runs < x->sum.runs ? -1 : 0;
}

static int group_by(struct making *m, int trait)
{
	struct trk_fleet_group *all = calloc(m->rows->texts.count + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < m->rows->count; i++) {
		const struct trk_fleet_run *run = &m->rows->run[i];

		if (run->past.start_s < m->jobs->since_s || run->end == TRK_FLEET_RUNNING)
			continue;
		all[run->trait[trait]].name = run->trait[trait];
		trk__fleet_sum_add(&all[run->trait[trait]].sum, run);
	}
	for (size_t i = 0; i < m->rows->texts.count; i++)
		if (all[i].sum.runs)
			all[n++] = all[i];
	/* A single unknown group is not listed. */
	if (n > 1 || (n == 1 && all[0].name)) {
		qsort(all, n, sizeof(*all), by_spend);
		m->o->groups[trait] = n < TRK_FLEET_GROUPS_MAX ? n : TRK_FLEET_GROUPS_MAX;
		memcpy(m->o->group[trait], all, m->o->groups[trait] * sizeof(*all));
	}
	free(all);
	return 0;
}

/* ---- one budget for all tests ---- */

static bool may_fail_soon(const struct trk_fleet_job *job)
{
	return job->growth.rising &&
	       (job->growth.days_left < SOON_DAYS || job->growth.runs_left < SOON_RUNS);
}

static int find_bound(struct making *m)
{
	struct trk_fleet_overview *o = m->o;
	size_t most = 2 * m->jobs->count + o->clusters->count + m->machines->machines +
		      o->spend.odd_count;
	double *p = calloc(most + 1, sizeof(*p));
	size_t n = 0;

	if (!p)
		return -ENOMEM;
	o->tests = o->clusters->tested + m->machines->tested + o->spend.tested;
	for (size_t i = 0; i < m->jobs->count; i++) {
		const struct trk_fleet_job *job = &m->jobs->job[i];

		o->tests += (job->growth.known ? 1u : 0u) +
			    (job->recent > TRK_ANOMALY_RUNS_MIN ? 1u : 0u);
		if (may_fail_soon(job))
			p[n++] = job->growth.p;
		if (job->drift.known)
			p[n++] = job->drift.p;
	}
	for (size_t i = 0; i < o->clusters->count; i++)
		p[n++] = o->clusters->cluster[i].p;
	for (size_t i = 0; i < m->machines->machines; i++)
		if (m->machines->machine[i].slow)
			p[n++] = m->machines->machine[i].p;
	for (size_t i = 0; i < o->spend.odd_count; i++)
		p[n++] = o->spend.odd[i].p;
	m->bound = trk__budget(p, n, o->tests, TRK_FLEET_BUDGET);
	free(p);
	return 0;
}

/* ---- findings ---- */

static struct trk_fleet_finding *add(struct making *m, enum trk_fleet_finding_kind kind, double p,
				     const struct trk_fleet_job *job)
{
	struct trk_fleet_finding *f;

	if (p > m->bound || m->o->findings == TRK_FLEET_FINDINGS_MAX)
		return NULL;
	f = &m->o->finding[m->o->findings++];
	f->kind = kind;
	f->p = p;
	f->job = job;
	f->usd_month = NAN;
	if (job)
		(void) snprintf(f->head, sizeof(f->head), "%.95s", job->name->name);
	return f;
}

static void swap(struct trk_fleet_finding *a, struct trk_fleet_finding *b)
{
	struct trk_fleet_finding was = *a;

	*a = *b;
	*b = was;
}

static void tell_growth(struct making *m)
{
	size_t first = m->o->findings;

	for (size_t i = 0; i < m->jobs->count; i++) {
		const struct trk_fleet_job *job = &m->jobs->job[i];
		struct trk_fleet_finding *f;

		if (!may_fail_soon(job))
			continue;
		f = add(m, TRK_FLEET_WILL_FAIL, job->growth.p, job);
		if (!f)
			continue;
		trk__fleet_growth_text(job, f->text);
		/* The nearest first. */
		for (; f > &m->o->finding[first] &&
		       f[-1].job->growth.runs_left > f->job->growth.runs_left;
		     f--)
			swap(f - 1, f);
	}
	m->o->will_fail = m->o->findings - first;
}

static void tell_clusters(struct making *m)
{
	for (size_t i = 0; i < m->o->clusters->count; i++) {
		const struct trk_fleet_cluster *c = &m->o->clusters->cluster[i];
		struct trk_fleet_finding *f = add(m, TRK_FLEET_FAILING, c->p, NULL);

		if (!f)
			continue;
		f->jobs = c->jobs;
		memcpy(f->job_of, c->job, sizeof(f->job_of));
		trk__fleet_cluster_text(m->rows, c, f->head, f->text);
	}
}

/* New levels of the period, the most expensive first. */
static void tell_drifts(struct making *m)
{
	size_t first = m->o->findings;

	for (size_t i = 0; i < m->jobs->count; i++) {
		const struct trk_fleet_job *job = &m->jobs->job[i];
		const struct trk_fleet_drift *d = &job->drift;
		struct trk_fleet_finding *f;

		if (!d->known || d->told_s < m->jobs->since_s)
			continue;
		f = add(m, d->change > 0 ? TRK_FLEET_SLOWER : TRK_FLEET_FASTER, d->p, job);
		if (!f)
			continue;
		f->usd_month = d->usd_month;
		trk__fleet_drift_text(m->rows, job, f->text);
		for (; f > &m->o->finding[first] &&
		       !(fabs(f[-1].usd_month) >= fabs(f->usd_month)) && !isnan(f->usd_month);
		     f--)
			swap(f - 1, f);
	}
}

static void tell_machines(struct making *m)
{
	size_t shown = 0;

	for (size_t i = 0; i < m->machines->machines && shown < NODE_SHOWN; i++) {
		const struct trk_fleet_place *p = &m->machines->machine[i];
		struct trk_fleet_finding *f;
		char by[TRK_FLEET_WORD_SIZE];

		f = p->slow ? add(m, TRK_FLEET_SLOW_MACHINE, p->p, NULL) : NULL;
		if (!f)
			continue;
		shown++;
		(void) snprintf(f->head, sizeof(f->head), "%.95s",
				trk__fleet_text(m->rows, p->name));
		(void) snprintf(f->text, sizeof(f->text),
				"is slower than other machines: %s run time over %zu runs of %zu "
				"jobs.",
				trk__fleet_change(by, p->ratio - 1), p->ratio_runs, p->ratio_jobs);
	}
}

/* GPUs that the job's runs of the period requested: GPU-hours, how many were used, the largest
 * memory. False: too little to report. */
struct gpu_use {
	double hours, used_h, vram_bytes;
	size_t runs;
};

static bool use_of_gpus(const struct making *m, const struct trk_fleet_job *job,
			struct gpu_use *ret)
{
	const struct trk_fleet_run *run = m->rows->run + job->name->first;

	*ret = (struct gpu_use){.runs = 0};
	for (size_t i = 0; i < job->name->count; i++) {
		double hours = run[i].asked_gpus * run[i].past.duration_s / 3600;

		if (run[i].past.start_s < m->jobs->since_s || run[i].end == TRK_FLEET_RUNNING ||
		    !(hours > 0) || isnan(run[i].past.gpu_mean))
			continue;
		ret->runs++;
		ret->hours += hours;
		ret->used_h += run[i].past.gpu_mean * run[i].past.duration_s / 3600;
		/* Unknown for one run means unknown for all. */
		if (isnan(run[i].past.vram.bytes) || run[i].past.vram.bytes > ret->vram_bytes)
			ret->vram_bytes = run[i].past.vram.bytes;
	}
	return ret->runs >= GPU_RUNS_LEAST && ret->hours >= GPU_HOURS_LEAST;
}

static void tell_gpus(struct making *m)
{
	for (size_t i = 0; i < m->jobs->count; i++) {
		const struct trk_fleet_job *job = &m->jobs->job[i];
		struct trk_fleet_finding *f;
		struct gpu_use use;
		bool unused, big;

		if (!use_of_gpus(m, job, &use))
			continue;
		unused = use.used_h < GPU_UNUSED_SHARE * use.hours;
		big = use.used_h < GPU_LOW_SHARE * use.hours && use.vram_bytes < GPU_SMALL_BYTES;
		if (!unused && !big)
			continue;
		f = add(m, unused ? TRK_FLEET_GPU_UNUSED : TRK_FLEET_GPU_TOO_BIG, 0, job);
		if (f)
			trk__fleet_gpu_text(unused, use.hours, use.used_h / use.hours,
					    use.vram_bytes, use.runs, f->text);
	}
}

static void drop_doubtful_days(struct making *m)
{
	struct trk_fleet_days *d = &m->o->spend;
	size_t n = 0;

	for (size_t i = 0; i < d->odd_count; i++)
		if (d->odd[i].p <= m->bound)
			d->odd[n++] = d->odd[i];
	d->odd_count = n;
}

static int make(struct making *m)
{
	struct trk_fleet_overview *o = m->o;
	int r;

	take_jobs(m);
	r = trk__fleet_days_make(m->rows, m->jobs->since_s, o->saves_all_usd_month, &o->spend);
	if (r < 0)
		return r;
	o->clusters = trk__fleet_clusters(m->rows);
	r = o->clusters ? 0 : -ENOMEM;
	/* Not by traits that distinguish runs of one job. */
	for (int i = 0; r == 0 && i <= TRK_FLEET_SERVER; i++)
		r = group_by(m, i);
	if (r == 0)
		r = find_bound(m);
	if (r < 0) {
		trk__fleet_days_release(&o->spend);
		return r;
	}
	tell_growth(m);
	tell_clusters(m);
	tell_drifts(m);
	tell_machines(m);
	tell_gpus(m);
	drop_doubtful_days(m);
	trk__fleet_overview_text(o);
	return 0;
}

int trk__fleet_overview_make(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *jobs,
			     const struct trk_fleet_machines *machines,
			     struct trk_fleet_overview *ret)
{
	struct making m = {.rows = rows, .jobs = jobs, .machines = machines, .o = ret};
	double first_s = rows->now_s;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < rows->jobs; i++)
		if (rows->job[i].count && rows->run[rows->job[i].first].past.start_s < first_s)
			first_s = rows->run[rows->job[i].first].past.start_s;
	ret->since_s = jobs->since_s;
	ret->now_s = rows->now_s;
	ret->first_s = first_s;
	ret->days = (int) trk__whole(trk__round_even((rows->now_s - jobs->since_s) / 86400), 0,
				     INT32_MAX);
	ret->sum = jobs->sum;
	ret->has_before = first_s <= 2 * jobs->since_s - rows->now_s + 86400;
	return make(&m);
}

void trk__fleet_overview_release(struct trk_fleet_overview *o)
{
	trk__fleet_days_release(&o->spend);
}

/* ---- all views ---- */

int trk__fleet_views_make(const struct trk_fleet_rows *rows, double days,
			  const struct trk_fleet_views *of, struct trk_fleet_views *ret)
{
	double since_s = rows->now_s - days * 86400;
	int r = trk__fleet_jobs_make(rows, of ? &of->jobs : NULL, since_s, &ret->jobs);

	if (r < 0)
		return r;
	r = trk__fleet_machines_make(rows, since_s, &ret->machines);
	if (r < 0) {
		trk__fleet_jobs_release(&ret->jobs);
		return r;
	}
	r = trk__fleet_overview_make(rows, &ret->jobs, &ret->machines, &ret->overview);
	if (r < 0) {
		trk__fleet_machines_release(&ret->machines);
		trk__fleet_jobs_release(&ret->jobs);
	}
	return r;
}

void trk__fleet_views_release(struct trk_fleet_views *v)
{
	trk__fleet_overview_release(&v->overview);
	trk__fleet_machines_release(&v->machines);
	trk__fleet_jobs_release(&v->jobs);
}
