/* One job of a fleet: its use of its request, a rating, the recommended request and its savings,
 * changes of run time and peaks, and when the peaks reach the request.
 *
 * Methods. Memory: the advice of `recommend` (fleet/alike.h). Cores: the history has the mean
 * and the maximum of busy cores, not their course; of all courses with that mean and maximum, the
 * one that fewer cores delay most is assumed (advise/cpu.h advises on it). Growth: the Theil-Sen
 * line through the logarithms of the newest 40 peaks, reported only if it rises by more than 5
 * units of its own noise and by more than 6 %. A new level of run time: the cumulative sum of
 * advise/anomaly.h. */
#ifndef TRK_FLEET_JOB_H
#define TRK_FLEET_JOB_H

#include "advise/anomaly.h"
#include "advise/memory.h"
#include "advise/verdict.h"
#include "fleet/rows.h"

enum {
	TRK_FLEET_RUNS_MAX = 200,   /* newest runs of a job that advice and trends use */
	TRK_FLEET_RECENT_RUNS = 30, /* successful runs for the usual figures */
	TRK_FLEET_WAYS_MAX = 8,     /* traits that changed together with the level */
	TRK_FLEET_MONTH_DAYS = 30,
};

/* Sums of runs. Money: of runs with a known cost; shares: of runs with a known request or
 * capacity. */
struct trk_fleet_sum {
	size_t runs, failed, out_of_memory, priced, estimated, unpriced;
	double usd, idle_cores_usd, idle_memory_usd, failed_usd;
	double used_core_s, asked_core_s; /* of runs where both are known */
	double used_byte_s, asked_byte_s; /* peaks times run time */
	double run_s;
};
void trk__fleet_sum_add(struct trk_fleet_sum *sum, const struct trk_fleet_run *run);
void trk__fleet_sum_merge(struct trk_fleet_sum *sum, const struct trk_fleet_sum *more);
/* Cost of idle cores, idle memory and failed runs. */
double trk__fleet_waste_usd(const struct trk_fleet_sum *sum);
/* NaN: not known. */
double trk__fleet_cores_share(const struct trk_fleet_sum *sum);
double trk__fleet_memory_share(const struct trk_fleet_sum *sum);

enum trk_fleet_rating {
	TRK_FLEET_FEW, /* fewer than 3 good runs */
	TRK_FLEET_RIGHT,
	TRK_FLEET_OVER,
	TRK_FLEET_UNDER,
	TRK_FLEET_SOON,     /* its peaks reach the request within 30 days */
	TRK_FLEET_UNSTATED, /* nothing was requested or limited */
	TRK_FLEET_RATINGS
};
/* "not enough data", "right-sized", "over-provisioned", "under-provisioned", "will fail soon",
 * "nothing requested". */
extern const char *const trk__fleet_rating_names[TRK_FLEET_RATINGS];

/* The value of a trait before and since a change, each in at least 90 % of the runs. */
struct trk_fleet_way {
	enum trk_fleet_trait trait;
	uint32_t before, since; /* texts */
};

/* The newest change of level of the run time. */
struct trk_fleet_drift {
	bool known;
	double p;                 /* chance of it by noise alone */
	double change;            /* median since / median before - 1 */
	double from_s;            /* start of the first run of the new level */
	double told_s;            /* start of the run that made it clear */
	double before_s, since_s; /* medians of run time */
	size_t runs_since;
	double usd_month; /* more (or less) a month at that level; NaN: not known */
	size_t ways;
	struct trk_fleet_way way[TRK_FLEET_WAYS_MAX];
	bool machine_same; /* the machines or servers are known and did not change */
};

/* Growth of the peaks. */
struct trk_fleet_growth {
	bool known;       /* a line was fitted */
	bool rising;      /* and rises clearly */
	double p;         /* chance of such a rise without one */
	double a_day;     /* share by which the peak grows a day */
	double now_bytes; /* the line at the newest run */
	double days_left; /* until the line reaches the request; NaN: never, or not rising */
	double runs_left; /* at the job's usual pace */
};

struct trk_fleet_job {
	const struct trk_fleet_name *name; /* view of the rows */
	size_t index;
	enum trk_fleet_rating rating;
	const struct trk_fleet_run *last; /* view; the newest run */
	uint32_t trait[TRK_FLEET_TRAITS]; /* of the newest run */
	struct trk_fleet_sum period;      /* since the start of the view */
	struct trk_fleet_sum before;      /* the period of the same length before it */
	struct trk_fleet_sum month;       /* the last 30 days */
	double runs_a_day;                /* of the last 30 days */
	/* Usual figures: of the newest TRK_FLEET_RECENT_RUNS good runs. */
	size_t recent;
	double duration_s, noise_share, cores, cores_p95, peak_bytes, peak_p95_bytes, usd;
	double asked_cores, asked_bytes; /* of the newest run; NaN: unknown */
	bool stated_cores, stated_memory;
	/* Recommended request; NaN: not known. Not above the current one, unless the job needs
	 * more. */
	double ask_cores, ask_bytes, ask_usd, longer_share;
	bool has_memory;
	struct trk_memory_advice memory;
	double saves_usd_month; /* 0: nothing, or the job needs more; NaN: cost not known */
	struct trk_fleet_growth growth;
	struct trk_fleet_drift drift;
	size_t odd;            /* odd runs in the period */
	size_t failing_in_row; /* newest runs that failed, for one cause */
};

/* Compute one job; `since_s`: start of the period. 0 or -ENOMEM. */
int trk__fleet_job_make(const struct trk_fleet_rows *rows, size_t index, double since_s,
			struct trk_fleet_job *ret);

/* Chance that the next run needs more than `bytes`; NaN: not known. */
double trk__fleet_job_chance(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			     double bytes);

/* Compare a successful run with the successful runs before it at the same level. Kind
 * TRK_ANOMALY_TOO_FEW for other runs, and if there are too few before it. */
void trk__fleet_judge(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
		      const struct trk_fleet_run *run, struct trk_anomaly *ret);

struct trk_fleet_jobs {
	struct trk_fleet_job *job; /* owned; sorted by money saved, then spent */
	size_t count;
	double since_s;
	struct trk_fleet_sum sum; /* of the period, over all jobs */
};
/* Figures that do not depend on the period are copied from `from`, the jobs over another one; NULL:
 * none. 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_jobs_make(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *from,
			 double since_s, struct trk_fleet_jobs *ret);
void trk__fleet_jobs_release(struct trk_fleet_jobs *jobs);
/* The entry of the job with this index in the rows; NULL: it is not there. */
const struct trk_fleet_job *trk__fleet_job_at(const struct trk_fleet_jobs *jobs, size_t index);

#endif
