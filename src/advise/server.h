/* Which server runs a job cheapest, judged by the cost of a run and not of an hour.
 *
 * From the busy-cores histogram of a finished run the run time on another server is modelled: while
 * u cores are busy, a server whose one thread is r times as fast and whose threads together do C
 * times what one thread does here takes
 *
 *     u <= 1:  (1 - u) + u / r         of the time: the idle part stays, the busy part is scaled
 *     u >  1:  min(u, H) / min(u * r, C)   work beyond what all threads can do is stretched
 *
 * A vCPU is not a core: C comes from a measured score of all threads, not from the number of vCPUs,
 * and so does H, what all threads did where the run was measured. Pure functions: no I/O, no
 * clock. */
#ifndef TRK_ADVISE_SERVER_H
#define TRK_ADVISE_SERVER_H

#include "catalog/search.h"

/* So many seconds with so many cores busy. */
struct trk_busy_slice {
	double cores;
	double seconds;
};

struct trk_server_work {
	const struct trk_busy_slice *slices;
	size_t n;
	/* Speed of one thread where the run was measured, by each measure; NaN: not known. With
	 * neither, one thread is taken for equally fast everywhere. */
	double here_one[TRK_SPEED_BASES];
	double boot_s;     /* time that is paid before the job starts; 0 unless stated */
	double deadline_s; /* longest run time that is accepted; 0: any */
	/* What all threads did there, by each measure, and how many there were; 0: not known. More
	 * busy cores than that were not measured there: only the speed of a thread is known
	 * then. */
	double here_all[TRK_SPEED_BASES], here_vcpus;
};

/* Take the speed of the server on which the run was measured. */
void trk__server_measured_on(struct trk_server_work *work, const struct trk_catalog_server *s);

/* Run time on a server of that speed, in s; `basis` is the measure by which both are known, -1: the
 * run's own speed is not. */
double trk__server_run_s(const struct trk_server_work *work, int basis,
			 const struct trk_catalog_speed *there);

/* The same for a server of the catalogue, by a measure that both have if there is one. False: no
 * score of it is known, and the time rests on its number of vCPUs. */
bool trk__server_run_on(const struct trk_server_work *work, const struct trk_catalog_server *s,
			double *ret_s);

/* What is paid for `seconds`: whole steps, at least the minimum. */
double trk__server_billed_s(const struct trk_catalog_vendor *v, double seconds);

struct trk_server_estimate {
	struct trk_catalog_offer offer;
	double run_s;
	double billed_s;
	double cost_usd;
	bool speed_known; /* a score stands behind run_s */
};

struct trk_server_advice {
	/* Owned: by cost of a run; those of unknown speed after them, and old prices last. */
	struct trk_server_estimate *list;
	size_t n;
	size_t cheapest_hour; /* index of the one that costs least per hour */
	size_t cheapest_run;  /* and per run, also where its speed is unknown */
	/* Servers that would be cheaper than list[0] but miss one need (offer.unmet names it):
	 * the best for each need. */
	struct trk_server_estimate near[7];
	size_t nears;
};

/* 0, -ENOENT when nothing fits (trk__catalog_nearest finds what comes closest), or -ENOMEM. */
int trk__server_advise(const struct trk_catalog *c, const struct trk_catalog_query *q,
		       const struct trk_server_work *work, struct trk_server_advice *ret);
void trk__server_advice_release(struct trk_server_advice *a);

/* What a finished run cost on the server that it ran on. */
struct trk_run_use {
	double duration_s;
	double cpu_s;        /* NaN: not known */
	double peak_bytes;   /* NaN: not known */
	double usd_per_hour; /* what was really paid; NaN: the catalogue's price */
};

struct trk_run_cost {
	double usd;
	double usd_per_hour;
	double billed_s;
	double idle_cpu_usd;    /* of it, for cores that stood idle; NaN: not known */
	double idle_memory_usd; /* of it, for memory that was never used; NaN: not known */
	const char *source;     /* id of the price's source, "" for a price that was given */
	uint32_t date;          /* yyyymmdd; 0 for a price that was given */
	uint8_t quality;        /* enum trk_fact */
};

/* `server` and `region` are indices. -ENOENT: no price there; prices of other regions are not
 * taken. */
int trk__server_run_cost(const struct trk_catalog *c, int server, int region,
			 const struct trk_run_use *use, struct trk_run_cost *ret);

#endif
