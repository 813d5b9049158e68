/* The first view over all jobs: cost, waste, the changes that save most, jobs that will fail, what
 * has changed, and the forecast of spend. Figures and texts are computed here once, for the
 * terminal, the page and the JSON. */
#ifndef TRK_FLEET_OVERVIEW_H
#define TRK_FLEET_OVERVIEW_H

#include "fleet/clusters.h"
#include "fleet/days.h"
#include "fleet/machines.h"

enum {
	TRK_FLEET_CHANGES_SHOWN = 8,
	TRK_FLEET_FINDINGS_MAX = 24,
	TRK_FLEET_GROUPS_MAX = 8,
	TRK_FLEET_TEXT_SIZE = 480,
};

/* False-discovery rate of the reported findings, over all tests of a view (Benjamini-Hochberg). */
#define TRK_FLEET_BUDGET 0.05

/* Smallest saving a month for which a change is listed. */
#define TRK_FLEET_SAVES_MIN_USD 1.0

enum trk_fleet_finding_kind {
	TRK_FLEET_WILL_FAIL,
	TRK_FLEET_FAILING, /* failures in common */
	TRK_FLEET_SLOWER,
	TRK_FLEET_FASTER,
	TRK_FLEET_SLOW_MACHINE,
	TRK_FLEET_GPU_UNUSED,  /* at least 50 GPU-hours in 5 runs, all unused */
	TRK_FLEET_GPU_TOO_BIG, /* the same, less than 15 % used, and less than 10 GB of memory */
	TRK_FLEET_FINDING_KINDS
};
/* "will_fail", ... */
extern const char *const trk__fleet_finding_names[TRK_FLEET_FINDING_KINDS];

struct trk_fleet_finding {
	enum trk_fleet_finding_kind kind;
	const struct trk_fleet_job *job; /* view; NULL: of no single job */
	double p, usd_month;             /* at stake; NaN: not known */
	char head[96];                   /* its subject: a job's name, a machine, a count */
	char text[TRK_FLEET_TEXT_SIZE];  /* the rest of the sentence */
	size_t jobs, job_of[TRK_FLEET_CLUSTER_JOBS_MAX]; /* indices in rows, of a cluster */
};

struct trk_fleet_group {
	uint32_t name; /* text; 0: not known */
	struct trk_fleet_sum sum;
};

struct trk_fleet_overview {
	double since_s, now_s;
	int days; /* of the period */
	struct trk_fleet_sum sum, before;
	bool has_before; /* the rows reach back over the period before */
	size_t jobs;     /* that ran in the period */
	double first_s;  /* start of the oldest row */
	double median_cores_share, median_memory_share; /* of jobs */
	/* The jobs with savings, largest first, in the order of jobs->job. */
	const struct trk_fleet_job *change[TRK_FLEET_CHANGES_SHOWN];
	size_t changes, changes_all;
	double saves_usd_month, saves_all_usd_month;
	size_t will_fail, ratings[TRK_FLEET_RATINGS];
	struct trk_fleet_finding finding[TRK_FLEET_FINDINGS_MAX];
	size_t findings;
	/* Spend by the values of each trait. */
	struct trk_fleet_group group[TRK_FLEET_TRAITS][TRK_FLEET_GROUPS_MAX];
	size_t groups[TRK_FLEET_TRAITS];
	struct trk_fleet_days spend;
	const struct trk_fleet_clusters *clusters; /* view of the rows */
	size_t running;
	size_t tests; /* that shared the budget */
	char headline[96], lead[TRK_FLEET_TEXT_SIZE], warning[128], basis[TRK_FLEET_TEXT_SIZE];
};

/* `jobs` (borrowed; *ret points into it) is of the same rows and period. 0 or -ENOMEM. The caller
 * releases, on success only. */
int trk__fleet_overview_make(const struct trk_fleet_rows *rows, const struct trk_fleet_jobs *jobs,
			     const struct trk_fleet_machines *machines,
			     struct trk_fleet_overview *ret);
void trk__fleet_overview_release(struct trk_fleet_overview *o);

/* All views of one period. */
struct trk_fleet_views {
	struct trk_fleet_jobs jobs;
	struct trk_fleet_machines machines;
	struct trk_fleet_overview overview;
};
/* The views of the `days` before the time of the rows (borrowed). of: views of another period of
 * the same rows, which saves time, or NULL. 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_views_make(const struct trk_fleet_rows *rows, double days,
			  const struct trk_fleet_views *of, struct trk_fleet_views *ret);
void trk__fleet_views_release(struct trk_fleet_views *v);

/* Measured savings of the newest change of a job's request: the mean cost of the successful runs
 * with the request of the newest run, compared with that of the successful runs before. */
struct trk_fleet_changed {
	double from_s; /* start of the first run with the current request */
	const struct trk_fleet_run *before, *since; /* views; one run of each */
	size_t runs_before, runs_since; /* successful runs with a known cost, at least 3 */
	double usd_before, usd_since;   /* mean cost of a run */
	double saves_usd_month; /* at the pace of the last 30 days; negative: it costs more */
};

/* False: the request did not change after `since_s`, or too few runs have a known cost. */
bool trk__fleet_changed(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			double since_s, struct trk_fleet_changed *ret);
/* "from 32 cores, 128 GiB to 8 cores, 32 GiB on 18 Nov: $1.20 -> $0.40 a run, ...". */
void trk__fleet_changed_text(const struct trk_fleet_rows *rows, const struct trk_fleet_changed *c,
			     char text[TRK_FLEET_TEXT_SIZE]);

/* ---- sentences ---- */

/* Why a job needs less, or more: "2.2 of 32 cores busy; peak 27.9 GiB, 22 % of the request". */
void trk__fleet_why(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE]);
/* The rating of a job and what to do: "The last 30 runs used at most 16 GiB of 32 GiB and ...". */
void trk__fleet_job_lead(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE]);
/* The data behind the lead. */
void trk__fleet_job_basis(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE]);
/* A finding about GPUs: GPU-hours requested in `runs` runs, the share used, and the peak of GPU
 * memory. */
void trk__fleet_gpu_text(bool unused, double hours, double share, double vram_bytes, size_t runs,
			 char text[TRK_FLEET_TEXT_SIZE]);
/* "has become slower: +17 % run time ...". */
void trk__fleet_drift_text(const struct trk_fleet_rows *rows, const struct trk_fleet_job *job,
			   char text[TRK_FLEET_TEXT_SIZE]);
void trk__fleet_growth_text(const struct trk_fleet_job *job, char text[TRK_FLEET_TEXT_SIZE]);
void trk__fleet_cluster_text(const struct trk_fleet_rows *rows, const struct trk_fleet_cluster *c,
			     char head[96], char text[TRK_FLEET_TEXT_SIZE]);
void trk__fleet_odd_day_text(const struct trk_fleet_rows *rows, const struct trk_fleet_odd_day *odd,
			     char text[TRK_FLEET_TEXT_SIZE]);
/* Set headline, lead, warning and basis of the view. */
void trk__fleet_overview_text(struct trk_fleet_overview *o);

#endif
