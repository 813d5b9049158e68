/* Whether a run differs from the earlier runs of its job by more than their noise.
 *
 * The logarithm of a value is compared with the noise of the job: the distance from the median in
 * units of 1.4826 times the median absolute deviation (the standard deviation, if the noise were
 * normal). One outlier among the earlier runs does not change that unit. Pure, no allocation. */
#ifndef TRK_ADVISE_ANOMALY_H
#define TRK_ADVISE_ANOMALY_H

#include <stddef.h>

enum { TRK_ANOMALY_RUNS_MIN = 5, TRK_ANOMALY_RUNS_MAX = 50, TRK_ANOMALY_STREAM_RUNS = 20 };

/* Lower bound of the noise, as a share of the value: real repetitions vary at least that much, and
 * with constant figures every change would be an anomaly. */
#define TRK_ANOMALY_FLOOR_TIME   0.03
#define TRK_ANOMALY_FLOOR_MEMORY 0.01

/* In units of noise: the distance above which a single run is odd, and the cumulative sum (CUSUM,
 * less half a unit per run) above which the job has changed. */
#define TRK_ANOMALY_LIMIT 5.0
#define TRK_DRIFT_LIMIT   5.0

enum trk_anomaly_kind {
	TRK_ANOMALY_TOO_FEW = -1, /* fewer than 5 earlier runs: too few to judge */
	TRK_ANOMALY_NO,
	TRK_ANOMALY_HIGH,
	TRK_ANOMALY_LOW,
};

struct trk_anomaly {
	enum trk_anomaly_kind kind;
	double median;      /* of the earlier runs; NaN with none */
	double noise_share; /* one unit of noise as a share of the median; NaN with too few */
	double distance;    /* signed, in units of noise; NaN with too few */
	double change;      /* value / median - 1; NaN with no earlier run */
	size_t runs;        /* earlier runs used: known and positive, the newest 50 */
};

/* Compare `value` with `earlier` values (oldest first, NaN and <= 0 are left out). Returns 0, or
 * -EINVAL when value is not a positive number or floor_share is negative or NaN. */
int trk__anomaly_judge(const double *earlier, size_t count, double value, double floor_share,
		       struct trk_anomaly *ret);
/* The same with n logarithms, at most TRK_ANOMALY_RUNS_MAX, in any order. */
int trk__anomaly_judge_ln(const double *ln, size_t n, double value, double floor_share,
			  struct trk_anomaly *ret);

/* Whether the newest value is the one that shows a change of level: *ret is the distance by which
 * the cumulative sum exceeds TRK_DRIFT_LIMIT, positive upwards ("has become slower, bigger"),
 * negative downwards, else 0. Each value is compared with the TRK_ANOMALY_STREAM_RUNS before it (5
 * at least) and counts for TRK_ANOMALY_LIMIT at most, so that one odd run is not a drift; the sum
 * restarts from 0 after a change. Returns 0, or -TRK_ERR_NODATA with fewer than 6 values. */
int trk__anomaly_drift(const double *values, size_t count, double floor_share, double *ret);

/* The same for every value in one pass: writes the ascending indices of the values that show a
 * change of level to ret_at[0 .. count) and returns their number. All values must be known and
 * positive. */
size_t trk__anomaly_drifts(const double *values, size_t count, double floor_share, size_t *ret_at);

#endif
