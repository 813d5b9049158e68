/* `catalog info`: what the catalogue holds, by vendor, with its files and sources. */
#ifndef TRK_SERVICE_CATALOG_INFO_H
#define TRK_SERVICE_CATALOG_INFO_H

#include "base/buf.h"
#include "service/prices.h"

/* Append a text for people, or one document of schema "resource-tracker.catalog/1". 0 or
 * -ENOMEM. */
int trk__catalog_info(struct trk_buf *b, const struct trk_prices *k, bool is_json);

#endif
