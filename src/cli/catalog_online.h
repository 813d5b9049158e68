/* Asking the Keeper API: for a table of all prices (catalog update) or for the servers that meet some
 * needs (--online). */
#ifndef TRK_CLI_CATALOG_ONLINE_H
#define TRK_CLI_CATALOG_ONLINE_H

#include "catalog/search.h"
#include "cli/catalog_files.h"

/* `catalog update`: fetch, judge, and put into the cache. `regions` is "aws/us-east-1,gcp/us-central1", or
 * NULL for the lowest prices of each type alone. Returns an exit status. */
int cli_catalog_update(const struct cli_catalog_choice *choice, const char *url,
		       const char *regions, bool force);

/* Lay the Keeper's answer for `q` over the catalogue, and have `q` look at its prices only: regions_ok is
 * pointed to `room`, which has TRK_CATALOG_REGIONS_MAX bytes. Where it does not answer, a complaint
 * says so, and catalogue and query stay as they are. */
void cli_catalog_online(struct trk_catalog *c, struct trk_catalog_query *q, const char *url,
			uint8_t *room);

#endif
