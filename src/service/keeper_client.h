/* Downloads of prices: a built file, and requests to the Keeper API. */
#ifndef TRK_SERVICE_KEEPER_CLIENT_H
#define TRK_SERVICE_KEEPER_CLIENT_H

#include "catalog/keeper.h"
#include "catalog/search.h"
#include "service/service.h"

/* As trk__fetch(), with the service's progress. -EBUSY (429, 503) is retried after a minute,
 * three times, each with a note. */
int trk__patient_fetch(const struct trk_service *s, const char *url, unsigned int timeout_s,
		       struct trk_buf *out, struct trk_error *reterr);

enum { TRK_KEEPER_ANSWERS_MAX = 20 /* of /servers: the free number per minute */ };

/* The answers, and the catalogue text made from them. Large. */
struct trk_keeper_client {
	const struct trk_service *s;
	const char *url;
	unsigned int timeout_s;
	bool patient; /* -EBUSY is retried after a minute */
	struct trk_keeper_answer answer[TRK_KEEPER_ANSWERS_MAX];
	size_t n;
	struct trk_json_doc table; /* of regions; fetched once, where it is needed */
	struct trk_buf text;
	struct trk_keeper_tally tally;
	char date[32];
	struct trk_error error;
};

/* `url` NULL: the Keeper's own. */
void trk__keeper_client_init(struct trk_keeper_client *k, const struct trk_service *s,
			     const char *url, unsigned int timeout_s);
void trk__keeper_client_release(struct trk_keeper_client *k);

/* Request the servers of a region of the catalogue (-1: of all) with a query ("&vcpus_min=2"), and
 * append the answer. 0 or a negative error, with k->error. */
int trk__keeper_client_ask(struct trk_keeper_client *k, const struct trk_catalog *c, int region,
			   const char *query);

/* For --online: add the Keeper's prices for `q` to the catalogue, and restrict `q` to them:
 * regions_ok points to `room`, of TRK_CATALOG_REGIONS_MAX bytes. If the Keeper does not answer, a
 * note says so, and catalogue and query are unchanged. */
void trk__keeper_online(const struct trk_service *s, struct trk_catalog *c,
			struct trk_catalog_query *q, const char *url, uint8_t *room);

#endif
