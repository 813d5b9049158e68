#include "fleet/answer.h"

#include <string.h>

#include "fleet/json.h"

static const char *const view_names[TRK_FLEET_VIEWS] = {
#define X(id, name) name,
	TRK_FLEET_VIEW_LIST(X)
#undef X
};

int trk__fleet_view_find(const char *name)
{
	for (int i = 0; i < TRK_FLEET_VIEWS; i++)
		if (!strcmp(view_names[i], name))
			return i;
	return -1;
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

static int runs_json(struct trk_json *j, const struct trk_fleet_rows *rows,
		     const struct trk_fleet_jobs *jobs, const struct trk_fleet_run_filter *filter)
{
	struct trk_fleet_run_page page;
	int r = trk__fleet_run_page_make(rows, filter, &page);

	if (r < 0)
		return r;
	trk__fleet_run_page_json(j, rows, jobs, &page);
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
		return runs_json(j, rows, &v->jobs, &q->runs);
	case TRK_FLEET_VIEW_RUN:
		trk__fleet_one_run_json(j, rows, &v->jobs, q->run);
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
