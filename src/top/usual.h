/* How a job usually goes: medians over its newest earlier runs, to lay over the one that is
 * watched. */
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
	float bin[TRK_WATCH_FIGURES][TRK_USUAL_BINS]; /* of the time, as `step_s` */
	size_t phase_count;
	struct trk_usual_phase phase[TRK_PHASES_MAX];
};

struct trk_usual {
	size_t runs;    /* that it is made of; 0: nothing is known */
	double step_s;  /* of a bin */
	double seconds; /* run time */
	double share[TRK_SPENTS];
	float bin[TRK_WATCH_FIGURES][TRK_USUAL_BINS]; /* NaN: not known */
	size_t phase_count;
	struct trk_usual_phase phase[TRK_PHASES_MAX];
	struct trk_usual_run *run; /* owned */
};

/* An earlier run that ended well. Takes at most TRK_USUAL_RUNS_MAX of them; 0 or -ENOMEM. The first
 * one sets the step of time. */
int trk__usual_add(struct trk_usual *u, struct trk_watch *run);
/* After the last one: the medians. */
void trk__usual_settle(struct trk_usual *u);
/* All of that for the job of this run, from the history of `dir` and the recordings below runs_fd.
 * A history that cannot be opened has no runs. */
void trk__usual_load(struct trk_usual *u, const char *dir, int runs_fd,
		     const struct trk_record *record);
void trk__usual_release(struct trk_usual *u);

/* The usual length of a phase, found by its name, or by number where it has none and there are as
 * many phases; NaN: not known. */
double trk__usual_phase_s(const struct trk_usual *u, const struct trk_time_breakdown *times,
			  size_t phase);

/* As trk__watch_bins: the usual figure in `bins` equal parts of from_s to to_s. */
void trk__usual_bins(const struct trk_usual *u, enum trk_watch_figure figure, double from_s,
		     double to_s, float *bin, int bins);

#endif
