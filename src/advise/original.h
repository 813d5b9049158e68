/* The rule of the original Python package, for users who need the same results.
 *
 * cpu = max(1, round(mean cores)), memory = largest MiB x 1.2 rounded by
 * trk__original_round_memory, gpu = max(1, round(largest)) where any GPU was used, vram as memory.
 * Earlier runs are combined in the same way: the mean of the means, the largest of the maxima. The
 * rule ignores failures, input size and risk; docs/advice-replay.md shows what that costs. (The released
 * package divides MiB by 1024 once more and so always requests 128 MiB; that error is not
 * repeated.) */
#ifndef TRK_ADVISE_ORIGINAL_H
#define TRK_ADVISE_ORIGINAL_H

#include <stddef.h>

#include "model/past_run.h"

struct trk_original_advice {
	double cpu;        /* cores, 1 at least; NaN: not known of any run */
	double memory_mib; /* NaN: not known of any run */
	double gpu;        /* 0: none was used, or not known */
	double vram_mib;   /* 0 likewise */
};

/* Smallest of 128, 256, 512, 1024, 2048 that holds `mib`, above that the next whole GiB, in MiB.
 * NaN of NaN. */
double trk__original_round_memory(double mib);

/* A run is left out of the figures that it lacks. Returns 0, or -TRK_ERR_NODATA where no run has a figure of CPU or memory. */
int trk__original_advise(const struct trk_past_run *runs, size_t count,
			 struct trk_original_advice *ret);

#endif
