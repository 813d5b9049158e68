/* How much memory to request for the next run of a job, from the runs so far.
 *
 * Pure functions: no I/O, no allocation, no clock. All sizes are bytes, all times seconds; NaN is
 * "not known". 200 runs of history take well below a millisecond. docs/advice.md explains the
 * method; docs/advice-replay.md shows its cost and failures on recorded jobs.
 *
 * In short: a few simple predictors of the next peak (the largest so far, a moving average, a line
 * through the input sizes, the runs with the most similar input) are evaluated by what they would
 * have predicted before each earlier run. Their errors are extended by the law of records: after n
 * runs the next one exceeds all of them with probability 1/(n+1), by an amount that follows a
 * measured tail, scaled by the distance between the job's two largest peaks. The request is the
 * pair of predictor and factor with the least expected price: the request times the run time plus,
 * if the run needs more, the price of the failed attempt and of the next one. */
#ifndef TRK_ADVISE_MEMORY_H
#define TRK_ADVISE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/past_run.h"

enum {
	TRK_MEMORY_RUNS_MAX = 200, /* the newest that are used */
	TRK_MEMORY_REASONS_MAX = 10,
	TRK_MEMORY_REASON_SIZE = 200,
};

/* Cost of a failure in addition to the memory it held: lambda 0, 1 and 4 times the need. */
enum trk_risk {
	TRK_RISK_DEFAULT,
	TRK_RISK_CHEAP, /* least memory-hours; several times the failures */
	TRK_RISK_SAFE,  /* and never below an earlier peak, unless input size explains that peak */
};

/* Constants of the method; only the replay benchmark varies them. */
struct trk_memory_tuning {
	double half_life_runs;     /* the weight of a run halves after this many newer ones */
	size_t join_after;         /* forecasts that a predictor must have made before it counts */
	double time_to_failure;    /* share of the run that a failing attempt lasts */
	size_t shift_down_runs;    /* this many runs in a row below (above) all earlier ones */
	size_t shift_up_runs;      /* ... and the older ones are forgotten; 0: never */
	double step_bytes;         /* requests are rounded up to multiples of this */
	double floor_bytes;        /* and are no smaller than this */
	double out_of_memory_grow; /* need of a killed run, as a multiple of its limit */
	double chance_max;         /* a request that the next run exceeds more often is excluded */
	double shift_gap;    /* a shift of level stands out by this share of ln(max / min) before */
	double newest_extra; /* the newest run weighs so much more than by its age */
	size_t jump_before;  /* a run a tenth above so many before it, at most, is a jump: */
	size_t jump_before_min; /* and at least; the next request is no less than its peak */
	double bearable_chance; /* of failing; what is above costs the charge: */
	double failing_charge[TRK_RISK_SAFE + 1]; /* by risk, in multiples of the mean need */
	double young_share; /* of a young job at least this share of 1 / (n + 1) is bearable */
	/* Of a wide job, whose input is not known: times the charge, and instead of young_share. */
	double wide_charge, wide_young_share;
	double record_scale;     /* by how much a record exceeds the one before, in logarithms: */
	double record_own;       /* weight of the job's own gap in that, against the pooled scale */
	double record_far;       /* share of records that are of another scale, */
	double record_far_scale; /* this one */
	unsigned int predictors; /* bit set of 1 << TRK_BASIS_...; _MAX always counts */
};
extern const struct trk_memory_tuning trk__memory_tuning;

/* Zero-initialised: default risk, sizes not known (NaN means not known too). */
struct trk_memory_options {
	enum trk_risk risk;
	double input_bytes;                     /* of the next run; NaN: not known */
	bool is_new_work;                       /* no earlier run did the work of the next one */
	double machine_bytes;                   /* the largest request possible; NaN: no bound */
	const struct trk_memory_tuning *tuning; /* borrowed; NULL: trk__memory_tuning */
};

/* The predictor that was chosen. */
enum trk_basis {
	TRK_BASIS_MAX,     /* largest peak so far */
	TRK_BASIS_AVERAGE, /* moving average of the logarithm of the peaks (0.3 new) */
	TRK_BASIS_LINE,    /* least squares through input size, never falling */
	TRK_BASIS_ALIKE,   /* largest of the three runs with the nearest input size */
	TRK_BASIS_POWER,   /* least squares through the logarithms of input size and peak */
	TRK_BASES
};

enum trk_confidence {
	TRK_CONFIDENCE_FIRST_ESTIMATE, /* fewer than 3 runs */
	TRK_CONFIDENCE_LOW,            /* fewer than 8, or chance of exceeding above 10 % */
	TRK_CONFIDENCE_MEDIUM,         /* fewer than 20, or chance above 4 % */
	TRK_CONFIDENCE_HIGH,
};

struct trk_memory_advice {
	double request_bytes;
	double next_rung_bytes; /* to retry with if request_bytes is not enough */
	enum trk_basis basis;
	const char
		*basis_text;   /* the basis in words, and where its figure comes from; never NULL */
	double forecast_bytes; /* what the basis predicts */
	double median_bytes;   /* as many runs need more as less, by the errors of the basis */
	double factor;         /* request before floors and rounding = forecast * factor */
	double chance_exceed;  /* that the next run needs more than request_bytes, 0 to 1 */
	enum trk_confidence confidence;
	size_t runs_used;      /* runs with usable figures, newest TRK_MEMORY_RUNS_MAX at most */
	size_t runs_forgotten; /* of them, those before a shift of level, which are not used */
	double highest_bytes;  /* the most that an earlier run held, failed runs included */
	/* The most that an earlier run held, where it is above request_bytes, or NaN; the share of
	 * runs above it; why the request is below it. */
	double passed_peak_bytes;
	double passed_peak_chance;
	bool retry;           /* the newest run ran out of memory: this is for its retry */
	bool is_of_part;      /* the peak of the newest run is of its largest process or task: the
				 chance is NaN */
	bool is_wide;         /* peaks vary by more than 3 times, and no input size explains it */
	bool exceeds_machine; /* the need is above machine_bytes, to which the request was cut */
	size_t reason_count;
	char reason[TRK_MEMORY_REASONS_MAX][TRK_MEMORY_REASON_SIZE];
};

/* Advise on the next run after `count` earlier ones, oldest first (borrowed). Their ends, peaks,
 * run times, inputs and, of killed ones, limits are read. A run without a peak is left out, unless
 * it ran out of memory at a known limit. `options` may be NULL. Returns 0; -TRK_ERR_NODATA when no run has a memory figure; -EINVAL for an invalid
 * enumeration value. *ret is untouched on failure. */
int trk__memory_advise(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, struct trk_memory_advice *ret);

/* The next rung after the next run failed at failed_bytes: the cheapest request by the same
 * distribution, given that the need is above failed_bytes; twice failed_bytes if the distribution
 * has no such runs. Always above failed_bytes (but never above machine_bytes). Returns 0, or as
 * above; -EINVAL if failed_bytes is not a positive number. */
int trk__memory_next_rung(const struct trk_past_run *runs, size_t count,
			  const struct trk_memory_options *options, double failed_bytes,
			  double *ret_bytes);

/* Chance that the next run's peak is above `bytes`, 0 to 1, by the predictor that would be chosen.
 * Errors as above. */
int trk__memory_chance(const struct trk_past_run *runs, size_t count,
		       const struct trk_memory_options *options, double bytes, double *ret);

/* Add a reason; ignored when the list is full. */
__attribute__((format(printf, 2, 3))) void trk__memory_say(struct trk_memory_advice *a,
							   const char *format, ...);
/* "first estimate", "low", "medium", "high". */
const char *trk__confidence_name(enum trk_confidence confidence);

#endif
