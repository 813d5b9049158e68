/* The course of a run in at most 1024 blocks, from which phases and advice on splitting are
 * computed without reading the samples again.
 *
 * Blocks are in order of time. When there are too many, neighbours are merged in pairs: sums are
 * added, peaks kept. Memory is bounded for any length of run, and each row costs the same. */
#ifndef TRK_MODEL_OUTLINE_H
#define TRK_MODEL_OUTLINE_H

#include <stddef.h>

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

struct trk_block {
	double end_s;               /* since the start of the run */
	double seconds;             /* that it covers */
	double core_s;              /* CPU time; NaN: unknown in a part of the block */
	double memory_peak_mib;     /* NaN: never known */
	double spent_s[TRK_SPENTS]; /* NaN: never known */
	double queue_s;             /* of all threads, for a CPU; NaN: never known */
	double gpu_busy_s;          /* mean of the GPUs that it used at a time; NaN: never known */
	double others_core_s;       /* CPU time of the rest of the machine; NaN: never known */
};

struct trk_outline {
	struct trk_block *block; /* owned; in order */
	size_t count, cap;
	size_t rows_each; /* rows per block */
	size_t rows_last; /* in the last block so far */
};

/* Add one row; it is dropped without memory. Zeroed memory is an empty outline. */
void trk__outline_add(struct trk_outline *o, const struct trk_sample *mean,
		      const struct trk_sample *max);
void trk__outline_release(struct trk_outline *o);

#endif
