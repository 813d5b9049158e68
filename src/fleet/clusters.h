/* Failures with a common trait, among the runs of two weeks. For each kind of failure and each
 * value of a trait (image, code, machine, ..., the hour of the start, the job), Fisher's exact test
 * shows whether runs with that value fail more often than runs without it. The latter are runs of
 * the same jobs, if there are enough, so that a job that often fails does not incriminate
 * everything it uses. Reported if p < 0.001 after Holm's correction, with at least 4 failures in 2
 * jobs or 5 in one; of values that explain the same failures, the one that explains them best. */
#ifndef TRK_FLEET_CLUSTERS_H
#define TRK_FLEET_CLUSTERS_H

#include "fleet/rows.h"

enum {
	TRK_FLEET_BY_HOUR = TRK_FLEET_TRAITS,
	TRK_FLEET_BY_JOB,
	TRK_FLEET_BYS,

	TRK_FLEET_CLUSTER_DAYS = 14,
	TRK_FLEET_CLUSTERS_MAX = 8,
	TRK_FLEET_CLUSTER_JOBS_MAX = 8, /* that are listed */
};

struct trk_fleet_cluster {
	enum trk_fleet_end cause;
	int by;              /* enum trk_fleet_trait, or as above */
	uint32_t value;      /* a text, an hour, or the index of a job */
	size_t failed, runs; /* with it */
	size_t failed_without, runs_without;
	double p;                                     /* compared with runs without it */
	double p_all;                                 /* compared with the runs of all jobs */
	double since_s;                               /* start of the first failure */
	size_t jobs, job[TRK_FLEET_CLUSTER_JOBS_MAX]; /* indices */
	uint32_t instead; /* another value of the trait, with which these jobs succeeded; 0: none */
	size_t instead_runs;
};

struct trk_fleet_clusters {
	bool made;                                                /* the rest is set */
	struct trk_fleet_cluster cluster[TRK_FLEET_CLUSTERS_MAX]; /* smallest p first */
	size_t count;
	size_t tested;
};

/* The clusters of sorted rows: a view, computed at the first call and stored with the rows. NULL:
 * out of memory. The first call must not run in two threads at once. */
const struct trk_fleet_clusters *trk__fleet_clusters(const struct trk_fleet_rows *rows);

#endif
