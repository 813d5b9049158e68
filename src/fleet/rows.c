#include "fleet/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/cpu.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/maths.h"
#include "fleet/clusters.h"

const char *const trk__fleet_trait_names[TRK_FLEET_TRAITS] = {
#define X(id, name, keys) name,
	TRK_FLEET_TRAIT_LIST(X)
#undef X
};

static const char *const trait_keys[TRK_FLEET_TRAITS] = {
#define X(id, name, keys) keys,
	TRK_FLEET_TRAIT_LIST(X)
#undef X
};

const char *const trk__fleet_end_names[TRK_FLEET_ENDS] = {
	"ok", "failed", "out of memory", "time limit", "stopped", "running",
};

bool trk__fleet_is_failure(enum trk_fleet_end end)
{
	return end == TRK_FLEET_FAILED || end == TRK_FLEET_OUT_OF_MEMORY ||
	       end == TRK_FLEET_TIME_LIMIT;
}

void trk__fleet_rows_init(struct trk_fleet_rows *rows, double now_s, double utc_offset_s)
{
	*rows = (struct trk_fleet_rows){.now_s = now_s, .utc_offset_s = utc_offset_s};
}

void trk__fleet_rows_release(struct trk_fleet_rows *rows)
{
	trk__texts_release(&rows->texts);
	trk__texts_release(&rows->job_of);
	free(rows->job);
	free(rows->run);
	free(rows->clusters);
	*rows = (struct trk_fleet_rows){.count = 0};
}

const char *trk__fleet_text(const struct trk_fleet_rows *rows, uint32_t text)
{
	return trk__texts_at(&rows->texts, text);
}

/* The index of the job of a run, which is added if it is new; -ENOMEM. */
static long job_of(struct trk_fleet_rows *rows, const struct trk_past_run *run)
{
	char key[2 * sizeof(void *) * 2 + 2];
	int len = snprintf(key, sizeof(key), "%" PRIxPTR " %" PRIxPTR, (uintptr_t) run->job,
			   (uintptr_t) run->scope);
	long at = trk__texts_add(&rows->job_of, key, (size_t) len);

	if (at < 0 || (size_t) at <= rows->jobs)
		return at < 0 ? at : at - 1;
	if (trk__array_reserve(&rows->job, &rows->jobs_cap, rows->jobs + 1, sizeof(*rows->job)) < 0)
		return -ENOMEM;
	rows->job[rows->jobs] = (struct trk_fleet_name){.name = run->job, .scope = run->scope};
	return (long) rows->jobs++;
}

size_t trk__fleet_find_job(const struct trk_fleet_rows *rows, const char *name, const char *scope)
{
	size_t found = rows->jobs;
	double newest = -1;

	for (size_t i = 0; i < rows->jobs; i++) {
		const struct trk_fleet_name *job = &rows->job[i];
		double start_s =
			job->count ? rows->run[job->first + job->count - 1].past.start_s : 0;

		if (strcmp(job->name, name) != 0 || (scope && strcmp(job->scope, scope) != 0) ||
		    start_s < newest)
			continue;
		found = i;
		newest = start_s;
	}
	return found;
}

/* ---- one run ---- */

/* The value of the first of the keys, blanks between them, that the tags have. */
static const char *find_tag(const char *tags, const char *keys, size_t *ret_len)
{
	while (*keys) {
		size_t key_len = strcspn(keys, " ");

		for (const char *tag = tags; *tag;) {
			size_t len = strcspn(tag, "\n");

			if (len > key_len + 1 && tag[key_len] == '=' &&
			    !memcmp(tag, keys, key_len)) {
				*ret_len = len - key_len - 1;
				return tag + key_len + 1;
			}
			tag += len + (tag[len] != '\0');
		}
		keys += key_len + (keys[key_len] != '\0');
	}
	return NULL;
}

static enum trk_fleet_end end_of(const struct trk_past_run *run)
{
	if (!run->ended)
		return TRK_FLEET_RUNNING;
	if (!strcmp(run->end_name, "timeout"))
		return TRK_FLEET_TIME_LIMIT;
	if (!strcmp(run->end_name, "tracker_died") || !strcmp(run->end_name, "vanished"))
		return TRK_FLEET_STOPPED;
	switch (run->end) {
	case TRK_PAST_SUCCEEDED:
		return TRK_FLEET_OK;
	case TRK_PAST_STOPPED:
		return TRK_FLEET_STOPPED;
	case TRK_PAST_OUT_OF_MEMORY:
		return TRK_FLEET_OUT_OF_MEMORY;
	default:
		return TRK_FLEET_FAILED;
	}
}

static double or_zero(double x)
{
	return x > 0 ? x : 0;
}

/* The unused share of a part of the cost. */
static double idle_part(double usd, double used, double asked)
{
	double share = 1 - used / asked;

	return isnan(share) ? (double) NAN : usd * (share > 0 ? share : 0);
}

static void take_money(struct trk_fleet_run *run)
{
	const struct trk_past_run *past = &run->past;
	double cores = TRK_PRICE_CORE_HOUR * or_zero(run->asked_cores);
	double memory = TRK_PRICE_GIB_HOUR * or_zero(run->asked_bytes) / TRK_GIB;

	run->usd = past->cost_usd;
	run->idle_cores_usd = run->idle_memory_usd = run->failed_usd = NAN;
	if (isnan(run->usd) && (run->stated_cores || run->stated_memory)) {
		/* Only the request is held: others may use the rest of the machine. */
		cores = run->stated_cores ? cores : 0;
		memory = run->stated_memory ? memory : 0;
		run->usd = (cores + memory) * past->duration_s / 3600;
		run->estimated = true;
	}
	if (isnan(run->usd))
		return;
	run->failed_usd = trk__fleet_is_failure((enum trk_fleet_end) run->end) ? run->usd : 0;
	if (run->end != TRK_FLEET_OK) {
		run->idle_cores_usd = run->idle_memory_usd = 0;
		return;
	}
	if (!(cores + memory > 0))
		return;
	run->idle_cores_usd = cores > 0
				      ? idle_part(run->usd * cores / (cores + memory),
						  past->cpu_s / past->duration_s, run->asked_cores)
				      : 0;
	run->idle_memory_usd = memory > 0 ? idle_part(run->usd * memory / (cores + memory),
						      trk__past_run_held(past), run->asked_bytes)
					  : 0;
}

/* What was requested for a run, or its limit. NaN: neither is known; the machine does not count. */
static double stated(const struct trk_past_run *run, enum trk_resource resource)
{
	const struct trk_capacity *c = &run->capacity[resource];

	return c->value > 0 && trk__capacity_is_stated(c) ? c->value : (double) NAN;
}

static double known(const struct trk_past_run *run, enum trk_resource resource)
{
	return run->capacity[resource].value > 0 ? run->capacity[resource].value : (double) NAN;
}

static void take_figures(struct trk_fleet_run *run, const struct trk_past_run *past)
{
	*run = (struct trk_fleet_run){
		.past = *past,
		.end = (uint8_t) end_of(past),
		.stated_cores = !isnan(stated(past, TRK_RESOURCE_CPU)),
		.stated_memory = !isnan(stated(past, TRK_RESOURCE_MEMORY_MIB)),
		.ln_s = past->duration_s > 0 ? trk__ln(past->duration_s) : (double) NAN,
		.cores = past->cpu_s > 0 && past->duration_s > 0 ? past->cpu_s / past->duration_s
								 : past->cpu_mean,
		.asked_cores = known(past, TRK_RESOURCE_CPU),
		.asked_bytes = known(past, TRK_RESOURCE_MEMORY_MIB) * TRK_MIB,
		/* Idle GPUs of the machine that were not requested are no waste of the job. */
		.asked_gpus = stated(past, TRK_RESOURCE_GPU),
	};
	take_money(run);
}

bool trk__fleet_is_test(const struct trk_fleet_run *run)
{
	size_t len;
	const char *value = find_tag(run->past.tags, "test", &len);

	return value && len == 1 && *value == '1';
}

/* Most runs of a job have the same tags as the previous run. */
static int take_traits(struct trk_fleet_rows *rows, struct trk_fleet_run *run)
{
	size_t *last = &rows->job[run->job].first;
	const struct trk_fleet_run *before = *last ? &rows->run[*last - 1] : NULL;

	*last = rows->count + 1;
	if (before && before->past.tags == run->past.tags) {
		memcpy(run->trait, before->trait, sizeof(run->trait));
		return 0;
	}
	for (int i = 0; i < TRK_FLEET_TRAITS; i++) {
		size_t len = 0;
		const char *value = find_tag(run->past.tags, trait_keys[i], &len);
		long text = value ? trk__texts_add(&rows->texts, value, len) : 0;

		if (text < 0)
			return -ENOMEM;
		run->trait[i] = (uint32_t) text;
	}
	return 0;
}

/* The views need neither the source of a capacity nor the recording. */
static int take_texts(struct trk_fleet_rows *rows, struct trk_fleet_run *run)
{
	long job;

	for (int i = 0; i < TRK_RESOURCES; i++)
		run->past.capacity[i].source = "";
	run->past.file = "";
	if (trk__past_run_keep(&run->past, &rows->texts) < 0)
		return -ENOMEM;
	job = job_of(rows, &run->past);
	run->job = (uint32_t) job;
	return job < 0 ? -ENOMEM : take_traits(rows, run);
}

int trk__fleet_rows_add(struct trk_fleet_rows *rows, const struct trk_past_run *past)
{
	struct trk_fleet_run *run;

	if (!strcmp(past->kind, "system") || isnan(past->start_s) || past->start_s > rows->now_s)
		return 0;
	if (trk__array_reserve(&rows->run, &rows->cap, rows->count + 1, sizeof(*rows->run)) < 0)
		return -ENOMEM;
	run = &rows->run[rows->count];
	take_figures(run, past);
	if (take_texts(rows, run) < 0)
		return -ENOMEM;
	rows->count++;
	return 0;
}

static int by_job_and_time(const void *a, const void *b)
{
	const struct trk_fleet_run *x = a, *y = b;

	if (x->job != y->job)
		return x->job > y->job ? 1 : -1;
	return x->past.start_s == y->past.start_s  ? strcmp(x->past.id, y->past.id)
	       : x->past.start_s > y->past.start_s ? 1
						   : -1;
}

int trk__fleet_rows_sort(struct trk_fleet_rows *rows)
{
	struct trk_fleet_clusters *clusters = calloc(1, sizeof(*clusters));

	if (!clusters)
		return -ENOMEM;
	free(rows->clusters);
	rows->clusters = clusters;
	if (rows->count)
		qsort(rows->run, rows->count, sizeof(*rows->run), by_job_and_time);
	for (size_t i = 0; i < rows->jobs; i++)
		rows->job[i].count = 0;
	for (size_t i = 0; i < rows->count; i++) {
		struct trk_fleet_name *job = &rows->job[rows->run[i].job];

		if (job->count++ == 0)
			job->first = i;
	}
	return 0;
}

long trk__fleet_day(const struct trk_fleet_rows *rows, double time_s)
{
	return (long) trk__whole(trk__floor((time_s + rows->utc_offset_s) / 86400), INT32_MIN,
				 INT32_MAX);
}
