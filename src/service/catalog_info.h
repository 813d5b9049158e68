/* `catalog info`: what the catalogue holds, by vendor, with its files and sources. */
#ifndef TRK_SERVICE_CATALOG_INFO_H
#define TRK_SERVICE_CATALOG_INFO_H

#include "base/buf.h"
#include "service/prices.h"

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
