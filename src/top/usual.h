/* The usual course of a job: medians over its newest earlier runs, drawn over the watched run. */
#ifndef TRK_TOP_USUAL_H
#define TRK_TOP_USUAL_H

#include "top/watch.h"

enum { TRK_USUAL_RUNS_MAX = 5, TRK_USUAL_BINS = 512 };

struct trk_usual_phase {
	char name[TRK_MARK_NAME_SIZE]; /* as of struct trk_run_phase */
	double seconds;
};

struct trk_usual_run {
	double seconds, share[TRK_SPENTS];
	float bin[TRK_WATCH_FIGURES][TRK_USUAL_BINS]; /* bins of `step_s` */
	size_t phase_count;
	struct trk_usual_phase phase[TRK_PHASES_MAX];
};

struct trk_usual {
	size_t runs;    /* number of runs; 0: nothing is known */
	double step_s;  /* of a bin */
	double seconds; /* run time */
	double share[TRK_SPENTS];
	float bin[TRK_WATCH_FIGURES][TRK_USUAL_BINS]; /* NaN: not known */
	size_t phase_count;
	struct trk_usual_phase phase[TRK_PHASES_MAX];
	struct trk_usual_run *run; /* owned */
};

/* Add an earlier run that succeeded, at most TRK_USUAL_RUNS_MAX; 0 or -ENOMEM. The first one sets
 * step_s. */
int trk__usual_add(struct trk_usual *u, struct trk_watch *run);
/* Compute the medians. Call after the last run was added. */
void trk__usual_settle(struct trk_usual *u);
/* Add the earlier runs of the job of `record`, from the history of `dir` and the recordings below
 * runs_fd, and compute the medians. A history that cannot be opened counts as empty. */
void trk__usual_load(struct trk_usual *u, const char *dir, int runs_fd,
		     const struct trk_record *record);
void trk__usual_release(struct trk_usual *u);

/* The usual duration of a phase, matched by name, or by number if it has no name and the number of
 * phases is equal; NaN: unknown. */
double trk__usual_phase_s(const struct trk_usual *u, const struct trk_time_breakdown *times,
			  size_t phase);

/* As trk__watch_bins: the usual figure in `bins` equal parts of from_s to to_s. */
void trk__usual_bins(const struct trk_usual *u, enum trk_watch_figure figure, double from_s,
		     double to_s, float *bin, int bins);

#endif
