/* What `servers` found, as a table for people and as JSON with the field names of the Keeper API. */
#ifndef TRK_CLI_SERVERS_OUTPUT_H
#define TRK_CLI_SERVERS_OUTPUT_H

#include "advise/server.h"
#include "base/json.h"

struct cli_servers_result {
	const struct trk_catalog *c;
	struct trk_server_estimate *list;
	size_t n, limit;
	uint32_t today; /* yyyymmdd, to tell how old prices are; 0: not known */
	const struct trk_catalog_query
		*query; /* what was asked for, to say what is missing; or NULL */
	bool costs;     /* run_s and cost_usd are meant, and `advice` is filled */
	struct trk_server_advice advice;
};

const struct trk_catalog_server *cli_servers_server(const struct trk_catalog *c,
						    const struct trk_catalog_offer *o);
/* All threads' score, or NaN. */
double cli_servers_score(const struct trk_catalog *c, const struct trk_catalog_offer *o);

/* The table; `spot`: its prices are spot prices. */
void cli_servers_text(struct trk_buf *b, const struct cli_servers_result *r, bool spot);
/* What stands under the table: the cheapest hour, near misses, dates and sources. */
void cli_servers_notes(struct trk_buf *b, const struct cli_servers_result *r);
/* The keys "servers" and, where costs are meant, "cheapest_per_hour" and "near_misses". */
void cli_servers_members_json(struct trk_json *j, const struct cli_servers_result *r);
/* Why nothing fits, in words: which need binds, and what comes nearest. True: *ret (may be NULL) is
 * that server. */
bool cli_servers_nothing(const struct trk_catalog *c, const struct trk_catalog_query *q,
			 struct trk_catalog_offer *ret, char *text, size_t size);
void cli_servers_json(struct trk_buf *b, const struct cli_servers_result *r);

#endif
