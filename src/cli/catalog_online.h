/* Asking the Keeper API for the servers that meet some needs: --online. */
#ifndef TRK_CLI_CATALOG_ONLINE_H
#define TRK_CLI_CATALOG_ONLINE_H

#include "catalog/search.h"
#include "cli/catalog_files.h"

/* Lay the Keeper's answer for `q` over the catalogue, and have `q` look at its prices only: regions_ok is
 * pointed to `room`, which has TRK_CATALOG_REGIONS_MAX bytes. Where it does not answer, a complaint
 * says so, and catalogue and query stay as they are. */
void cli_catalog_online(struct trk_catalog *c, struct trk_catalog_query *q, const char *url,
			uint8_t *room);

#endif
