#include "fleet/runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/json.h"

int trk__fleet_end_find(const char *name)
{
	for (int i = 0; i < TRK_FLEET_ENDS; i++)
		if (!strcmp(trk__fleet_end_names[i], name))
			return i;
	return -1;
}

/* ---- a page of runs ---- */

/* Newest first; of one start by id. */
static int compare(double start_s, const char *id, const struct trk_fleet_run *b)
{
	if (start_s != b->start_s)
		return start_s < b->start_s ? 1 : -1;
	return strcmp(id, b->id);
}

static int by_start(const void *a, const void *b)
{
	const struct trk_fleet_run *x = *(const struct trk_fleet_run *const *) a;

	return compare(x->start_s, x->id, *(const struct trk_fleet_run *const *) b);
}

static bool is_of(const struct trk_fleet_rows *rows, const struct trk_fleet_name *job,
		  const struct trk_fleet_run_filter *f)
{
	return (!f->job || !strcmp(trk__fleet_text(rows, job->name), f->job)) &&
	       (!f->scope || !strcmp(trk__fleet_text(rows, job->scope), f->scope));
}

static bool matches(const struct trk_fleet_run *run, const struct trk_fleet_run_filter *f)
{
	return (f->end < 0 || run->end == f->end) &&
	       (!f->id || !strncmp(run->id, f->id, strlen(f->id)));
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
		if (!strcmp(rows->run[i].id, id))
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
	trk__json_key_text(j, "job", trk__fleet_text(rows, name->name));
	trk__json_key_or_null(j, "scope", trk__fleet_text(rows, name->scope));
	for (int i = 0; i < TRK_FLEET_TRAITS; i++)
		trk__json_key_or_null(j, trk__fleet_trait_names[i],
				      trk__fleet_text(rows, run->trait[i]));
	if (job)
		trk__fleet_run_members(j, rows, job, run);
	trk__json_close(j, '}');
}

void trk__fleet_run_page_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			      const struct trk_fleet_jobs *jobs,
			      const struct trk_fleet_run_page *page)
{
	trk__json_open(j, '{');
	trk__json_key_open(j, "runs", '[');
	for (size_t i = 0; i < page->count; i++)
		run_json(j, rows, jobs, page->run[i]);
	trk__json_close(j, ']');
	trk__json_key_u64(j, "matched", page->matched);
	if (trk__json_key_object(j, "older", page->more && page->count)) {
		trk__json_key_double(j, "before", page->run[page->count - 1]->start_s);
		trk__json_key_text(j, "id", page->run[page->count - 1]->id);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

void trk__fleet_one_run_json(struct trk_json *j, const struct trk_fleet_rows *rows,
			     const struct trk_fleet_jobs *jobs, const struct trk_fleet_run *run)
{
	const struct trk_fleet_job *job = trk__fleet_job_at(jobs, run->job);
	const struct trk_fleet_name *name = &rows->job[run->job];
	size_t at = (size_t) (run - rows->run) - name->first;

	trk__json_open(j, '{');
	trk__json_key(j, "run");
	run_json(j, rows, jobs, run);
	trk__json_key_text(j, "previous", at > 0 ? run[-1].id : NULL);
	trk__json_key_text(j, "next", at + 1 < name->count ? run[1].id : NULL);
	trk__json_key_text(j, "command", trk__fleet_text(rows, run->command));
	trk__fleet_usual_json(j, job);
	trk__json_close(j, '}');
}
