#include "advise/original.h"

#include <math.h>

#include "base/bytes.h"
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

int trk__original_advise(const struct trk_past_run *runs, size_t count,
			 struct trk_original_advice *ret)
{
	double cores = 0, known = 0, memory = NAN, gpus = NAN, gpu_mean = 0, vram = NAN;

	for (size_t i = 0; i < count; i++) {
		const struct trk_past_run *r = &runs[i];

		if (!isnan(r->cpu_mean)) {
			cores += r->cpu_mean;
			known++;
		}
		if (!isnan(r->memory.bytes))
			memory = larger(memory, r->memory.bytes);
		if (!isnan(r->gpu_max))
			gpus = larger(gpus, r->gpu_max);
		if (!isnan(r->vram.bytes))
			vram = larger(vram, r->vram.bytes);
		gpu_mean += r->gpu_mean > 0 ? r->gpu_mean : 0;
	}
	if (!(known > 0) && isnan(memory))
		return -TRK_ERR_NODATA;
	*ret = (struct trk_original_advice){
		.cpu = known > 0 ? at_least_one(cores / known) : NAN,
		.memory_mib = trk__original_round_memory(memory / TRK_MIB * headroom),
		.gpu = gpu_mean > 0 && gpus > 0 ? at_least_one(gpus) : 0,
		.vram_mib = vram > 0 ? trk__original_round_memory(vram / TRK_MIB * headroom) : 0,
	};
	return 0;
}
