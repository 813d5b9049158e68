/* The usual course of a job: median and 10 to 90 % band of the CPU use and memory of its earlier
 * successful runs, on the time axis of this run.
 *
 * With the same marks in the same order, each phase of an earlier run is stretched to the length of
 * this run's phase. Otherwise times are compared as they are, and a run that has ended counts as
 * 0. */
#ifndef TRK_REPORT_USUAL_COURSE_H
#define TRK_REPORT_USUAL_COURSE_H

#include "recording/reader.h"
#include "report/section/section.h"

enum {
	TRK_COURSE_RUNS_MAX = 15, /* at most so many of the newest runs are read */
	TRK_COURSE_RUNS_MIN = 5,  /* with fewer runs nothing is shown */
	TRK_COURSE_POINTS = 180,
};

enum trk_course_kind {
	TRK_COURSE_CPU,    /* cores */
	TRK_COURSE_MEMORY, /* MiB */
	TRK_COURSE_KINDS
};

struct trk_usual_course {
	size_t runs;
	bool by_phase; /* all of them have this run's marks */
	double duration_s[TRK_COURSE_RUNS_MAX];
	/* Duration of each of this run's marked phases in each run; the first phase ends at the
	 * first mark. */
	double phase_s[TRK_COURSE_RUNS_MAX][TRK_PHASES_MAX];
	/* NaN: not known. */
	float value[TRK_COURSE_KINDS][TRK_COURSE_POINTS][TRK_COURSE_RUNS_MAX];
};

/* Add the rows of an earlier run. `now` is this run; runs beyond the maximum are ignored. */
void trk__course_add(struct trk_usual_course *u, const struct trk_record *now,
		     const struct trk_record *earlier, const struct trk_report_rows *rows);

struct trk_course_band {
	double low, middle, high; /* percentiles 10, 50 and 90; NaN: not known */
};

/* The band at a share of this run, smoothed over its neighbours. */
struct trk_course_band trk__course_at(const struct trk_usual_course *u, enum trk_course_kind kind,
				      double share);

/* Median duration of a phase (index as in phase_s) or of the whole run (-1), in s. */
double trk__course_seconds(const struct trk_usual_course *u, int phase);

/* Bounds of a run's phases by its marks, in s: 0, the marks, the end. At most TRK_PHASES_MAX + 1;
 * returns how many phases there are, 0 where there are no marks or too many. */
size_t trk__course_bounds(const struct trk_record *record, double bound[TRK_PHASES_MAX + 1]);

/* ---- in the charts ---- */

/* The maximum of the band, in the column's unit; 0 without a band. */
double trk__course_most(const struct trk_usual_course *u, enum trk_course_kind kind);
/* Add the band to a chart whose `top` is set; factor: from the column's unit to the chart's. */
void trk__course_of_chart(struct trk_doc *d, const struct trk_usual_course *u,
			  enum trk_course_kind kind, double factor, struct trk_doc_chart *c);
/* Add up to TRK_DOC_ODDS sentences about differences, numbered as in the charts. */
void trk__course_say(struct trk_doc *d, struct trk_doc_section *s, const struct trk_report_work *w);

#endif
