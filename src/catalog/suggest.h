/* Suggestions for a mistyped name. */
#ifndef TRK_CATALOG_SUGGEST_H
#define TRK_CATALOG_SUGGEST_H

#include "base/error.h"
#include "catalog/catalog.h"

enum trk_catalog_kind { TRK_KIND_VENDOR, TRK_KIND_REGION, TRK_KIND_SERVER };

enum { TRK_SUGGESTIONS = 4 };

/* Fill `ret` with up to TRK_SUGGESTIONS names, nearest first; those past the last are NULL.
 * `vendor`: of which one, -1 for any. Returns how many. */
int trk__catalog_suggest(const struct trk_catalog *c, enum trk_catalog_kind kind, int vendor,
			 const char *typed, const char *ret[TRK_SUGGESTIONS]);

/* "unknown region X. Try: …" with such names, into *reterr; returns -ENOENT. */
int trk__catalog_unknown(const struct trk_catalog *c, enum trk_catalog_kind kind, int vendor,
			 const char *typed, struct trk_error *reterr);

#endif
