/* Shared by the files of memory.h: the earlier runs that count (memory_history.c), the predictors of the
 * next peak (memory_forecast.c), and the distribution of (need / forecast) that prices a request
 * (memory_price.c). */
#ifndef TRK_ADVISE_MEMORY_PRIVATE_H
#define TRK_ADVISE_MEMORY_PRIVATE_H

#include "advise/memory.h"

enum { TRK_PSEUDO_RUNS = 48, TRK_RATIOS_MAX = TRK_MEMORY_RUNS_MAX + TRK_PSEUDO_RUNS };

/* The runs that count, oldest first. */
struct trk_history {
	size_t count;
	double need_bytes[TRK_MEMORY_RUNS_MAX];
	double duration_s[TRK_MEMORY_RUNS_MAX];
	double ln_need[TRK_MEMORY_RUNS_MAX];
	bool is_kill[TRK_MEMORY_RUNS_MAX]; /* the need is a multiple of the limit of a killed run */
	double input_bytes[TRK_MEMORY_RUNS_MAX];
	double ln_input[TRK_MEMORY_RUNS_MAX];
	double next_input_bytes; /* NaN: not known */
};

/* Need / forecast of one predictor, ascending, with running sums from the top. */
struct trk_ratios {
	double forecast_bytes; /* for the next run */
	double highest_ratio;  /* of real runs */
	struct trk_record_law {
		double near, far, far_share; /* scales of the two kinds of record */
	} law;
	double forecast_per_use; /* memory-hours forecast / used in the replay of the history */
	size_t runs;             /* real runs among them */
	size_t history_runs;
	bool is_scaled; /* earlier peaks were scaled up to the next input */
	size_t count;
	double ratio[TRK_RATIOS_MAX];
	double weight_from[TRK_RATIOS_MAX + 1]; /* sum of weights of [i..count) */
	double share_from[TRK_RATIOS_MAX + 1]; /* the same by number of runs, not by memory-hours */
	double need_from[TRK_RATIOS_MAX + 1];  /* sum of weight * ratio of [i..count) */
};

/* What a failure costs, in multiples of the need. */
struct trk_fail_price {
	double lambda; /* of each failure */
	double charge; /* of the chance of failing above the bearable one, for a run of any size */
	double young_share; /* which is this share of 1 / (n + 1) at least */
};

/* What the predictor would have forecast before each run; ret_past[count] is for the next one. NaN:
 * no forecast. */
void trk__memory_forecast(const struct trk_history *h, enum trk_basis basis, double *ret_past);

/* Scale the needs of a young job up to the next input. False, and unscaled needs, if nothing is
 * scaled. */
bool trk__memory_scale_young(const struct trk_history *h, double *ret_need_bytes);

/* Sums about the means of ln input and ln need, of the `n` runs with an input. */
struct trk_input_fit {
	double n, sxx, sxy;
};
struct trk_input_fit trk__history_fit(const struct trk_history *h);

/* Fill in the ratios of one predictor. False if it has too few runs yet. */
bool trk__ratios_make(const struct trk_history *h, enum trk_basis basis,
		      const struct trk_memory_tuning *tuning, struct trk_ratios *ret);

/* The factor above `above` with the least price; *ret_price may be NULL. 0 when there is none. */
double trk__ratios_best(const struct trk_ratios *r, const struct trk_memory_tuning *tuning,
			const struct trk_fail_price *fail, double above, double *ret_price);

/* The ratio in the middle of the real runs, by weight. */
double trk__ratios_median(const struct trk_ratios *r);

/* Chance of a ratio above `factor`, with the unbounded tail of the law of records. */
double trk__ratios_chance(const struct trk_ratios *r, double factor);

/* --- inputs larger than all before ------------------------------------------------------------ */

/* Runs from which on a job is no longer young. */
enum { TRK_YOUNG_RUNS = 9 };

struct trk_beyond {
	double peak_bytes;     /* at the largest input so far */
	double ln_input_ratio; /* of the next input to that one */
	const double *power;   /* quantiles of the power of that ratio by which the need grows */
};

/* Whether the next run of a young job has a larger input than all runs before it. */
bool trk__memory_is_beyond(const struct trk_history *h, struct trk_beyond *ret);
/* The cheapest request, by the measured growth of the needs of other jobs. */
double trk__memory_beyond_request(const struct trk_beyond *b, double lambda);
/* Chance that the run needs more than that. */
double trk__memory_beyond_chance(const struct trk_beyond *b, double bytes);

/* --- the earlier runs that count -------------------------------------------------------------- */

/* Kills at the end of the history, with no success after them. */
struct trk_open_kills {
	size_t count;
	double failed_bytes; /* the largest amount that was not enough; 0: not known */
};

/* Which runs a history includes. Kills that a later success resolved are never included. */
enum trk_taken { TRK_TAKE_SUCCESSES, TRK_TAKE_ALL, TRK_TAKE_OPEN_KILLS };

/* The earlier runs and the options (borrowed). */
struct trk_earlier_view {
	const struct trk_past_run *runs;
	size_t count;
	const struct trk_memory_options *options;
};

/* Positive and finite. */
bool trk__memory_known(double x);
/* The need of an earlier run, or NaN: its peak, or for a kill a multiple of its limit. */
double trk__earlier_need(const struct trk_past_run *run, const struct trk_memory_tuning *tuning);
/* The most that an earlier run held, or NaN: its peak, and for a kill at least its limit. */
double trk__earlier_held(const struct trk_past_run *run);
/* Whether a larger input than that of the next run explains this run's need. */
bool trk__input_explains(const struct trk_past_run *run, const struct trk_memory_options *options);
/* Whether run `at` counts: false for a kill that is open or that a success resolved, and for a
 * stopped run whose peak is not above that of all successes. */
bool trk__earlier_counts(const struct trk_earlier_view *view, size_t at);
struct trk_open_kills trk__open_kills(const struct trk_earlier_view *view);

/* The newest runs that count, oldest first. */
void trk__memory_history_fill(struct trk_history *h, const struct trk_earlier_view *view,
			      enum trk_taken which);
/* The first run since the last shift of level, 0 without one. */
size_t trk__memory_history_shift(const struct trk_history *h,
				 const struct trk_memory_tuning *tuning, bool *ret_up);
/* The range of the peaks, without kills, and of the inputs that are known. */
struct trk_spread {
	double least_bytes, most_bytes, least_input_bytes, most_input_bytes;
};
/* Whether peaks vary by more than 3 times and the next run's input is not known. */
bool trk__memory_history_is_wide(const struct trk_history *h, struct trk_spread *ret);
/* If each of the newest 4 runs needed more than all before it, and no input size is known for the
 * next one: the largest need and the mean of these steps. 0: the need does not grow. */
double trk__memory_history_growth(const struct trk_history *h);
void trk__memory_history_forget(struct trk_history *h, size_t runs);

#endif
