/* What the next run of a job needs of a server, by the advice, by how busy the cores were and by
 * where the run ran; the servers for it, and what a run costs on each.
 *
 * Shared by the end of a run, `recommend`, the report and the C API, so that all of them name the
 * same servers at the same cost. No boot time is counted unless one is given. */
#ifndef TRK_ANSWER_RUN_SERVERS_H
#define TRK_ANSWER_RUN_SERVERS_H

#include "catalog/needs.h"
#include "answer/advice.h"
#include "answer/offers.h"

enum { TRK_RUN_SLICES_MAX = TRK_BUSY_BINS };

/* A run as work for another server. Do not copy: `work` points to `slice`. */
struct trk_run_work {
	struct trk_server_work work;
	struct trk_busy_slice slice[TRK_RUN_SLICES_MAX];
};

/* Index of the region of a machine, or negative. A vendor with one price for all places has one
 * region in the catalogue, whatever region its machines report. */
int trk__run_region(const struct trk_catalog *c, int vendor, const struct trk_cloud *cloud);

/* No servers are named for a shorter run: its samples are too few. */
#define TRK_RUN_SHORTEST_S 0.1

/* All borrowed. */
struct trk_run_question {
	const struct trk_record *record;
	const struct trk_advice *advice;
	const struct trk_busy *busy;            /* NULL: the statistics of the run */
	const struct trk_cloud *cloud;          /* where it ran; NULL: as recorded */
	const struct trk_need_words *words;     /* NULL: none */
	const struct trk_catalog_query *wishes; /* amounts above 0 and flags override those of the
						 * advice; NULL: none */
};

/* Do not copy: it points into itself. */
struct trk_run_servers {
	struct trk_needs needs;
	struct trk_run_work work;
	double run_s;             /* duration of the run */
	struct trk_offers offers; /* without any, `nothing` is the reason */
	bool place_known;         /* the vendor, at least */
	bool short_too;           /* set before the search: search for runs of any length */
};

/* The needs and the work, before the search: a caller may still change the query or the boot time.
 * Searched are the architecture of the run (that recorded, else that of its server type), and its
 * vendor and region, unless the words name a vendor, region or country. The work is that of
 * `busy`, else (NULL, or empty) of the run (cpu_use.h), else one core all the time. Errors of
 * trk__needs_read. */
int trk__run_servers_read(struct trk_run_servers *s, const struct trk_catalog *c,
			  const struct trk_run_question *q, struct trk_error *reterr);

/* Search. `limit`: how many servers are shown. The catalogue is borrowed until the release. 0 or
 * -ENOMEM. */
int trk__run_servers_find(struct trk_run_servers *s, const struct trk_catalog *c,
			  enum trk_offers_order order, size_t limit);
void trk__run_servers_release(struct trk_run_servers *s);

#endif
