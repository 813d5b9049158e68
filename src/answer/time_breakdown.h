/* Where the wall time of a run went, its phases, and whether to split it. Computed from the
 * statistics and the outline in the record, without reading the samples again. */
#ifndef TRK_ANSWER_TIME_BREAKDOWN_H
#define TRK_ANSWER_TIME_BREAKDOWN_H

#include "advise/bottleneck.h"
#include "advise/phases.h"
#include "base/json.h"
#include "model/run.h"

/* Minimum length of a run and number of blocks for finding phases, and minimum length of a phase as
 * a share of the run. Phases by marks may have any length. */
#define TRK_BREAKDOWN_RUN_MIN_S   20.0
#define TRK_BREAKDOWN_BLOCKS_MIN  24
#define TRK_BREAKDOWN_PHASE_SHARE 0.04
#define TRK_BREAKDOWN_CUTS_MAX    5
/* Minimum length of a run for advice to split it: each start costs about a minute. */
#define TRK_BREAKDOWN_SPLIT_MIN_S 300.0

enum { TRK_RUN_PHASE_NAME = TRK_MARK_NAME_SIZE + 24, TRK_BREAKDOWN_CUT_SIZE = 256 };

struct trk_run_phase {
	/* of the mark; "" if found by its figures, or before the first mark */
	char name[TRK_MARK_NAME_SIZE];
	char function[TRK_MARK_NAME_SIZE]; /* in which it spent its time; "": unknown */
	double start_s, end_s;             /* since the start of the run */
	size_t later;           /* phases after it that it holds as well, beyond TRK_PHASES_MAX */
	double cores_mean;      /* NaN: not known */
	double memory_peak_mib; /* NaN: not known */
	struct trk_wall_split split; /* shares NaN: not known */
	enum trk_bottleneck bound;
};

struct trk_time_breakdown {
	bool has_wall;
	double seconds; /* the total of the shares */
	struct trk_wall_split wall;
	enum trk_bottleneck bound;
	char bottleneck[TRK_BOTTLENECK_SIZE]; /* a sentence */
	bool marked;                          /* the phases are those of marks */
	size_t phase_count;                   /* 0: there is only one */
	struct trk_run_phase phase[TRK_PHASES_MAX];
	bool has_split; /* `split` was computed */
	struct trk_split split;
	/* "train.py:17 main()", the line that runs first after split.cut_s; "": not known */
	char cut[TRK_BREAKDOWN_CUT_SIZE];
	double cut_mib; /* maximum of memory held at the cut; NaN: unknown */
};

/* 0, or -ENOMEM. */
int trk__time_breakdown_of(const struct trk_record *record, struct trk_time_breakdown *ret);

/* The name of a phase: its mark, else its function with "()", else ""; with "and N later" if it
 * holds phases after it. */
void trk__run_phase_name(const struct trk_run_phase *p, char ret[TRK_RUN_PHASE_NAME]);

/* "load"; "start" before the first mark; "phase 2" where it has no name. Returns `ret`. */
const char *trk__phase_title(const struct trk_time_breakdown *c, size_t i,
			     char ret[TRK_RUN_PHASE_NAME]);

/* The keys "wall", "phases" and "split". */
void trk__time_breakdown_json(struct trk_json *j, const struct trk_time_breakdown *c);

#endif
