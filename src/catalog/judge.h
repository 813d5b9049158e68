/* Check new prices for plausibility before they replace the known ones. */
#ifndef TRK_CATALOG_JUDGE_H
#define TRK_CATALOG_JUDGE_H

#include "base/error.h"
#include "catalog/catalog.h"

/* Compare two catalogues based on the same table: `before` with the last update, if any, and `now`
 * with the new one, whose prices are from `source`. Returns -TRK_ERR_RANGE, with vendor and figures
 * in *reterr, if a vendor lost more than half of its prices in a region, or the median of the types
 * with a price in both changed by more than 30 %; else 0. Without an earlier update the prices of
 * the table are compared. `whole`: the source lists all its regions each time, so that a missing
 * one is a loss. */
int trk__catalog_judge(const struct trk_catalog *before, const struct trk_catalog *now,
		       const char *source, bool whole, struct trk_error *reterr);

#endif
