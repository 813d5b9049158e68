/* Where jobs ran: by type of server, its use and idle cost; by machine, whether jobs take longer or
 * fail more often on it than on others.
 *
 * Each run is compared with the median run of the same job elsewhere. A machine is slow if the
 * median of at least 10 such ratios of at least 3 jobs is above 1.05 and a sign test is
 * significant. */
#ifndef TRK_FLEET_MACHINES_H
#define TRK_FLEET_MACHINES_H

#include "fleet/job.h"

struct trk_fleet_place {
	uint32_t name;       /* text; 0: not known, distinguished by its size */
	double cores, bytes; /* of one server; NaN: unknown */
	struct trk_fleet_sum sum;
	size_t jobs;
	double usd_hour; /* paid an hour of run time; NaN: not known */
	double ratio;    /* median run time relative to the same jobs elsewhere; NaN: too few */
	size_t ratio_runs, ratio_jobs;
	double p;  /* chance of so many slower (or faster) runs */
	bool slow; /* before the false-discovery budget of the view */
};

struct trk_fleet_machines {
	struct trk_fleet_place *server; /* owned; by money spent */
	size_t servers;
	struct trk_fleet_place *machine; /* owned; the slowest first, then by runs */
	size_t machines;
	size_t tested;
	size_t unknown; /* runs whose server is not known */
	double since_s;
};

/* 0 or -ENOMEM. The caller releases, on success only. */
int trk__fleet_machines_make(const struct trk_fleet_rows *rows, double since_s,
			     struct trk_fleet_machines *ret);
void trk__fleet_machines_release(struct trk_fleet_machines *machines);

#endif
