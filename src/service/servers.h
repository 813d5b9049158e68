/* Servers that meet stated needs, without a run: one search for the verb `catalog search` and the C
 * API. */
#ifndef TRK_SERVICE_SERVERS_H
#define TRK_SERVICE_SERVERS_H

#include "answer/run_servers.h"
#include "service/service.h"

/* All borrowed. */
struct trk_servers_request {
	struct trk_need_words words;
	struct trk_catalog_query query; /* its numbers and flags */
	enum trk_offers_order order;
	/* The catalogue `c`, to which prices of the Keeper are added. NULL: no request is sent. */
	struct trk_catalog *online;
	const char *url; /* of the Keeper; NULL: its own */
};

/* Search. If nothing is found, ret->offers.nothing has the reason. 0; -ENOENT for a name that is
 * not in the catalogue, -EINVAL for another word, with a sentence in *reterr; or -ENOMEM. The
 * catalogue is borrowed until the caller releases *ret, on success only
 * (trk__run_servers_release). */
int trk__servers_find(const struct trk_service *s, const struct trk_catalog *c,
		      const struct trk_servers_request *request, struct trk_run_servers *ret,
		      struct trk_error *reterr);

#endif
