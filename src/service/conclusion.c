#include "service/conclusion.h"

#include <stdio.h>
#include <string.h>

#include "service/runs.h"

int trk__conclude(const struct trk_service *s, const struct trk_record *record, size_t max_new,
		  struct trk_conclusion *ret, trk_conclusion_fn *on_known, void *data)
{
	struct trk_history *h = NULL;
	struct trk_error team;
	struct trk_job_runs runs = {.count = 0};
	struct trk_advice_input question;
	int r;

	r = trk__runs_history_of(s, max_new, &h, &team, NULL);
	memset(ret, 0, sizeof(*ret));
	/* A server that is down gets the runs later. */
	if (team.code == -TRK_ERR_UNSUPPORTED)
		(void) snprintf(ret->unsent, sizeof(ret->unsent), "%s", team.message);
	r = r ? r : trk__job_runs_read(s, h, NULL, record, &runs);
	r = r ? r : runs.history_error;
	if (r == 0) {
		question = trk__job_runs_question(&runs, record);
		ret->has_advice = trk__advice_make(&question, &ret->advice) == 0;
		ret->busy = runs.use->busy;
		trk__job_runs_change(&runs, &ret->change);
		ret->has_change = true;
		if (on_known)
			on_known(data, ret);
		trk__job_runs_phases(&runs, s, record, &ret->change);
		if (on_known)
			on_known(data, ret);
	}
	trk__job_runs_release(&runs);
	trk__history_free(h);
	return r;
}
