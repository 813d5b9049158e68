/* What memory.c (the choice) and memory_words.c (its reasons) share. */
#ifndef TRK_ADVISE_MEMORY_PRIVATE_H
#define TRK_ADVISE_MEMORY_PRIVATE_H

#include "advise/memory_price.h"

/* Everything that led to one piece of advice. */
struct trk_choice {
	struct trk_history history; /* after forgetting */
	struct trk_ratios ratios;   /* of the chosen predictor */
	enum trk_basis basis;
	double lambda;
	double factor;
	size_t forgotten; /* runs before a shift of level */
	bool shift_up;
	bool no_success; /* all runs failed */
};

/* How a failed run raised the request. */
struct trk_failure_floor {
	double bytes; /* 0: none */
	const struct trk_past_run *run;
};

/* What an earlier run says about need, or NaN. */
double trk__past_need(const struct trk_past_run *run, const struct trk_memory_tuning *tuning);
/* Whether a larger input than that of the next run explains this run's need. */
bool trk__input_explains(const struct trk_past_run *run, const struct trk_memory_options *options);
/* Round a request up to the step, not below the floor. */
double trk__memory_round(const struct trk_memory_tuning *tuning, double bytes);

/* Fill ret->reason from the rest of *ret and what led to it. */
void trk__memory_explain(const struct trk_choice *choice, const struct trk_memory_options *options,
			 const struct trk_failure_floor *floor, struct trk_memory_advice *ret);

#endif
