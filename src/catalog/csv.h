/* Convert a site's own prices from CSV to the text format of catalog/text.h.
 *
 * The first line names the columns, in any order: vendor, region, type, price (or ondemand,
 * usd_per_hour) in USD an hour, and optionally saving (typical spot saving in percent). Cells may
 * be quoted. Vendor, region and type must be in the catalogue. */
#ifndef TRK_CATALOG_CSV_H
#define TRK_CATALOG_CSV_H

#include "base/buf.h"
#include "base/error.h"
#include "catalog/catalog.h"

/* Append the catalogue text for `csv` to `out`. `date` is "2026-01-31"; `file` is for messages,
 * which name file, line and column. Returns the number of prices, or -EBADMSG, -ENOMEM, -EFBIG. */
int trk__catalog_csv_convert(const struct trk_catalog *c, const char *file, const char *csv,
			     size_t len, const char *date, struct trk_buf *out,
			     struct trk_error *reterr);

#endif
