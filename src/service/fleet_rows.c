#include "service/fleet_rows.h"

#include <errno.h>
#include <math.h>

enum { ROWS_ALWAYS = 50000, ROWS_DAYS = 120, JOB_RUNS_MAX = 220 };

struct loading {
	struct trk_fleet_rows *rows;
	double cut_s;
	int error;
};

static int take_run(void *data, const struct trk_history_run *run)
{
	struct loading *l = data;

	if (l->rows->count >= ROWS_ALWAYS && run->start_s < l->cut_s)
		return 1;
	l->error = trk__fleet_rows_add(l->rows, run);
	return l->error;
}

static int read_rows(struct trk_history *h, const struct trk_job_key *job, size_t max,
		     struct loading *l, struct trk_error *reterr)
{
	int r = trk__history_list(h, job, max, false, take_run, l, reterr);

	if (r >= 0)
		r = l->error < 0 ? l->error : trk__fleet_rows_sort(l->rows);
	if (r == -ENOMEM)
		return trk__error_set(reterr, r, NULL, "out of memory");
	return r < 0 ? r : 0;
}

int trk__fleet_rows_read(struct trk_history *h, double days, struct trk_fleet_rows *ret,
			 struct trk_error *reterr)
{
	double kept_days = 2 * days > ROWS_DAYS ? 2 * days : ROWS_DAYS;
	struct loading l = {.rows = ret, .cut_s = ret->now_s - kept_days * 86400};

	return read_rows(h, NULL, 0, &l, reterr);
}

int trk__fleet_rows_read_job(struct trk_history *h, const struct trk_job_key *job,
			     struct trk_fleet_rows *ret, struct trk_error *reterr)
{
	struct loading l = {.rows = ret, .cut_s = -INFINITY};

	return read_rows(h, job, JOB_RUNS_MAX, &l, reterr);
}
