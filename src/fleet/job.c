#include "fleet/job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/cpu.h"
#include "base/bytes.h"
#include "base/maths.h"
#include "fleet/alike.h"
#include "fleet/job_private.h"
#include "fleet/statistics.h"

static const double day_s = 86400;

const char *const trk__fleet_rating_names[TRK_FLEET_RATINGS] = {
	"not enough data",   "right-sized",    "over-provisioned",
	"under-provisioned", "will fail soon", "nothing requested",
};

/* ---- sums ---- */

static void add_known(double *sum, double value)
{
	if (!isnan(value))
		*sum += value;
}

void trk__fleet_sum_add(struct trk_fleet_sum *sum, const struct trk_fleet_run *run)
{
	double held = trk__past_run_held(&run->past);

	sum->runs++;
	sum->failed += trk__fleet_is_failure((enum trk_fleet_end) run->end);
	sum->out_of_memory += run->end == TRK_FLEET_OUT_OF_MEMORY;
	sum->estimated += run->estimated && !isnan(run->usd);
	sum->priced += !run->estimated && !isnan(run->usd);
	sum->unpriced += isnan(run->usd) ? 1 : 0;
	add_known(&sum->usd, run->usd);
	add_known(&sum->idle_cores_usd, run->idle_cores_usd);
	add_known(&sum->idle_memory_usd, run->idle_memory_usd);
	add_known(&sum->failed_usd, run->failed_usd);
	add_known(&sum->run_s, run->past.duration_s);
	if (run->cores * run->asked_cores * run->past.duration_s >= 0) {
		sum->used_core_s += run->cores * run->past.duration_s;
		sum->asked_core_s += run->asked_cores * run->past.duration_s;
	}
	if (held * run->asked_bytes * run->past.duration_s >= 0) {
		sum->used_byte_s += held * run->past.duration_s;
		sum->asked_byte_s += run->asked_bytes * run->past.duration_s;
	}
}

void trk__fleet_sum_merge(struct trk_fleet_sum *sum, const struct trk_fleet_sum *more)
{
	sum->runs += more->runs;
	sum->failed += more->failed;
	sum->out_of_memory += more->out_of_memory;
	sum->priced += more->priced;
	sum->estimated += more->estimated;
	sum->unpriced += more->unpriced;
	sum->usd += more->usd;
	sum->idle_cores_usd += more->idle_cores_usd;
	sum->idle_memory_usd += more->idle_memory_usd;
	sum->failed_usd += more->failed_usd;
	sum->used_core_s += more->used_core_s;
	sum->asked_core_s += more->asked_core_s;
	sum->used_byte_s += more->used_byte_s;
	sum->asked_byte_s += more->asked_byte_s;
	sum->run_s += more->run_s;
}

double trk__fleet_waste_usd(const struct trk_fleet_sum *sum)
{
	return sum->idle_cores_usd + sum->idle_memory_usd + sum->failed_usd;
}

double trk__fleet_cores_share(const struct trk_fleet_sum *sum)
{
	return sum->asked_core_s > 0 ? sum->used_core_s / sum->asked_core_s : (double) NAN;
}

double trk__fleet_memory_share(const struct trk_fleet_sum *sum)
{
	return sum->asked_byte_s > 0 ? sum->used_byte_s / sum->asked_byte_s : (double) NAN;
}

static void sum_up(struct trk_fleet_work *w, double since_s)
{
	struct trk_fleet_job *job = w->job;
	double now_s = w->rows->now_s, before_s = 2 * since_s - now_s;
	double month_s = now_s - TRK_FLEET_MONTH_DAYS * day_s;
	double first_s = w->run[0].past.start_s > month_s ? w->run[0].past.start_s : month_s;

	for (size_t i = job->name->count; i-- > 0;) {
		const struct trk_fleet_run *run = &w->run[i];

		if (run->past.start_s < before_s && run->past.start_s < month_s)
			break;
		if (run->end == TRK_FLEET_RUNNING)
			continue;
		if (run->past.start_s >= since_s)
			trk__fleet_sum_add(&job->period, run);
		else if (run->past.start_s >= before_s)
			trk__fleet_sum_add(&job->before, run);
		if (run->past.start_s >= month_s)
			trk__fleet_sum_add(&job->month, run);
	}
	first_s = now_s - first_s > day_s ? now_s - first_s : day_s;
	job->runs_a_day = (double) job->month.runs / (first_s / day_s);
}

/* ---- usual figures ---- */

static size_t gather(const struct trk_fleet_work *w, size_t offset, double *ret)
{
	size_t n = 0;

	for (size_t i = w->good_count; i-- > 0 && w->good_count - i <= TRK_FLEET_RECENT_RUNS;) {
		double value;

		memcpy(&value, (const char *) w->good[i] + offset, sizeof(value));
		if (!isnan(value))
			ret[n++] = value;
	}
	return n;
}

static double noise_of(double *v, size_t n, double middle)
{
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] / middle - 1);
	return TRK_MAD_TO_SD * trk__median(v, n);
}

static void find_usual(struct trk_fleet_work *w)
{
	struct trk_fleet_job *job = w->job;
	double v[TRK_FLEET_RECENT_RUNS];
	size_t n = gather(w, offsetof(struct trk_fleet_run, past.duration_s), v);

	job->recent = w->good_count < TRK_FLEET_RECENT_RUNS ? w->good_count : TRK_FLEET_RECENT_RUNS;
	job->duration_s = trk__median(v, n);
	job->noise_share = n >= TRK_ANOMALY_RUNS_MIN ? noise_of(v, n, job->duration_s) : NAN;
	n = gather(w, offsetof(struct trk_fleet_run, cores), v);
	job->cores = trk__median(v, n);
	job->cores_p95 = trk__quantile(v, n, 0.95);
	n = gather(w, offsetof(struct trk_fleet_run, past.memory.bytes), v);
	job->peak_p95_bytes = trk__quantile(v, n, 0.95);
	job->peak_bytes = trk__quantile(v, n, 1);
	n = gather(w, offsetof(struct trk_fleet_run, usd), v);
	job->usd = trk__median(v, n);
	job->asked_cores = job->last->asked_cores;
	job->asked_bytes = job->last->asked_bytes;
	job->stated_cores = job->last->stated_cores;
	job->stated_memory = job->last->stated_memory;
}

static void count_failing(struct trk_fleet_work *w)
{
	size_t last = w->job->name->count, n = 0;

	while (last > 0 && w->run[last - 1].end == TRK_FLEET_RUNNING)
		last--;
	while (n < last && trk__fleet_is_failure((enum trk_fleet_end) w->run[last - 1 - n].end) &&
	       w->run[last - 1 - n].end == w->run[last - 1].end)
		n++;
	w->job->failing_in_row = n;
}

/* ---- advice ---- */

static void advise_memory(struct trk_fleet_work *w)
{
	struct trk_memory_options options = {.input_bytes = NAN, .machine_bytes = NAN};
	struct trk_alike alike;

	for (size_t i = 0; i < w->count; i++)
		w->past[i] = w->newest[i].past;
	w->job->has_memory =
		trk__advice_memory(w->past, w->count, NULL, &options, &alike, &w->job->memory) == 0;
}

/* Of all courses with this mean and maximum, fewer cores delay most the one that is either idle or
 * at the maximum. */
static void advise_cores(struct trk_fleet_work *w)
{
	struct trk_fleet_job *job = w->job;
	struct trk_cpu_options o = {.cores_now = job->asked_cores,
				    .memory_bytes = job->ask_bytes,
				    .slowdown_max = NAN,
				    .stated_cores = job->asked_cores};
	struct trk_cpu_advice a;

	job->ask_cores = job->asked_cores;
	job->longer_share = 0;
	memset(w->busy, 0, sizeof(*w->busy));
	for (size_t i = w->good_count; i-- > 0 && w->good_count - i <= TRK_FLEET_RECENT_RUNS;) {
		const struct trk_fleet_run *run = w->good[i];
		/* Of totals, only the mean is known. */
		double known = run->past.samples > 1 ? run->past.cpu_max : job->asked_cores;
		double most = known > run->cores ? known : run->cores;

		if (!(run->cores > 0) || !(run->past.duration_s > 0))
			continue;
		trk__busy_add(w->busy, most, run->past.duration_s * run->cores / most);
		trk__busy_add(w->busy, 0, run->past.duration_s * (1 - run->cores / most));
	}
	if (!(job->asked_cores > 0) || trk__cpu_advise(w->busy, &o, &a) < 0 ||
	    a.cores >= job->asked_cores)
		return;
	job->ask_cores = a.cores;
	job->longer_share = a.run_time_s / a.run_time_now_s - 1;
}

/* Whole GiB from 16 GiB on, else eighths. */
static double round_up(double bytes)
{
	double step = bytes > 16 * TRK_GIB ? TRK_GIB : TRK_GIB / 8;

	return trk__ceil(bytes / step) * step;
}

static void ask_for_memory(struct trk_fleet_job *job)
{
	const struct trk_fleet_growth *g = &job->growth;
	double grown;

	job->ask_bytes = job->has_memory ? round_up(job->memory.request_bytes) : NAN;
	if (!g->rising)
		return;
	/* A growing job needs room for a month of growth. */
	grown = round_up(g->now_bytes * trk__exp(g->a_day * TRK_FLEET_MONTH_DAYS) * 1.1);
	if (grown > job->ask_bytes)
		job->ask_bytes = grown;
}

static double price_of(double cores, double bytes)
{
	return TRK_PRICE_CORE_HOUR * (cores > 0 ? cores : 0) +
	       TRK_PRICE_GIB_HOUR * (bytes > 0 ? bytes / TRK_GIB : 0);
}

static void find_savings(struct trk_fleet_work *w)
{
	struct trk_fleet_job *job = w->job;
	double month_s = w->rows->now_s - TRK_FLEET_MONTH_DAYS * day_s, saved = 0;
	double now = price_of(job->asked_cores, job->asked_bytes);
	double share = now > 0 ? price_of(job->ask_cores, job->ask_bytes) / now : (double) NAN;

	share *= 1 + job->longer_share;
	job->ask_usd = job->usd * share;
	job->saves_usd_month = job->month.priced + job->month.estimated ? 0 : NAN;
	if (job->rating != TRK_FLEET_OVER || isnan(share))
		return;
	/* Only runs with the request of the newest run. */
	for (size_t i = w->good_count; i-- > 0 && w->good[i]->past.start_s >= month_s;)
		if (w->good[i]->usd > 0 && w->good[i]->asked_cores >= job->asked_cores &&
		    w->good[i]->asked_bytes >= job->asked_bytes)
			saved += w->good[i]->usd * (1 - share);
	if (saved > 0)
		job->saves_usd_month = saved;
}

/* ---- rating ---- */

static struct trk_capacity had(double value, bool stated)
{
	return (struct trk_capacity){value, stated ? TRK_CAPACITY_REQUESTED : TRK_CAPACITY_MACHINE,
				     ""};
}

static enum trk_fleet_rating judge(const struct trk_fleet_work *w)
{
	static const enum trk_fleet_rating ratings[] = {
		[TRK_SIZING_NOT_ENOUGH_DATA] = TRK_FLEET_FEW, [TRK_SIZING_RIGHT] = TRK_FLEET_RIGHT,
		[TRK_SIZING_OVER] = TRK_FLEET_OVER,           [TRK_SIZING_UNDER] = TRK_FLEET_UNDER,
		[TRK_SIZING_UNSTATED] = TRK_FLEET_UNSTATED,
	};
	const struct trk_fleet_job *job = w->job;
	/* A run whose whole server was paid for has the server's size as its request. */
	bool paid = job->month.priced && !job->stated_memory && !job->stated_cores;
	struct trk_past_run usual = job->last->past;
	const struct trk_sizing_facts facts = {.throttled_s = NAN,
					       .memory_stall_s = NAN,
					       .saturated_share = NAN,
					       .cpu_next_cores = job->ask_cores};
	bool out_of_memory = job->last->end == TRK_FLEET_OUT_OF_MEMORY;
	struct trk_sizing_verdict v;

	if (job->recent < 3 && !out_of_memory)
		return TRK_FLEET_FEW;
	usual.duration_s = job->duration_s;
	usual.samples = TRK_SIZING_SAMPLES_MIN;
	usual.needed_bytes = job->peak_bytes + trk__past_run_held(&usual) - usual.memory.bytes;
	usual.memory.bytes = job->peak_bytes;
	usual.cpu_mean = job->cores;
	usual.code = 0;
	usual.end = out_of_memory ? TRK_PAST_OUT_OF_MEMORY : TRK_PAST_SUCCEEDED;
	usual.capacity[TRK_RESOURCE_CPU] = had(job->asked_cores, job->stated_cores || paid);
	usual.capacity[TRK_RESOURCE_MEMORY_MIB] =
		had(job->asked_bytes / TRK_MIB, job->stated_memory || paid);
	trk__sizing_judge(&usual, &facts, &v);
	if (job->growth.rising && job->growth.days_left < 30 && !out_of_memory)
		return TRK_FLEET_SOON;
	return ratings[v.sizing];
}

/* A request that fits is kept; only a job that needs more gets a larger one. */
static void limit_ask(struct trk_fleet_job *job)
{
	bool needs_more = job->rating == TRK_FLEET_UNDER || job->rating == TRK_FLEET_SOON;

	if (!needs_more && job->ask_bytes > job->asked_bytes)
		job->ask_bytes = job->asked_bytes;
	if (job->rating == TRK_FLEET_RIGHT) {
		job->ask_cores = job->asked_cores;
		job->ask_bytes = job->asked_bytes;
	}
}

/* ---- all of it ---- */

static void advise(struct trk_fleet_work *w)
{
	advise_memory(w);
	trk__fleet_find_growth(w);
	ask_for_memory(w->job);
	advise_cores(w);
	w->job->rating = judge(w);
	limit_ask(w->job);
	find_savings(w);
}

/* So near to each of the runs before it that it is near their median and need not be judged. */
static bool is_ordinary(const struct trk_fleet_work *w, size_t at)
{
	static const double near = 1 + 0.9 * TRK_ANOMALY_LIMIT * TRK_ANOMALY_FLOOR_TIME;
	double least = w->good[at]->past.duration_s / near,
	       most = w->good[at]->past.duration_s * near;
	size_t first = at > TRK_ANOMALY_RUNS_MAX ? at - TRK_ANOMALY_RUNS_MAX : 0;

	for (size_t i = first; i < at; i++)
		if (w->good[i]->past.duration_s < least || w->good[i]->past.duration_s > most)
			return false;
	return true;
}

static void count_odd(struct trk_fleet_work *w, double since_s)
{
	struct trk_fleet_job *job = w->job;
	struct trk_anomaly odd;

	for (size_t i = w->good_count; i-- > 0 && w->good[i]->past.start_s >= since_s;) {
		if (is_ordinary(w, i))
			continue;
		trk__fleet_judge(w->rows, job, w->good[i], &odd);
		job->odd += odd.kind > TRK_ANOMALY_NO;
	}
}

/* Look at the runs of a job, whose view is `job`. */
static void look_at(struct trk_fleet_work *w, size_t index, struct trk_fleet_job *job)
{
	const struct trk_fleet_name *name = &w->rows->job[index];

	w->job = job;
	w->run = w->rows->run + name->first;
	w->count = name->count < TRK_FLEET_RUNS_MAX ? name->count : TRK_FLEET_RUNS_MAX;
	w->newest = w->run + name->count - w->count;
	w->good_count = 0;
	for (size_t i = 0; i < w->count; i++)
		if (w->newest[i].end == TRK_FLEET_OK)
			w->good[w->good_count++] = &w->newest[i];
}

static void make_job(struct trk_fleet_work *w, size_t index, double since_s,
		     struct trk_fleet_job *ret)
{
	const struct trk_fleet_name *name = &w->rows->job[index];

	memset(ret, 0, sizeof(*ret));
	look_at(w, index, ret);
	ret->name = name;
	ret->index = index;
	ret->last = &w->run[name->count - 1];
	memcpy(ret->trait, ret->last->trait, sizeof(ret->trait));
	sum_up(w, since_s);
	find_usual(w);
	count_failing(w);
	advise(w);
	trk__fleet_find_drift(w);
	count_odd(w, since_s);
}

/* The same job over another period: sums and the count of odd runs are made again. */
static void change_period(struct trk_fleet_work *w, double since_s, struct trk_fleet_job *job)
{
	const struct trk_fleet_sum none = {.runs = 0};

	look_at(w, job->index, job);
	job->period = job->before = job->month = none;
	job->odd = 0;
	sum_up(w, since_s);
	count_odd(w, since_s);
}

static int work_init(struct trk_fleet_work *w, const struct trk_fleet_rows *rows)
{
	*w = (struct trk_fleet_work){.rows = rows};
	w->past = calloc(TRK_FLEET_RUNS_MAX, sizeof(*w->past));
	w->busy = calloc(1, sizeof(*w->busy));
	return w->past && w->busy ? 0 : -ENOMEM;
}

static void work_release(struct trk_fleet_work *w)
{
	free(w->past);
	free(w->busy);
}

int trk__fleet_job_make(const struct trk_fleet_rows *rows, size_t index, double since_s,
			struct trk_fleet_job *ret)
{
	struct trk_fleet_work w;
	int r = work_init(&w, rows);

	if (r == 0)
		make_job(&w, index, since_s, ret);
	work_release(&w);
	return r;
}

double trk__fleet_job_chance(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			     double bytes)
{
	struct trk_memory_options options = {.input_bytes = NAN, .machine_bytes = NAN};
	size_t count =
		job->name->count < TRK_FLEET_RUNS_MAX ? job->name->count : TRK_FLEET_RUNS_MAX;
	const struct trk_fleet_run *run = rows->run + job->name->first + job->name->count - count;
	struct trk_past_run *runs = calloc(count + 1, sizeof(*runs));
	double chance = NAN;

	for (size_t i = 0; runs && i < count; i++)
		runs[i] = run[i].past;
	if (runs && bytes > 0)
		(void) trk__memory_chance(runs, count, &options, bytes, &chance);
	free(runs);
	return chance;
}

void trk__fleet_judge(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
		      const struct trk_fleet_run *run, struct trk_anomaly *ret)
{
	const struct trk_fleet_run *first = rows->run + job->name->first, *at = run;
	double earlier[TRK_ANOMALY_RUNS_MAX];
	size_t n = 0;
	/* A run of the new level is compared with runs of that level only. */
	double from_s =
		job->drift.known && run->past.start_s >= job->drift.from_s ? job->drift.from_s : 0;

	*ret = (struct trk_anomaly){TRK_ANOMALY_TOO_FEW, NAN, NAN, NAN, NAN, 0};
	while (at > first && n < TRK_ANOMALY_RUNS_MAX && (--at)->past.start_s >= from_s)
		if (at->end == TRK_FLEET_OK && !isnan(at->ln_s))
			earlier[n++] = at->ln_s;
	if (run->end == TRK_FLEET_OK)
		(void) trk__anomaly_judge_ln(earlier, n, run->past.duration_s,
					     TRK_ANOMALY_FLOOR_TIME, ret);
}

/* ---- all jobs ---- */

static int by_money(const void *a, const void *b)
{
	const struct trk_fleet_job *x = a, *y = b;
	double s = x->saves_usd_month > 0 ? x->saves_usd_month : 0;
	double t = y->saves_usd_month > 0 ? y->saves_usd_month : 0;

	if (s != t)
		return s > t ? -1 : 1;
	if (x->period.usd != y->period.usd)
		return x->period.usd > y->period.usd ? -1 : 1;
	if (x->memory.confidence != y->memory.confidence)
		return x->memory.confidence > y->memory.confidence ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static int by_index(const void *a, const void *b)
{
	const struct trk_fleet_job *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

int trk__fleet_jobs_make(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *from,
			 double since_s, struct trk_fleet_jobs *ret)
{
	struct trk_fleet_jobs jobs = {.count = from ? from->count : 0, .since_s = since_s};
	struct trk_fleet_work w;
	int r = work_init(&w, rows);

	jobs.job = calloc(rows->jobs + 1, sizeof(*jobs.job));
	if (!jobs.job)
		r = -ENOMEM;
	if (r == 0 && from) {
		memcpy(jobs.job, from->job, from->count * sizeof(*jobs.job));
		/* In the order of the rows, so that sums have the same last digit. */
		qsort(jobs.job, jobs.count, sizeof(*jobs.job), by_index);
	}
	for (size_t i = 0; r == 0 && from && i < jobs.count; i++)
		change_period(&w, since_s, &jobs.job[i]);
	for (size_t i = 0; r == 0 && !from && i < rows->jobs; i++)
		if (rows->job[i].count)
			make_job(&w, i, since_s, &jobs.job[jobs.count++]);
	work_release(&w);
	if (r < 0) {
		trk__fleet_jobs_release(&jobs);
		return r;
	}
	for (size_t i = 0; i < jobs.count; i++)
		trk__fleet_sum_merge(&jobs.sum, &jobs.job[i].period);
	qsort(jobs.job, jobs.count, sizeof(*jobs.job), by_money);
	*ret = jobs;
	return 0;
}

void trk__fleet_jobs_release(struct trk_fleet_jobs *jobs)
{
	free(jobs->job);
	*jobs = (struct trk_fleet_jobs){.count = 0};
}

const struct trk_fleet_job *trk__fleet_job_at(const struct trk_fleet_jobs *jobs, size_t index)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->job[i].index == index)
			return &jobs->job[i];
	return NULL;
}
