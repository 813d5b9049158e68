/* The usual course of a job: median and 10 to 90 % band over its newest earlier runs that
 * succeeded, on the time axis of this run. The report draws it, and `top`.
 *
 * With the same marks in the same order, each phase of an earlier run is stretched to the length of
 * this run's phase. Otherwise, and while this run is not over, times are compared as they are. An
 * earlier run that has ended counts as 0. */
#ifndef TRK_ANSWER_USUAL_COURSE_H
#define TRK_ANSWER_USUAL_COURSE_H

#include "answer/time_breakdown.h"
#include "history/history.h"

enum {
	TRK_USUAL_RUNS_MAX = 15, /* at most so many of the newest runs are read */
	TRK_USUAL_RUNS_MIN = 5,  /* with fewer runs nothing is usual */
	TRK_USUAL_POINTS = 180,
};

struct trk_usual_band {
	double low, middle, high; /* percentiles 10, 50 and 90; NaN: not known */
};

/* One earlier run. */
struct trk_usual_run {
	double seconds, share[TRK_SPENTS];
	struct {
		char name[TRK_MARK_NAME_SIZE]; /* as of struct trk_run_phase */
		double seconds;
	} phase[TRK_PHASES_MAX];
	size_t phases;
	double value[TRK_FIGURES_DRAWN][TRK_USUAL_POINTS]; /* NaN: not known */
};

struct trk_usual_course {
	size_t runs;
	bool by_phase; /* all of them have this run's marks */
	double span_s; /* of this run, from its start, that the points cover */
	int64_t bytes; /* of the recordings that were read */
	struct trk_usual_run run[TRK_USUAL_RUNS_MAX];
	struct trk_usual_band band[TRK_FIGURES_DRAWN][TRK_USUAL_POINTS];
};

/* Add an earlier run, the newest first; runs beyond the maximum are ignored. Zeroed memory has
 * none. 0 or -ENOMEM. */
int trk__usual_course_add(struct trk_usual_course *u, const struct trk_record *now,
			  const struct trk_record *earlier);
/* Add a run of the history from its recording below runs_fd, unless it did not end well or began
 * after `now`. True: as many runs as are needed, or recordings of a few MB, have been read. */
bool trk__usual_course_read(struct trk_usual_course *u, const struct trk_record *now, int runs_fd,
			    const struct trk_past_run *past);
/* Compute the bands, after the last run. False: too few runs. */
bool trk__usual_course_settle(struct trk_usual_course *u);

/* The band at a moment of this run, smoothed over its neighbours. */
struct trk_usual_band trk__usual_course_at(const struct trk_usual_course *u,
					   enum trk_block_figure figure, double at_s);
/* Median duration of a run. */
double trk__usual_course_seconds(const struct trk_usual_course *u);
/* Median share of the time. */
double trk__usual_course_share(const struct trk_usual_course *u, enum trk_spent spent);
/* Median duration of a phase of `times`, in the runs that have it at the same place, or else by its
 * name; NaN: fewer than half of them. */
double trk__usual_course_phase_s(const struct trk_usual_course *u,
				 const struct trk_time_breakdown *times, size_t phase);

#endif
