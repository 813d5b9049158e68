/* Judging new prices before they take the place of what is known. */
#ifndef TRK_CATALOG_JUDGE_H
#define TRK_CATALOG_JUDGE_H

#include "base/error.h"
#include "catalog/catalog.h"

/* Both on top of the same table: `before` with the last update, if any, `now` with the new one,
 * whose prices are of `source`. Has a vendor lost more than half of its prices in a region, or
 * has the median of the types with a price in both moved by more than 30 %? Where there was no
 * update before, those of the table are compared. `whole`: the source lists all its regions
 * each time, so one that is gone is a loss. 0, or -TRK_E_RANGE with vendor and figures in
 * *reterr. */
int trk__catalog_judge(const struct trk_catalog *before, const struct trk_catalog *now,
		       const char *source, bool whole, struct trk_error *reterr);

#endif
