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

/* One run's figures; NaN: not known (the run is then left out of that figure). */
struct trk_original_run {
	double mean_cores;
	double max_memory_mib;
	double mean_gpus, max_gpus; /* GPUs busy */
	double max_vram_mib;
};

struct trk_original_advice {
	double cpu;        /* cores, 1 at least; NaN: not known of any run */
	double memory_mib; /* NaN: not known of any run */
	double gpu;        /* 0: none was used, or not known */
	double vram_mib;   /* 0 likewise */
};

/* Smallest of 128, 256, 512, 1024, 2048 that holds `mib`, above that the next whole GiB, in MiB.
 * NaN of NaN. */
double trk__original_round_memory(double mib);

/* Returns 0, or -TRK_ERR_NODATA where no run has a figure of CPU or memory. */
int trk__original_advise(const struct trk_original_run *runs, size_t count,
			 struct trk_original_advice *ret);

#endif
