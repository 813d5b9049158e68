/* What a run costs on a server: billed time, price, and the part of it for what was idle. Pure. */
#ifndef TRK_ADVISE_RUN_COST_H
#define TRK_ADVISE_RUN_COST_H

#include "catalog/search.h"

/* Billed time for `seconds`: whole billing steps, at least the minimum. */
double trk__server_billed_s(const struct trk_catalog_vendor *v, double seconds);

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
	double idle_cpu_usd;    /* of it, for idle cores; NaN: not known */
	double idle_memory_usd; /* of it, for unused memory; NaN: not known */
	const char *source;     /* id of the price's source, "" for a price that was given */
	uint32_t date;          /* yyyymmdd; 0 for a price that was given */
	uint8_t quality;        /* enum trk_fact */
};

/* `server` and `region` are indices. -ENOENT: no price there; prices of other regions are not
 * taken. */
int trk__server_run_cost(const struct trk_catalog *c, int server, int region,
			 const struct trk_run_use *use, struct trk_run_cost *ret);

#endif
