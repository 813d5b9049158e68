/* Synthetic histories with a known truth: 200 jobs over 90 days with weekdays, noise, random
 * failures, and effects that a test adds. Equal seeds give equal histories. */
#ifndef TEST_FLEET_SYNTHETIC_H
#define TEST_FLEET_SYNTHETIC_H

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/overview.h"
#include "past_runs.h"

#define SYNTHETIC_NOW 1795305600.0 /* Sun 22 Nov 2026, 00:00 UTC, plus 8 h below */
#define SYNTHETIC_DAY 86400.0

enum { SYNTHETIC_JOBS = 200, SYNTHETIC_DAYS = 90 };

/* What the truth is, beside noise. */
struct truth {
	uint64_t seed;
	size_t jobs, days;
	double runs_a_day;    /* of a job */
	double failing_share; /* of runs, by chance */
	bool growing;         /* job-000: its peaks reach the request about 7 days after the end */
	bool slower;          /* job-001: +20 % since 12 days, with code c1 -> c2 */
	bool cluster;    /* image corpus:3.2 of jobs 002 to 004 runs out of memory since 10 days */
	bool slow_node;  /* node-17 takes 14 % longer */
	bool odd_day;    /* job-005 ran 60 times more 9 days ago */
	bool over;       /* job-006 uses 2 of 32 cores and 28 of 128 GiB */
	bool cost_known; /* else it is estimated */
};

struct synthetic {
	struct trk_past_run *run; /* newest first, as the history gives them */
	size_t count, cap;
	uint64_t state;
	struct trk_texts texts; /* of the runs */
};

static inline double synthetic_uniform(struct synthetic *s)
{
	/* splitmix64 */
	uint64_t z = (s->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double) ((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static inline double synthetic_normal(struct synthetic *s)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += synthetic_uniform(s);
	return sum;
}

/* A text that stays. */
__attribute__((format(printf, 2, 3))) static inline const char *synthetic_text(struct synthetic *s,
									       const char *format,
									       ...)
{
	char text[512];
	va_list args;
	long at;

	va_start(args, format);
	at = trk__texts_add(&s->texts, text, (size_t) vsnprintf(text, sizeof(text), format, args));
	va_end(args);
	if (at < 0)
		abort();
	return trk__texts_at(&s->texts, (size_t) at);
}

static inline struct trk_past_run *synthetic_add(struct synthetic *s)
{
	if (s->count == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 4096;
		s->run = realloc(s->run, s->cap * sizeof(*s->run));
		if (!s->run)
			abort();
	}
	past_run_init(&s->run[s->count]);
	return &s->run[s->count++];
}

/* What a job is, whatever the day. */
struct synthetic_job {
	double seconds, noise, cores, asked_cores, mib, asked_mib;
	int team, user;
};

static inline void synthetic_job_make(struct synthetic *s, size_t at, const struct truth *t,
				      struct synthetic_job *ret)
{
	static const double sizes[] = {2, 4, 8, 16, 32};
	double cores = sizes[(size_t) (synthetic_uniform(s) * 5)];

	*ret = (struct synthetic_job){
		.seconds = 300 * pow(40, synthetic_uniform(s)),
		.noise = 0.02 + 0.06 * synthetic_uniform(s),
		.asked_cores = cores,
		.cores = cores * (0.55 + 0.4 * synthetic_uniform(s)),
		.asked_mib = cores * 4096,
		.mib = cores * 4096 * (0.55 + 0.3 * synthetic_uniform(s)),
		.team = (int) (at % 7),
		.user = (int) (at % 23),
	};
	if (at == 6 && t->over)
		*ret = (struct synthetic_job){.seconds = 15840,
					      .noise = 0.04,
					      .asked_cores = 32,
					      .cores = 2.2,
					      .asked_mib = 131072,
					      .mib = 27000};
	if (at == 5 && t->odd_day)
		*ret = (struct synthetic_job){.seconds = 3600,
					      .noise = 0.04,
					      .asked_cores = 32,
					      .cores = 26,
					      .asked_mib = 131072,
					      .mib = 90000};
	if (at == 0 && t->growing) {
		ret->asked_mib = 65536;
		ret->mib = 32000;
	}
	if (at == 1 && t->slower)
		*ret = (struct synthetic_job){.seconds = 5640,
					      .noise = 0.03,
					      .asked_cores = 16,
					      .cores = 12,
					      .asked_mib = 32768,
					      .mib = 20000};
}

static inline void synthetic_tags(struct synthetic *s, size_t at, double age_days,
				  const struct truth *t, const struct synthetic_job *job,
				  struct trk_past_run *run, int node)
{
	const char *image = at >= 2 && at <= 4 && age_days < 10 ? "corpus:3.2"
			    : at >= 2 && at <= 4                ? "corpus:3.1"
								: "base:1.0";
	const char *code = at == 1 && t->slower && age_days < 12 ? "c2" : "c1";
	static const char *const servers[] = {"c7i.4xlarge", "m7i.2xlarge", "r7i.4xlarge"};

	run->tags = synthetic_text(
		s, "code=%s\nimage=%s\nnode=node-%02d\nserver=%s\nteam=team-%d\nuser=user-%02d\n",
		code, image, node, servers[at % 3], job->team, job->user);
}

static inline void synthetic_run(struct synthetic *s, size_t at, double start_s,
				 const struct truth *t, const struct synthetic_job *job)
{
	struct trk_past_run *run = synthetic_add(s);
	double age = (SYNTHETIC_NOW + 28800 - start_s) / SYNTHETIC_DAY;
	int node = (int) (synthetic_uniform(s) * 24);
	double seconds = job->seconds * exp(job->noise * synthetic_normal(s));
	double mib = job->mib * exp(0.02 * synthetic_normal(s));
	bool oom = false, failed = synthetic_uniform(s) < t->failing_share;

	if (at == 0 && t->growing) /* to 1.0 of the request at 7 days from now */
		mib = 65536 * exp(-0.0065 * (age + 7)) * exp(0.004 * synthetic_normal(s));
	if (at == 1 && t->slower && age < 12)
		seconds *= 1.2;
	if (node == 17 && t->slow_node)
		seconds *= 1.14;
	if (at >= 2 && at <= 4 && age < 10 && t->cluster)
		oom = synthetic_uniform(s) < 0.7;
	(void) snprintf(run->id, sizeof(run->id), "r-%06zx", s->count);
	run->job = synthetic_text(s, "job-%03zu", at);
	run->kind = "run";
	run->command = synthetic_text(s, "python job_%zu.py", at);
	run->end_name = oom ? "out_of_memory" : "exited";
	run->code = oom ? -1 : failed ? 1 : 0;
	run->ended = true;
	run->end = trk__past_run_end(run);
	run->start_s = start_s;
	run->duration_s = seconds * (oom || failed ? 0.5 : 1);
	run->cpu_mean = job->cores * exp(0.02 * synthetic_normal(s));
	run->cpu_s = run->cpu_mean * run->duration_s;
	run->cpu_max = run->cpu_mean * 1.15;
	run->memory.bytes = (oom ? job->asked_mib : fmin(mib, job->asked_mib)) * TRK_MIB;
	run->memory_mean_bytes = mib * 0.8 * TRK_MIB;
	run->disk_read_bytes = run->disk_write_bytes = 0;
	run->limit_cpu = run->request_cpu = job->asked_cores;
	run->limit_memory_bytes = run->request_memory_bytes = job->asked_mib * TRK_MIB;
	run->cost_usd =
		t->cost_known
			? run->duration_s / 3600 *
				  (0.0373 * job->asked_cores + 0.00433 * job->asked_mib / 1024)
			: (double) NAN;
	run->samples = 100;
	run->capacity[TRK_RESOURCE_CPU] =
		(struct trk_capacity){job->asked_cores, TRK_CAPACITY_REQUESTED, "--cpus"};
	run->capacity[TRK_RESOURCE_MEMORY_MIB] =
		(struct trk_capacity){job->asked_mib, TRK_CAPACITY_REQUESTED, "--mem"};
	synthetic_tags(s, at, age, t, job, run, node);
}

static inline int synthetic_by_time(const void *a, const void *b)
{
	double x = ((const struct trk_past_run *) a)->start_s,
	       y = ((const struct trk_past_run *) b)->start_s;

	return (x < y) - (x > y);
}

static inline void synthetic_make(const struct truth *t, struct synthetic *ret)
{
	struct synthetic s = {.state = t->seed};
	struct synthetic_job *jobs = calloc(t->jobs, sizeof(*jobs));
	double now = SYNTHETIC_NOW + 28800, midnight = SYNTHETIC_NOW;

	if (!jobs)
		abort();
	for (size_t i = 0; i < t->jobs; i++)
		synthetic_job_make(&s, i, t, &jobs[i]);
	for (size_t d = 0; d < t->days; d++) {
		double day = midnight - (double) (t->days - 1 - d) * SYNTHETIC_DAY;
		long weekday = ((long) (day / SYNTHETIC_DAY) + 4) % 7; /* 0: Sunday */
		double much = weekday == 0 || weekday == 6 ? 0.75 : 1;

		for (size_t i = 0; i < t->jobs; i++) {
			double runs = t->runs_a_day * (i < 7 ? 1 : much);
			size_t n = (size_t) runs + (synthetic_uniform(&s) < runs - floor(runs));

			if (i < 7 && n == 0)
				n = 1;
			if (i == 5 && t->odd_day && d + 10 == t->days)
				n += 60;
			for (size_t k = 0; k < n; k++) {
				double at = day + SYNTHETIC_DAY * synthetic_uniform(&s);

				if (at < now)
					synthetic_run(&s, i, at, t, &jobs[i]);
			}
		}
	}
	qsort(s.run, s.count, sizeof(*s.run), synthetic_by_time);
	free(jobs);
	*ret = s;
}

static inline void synthetic_release(struct synthetic *s)
{
	free(s->run);
	trk__texts_release(&s->texts);
}

/* ---- the views of it ---- */

struct views {
	struct trk_fleet_rows rows;
	struct trk_fleet_jobs jobs;
	struct trk_fleet_machines machines;
	struct trk_fleet_overview o;
};

static inline int views_make(const struct synthetic *s, double days, struct views *ret)
{
	double now = SYNTHETIC_NOW + 28800;
	int r = 0;

	trk__fleet_rows_init(&ret->rows, now, 0);
	for (size_t i = 0; r == 0 && i < s->count; i++)
		r = trk__fleet_rows_add(&ret->rows, &s->run[i]);
	if (r == 0)
		r = trk__fleet_rows_sort(&ret->rows);
	if (r == 0)
		r = trk__fleet_jobs_make(&ret->rows, NULL, now - days * SYNTHETIC_DAY, &ret->jobs);
	if (r == 0)
		r = trk__fleet_machines_make(&ret->rows, now - days * SYNTHETIC_DAY,
					     &ret->machines);
	if (r == 0)
		r = trk__fleet_overview_make(&ret->rows, &ret->jobs, &ret->machines, &ret->o);
	return r;
}

static inline void views_release(struct views *v)
{
	trk__fleet_overview_release(&v->o);
	trk__fleet_machines_release(&v->machines);
	trk__fleet_jobs_release(&v->jobs);
	trk__fleet_rows_release(&v->rows);
}

#endif
