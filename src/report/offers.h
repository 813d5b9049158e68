/* Servers that were looked for and found: in order, with what a run costs on each where that was asked,
 * and as JSON with the field names of the Keeper API. */
#ifndef TRK_REPORT_OFFERS_H
#define TRK_REPORT_OFFERS_H

#include "advise/server.h"
#include "base/json.h"

enum trk_offers_order { TRK_ORDER_PRICE, TRK_ORDER_RUN_COST, TRK_ORDER_SCORE_PER_PRICE };

struct trk_offers {
	const struct trk_catalog *c;           /* borrowed */
	const struct trk_catalog_query *query; /* borrowed: what was asked for */
	struct trk_server_estimate *list;      /* owned, or that of `advice` */
	size_t n, limit;                       /* limit: how many are told of */
	uint32_t today; /* yyyymmdd, to tell how old prices are; 0: not known */
	bool costs;     /* run_s and cost_usd are meant, and `advice` is filled */
	struct trk_server_advice advice;
	char nothing[320]; /* why there is none */
};

/* "price" (and NULL), "run-cost", "score-per-price"; -EINVAL. */
int trk__offers_order(const char *word);

/* Look. `work` is what runs, for the costs: needed where they are the order. 0, with `nothing` filled in
 * where no server fits; or -ENOMEM. */
int trk__offers_find(const struct trk_catalog *c, const struct trk_catalog_query *q,
		     enum trk_offers_order order, const struct trk_server_work *work,
		     struct trk_offers *ret);
void trk__offers_release(struct trk_offers *o);

const struct trk_catalog_server *trk__offers_server(const struct trk_catalog *c,
						    const struct trk_catalog_offer *o);
/* All threads' score, or NaN. */
double trk__offers_score(const struct trk_catalog *c, const struct trk_catalog_offer *o);
/* What was asked and what the server has, of one need. */
void trk__offers_shortfall(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
			   unsigned int need, char *text, size_t size);
/* Why nothing fits, in words: which need binds, and what comes nearest. */
void trk__offers_nothing(const struct trk_catalog *c, const struct trk_catalog_query *q, char *text,
			 size_t size);

/* One document of schema "resource-tracker.servers/1". */
void trk__offers_json(struct trk_buf *b, const struct trk_offers *r);
/* Of it the key "servers" and, where costs are meant, "cheapest_per_hour" and "near_misses". */
void trk__offers_members_json(struct trk_json *j, const struct trk_offers *r);

#endif
