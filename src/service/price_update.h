/* New prices in the cache: `catalog update` fetches them from the Keeper or from a public list and
 * checks them, `catalog import` reads them from a site's own file. */
#ifndef TRK_SERVICE_PRICE_UPDATE_H
#define TRK_SERVICE_PRICE_UPDATE_H

#include "base/buf.h"
#include "service/prices.h"
#include "service/service.h"

/* All borrowed. */
struct trk_price_request {
	const char *from;    /* "keeper" (and NULL), or the id of a feed of catalog/feed.h */
	const char *url;     /* of the Keeper; NULL: its own */
	const char *regions; /* "aws/us-east-1,gcp/us-central1"; NULL: none is named */
	const char *eur_usd; /* USD for a euro; NULL: the rate of the European Central Bank */
	bool force;          /* keep prices that differ too much from the known ones */
};

struct trk_price_change {
	const char *from;                /* the source, or the file that was imported; borrowed */
	char path[TRK_PRICES_PATH_SIZE]; /* of the file that was written */
	size_t prices, savings, new_types, left_out;
	double eur_usd; /* NaN: it was not needed */
};

/* 0; -EINVAL for a wrong request; or the error of a download, of implausible prices, or of the
 * file. On errors nothing is changed. */
int trk__price_update(const struct trk_service *s, const struct trk_price_request *request,
		      struct trk_price_change *ret, struct trk_error *reterr);

/* `catalog import`: keep the prices of a CSV file (catalog/csv.h) in the cache. date: of the
 * prices, "2026-01-31"; NULL: today. 0; -EINVAL for another form of date; -ENOENT and other errors
 * of the file, of what it holds, or of the cache. */
int trk__price_import(const struct trk_service *s, const char *file, const char *date,
		      struct trk_price_change *ret, struct trk_error *reterr);

/* ---- what the catalogue holds: counts by vendor, files and sources ---- */

/* What is counted. */
enum trk_tally {
	TRK_TALLY_SERVERS,
	TRK_TALLY_PRICED, /* servers with a price in some region */
	TRK_TALLY_GPUS,
	TRK_TALLY_SCORES,
	TRK_TALLY_REGIONS,
	TRK_TALLY_PRICES,
	TRK_TALLIES
};

/* Of one vendor. */
struct trk_catalog_tally {
	size_t of[TRK_TALLIES];
};

/* One for each vendor of the catalogue, in its order; the caller frees. NULL without memory. */
struct trk_catalog_tally *trk__catalog_tally(const struct trk_catalog *c);

/* One document of schema "resource-tracker.catalog/1". */
void trk__catalog_info_json(struct trk_buf *b, const struct trk_prices *k,
			    const struct trk_catalog_tally *tally);

#endif
