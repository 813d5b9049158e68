/* The course of a run in at most 1024 blocks, from which phases, the usual course of a job and
 * advice on splitting are computed without reading the samples again. When blocks are merged, sums
 * are added and peaks kept (course.h). */
#ifndef TRK_MODEL_OUTLINE_H
#define TRK_MODEL_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/course.h"
#include "model/sample.h"

enum { TRK_OUTLINE_BLOCKS_MAX = 1024 };

/* The parts of the time: the columns process_on_cpu and so on. */
enum trk_spent {
	TRK_SPENT_ON_CPU,
	TRK_SPENT_GPU,
	TRK_SPENT_DISK,
	TRK_SPENT_MEMORY,
	TRK_SPENT_FOR_CPU,
	TRK_SPENTS
};

extern const int trk__spent_columns[TRK_SPENTS]; /* enum trk_column */

/* What charts and phases show of a block: amounts as rates. */
enum trk_block_figure {
	TRK_FIGURE_CORES,
	TRK_FIGURE_MEMORY_MIB, /* peaks */
	TRK_FIGURE_READ,       /* bytes a second */
	TRK_FIGURE_WRITE,      /* bytes a second */
	TRK_FIGURES_DRAWN,     /* the others are used for phases */
	TRK_FIGURE_CPU_TIME = TRK_FIGURES_DRAWN,
	TRK_FIGURE_DISK_WAIT,
	TRK_FIGURE_GPU_BUSY,
};

struct trk_block {
	double end_s;               /* since the start of the run */
	double seconds;             /* that it covers */
	double core_s;              /* CPU time; NaN: unknown in a part of the block */
	double memory_peak_mib;     /* NaN: never known */
	double spent_s[TRK_SPENTS]; /* NaN: never known */
	double queue_s;             /* of all threads, for a CPU; NaN: never known */
	double gpu_busy_s;          /* mean of the GPUs that it used at a time; NaN: never known */
	double others_core_s;       /* CPU time of the rest of the machine; NaN: never known */
	double used_core_s;         /* the column of cores used, times seconds; NaN: never known */
	double read_bytes, write_bytes; /* NaN: never known */
};

struct trk_outline {
	struct trk_block *block; /* owned; in order */
	struct trk_course course;
};

/* The block of one row; of a merged row, with sums of amounts. `machine`: what charts show is that
 * of the machine, not of the job. */
struct trk_block trk__block_of(const struct trk_sample *mean, const struct trk_sample *max,
			       bool machine);
double trk__block_figure(const struct trk_block *b, enum trk_block_figure figure);

/* Add one row as `block`, to `most` blocks; it is dropped without memory. Zeroed memory is an empty
 * outline. */
void trk__outline_add(struct trk_outline *o, size_t most, const struct trk_block *block);
void trk__outline_release(struct trk_outline *o);

/* The sum of the blocks whose middle is in [from_s, to_s); seconds 0: there are none. */
struct trk_block trk__outline_sum(const struct trk_outline *o, double from_s, double to_s);
/* The peak, or else the mean over time, of a figure from from_s to to_s; NaN: not known. */
double trk__outline_figure(const struct trk_outline *o, enum trk_block_figure figure, double from_s,
			   double to_s, bool peak);

#endif
