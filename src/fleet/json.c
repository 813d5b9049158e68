#include "fleet/json.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/words.h"

static void key_day(struct trk_json *j, const char *key, long day)
{
	char text[TRK_FLEET_WORD_SIZE];

	trk__json_key_text(j, key, trk__fleet_iso_date(text, day));
}

static void key_name(struct trk_json *j, const char *key, const struct trk_fleet_rows *rows,
		     uint32_t text)
{
	trk__json_key_text(j, key, text ? trk__fleet_text(rows, text) : NULL);
}

/* ---- sums ---- */

static void sum_members(struct trk_json *j, const struct trk_fleet_sum *sum)
{
	bool money = sum->priced + sum->estimated > 0;

	trk__json_key_u64(j, "runs", sum->runs);
	trk__json_key_u64(j, "failed", sum->failed);
	trk__json_key_u64(j, "out_of_memory", sum->out_of_memory);
	trk__json_key_u64(j, "priced", sum->priced);
	trk__json_key_u64(j, "estimated", sum->estimated);
	trk__json_key_u64(j, "unpriced", sum->unpriced);
	trk__json_key_double(j, "usd", money ? sum->usd : (double) NAN);
	trk__json_key_double(j, "idle_cores_usd", money ? sum->idle_cores_usd : (double) NAN);
	trk__json_key_double(j, "idle_memory_usd", money ? sum->idle_memory_usd : (double) NAN);
	trk__json_key_double(j, "failed_usd", money ? sum->failed_usd : (double) NAN);
	trk__json_key_double(j, "waste_usd", money ? trk__fleet_waste_usd(sum) : (double) NAN);
	trk__json_key_double(j, "used_core_s", sum->used_core_s);
	trk__json_key_double(j, "asked_core_s", sum->asked_core_s);
	trk__json_key_double(j, "used_mib_s", sum->used_byte_s / TRK_MIB);
	trk__json_key_double(j, "asked_mib_s", sum->asked_byte_s / TRK_MIB);
	trk__json_key_double(j, "cores_share", trk__fleet_cores_share(sum));
	trk__json_key_double(j, "memory_share", trk__fleet_memory_share(sum));
	trk__json_key_double(j, "run_s", sum->run_s);
}

void trk__fleet_sum_json(struct trk_json *j, const struct trk_fleet_sum *sum)
{
	trk__json_open(j, '{');
	sum_members(j, sum);
	trk__json_close(j, '}');
}

static void key_sum(struct trk_json *j, const char *key, const struct trk_fleet_sum *sum)
{
	trk__json_key(j, key);
	trk__fleet_sum_json(j, sum);
}

static void job_name(struct trk_json *j, const struct trk_fleet_rows *rows,
		     const struct trk_fleet_name *name)
{
	trk__json_key_text(j, "job", name->name);
	trk__json_key_or_null(j, "scope", name->scope);
}

/* ---- one job ---- */

static void size_json(struct trk_json *j, const char *key, double cores, double bytes)
{
	trk__json_key_open(j, key, '{');
	trk__json_key_double(j, "cores", cores);
	trk__json_key_double(j, "memory_mib", bytes / TRK_MIB);
	trk__json_close(j, '}');
}

static void growth_json(struct trk_json *j, const struct trk_fleet_job *job)
{
	const struct trk_fleet_growth *g = &job->growth;
	char text[TRK_FLEET_TEXT_SIZE];

	if (!trk__json_key_object(j, "growth", g->known))
		return;
	trk__json_key_bool(j, "rising", g->rising);
	trk__json_key_double(j, "share_a_day", g->a_day);
	trk__json_key_double(j, "now_mib", g->now_bytes / TRK_MIB);
	trk__json_key_double(j, "days_left", g->days_left);
	trk__json_key_double(j, "runs_left", g->runs_left);
	if (g->rising)
		trk__fleet_growth_text(job, text);
	trk__json_key_text(j, "text", g->rising ? text : NULL);
	trk__json_close(j, '}');
}

static void drift_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		       const struct trk_fleet_job *job)
{
	const struct trk_fleet_drift *d = &job->drift;
	char text[TRK_FLEET_TEXT_SIZE];

	if (!trk__json_key_object(j, "drift", d->known))
		return;
	trk__fleet_drift_text(rows, job, text);
	trk__json_key_double(j, "change", d->change);
	trk__json_key_double(j, "from", d->from_s);
	trk__json_key_double(j, "told", d->told_s);
	trk__json_key_double(j, "before_s", d->before_s);
	trk__json_key_double(j, "since_s", d->since_s);
	trk__json_key_double(j, "usd_month", d->usd_month);
	trk__json_key_open(j, "with", '[');
	for (size_t i = 0; i < d->ways; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "trait", trk__fleet_trait_names[d->way[i].trait]);
		key_name(j, "before", rows, d->way[i].before);
		key_name(j, "since", rows, d->way[i].since);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_text(j, "text", text);
	trk__json_close(j, '}');
}

void trk__fleet_usual_json(struct trk_json *j, const struct trk_fleet_job *job)
{
	if (!trk__json_key_object(j, "usual", job))
		return;
	trk__json_key_u64(j, "runs", job->recent);
	trk__json_key_double(j, "duration_s", job->duration_s);
	trk__json_key_double(j, "noise_share", job->noise_share);
	trk__json_key_double(j, "cores", job->cores);
	trk__json_key_double(j, "cores_p95", job->cores_p95);
	trk__json_key_double(j, "peak_mib", job->peak_bytes / TRK_MIB);
	trk__json_key_double(j, "peak_p95_mib", job->peak_p95_bytes / TRK_MIB);
	trk__json_key_double(j, "usd", job->usd);
	trk__json_close(j, '}');
}

void trk__fleet_job_members(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job)
{
	char text[TRK_FLEET_TEXT_SIZE];

	job_name(j, rows, job->name);
	trk__json_key_text(j, "verdict", trk__fleet_rating_names[job->rating]);
	trk__json_key_u64(j, "runs_known", job->name->count);
	trk__json_key_double(j, "last", job->last->past.start_s);
	trk__json_key_text(j, "last_end", trk__fleet_end_names[job->last->end]);
	for (int i = 0; i < TRK_FLEET_TRAITS; i++)
		key_name(j, trk__fleet_trait_names[i], rows, job->trait[i]);
	trk__fleet_usual_json(j, job);
	size_json(j, "asked", job->asked_cores, job->asked_bytes);
	trk__json_key_bool(j, "stated", job->stated_cores || job->stated_memory);
	size_json(j, "ask", job->ask_cores, job->ask_bytes);
	trk__json_key_double(j, "ask_usd", job->ask_usd);
	trk__json_key_double(j, "saves_usd_month", job->saves_usd_month);
	trk__json_key_text(j, "confidence",
			   job->has_memory ? trk__confidence_name(job->memory.confidence) : NULL);
	trk__json_key_u64(j, "odd", job->odd);
	trk__json_key_u64(j, "failing_in_row", job->failing_in_row);
	growth_json(j, job);
	drift_json(j, rows, job);
	trk__fleet_why(job, text);
	trk__json_key_text(j, "why", text);
	trk__fleet_job_lead(job, text);
	trk__json_key_text(j, "lead", text);
	trk__fleet_job_basis(job, text);
	trk__json_key_text(j, "basis", text);
}

void trk__fleet_run_members(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job, const struct trk_fleet_run *run)
{
	struct trk_anomaly odd;

	trk__fleet_judge(rows, job, run, &odd);
	trk__json_key_text(j, "id", run->past.id);
	trk__json_key_double(j, "start", run->past.start_s);
	trk__json_key_text(j, "end", trk__fleet_end_names[run->end]);
	trk__json_key_double(j, "duration_s", run->past.duration_s);
	trk__json_key_double(j, "change", odd.change);
	trk__json_key_bool(j, "odd", odd.kind > TRK_ANOMALY_NO);
	trk__json_key_double(j, "cores", run->cores);
	trk__json_key_double(j, "asked_cores", run->asked_cores);
	trk__json_key_double(j, "peak_mib", run->past.memory.bytes / TRK_MIB);
	trk__json_key_double(j, "asked_mib", run->asked_bytes / TRK_MIB);
	trk__json_key_double(j, "usd", run->usd);
	trk__json_key_double(j, "waste_usd",
			     run->idle_cores_usd + run->idle_memory_usd + run->failed_usd);
}

void trk__fleet_job_details(struct trk_json *j, const struct trk_fleet_rows *rows,
			    const struct trk_fleet_job *job, size_t runs)
{
	size_t count = job->name->count;

	trk__json_key_double(j, "chance_now", trk__fleet_job_chance(rows, job, job->asked_bytes));
	trk__json_key_double(j, "chance_ask", trk__fleet_job_chance(rows, job, job->ask_bytes));
	trk__json_key_open(j, "reasons", '[');
	for (size_t i = 0; job->has_memory && i < job->memory.reason_count; i++)
		trk__json_text(j, job->memory.reason[i]);
	trk__json_close(j, ']');
	trk__json_key_open(j, "runs", '[');
	for (size_t i = 0; i < runs && i < count; i++) {
		trk__json_open(j, '{');
		trk__fleet_run_members(j, rows, job, &rows->run[job->name->first + count - 1 - i]);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

void trk__fleet_jobs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			  const struct trk_fleet_jobs *jobs)
{
	trk__json_open(j, '{');
	trk__json_key_double(j, "since", jobs->since_s);
	key_sum(j, "sum", &jobs->sum);
	trk__json_key_open(j, "jobs", '[');
	for (size_t i = 0; i < jobs->count; i++) {
		trk__json_open(j, '{');
		trk__fleet_job_members(j, rows, &jobs->job[i]);
		key_sum(j, "period", &jobs->job[i].period);
		key_sum(j, "before", &jobs->job[i].before);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_close(j, '}');
}

/* ---- the overview ---- */

static void changes_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			 const struct trk_fleet_overview *o)
{
	char text[TRK_FLEET_TEXT_SIZE];

	trk__json_key_open(j, "changes", '[');
	for (size_t i = 0; i < o->changes; i++) {
		const struct trk_fleet_job *job = o->change[i];

		trk__json_open(j, '{');
		job_name(j, rows, job->name);
		trk__fleet_why(job, text);
		trk__json_key_text(j, "why", text);
		size_json(j, "asked", job->asked_cores, job->asked_bytes);
		size_json(j, "ask", job->ask_cores, job->ask_bytes);
		trk__json_key_u64(j, "runs", job->month.runs);
		trk__json_key_double(j, "duration_s", job->duration_s);
		trk__json_key_double(j, "saves_usd_month", job->saves_usd_month);
		trk__json_key_double(j, "saves_share", job->saves_usd_month / job->month.usd);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_u64(j, "changes_all", o->changes_all);
	trk__json_key_double(j, "saves_usd_month", o->saves_usd_month);
	trk__json_key_double(j, "saves_all_usd_month", o->saves_all_usd_month);
}

static void findings_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			  const struct trk_fleet_overview *o)
{
	trk__json_key_open(j, "findings", '[');
	for (size_t i = 0; i < o->findings; i++) {
		const struct trk_fleet_finding *f = &o->finding[i];

		trk__json_open(j, '{');
		trk__json_key_text(j, "kind", trk__fleet_finding_names[f->kind]);
		trk__json_key_text(j, "head", f->head);
		trk__json_key_text(j, "text", f->text);
		trk__json_key_open(j, "jobs", '[');
		if (f->job)
			trk__json_text(j, f->job->name->name);
		for (size_t k = 0; k < f->jobs && k < TRK_FLEET_CLUSTER_JOBS_MAX; k++)
			trk__json_text(j, rows->job[f->job_of[k]].name);
		trk__json_close(j, ']');
		trk__json_key_double(j, "usd_month", f->usd_month);
		trk__json_key_double(j, "p", f->p);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_u64(j, "tests", o->tests);
	trk__json_key_double(j, "budget", TRK_FLEET_BUDGET);
}

static void forecast_json(struct trk_json *j, const struct trk_fleet_forecast *f)
{
	if (!trk__json_key_object(j, "forecast", f->known))
		return;
	key_day(j, "first_day", f->first_day);
	trk__json_key_open(j, "usd", '[');
	for (size_t i = 0; i < TRK_FLEET_AHEAD_DAYS; i++)
		trk__json_double(j, f->usd[i]);
	trk__json_close(j, ']');
	trk__json_key_open(j, "band_usd", '[');
	for (size_t i = 0; i < TRK_FLEET_AHEAD_DAYS; i++)
		trk__json_double(j, f->band_usd[i]);
	trk__json_close(j, ']');
	trk__json_key_double(j, "month_usd", f->month_usd);
	trk__json_key_double(j, "month_band_usd", f->month_band_usd);
	trk__json_key_double(j, "month_usd_advised", f->month_usd_advised);
	trk__json_key_u64(j, "days", f->days);
	trk__json_close(j, '}');
}

static void spend_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		       const struct trk_fleet_days *d)
{
	char text[TRK_FLEET_TEXT_SIZE];

	trk__json_key_open(j, "days", '[');
	for (size_t i = 0; i < d->count; i++) {
		trk__json_open(j, '{');
		key_day(j, "day", d->day[i].day);
		sum_members(j, &d->day[i].sum);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	trk__json_key_open(j, "odd_days", '[');
	for (size_t i = 0; i < d->odd_count; i++) {
		trk__json_open(j, '{');
		key_day(j, "from", d->odd[i].day);
		key_day(j, "to", d->odd[i].last_day);
		trk__json_key_double(j, "usd", d->odd[i].usd);
		trk__json_key_double(j, "usual_usd", d->odd[i].usual_usd);
		trk__json_key_text(
			j, "job", d->odd[i].job == SIZE_MAX ? NULL : rows->job[d->odd[i].job].name);
		trk__fleet_odd_day_text(rows, &d->odd[i], text);
		trk__json_key_text(j, "text", text);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
	forecast_json(j, &d->forecast);
}

static void groups_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			const struct trk_fleet_overview *o)
{
	trk__json_key_open(j, "by", '{');
	for (int i = 0; i < TRK_FLEET_TRAITS; i++) {
		if (!o->groups[i])
			continue;
		trk__json_key_open(j, trk__fleet_trait_names[i], '[');
		for (size_t k = 0; k < o->groups[i]; k++) {
			trk__json_open(j, '{');
			key_name(j, "name", rows, o->group[i][k].name);
			sum_members(j, &o->group[i][k].sum);
			trk__json_close(j, '}');
		}
		trk__json_close(j, ']');
	}
	trk__json_close(j, '}');
}

void trk__fleet_overview_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_overview *o)
{
	trk__json_open(j, '{');
	trk__json_key_double(j, "as_of", o->now_s);
	trk__json_key_double(j, "since", o->since_s);
	trk__json_key_double(j, "first", o->first_s);
	trk__json_key_u64(j, "period_days", (size_t) o->days);
	trk__json_key_u64(j, "jobs", o->jobs);
	trk__json_key_u64(j, "running", o->running);
	key_sum(j, "sum", &o->sum);
	if (trk__json_key_object(j, "before", o->has_before)) {
		sum_members(j, &o->before);
		trk__json_close(j, '}');
	}
	trk__json_key_double(j, "median_cores_share", o->median_cores_share);
	trk__json_key_double(j, "median_memory_share", o->median_memory_share);
	trk__json_key_text(j, "headline", o->headline);
	trk__json_key_text(j, "lead", o->lead);
	trk__json_key_text(j, "warning", o->warning);
	trk__json_key_text(j, "basis", o->basis);
	trk__json_key_open(j, "verdicts", '{');
	for (int i = 0; i < TRK_FLEET_RATINGS; i++)
		trk__json_key_u64(j, trk__fleet_rating_names[i], o->ratings[i]);
	trk__json_close(j, '}');
	changes_json(j, rows, o);
	findings_json(j, rows, o);
	spend_json(j, rows, &o->spend);
	groups_json(j, rows, o);
	trk__json_close(j, '}');
}

/* ---- machines ---- */

static void places_json(struct trk_json *j, const char *key, const struct trk_fleet_rows *rows,
			const struct trk_fleet_place *place, size_t count)
{
	trk__json_key_open(j, key, '[');
	for (size_t i = 0; i < count; i++) {
		trk__json_open(j, '{');
		key_name(j, "name", rows, place[i].name);
		size_json(j, "size", place[i].cores, place[i].bytes);
		trk__json_key_u64(j, "jobs", place[i].jobs);
		trk__json_key_double(j, "usd_hour", place[i].usd_hour);
		trk__json_key_double(j, "ratio", place[i].ratio);
		trk__json_key_u64(j, "ratio_runs", place[i].ratio_runs);
		trk__json_key_u64(j, "ratio_jobs", place[i].ratio_jobs);
		trk__json_key_bool(j, "slow", place[i].slow);
		sum_members(j, &place[i].sum);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

void trk__fleet_machines_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_machines *machines)
{
	trk__json_open(j, '{');
	trk__json_key_double(j, "since", machines->since_s);
	trk__json_key_u64(j, "unknown", machines->unknown);
	places_json(j, "servers", rows, machines->server, machines->servers);
	places_json(j, "machines", rows, machines->machine, machines->machines);
	trk__json_close(j, '}');
}
