/* Shared by memory.c (the request) and memory_history.c (the earlier runs that count). */
#ifndef TRK_ADVISE_MEMORY_PRIVATE_H
#define TRK_ADVISE_MEMORY_PRIVATE_H

#include "advise/memory_price.h"

/* Kills at the end of the history, with no success after them. */
struct trk_open_kills {
	size_t count;
	double failed_bytes; /* the largest amount that was not enough; 0: not known */
};

/* Which runs a history includes. Kills that a later success resolved are never included. */
enum trk_taken { TRK_TAKE_SUCCESSES, TRK_TAKE_ALL, TRK_TAKE_OPEN_KILLS };

/* The earlier runs and the options (borrowed). */
struct trk_earlier_view {
	const struct trk_earlier_run *runs;
	size_t count;
	const struct trk_memory_options *options;
};

/* Positive and finite. */
bool trk__memory_known(double x);
/* The need of an earlier run, or NaN: its peak, or for a kill a multiple of its limit. */
double trk__earlier_need(const struct trk_earlier_run *run, const struct trk_memory_tuning *tuning);
/* The most that an earlier run held, or NaN: its peak, and for a kill at least its limit. */
double trk__earlier_held(const struct trk_earlier_run *run);
/* Whether a larger input than that of the next run explains this run's need. */
bool trk__input_explains(const struct trk_earlier_run *run,
			 const struct trk_memory_options *options);
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
void trk__memory_history_forget(struct trk_history *h, size_t runs);

#endif
