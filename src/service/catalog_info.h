/* Content of the catalogue: counts by vendor, files and sources. */
#ifndef TRK_SERVICE_CATALOG_INFO_H
#define TRK_SERVICE_CATALOG_INFO_H

#include "service/prices.h"

/* Of one vendor. */
struct trk_catalog_tally {
	size_t servers;
	size_t priced; /* of the servers: with a price in some region */
	size_t prices, scores, regions, gpus;
};

/* One for each vendor of the catalogue, in its order; the caller frees. NULL without memory. */
struct trk_catalog_tally *trk__catalog_tally(const struct trk_catalog *c);

/* One document of schema "resource-tracker.catalog/1". */
void trk__catalog_info_json(struct trk_buf *b, const struct trk_prices *k,
			    const struct trk_catalog_tally *tally);

#endif
