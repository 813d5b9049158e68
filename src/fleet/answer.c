#include "fleet/answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/json.h"

static const char *const view_names[TRK_FLEET_VIEWS] = {
#define X(id, name) name,
	TRK_FLEET_VIEW_LIST(X)
#undef X
};

static int find_name(const char *const *names, int count, const char *name)
{
	int i = 0;

	while (i < count && strcmp(names[i], name) != 0)
		i++;
	return i < count ? i : -1;
}

int trk__fleet_view_find(const char *name)
{
	return find_name(view_names, TRK_FLEET_VIEWS, name);
}

size_t trk__fleet_named_job(const struct trk_fleet_rows *rows, const char *reference)
{
	size_t at = trk__fleet_find_job(rows, reference, NULL);
	const char *in = strstr(reference, " in ");
	char name[TRK_RUN_TEXT_SIZE];

	if (at < rows->jobs || !in || (size_t) (in - reference) >= sizeof(name))
		return at;
	memcpy(name, reference, (size_t) (in - reference));
	name[in - reference] = '\0';
	return trk__fleet_find_job(rows, name, in + 4);
}

int trk__fleet_end_find(const char *name)
{
	return find_name(trk__fleet_end_names, TRK_FLEET_ENDS, name);
}

/* ---- a page of runs ---- */

/* Newest first; of one start by id. */
static int compare(double start_s, const char *id, const struct trk_fleet_run *b)
{
	if (start_s != b->past.start_s)
		return start_s < b->past.start_s ? 1 : -1;
	return strcmp(id, b->past.id);
}

static int by_start(const void *a, const void *b)
{
	const struct trk_fleet_run *x = *(const struct trk_fleet_run *const *) a;

	return compare(x->past.start_s, x->past.id, *(const struct trk_fleet_run *const *) b);
}

static bool is_of(const struct trk_fleet_rows *rows, const struct trk_fleet_name *job,
		  const struct trk_fleet_run_filter *f)
{
	return (!f->job || !strcmp(job->name, f->job)) &&
	       (!f->scope || !strcmp(job->scope, f->scope));
}

static bool matches(const struct trk_fleet_run *run, const struct trk_fleet_run_filter *f)
{
	return (f->end < 0 || run->end == f->end) &&
	       (!f->id || !strncmp(run->past.id, f->id, strlen(f->id)));
}

int trk__fleet_run_page_make(const struct trk_fleet_rows *rows,
			     const struct trk_fleet_run_filter *filter,
			     struct trk_fleet_run_page *ret)
{
	const struct trk_fleet_run **run =
		calloc(rows->count + 1, sizeof(const struct trk_fleet_run *));
	const char *before_id = filter->before_id ? filter->before_id : "";
	size_t n = 0, first = 0;

	if (!run)
		return -ENOMEM;
	for (size_t k = 0; k < rows->jobs; k++) {
		const struct trk_fleet_name *job = &rows->job[k];

		for (size_t i = 0; is_of(rows, job, filter) && i < job->count; i++)
			if (matches(&rows->run[job->first + i], filter))
				run[n++] = &rows->run[job->first + i];
	}
	if (n)
		qsort(run, n, sizeof(const struct trk_fleet_run *), by_start);
	while (!isnan(filter->before_s) && first < n &&
	       compare(filter->before_s, before_id, run[first]) >= 0)
		first++;
	ret->run = run;
	ret->matched = n;
	ret->count = n - first < filter->max ? n - first : filter->max;
	ret->more = first + ret->count < n;
	memmove(run, run + first, ret->count * sizeof(const struct trk_fleet_run *));
	return 0;
}

void trk__fleet_run_page_release(struct trk_fleet_run_page *page)
{
	free(page->run);
	page->run = NULL;
}

const struct trk_fleet_run *trk__fleet_find_run(const struct trk_fleet_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(rows->run[i].past.id, id))
			return &rows->run[i];
	return NULL;
}

/* ---- as JSON ---- */

static void run_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		     const struct trk_fleet_jobs *jobs, const struct trk_fleet_run *run)
{
	const struct trk_fleet_job *job = trk__fleet_job_at(jobs, run->job);
	const struct trk_fleet_name *name = &rows->job[run->job];

	trk__json_open(j, '{');
	trk__json_key_text(j, "job", name->name);
	trk__json_key_or_null(j, "scope", name->scope);
	for (int i = 0; i < TRK_FLEET_TRAITS; i++)
		trk__json_key_or_null(j, trk__fleet_trait_names[i],
				      trk__fleet_text(rows, run->trait[i]));
	if (job)
		trk__fleet_run_members(j, rows, job, run);
	trk__json_close(j, '}');
}

static void page_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		      const struct trk_fleet_jobs *jobs, const struct trk_fleet_run_page *page)
{
	const struct trk_fleet_run *last =
		page->more && page->count ? page->run[page->count - 1] : NULL;

	trk__json_open(j, '{');
	trk__json_key_open(j, "runs", '[');
	for (size_t i = 0; i < page->count; i++)
		run_json(j, rows, jobs, page->run[i]);
	trk__json_close(j, ']');
	trk__json_key_u64(j, "matched", page->matched);
	if (trk__json_key_object(j, "older", last != NULL) && last) {
		trk__json_key_double(j, "before", last->past.start_s);
		trk__json_key_text(j, "id", last->past.id);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

static void one_run_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			 const struct trk_fleet_jobs *jobs, const struct trk_fleet_run *run)
{
	const struct trk_fleet_job *job = trk__fleet_job_at(jobs, run->job);
	const struct trk_fleet_name *name = &rows->job[run->job];
	size_t at = (size_t) (run - rows->run) - name->first;

	trk__json_open(j, '{');
	trk__json_key(j, "run");
	run_json(j, rows, jobs, run);
	trk__json_key_text(j, "previous", at > 0 ? run[-1].past.id : NULL);
	trk__json_key_text(j, "next", at + 1 < name->count ? run[1].past.id : NULL);
	trk__json_key_text(j, "command", run->past.command);
	trk__fleet_usual_json(j, job);
	trk__json_close(j, '}');
}

/* ---- the views ---- */

static void job_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		     const struct trk_fleet_job *job)
{
	trk__json_open(j, '{');
	trk__fleet_job_members(j, rows, job);
	trk__json_key(j, "period");
	trk__fleet_sum_json(j, &job->period);
	trk__fleet_job_details(j, rows, job, TRK_FLEET_RUNS_SHOWN);
	trk__json_close(j, '}');
}

int trk__fleet_runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			 const struct trk_fleet_jobs *jobs,
			 const struct trk_fleet_run_filter *filter)
{
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(rows, filter, &page);

	if (r < 0)
		return r;
	page_json(j, rows, jobs, &page);
	trk__fleet_run_page_release(&page);
	return 0;
}

static int view_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		     const struct trk_fleet_views *v, const struct trk_fleet_question *q)
{
	switch (q->view) {
	case TRK_FLEET_VIEW_JOBS:
		trk__fleet_jobs_json(j, rows, &v->jobs);
		return 0;
	case TRK_FLEET_VIEW_JOB:
		job_json(j, rows, trk__fleet_job_at(&v->jobs, q->job));
		return 0;
	case TRK_FLEET_VIEW_RUNS:
		return trk__fleet_runs_json(j, rows, &v->jobs, &q->runs);
	case TRK_FLEET_VIEW_RUN:
		one_run_json(j, rows, &v->jobs, q->run);
		return 0;
	case TRK_FLEET_VIEW_MACHINES:
		trk__fleet_machines_json(j, rows, &v->machines);
		return 0;
	case TRK_FLEET_VIEW_ALERTS:
		trk__json_verbatim(j, q->alerts ? q->alerts : "null");
		return 0;
	default:
		trk__fleet_overview_json(j, rows, &v->overview);
		return 0;
	}
}

int trk__fleet_answer(const struct trk_fleet_rows *rows, const struct trk_fleet_views *v,
		      const struct trk_fleet_question *q, struct trk_buf *b)
{
	struct trk_json j;
	int r;

	trk__json_init(&j, b, q->indent);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.fleet/1");
	trk__json_key_text(&j, "what", view_names[q->view]);
	trk__json_key_double(&j, "as_of", rows->now_s);
	trk__json_key(&j, view_names[q->view]);
	r = view_json(&j, rows, v, q);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
	return r < 0 ? r : b->error;
}
