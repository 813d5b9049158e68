#include "advise/gpu_use.h"

#include <math.h>

/* The smallest whole number of GPUs for the busy ones, ignoring a little noise. */
static double whole(double gpus)
{
	double n = 0;

	while (n < 1024 && n < gpus - TRK_GPU_IDLE_SHARE)
		n++;
	return n;
}

/* Comparisons with NaN are false: what is not known fails every rule. */
static void judge_count(const struct trk_gpu_facts *f, struct trk_sizing_verdict *v)
{
	double enough = whole(f->usage_p95);

	if (!(f->given >= 1) || isnan(f->usage_mean))
		return;
	if (f->used < 1) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "no GPU was used: %.0f were idle", f->given);
	} else if (f->used < f->given) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "%.0f of %.0f GPUs were idle", f->given - f->used, f->given);
	} else if (f->usage_mean / f->given < TRK_GPU_IDLE_SHARE) {
		v->gpu_over = f->stated;
		trk__sizing_say(v, "the GPUs were busy %.1f %% of the time",
				100 * f->usage_mean / f->given);
	} else if (f->given >= 2 && enough >= 1 && enough < f->given) {
		v->gpu_over = f->stated;
		trk__sizing_say(
			v, "%.0f GPU%s would be enough: of %.0f, at most %.2g were busy at once",
			enough, enough > 1 ? "s" : "", f->given, f->usage_p95);
	}
}

void trk__sizing_judge_gpus(const struct trk_gpu_facts *facts, struct trk_sizing_verdict *v)
{
	if (v->sizing == TRK_SIZING_NOT_ENOUGH_DATA)
		return;
	if (v->sizing == TRK_SIZING_RIGHT && v->reason_count == 1 && !isnan(facts->usage_mean) &&
	    facts->given >= 1) {
		/* If all is well, the reason is added again below. */
		v->reason_count = 0;
		judge_count(facts, v);
		if (v->reason_count == 0)
			v->reason_count = 1;
	} else {
		judge_count(facts, v);
	}
	if (v->gpu_over && (v->sizing == TRK_SIZING_RIGHT || v->sizing == TRK_SIZING_UNSTATED))
		v->sizing = TRK_SIZING_OVER;
	if (facts->sm_activity < TRK_GPU_LOW_SM && facts->utilization >= TRK_GPU_LOW_SM_BUSY)
		trk__sizing_say(v,
				"a kernel ran %.0f %% of the GPU's time, but on %.0f %% of its "
				"multiprocessors: larger batches, or a smaller GPU",
				100 * facts->utilization, 100 * facts->sm_activity);
	if (facts->starved_share >= TRK_GPU_STARVED_SHARE)
		trk__sizing_say(v,
				"the GPU waited %.0f %% of the time while a core was busy: more "
				"workers for "
				"loading the data",
				100 * facts->starved_share);
}

double trk__gpu_advise(const struct trk_gpu_facts *facts, double busiest)
{
	double enough = whole(busiest);

	if (isnan(facts->used) && isnan(busiest))
		return NAN;
	if (facts->used >= 1 && whole(facts->usage_p95) >= 1 && !(enough > 0))
		return whole(facts->usage_p95);
	/* A GPU that was used only briefly is not requested again. */
	if (!(enough >= 1) && facts->used >= 1)
		return 1;
	return enough;
}
