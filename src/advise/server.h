/* Which server runs a job at the lowest cost per run (not per hour).
 *
 * From the busy-cores histogram of a finished run the run time on another server is modelled: while
 * u cores are busy, a server whose one thread is r times as fast and whose threads together do C
 * times what one thread does here takes
 *
 *     u <= 1:  (1 - u) + u / r         of the time: the idle part stays, the busy part is scaled
 *     u >  1:  min(u, H) / min(u * r, C)   work beyond what all threads can do is stretched
 *
 * A vCPU is not a core: C comes from a measured score of all threads, not from the number of vCPUs.
 * So does H, the speed of all threads of the server on which the run was measured. Pure functions:
 * no I/O, no clock. */
#ifndef TRK_ADVISE_SERVER_H
#define TRK_ADVISE_SERVER_H

#include "catalog/search.h"

/* `seconds` with `cores` cores busy. */
struct trk_busy_slice {
	double cores;
	double seconds;
};

struct trk_server_work {
	const struct trk_busy_slice *slices;
	size_t n;
	/* Speed of one thread where the run was measured, by each measure; NaN: not known. With
	 * neither, one thread is assumed to be equally fast everywhere. */
	double here_one[TRK_SPEED_BASES];
	/* Speed of all threads there, by each measure, and the number of vCPUs; 0: not known. If
	 * more cores were busy, the run was not measured there: only the speed of a thread is used
	 * then. */
	double here_all[TRK_SPEED_BASES], here_vcpus;
};

/* Set here_one, here_all and here_vcpus to those of the server on which the run was measured. */
void trk__server_measured_on(struct trk_server_work *work, const struct trk_catalog_server *s);

/* Run time on a server of that speed, in s; `basis`: the measure by which both speeds are known;
 * -1: the speed where the run was measured is not known. */
double trk__server_run_s(const struct trk_server_work *work, int basis,
			 const struct trk_catalog_speed *there);

/* The same for a server of the catalogue, by a measure that both have if there is one. False: its
 * scores are not known, and the time is based on its number of vCPUs. */
bool trk__server_run_on(const struct trk_server_work *work, const struct trk_catalog_server *s,
			double *ret_s);

struct trk_server_estimate {
	struct trk_catalog_offer offer;
	double run_s;
	double billed_s;
	double cost_usd;
	bool speed_known; /* run_s is based on a score */
};

struct trk_server_advice {
	/* Owned. Sorted by cost of a run, then servers of unknown speed, then old prices. */
	struct trk_server_estimate *list;
	size_t n;
	size_t cheapest_hour; /* index of the one that costs least per hour */
	size_t cheapest_run;  /* and per run, servers of unknown speed included */
	/* Servers that would be cheaper than list[0] but miss one need (offer.unmet names it):
	 * the best for each need. */
	struct trk_server_estimate near[7];
	size_t nears;
};

/* 0, -ENOENT when nothing fits (trk__catalog_nearest finds what comes closest), or -ENOMEM. */
int trk__server_advise(const struct trk_catalog *c, const struct trk_catalog_query *q,
		       const struct trk_server_work *work, struct trk_server_advice *ret);
void trk__server_advice_release(struct trk_server_advice *a);

#endif
