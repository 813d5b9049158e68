/* Whether a run used its GPUs. Pure functions over totals that the caller fills in. The thresholds
 * are the constants below, and docs/gpu.md lists them. */
#ifndef TRK_ADVISE_GPU_USE_H
#define TRK_ADVISE_GPU_USE_H

#include "advise/verdict.h"

#define TRK_GPU_IDLE_SHARE    0.05 /* busy less than this on average: idle */
#define TRK_GPU_LOW_SM        0.30 /* multiprocessors busy less than this … */
#define TRK_GPU_LOW_SM_BUSY   0.50 /* … though a kernel ran at least this much */
#define TRK_GPU_STARVED_SHARE 0.20 /* of the time a GPU waited while a core was busy */

/* NaN: not known; such figures are not judged. */
struct trk_gpu_facts {
	double given;      /* GPUs that were requested, else that the job held */
	bool stated;       /* they were requested: only then can they be too many */
	double used;       /* GPUs that it kept busy at any time */
	double usage_mean; /* GPUs busy */
	double usage_p95;
	double utilization; /* mean of the GPUs that it used, of their time */
	double sm_activity; /* of their multiprocessors */
	double starved_share;
};

/* Adds reasons to the verdict, and makes it over-provisioned if requested GPUs were idle. A verdict
 * of not enough data is not changed. */
void trk__sizing_judge_gpus(const struct trk_gpu_facts *facts, struct trk_sizing_verdict *v);

/* Number of GPUs to request for the next run: those that were used, at least the most that were
 * busy at once in any run; 0 if none was used; NaN if not known. */
double trk__gpu_advise(const struct trk_gpu_facts *facts, double busiest);

#endif
