/* What `servers` found, as a table for people. */
#ifndef TRK_CLI_SERVERS_OUTPUT_H
#define TRK_CLI_SERVERS_OUTPUT_H

#include "report/offers.h"

/* The day, yyyymmdd. */
uint32_t cli_servers_today(void);
/* The table; `spot`: its prices are spot prices. */
void cli_servers_text(struct trk_buf *b, const struct trk_offers *r, bool spot);
/* What stands under the table: the cheapest hour, near misses, dates and sources. */
void cli_servers_notes(struct trk_buf *b, const struct trk_offers *r);

#endif
