#include "advise/original.h"

#include <math.h>

#include "base/error.h"
#include "base/maths.h"

static const double headroom = 1.2;

double trk__original_round_memory(double mib)
{
	if (isnan(mib))
		return NAN;
	for (int step = 128; step <= 2048; step *= 2)
		if (mib <= step)
			return step;
	return trk__ceil(mib / 1024) * 1024;
}

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double at_least_one(double cores)
{
	double whole = trk__round_even(cores);

	return whole > 1 ? whole : 1;
}

int trk__original_advise(const struct trk_original_run *runs, size_t count,
			 struct trk_original_advice *ret)
{
	double cores = 0, known = 0, memory = NAN, gpus = NAN, gpu_mean = 0, vram = NAN;

	for (size_t i = 0; i < count; i++) {
		const struct trk_original_run *r = &runs[i];

		if (!isnan(r->mean_cores)) {
			cores += r->mean_cores;
			known++;
		}
		if (!isnan(r->max_memory_mib))
			memory = larger(memory, r->max_memory_mib);
		if (!isnan(r->max_gpus))
			gpus = larger(gpus, r->max_gpus);
		if (!isnan(r->max_vram_mib))
			vram = larger(vram, r->max_vram_mib);
		gpu_mean += r->mean_gpus > 0 ? r->mean_gpus : 0;
	}
	if (!(known > 0) && isnan(memory))
		return -TRK_ERR_NODATA;
	*ret = (struct trk_original_advice){
		.cpu = known > 0 ? at_least_one(cores / known) : NAN,
		.memory_mib = trk__original_round_memory(memory * headroom),
		.gpu = gpu_mean > 0 && gpus > 0 ? at_least_one(gpus) : 0,
		.vram_mib = vram > 0 ? trk__original_round_memory(vram * headroom) : 0,
	};
	return 0;
}
