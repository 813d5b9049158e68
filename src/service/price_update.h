/* `catalog update`: new prices in the cache, from the Keeper or from a file of tools/catalog_build. */
#ifndef TRK_SERVICE_PRICE_UPDATE_H
#define TRK_SERVICE_PRICE_UPDATE_H

#include "service/prices.h"
#include "service/service.h"

/* All borrowed. */
struct trk_price_request {
	const char *from;   /* "keeper" (and NULL), or the path or URL of a built file */
	const char *sha256; /* of that file, in hexadecimal; NULL: as FROM.sha256 says */
	const char *url;    /* of the Keeper; NULL: its own */
	const char
		*regions; /* of the Keeper, "aws/us-east-1,gcp/us-central1"; NULL: none is named */
	bool force;       /* keep prices of the Keeper that differ too much from the known ones */
};

struct trk_price_change {
	char path[TRK_PRICES_PATH_SIZE]; /* of the file that was written */
	size_t prices, new_types, left_out;
};

/* 0; -EINVAL for a wrong request; or the error of a download, of a wrong hash, of implausible
 * prices, or of the file. On errors nothing is changed. */
int trk__price_update(const struct trk_service *s, const struct trk_price_request *request,
		      struct trk_price_change *ret, struct trk_error *reterr);

#endif
