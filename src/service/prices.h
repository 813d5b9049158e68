/* The catalogue of servers with all prices of this installation, and the cost of a run.
 *
 * Layers, later ones win: the embedded catalogue or a file, the installed scores, what `catalog
 * update` kept (the Keeper's prices, then a built file), and a file of the caller. */
#ifndef TRK_SERVICE_PRICES_H
#define TRK_SERVICE_PRICES_H

#include "base/buf.h"
#include "base/error.h"
#include "catalog/catalog.h"
#include "answer/cost.h"

enum { TRK_PRICES_PATH_SIZE = 4096 };

/* Which layers; all borrowed, NULL: that layer is left out. */
struct trk_price_layers {
	const char *catalog; /* a file in place of the embedded catalogue */
	const char *scores;
	const char *cache;         /* the folder of `catalog update` */
	const char *prices;        /* a file on top of all */
	bool scores_optional;      /* the file of the scores may be missing */
	bool no_fetched, no_built; /* of the cache */
};

/* What the options of a user name; all borrowed. NULL: the usual file, "none": no such layer. */
struct trk_named_prices {
	const char *catalog; /* replaces the usual layers */
	const char *scores, *prices;
	const char *cache; /* a folder */
};
/* Room for the paths of usual layers. */
struct trk_price_paths {
	char cache[TRK_PRICES_PATH_SIZE], scores[TRK_PRICES_PATH_SIZE];
};
/* The layers of named and usual files. `get` reads a variable: the scores lie in
 * $RESOURCE_TRACKER_DATA, else in `installed` (a file; NULL: none). */
struct trk_price_layers trk__price_layers(const struct trk_named_prices *named,
					  char *(*get)(const char *name), const char *installed,
					  struct trk_price_paths *room);

struct trk_prices {
	struct trk_catalog c;
	/* Files of the layers; "": none. */
	char scores[TRK_PRICES_PATH_SIZE], fetched[TRK_PRICES_PATH_SIZE],
		built[TRK_PRICES_PATH_SIZE];
	/* The first file of the cache that another user may have written, which is ignored. */
	struct trk_error ignored;
};

/* The caller releases. -ENOENT: a file is missing; or another error of a file. A file of the cache
 * may be missing, and is ignored where another user may have written it. */
int trk__prices_load(const struct trk_price_layers *layers, struct trk_prices *ret,
		     struct trk_error *reterr);
void trk__prices_release(struct trk_prices *p);

/* Write a file of the cache atomically, and create its folders. `cache` NULL: -ENOENT. */
int trk__prices_keep(const char *cache, const char *name, const struct trk_buf *text,
		     char path[TRK_PRICES_PATH_SIZE], struct trk_error *reterr);

/* Fill in record->place.cost if the cloud is known; else its `reason` names what is missing. advice
 * and busy: as of trk__cost_of_run. */
void trk__prices_cost(const struct trk_price_layers *layers, struct trk_record *record,
		      const struct trk_advice *advice, const struct trk_busy *busy);
/* As above, for a run on the server that is stated now. */
void trk__prices_cost_at(const struct trk_price_layers *layers, struct trk_record *record,
			 const struct trk_cloud *stated, const struct trk_advice *advice,
			 const struct trk_busy *busy);
/* The same for a finished run: its cost stays, the best server is looked up again. */
void trk__prices_best(const struct trk_price_layers *layers, struct trk_record *record,
		      const struct trk_advice *advice, const struct trk_busy *busy);

#endif
