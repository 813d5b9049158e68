#include "fleet/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/cpu.h"
#include "base/array.h"
#include "base/maths.h"
#include "fleet/clusters.h"
#include "fleet/alike.h"

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
	for (size_t i = 1; i < rows->texts; i++)
		free(rows->text[i]);
	free(rows->text);
	free(rows->bucket);
	free(rows->job_of);
	free(rows->job);
	free(rows->run);
	free(rows->clusters);
	*rows = (struct trk_fleet_rows){.count = 0};
}

const char *trk__fleet_text(const struct trk_fleet_rows *rows, uint32_t text)
{
	return text && text < rows->texts ? rows->text[text] : "";
}

/* ---- texts and jobs, each once ---- */

static uint32_t hash_of(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char) text[i]) * 16777619u;
	return hash;
}

static uint32_t text_hash(const struct trk_fleet_rows *rows, size_t text)
{
	return hash_of(rows->text[text], strlen(rows->text[text]));
}

static uint32_t hash_pair(uint32_t name, uint32_t scope)
{
	return (name * 2654435761u) ^ (scope * 40503u);
}

/* `entry` is from 1. */
static uint32_t job_hash(const struct trk_fleet_rows *rows, size_t entry)
{
	return hash_pair(rows->job[entry - 1].name, rows->job[entry - 1].scope);
}

/* A table twice as large, of entries 1 .. count. */
static int widen(const struct trk_fleet_rows *rows, uint32_t **table, size_t *size, size_t count,
		 uint32_t (*hash)(const struct trk_fleet_rows *rows, size_t entry))
{
	size_t wider = *size ? *size * 2 : 256;
	uint32_t *made = calloc(wider, sizeof(*made));

	if (!made)
		return -ENOMEM;
	for (size_t i = 1; i <= count; i++) {
		size_t at = hash(rows, i) & (wider - 1);

		while (made[at])
			at = (at + 1) & (wider - 1);
		made[at] = (uint32_t) i;
	}
	free(*table);
	*table = made;
	*size = wider;
	return 0;
}

/* The index of a text, 0 of an empty one; -ENOMEM. */
static long intern(struct trk_fleet_rows *rows, const char *text, size_t len)
{
	size_t at;

	if (len == 0)
		return 0;
	if (rows->texts == 0)
		rows->texts = 1;
	if (rows->texts * 2 >= rows->buckets &&
	    widen(rows, &rows->bucket, &rows->buckets, rows->texts - 1, text_hash) < 0)
		return -ENOMEM;
	at = hash_of(text, len) & (rows->buckets - 1);
	for (; rows->bucket[at]; at = (at + 1) & (rows->buckets - 1)) {
		const char *known = rows->text[rows->bucket[at]];

		if (!strncmp(known, text, len) && known[len] == '\0')
			return (long) rows->bucket[at];
	}
	if (trk__array_reserve(&rows->text, &rows->texts_cap, rows->texts + 1,
			       sizeof(*rows->text)) < 0)
		return -ENOMEM;
	rows->text[rows->texts] = strndup(text, len);
	if (!rows->text[rows->texts])
		return -ENOMEM;
	rows->bucket[at] = (uint32_t) rows->texts;
	return (long) rows->texts++;
}

static long job_of(struct trk_fleet_rows *rows, uint32_t name, uint32_t scope)
{
	size_t at;

	if (rows->jobs * 2 >= rows->job_buckets &&
	    widen(rows, &rows->job_of, &rows->job_buckets, rows->jobs, job_hash) < 0)
		return -ENOMEM;
	at = hash_pair(name, scope) & (rows->job_buckets - 1);
	for (; rows->job_of[at]; at = (at + 1) & (rows->job_buckets - 1)) {
		const struct trk_fleet_name *job = &rows->job[rows->job_of[at] - 1];

		if (job->name == name && job->scope == scope)
			return (long) rows->job_of[at] - 1;
	}
	if (trk__array_reserve(&rows->job, &rows->jobs_cap, rows->jobs + 1, sizeof(*rows->job)) < 0)
		return -ENOMEM;
	rows->job[rows->jobs] = (struct trk_fleet_name){.name = name, .scope = scope};
	rows->job_of[at] = (uint32_t) rows->jobs + 1;
	return (long) rows->jobs++;
}

size_t trk__fleet_find_job(const struct trk_fleet_rows *rows, const char *name, const char *scope)
{
	size_t found = rows->jobs;
	double newest = -1;

	for (size_t i = 0; i < rows->jobs; i++) {
		const struct trk_fleet_name *job = &rows->job[i];
		double start_s = job->count ? rows->run[job->first + job->count - 1].start_s : 0;

		if (strcmp(trk__fleet_text(rows, job->name), name) != 0 ||
		    (scope && strcmp(trk__fleet_text(rows, job->scope), scope) != 0) ||
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

static enum trk_fleet_end end_of(const struct trk_history_run *run)
{
	if (!run->ended)
		return TRK_FLEET_RUNNING;
	if (!strcmp(run->verdict, "timeout"))
		return TRK_FLEET_TIME_LIMIT;
	if (!strcmp(run->verdict, "tracker_died") || !strcmp(run->verdict, "vanished"))
		return TRK_FLEET_STOPPED;
	switch (trk__advice_past_run(run).end) {
	case TRK_EARLIER_SUCCEEDED:
		return TRK_FLEET_OK;
	case TRK_EARLIER_STOPPED:
		return TRK_FLEET_STOPPED;
	case TRK_EARLIER_OUT_OF_MEMORY:
		return TRK_FLEET_OUT_OF_MEMORY;
	default:
		return TRK_FLEET_FAILED;
	}
}

static double take_capacity(const struct trk_history_run *past, enum trk_resource resource,
			    double limit, double request, bool *ret_stated)
{
	struct trk_history_capacity c;

	trk__history_run_capacity(past, resource, &c);
	*ret_stated = !strcmp(c.kind, "requested") || !strcmp(c.kind, "limit");
	if (c.value > 0)
		return c.value;
	/* A row of an older version. */
	*ret_stated = request > 0;
	return request > 0 ? request : limit > 0 ? limit : (double) NAN;
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

static void take_money(struct trk_fleet_run *run, double cost_usd)
{
	double cores = TRK_PRICE_CORE_HOUR * or_zero(run->asked_cores);
	double memory = TRK_PRICE_GIB_HOUR * or_zero(run->asked_mib) / 1024;

	run->usd = cost_usd;
	run->idle_cores_usd = run->idle_memory_usd = run->failed_usd = NAN;
	if (isnan(cost_usd) && (run->stated_cores || run->stated_memory)) {
		/* Only the request is held: others may use the rest of the machine. */
		cores = run->stated_cores ? cores : 0;
		memory = run->stated_memory ? memory : 0;
		run->usd = (cores + memory) * run->duration_s / 3600;
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
	run->idle_cores_usd = cores > 0 ? idle_part(run->usd * cores / (cores + memory),
						    run->cpu_s / run->duration_s, run->asked_cores)
					: 0;
	run->idle_memory_usd = memory > 0 ? idle_part(run->usd * memory / (cores + memory),
						      run->peak_mib, run->asked_mib)
					  : 0;
}

/* Idle GPUs of the machine that were not requested are not counted as waste of the job. */
static double take_gpus(const struct trk_history_run *past)
{
	struct trk_history_capacity c;

	trk__history_run_capacity(past, TRK_RESOURCE_GPU, &c);
	return c.value > 0 && (!strcmp(c.kind, "requested") || !strcmp(c.kind, "limit"))
		       ? c.value
		       : (double) NAN;
}

static void take_figures(struct trk_fleet_run *run, const struct trk_history_run *past)
{
	*run = (struct trk_fleet_run){
		.end = (uint8_t) end_of(past),
		.code = (int16_t) past->code,
		.signal = (int16_t) past->signal,
		.start_s = past->start_s,
		.duration_s = past->duration_s,
		.ln_s = past->duration_s > 0 ? trk__ln(past->duration_s) : (double) NAN,
		.cpu_s = past->cpu_s,
		.cores = past->cpu_s > 0 && past->duration_s > 0 ? past->cpu_s / past->duration_s
								 : past->cpu_mean,
		.cores_max = past->cpu_max,
		.peak_mib = past->peak_memory_mib,
		.swap_mib = past->peak_swap_mib,
		.limit_mib = past->limit_memory_mib,
		.input_bytes = past->input_bytes,
		.asked_gpus = take_gpus(past),
		.gpu_mean = past->gpu_mean,
		.vram_mib = past->vram_max_mib,
	};
	memcpy(run->id, past->id, sizeof(run->id));
	run->asked_cores = take_capacity(past, TRK_RESOURCE_CPU, past->limit_cpu, past->request_cpu,
					 &run->stated_cores);
	run->asked_mib = take_capacity(past, TRK_RESOURCE_MEMORY_MIB, past->limit_memory_mib,
				       past->request_memory_mib, &run->stated_memory);
	take_money(run, past->cost_usd);
}

bool trk__fleet_is_test(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run)
{
	size_t len;
	const char *value = find_tag(trk__fleet_text(rows, run->tags), "test", &len);

	return value && len == 1 && *value == '1';
}

/* Most runs of a job have the same tags as the previous run. */
static int take_traits(struct trk_fleet_rows *rows, struct trk_fleet_run *run, const char *tags)
{
	size_t *last = &rows->job[run->job].first;
	const struct trk_fleet_run *before = *last ? &rows->run[*last - 1] : NULL;

	*last = rows->count + 1;
	if (before && before->tags == run->tags) {
		memcpy(run->trait, before->trait, sizeof(run->trait));
		return 0;
	}
	for (int i = 0; *tags && i < TRK_FLEET_TRAITS; i++) {
		size_t len = 0;
		const char *value = find_tag(tags, trait_keys[i], &len);
		long text = value ? intern(rows, value, len) : 0;

		if (text < 0)
			return -ENOMEM;
		run->trait[i] = (uint32_t) text;
	}
	return 0;
}

static int take_texts(struct trk_fleet_rows *rows, struct trk_fleet_run *run,
		      const struct trk_history_run *past)
{
	long name = intern(rows, past->job, strlen(past->job));
	long scope = intern(rows, past->scope, strlen(past->scope));
	long command = intern(rows, past->command, strlen(past->command));
	long tags = intern(rows, past->tags, strlen(past->tags));
	long end = intern(rows, past->verdict, strlen(past->verdict));
	long job;

	if (name < 0 || scope < 0 || command < 0 || tags < 0 || end < 0)
		return -ENOMEM;
	job = job_of(rows, (uint32_t) name, (uint32_t) scope);
	if (job < 0)
		return -ENOMEM;
	run->job = (uint32_t) job;
	run->command = (uint32_t) command;
	run->tags = (uint32_t) tags;
	run->end_name = (uint32_t) end;
	return take_traits(rows, run, past->tags);
}

int trk__fleet_rows_add(struct trk_fleet_rows *rows, const struct trk_history_run *past)
{
	struct trk_fleet_run *run;

	if (!strcmp(past->kind, "system") || isnan(past->start_s) || past->start_s > rows->now_s)
		return 0;
	if (trk__array_reserve(&rows->run, &rows->cap, rows->count + 1, sizeof(*rows->run)) < 0)
		return -ENOMEM;
	run = &rows->run[rows->count];
	take_figures(run, past);
	if (take_texts(rows, run, past) < 0)
		return -ENOMEM;
	rows->count++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct trk_fleet_run *x = a, *y = b;

	return x->start_s == y->start_s ? strcmp(x->id, y->id)
					: (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* Runs are added newest first: reversed, they are sorted unless a clock was changed. */
int trk__fleet_rows_sort(struct trk_fleet_rows *rows)
{
	struct trk_fleet_run *sorted = calloc(rows->count + 1, sizeof(*sorted));
	struct trk_fleet_clusters *clusters = calloc(1, sizeof(*clusters));
	size_t first = 0;

	if (!sorted || !clusters) {
		free(sorted);
		free(clusters);
		return -ENOMEM;
	}
	free(rows->clusters);
	rows->clusters = clusters;
	for (size_t i = 0; i < rows->jobs; i++)
		rows->job[i].count = 0;
	for (size_t i = 0; i < rows->count; i++)
		rows->job[rows->run[i].job].count++;
	for (size_t i = 0; i < rows->jobs; i++) {
		rows->job[i].first = first;
		first += rows->job[i].count;
		rows->job[i].count = 0;
	}
	for (size_t i = rows->count; i-- > 0;) {
		struct trk_fleet_name *job = &rows->job[rows->run[i].job];

		sorted[job->first + job->count++] = rows->run[i];
	}
	for (size_t i = 0; i < rows->jobs; i++) {
		struct trk_fleet_run *of = sorted + rows->job[i].first;

		for (size_t k = 1; k < rows->job[i].count; k++)
			if (of[k].start_s <= of[k - 1].start_s) {
				qsort(of, rows->job[i].count, sizeof(*of), by_time);
				break;
			}
	}
	free(rows->run);
	rows->run = sorted;
	rows->cap = rows->count + 1;
	return 0;
}

static void copy(char *to, size_t size, const char *text)
{
	size_t len = strlen(text);

	len = len < size - 1 ? len : size - 1;
	memcpy(to, text, len);
	to[len] = '\0';
}

void trk__fleet_past(const struct trk_fleet_rows *rows, const struct trk_fleet_run *run,
		     struct trk_history_run *ret)
{
	ret->code = run->code;
	ret->signal = run->signal;
	ret->duration_s = run->duration_s;
	ret->peak_memory_mib = run->peak_mib;
	ret->peak_swap_mib = run->swap_mib;
	ret->limit_memory_mib = run->limit_mib;
	ret->input_bytes = run->input_bytes;
	copy(ret->verdict, sizeof(ret->verdict), trk__fleet_text(rows, run->end_name));
	copy(ret->command, sizeof(ret->command), trk__fleet_text(rows, run->command));
	copy(ret->tags, sizeof(ret->tags), trk__fleet_text(rows, run->tags));
}

long trk__fleet_day(const struct trk_fleet_rows *rows, double time_s)
{
	return (long) trk__whole(trk__floor((time_s + rows->utc_offset_s) / 86400), INT32_MIN,
				 INT32_MAX);
}
