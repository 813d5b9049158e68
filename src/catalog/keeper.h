/* Convert answers of the Spare Cores Keeper API to the text format of catalog/text.h.
 *
 * An item of GET /servers has the lowest price over the requested regions. With one region, it is
 * that region's price; without any, its region is unknown, and it is stored under the pseudo region
 * TRK_KEEPER_ANYWHERE. */
#ifndef TRK_CATALOG_KEEPER_H
#define TRK_CATALOG_KEEPER_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json_read.h"
#include "catalog/catalog.h"

#define TRK_KEEPER_URL      "https://keeper.sparecores.net"
#define TRK_KEEPER_ANYWHERE "anywhere"
#define TRK_KEEPER_SOURCE   "keeper"

/* One answer of /servers. */
struct trk_keeper_answer {
	struct trk_json_doc doc; /* owned */
	int region;              /* index in the catalogue; -1: the lowest of all regions */
};

struct trk_keeper_tally {
	size_t prices, new_types, dropped; /* dropped: unknown vendor, no price, or implausible */
};

/* The answers as one text that is added to `c`: its missing types, and the prices of all. `date` is
 * "2026-01-31". Returns 0, -EBADMSG when an answer is not a list of servers or is empty, -ENOMEM,
 * -EFBIG; with *reterr. */
int trk__keeper_convert(const struct trk_catalog *c, const struct trk_keeper_answer *answers,
			size_t n, const char *date, struct trk_buf *out,
			struct trk_keeper_tally *ret, struct trk_error *reterr);

/* The number or name of a region of `c` in the Keeper, from its answer to
 * /table/region; 0 or -ENOENT. */
int trk__keeper_region(const struct trk_json_doc *table, const char *vendor, const char *region,
		       char *ret, size_t size);

/* The Keeper's name of a vendor of the catalogue: "hcloud" for "hetzner". */
const char *trk__keeper_vendor(const char *vendor);

/* ---- whether new prices are plausible, before they replace the known ones ---- */

/* Compare two catalogues based on the same table: `before` with the last update, if any, and `now`
 * with the new one. Returns -TRK_ERR_RANGE, with vendor and figures in *reterr, if a vendor lost
 * more than half of its prices in a region, or the median of the types with a price in both changed
 * by more than 30 %; else 0. Without an earlier update the prices of the table are compared. */
int trk__catalog_judge(const struct trk_catalog *before, const struct trk_catalog *now,
		       struct trk_error *reterr);

#endif
