#include "top/usual.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "history/history.h"

int trk__usual_add(struct trk_usual *u, struct trk_watch *run)
{
	double end_s = trk__watch_end_s(run);
	const struct trk_time_breakdown *c = trk__watch_times(run);
	struct trk_usual_run *r;

	if (u->runs >= TRK_USUAL_RUNS_MAX || !(end_s > 0))
		return 0;
	if (!u->run)
		u->run = calloc(TRK_USUAL_RUNS_MAX, sizeof(*u->run));
	if (!u->run)
		return -ENOMEM;
	if (u->runs == 0)
		u->step_s = trk__watch_end_s(run) * 1.5 / TRK_USUAL_BINS;
	r = &u->run[u->runs++];
	r->seconds = end_s;
	trk__watch_spent(run, end_s, r->share);
	for (int f = 0; f < TRK_WATCH_FIGURES; f++)
		(void) trk__watch_bins(run, (enum trk_watch_figure) f, 0,
				       u->step_s * TRK_USUAL_BINS, end_s, r->bin[f],
				       TRK_USUAL_BINS);
	r->phase_count = c ? c->phase_count : 0;
	for (size_t i = 0; i < r->phase_count; i++) {
		(void) snprintf(r->phase[i].name, sizeof(r->phase[i].name), "%s", c->phase[i].name);
		r->phase[i].seconds = c->phase[i].end_s - c->phase[i].start_s;
	}
	return 0;
}

/* The median of the known values; NaN if fewer than half are known. */
static double median(double *value, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(value[i]))
			value[known++] = value[i];
	if (known == 0 || 2 * known < count)
		return NAN;
	return trk__median(value, known);
}

/* The phases of the newest run, each with its median over the runs that have it. */
static void settle_phases(struct trk_usual *u)
{
	double value[TRK_USUAL_RUNS_MAX];

	u->phase_count = u->run[0].phase_count;
	for (size_t i = 0; i < u->phase_count; i++) {
		const char *name = u->run[0].phase[i].name;

		u->phase[i] = u->run[0].phase[i];
		for (size_t r = 0; r < u->runs; r++) {
			const struct trk_usual_run *run = &u->run[r];

			value[r] = NAN;
			if (!*name && run->phase_count == u->phase_count)
				value[r] = run->phase[i].seconds;
			for (size_t k = 0; *name && k < run->phase_count; k++)
				if (!strcmp(run->phase[k].name, name))
					value[r] = run->phase[k].seconds;
		}
		u->phase[i].seconds = median(value, u->runs);
	}
}

void trk__usual_settle(struct trk_usual *u)
{
	double value[TRK_USUAL_RUNS_MAX];

	if (u->runs == 0)
		return;
	for (size_t r = 0; r < u->runs; r++)
		value[r] = u->run[r].seconds;
	u->seconds = median(value, u->runs);
	for (int i = 0; i < TRK_SPENTS; i++) {
		for (size_t r = 0; r < u->runs; r++)
			value[r] = u->run[r].share[i];
		u->share[i] = median(value, u->runs);
	}
	for (int f = 0; f < TRK_WATCH_FIGURES; f++)
		for (int b = 0; b < TRK_USUAL_BINS; b++) {
			for (size_t r = 0; r < u->runs; r++)
				value[r] = (double) u->run[r].bin[f][b];
			u->bin[f][b] = (float) median(value, u->runs);
		}
	settle_phases(u);
}

/* ---- from the history ---- */

enum { LOOK_BACK = 40, NEW_RUNS_MAX = 64 };

struct loading {
	struct trk_usual *usual;
	const struct trk_record *record;
	int runs_fd;
};

static int take_past(void *data, const struct trk_history_run *past)
{
	struct loading *l = data;
	struct trk_watch *w;
	bool well = past->ended && !strcmp(past->verdict, trk__end_name(TRK_END_EXITED)) &&
		    past->code == 0;

	if (!well || !past->file[0] || !strcmp(past->id, l->record->run.id) ||
	    past->start_s * 1e9 >= (double) l->record->run.start_ns ||
	    !trk__store_is_name(past->file))
		return 0;
	w = calloc(1, sizeof(*w));
	if (w && trk__watch_open(w, l->runs_fd, past->file, 0, NULL) == 0) {
		if (trk__watch_update(w) >= 0)
			(void) trk__usual_add(l->usual, w);
		trk__watch_close(w);
	}
	free(w);
	return l->usual->runs >= TRK_USUAL_RUNS_MAX;
}

void trk__usual_load(struct trk_usual *u, const char *dir, int runs_fd,
		     const struct trk_record *record)
{
	struct trk_job_key key = trk__job_key(&record->run);
	struct loading l = {u, record, runs_fd};
	struct trk_history *h;

	if (runs_fd < 0 || !record->run.job[0])
		return;
	h = trk__history_open_at(NULL, dir, NEW_RUNS_MAX, NULL);
	if (!h)
		return;
	(void) trk__history_list(h, &key, LOOK_BACK, false, take_past, &l, NULL);
	trk__history_free(h);
	trk__usual_settle(u);
}

void trk__usual_release(struct trk_usual *u)
{
	free(u->run);
	memset(u, 0, sizeof(*u));
}

double trk__usual_phase_s(const struct trk_usual *u, const struct trk_time_breakdown *times,
			  size_t phase)
{
	const char *name = times->phase[phase].name;

	for (size_t i = 0; *name && i < u->phase_count; i++)
		if (!strcmp(u->phase[i].name, name))
			return u->phase[i].seconds;
	/* Phases found by figures: a running job does not show its later ones yet. */
	if (!*name && !times->marked && phase < u->phase_count &&
	    times->phase_count <= u->phase_count && !*u->phase[phase].name)
		return u->phase[phase].seconds;
	return NAN;
}

void trk__usual_bins(const struct trk_usual *u, enum trk_watch_figure figure, double from_s,
		     double to_s, float *bin, int bins)
{
	for (int b = 0; b < bins; b++) {
		double at = from_s + (to_s - from_s) * (b + 0.5) / bins;
		double i = u->runs ? at / u->step_s : -1;

		bin[b] = i >= 0 && i < TRK_USUAL_BINS
				 ? u->bin[figure][trk__whole(i, 0, TRK_USUAL_BINS - 1)]
				 : NAN;
	}
}
