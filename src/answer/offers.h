/* Servers found by a search: in order, with the cost of a run on each if requested, and as JSON
 * with the field names of the Keeper API. */
#ifndef TRK_ANSWER_OFFERS_H
#define TRK_ANSWER_OFFERS_H

#include "advise/server.h"
#include "base/json.h"

enum trk_offers_order { TRK_ORDER_PRICE, TRK_ORDER_RUN_COST, TRK_ORDER_SCORE_PER_PRICE };

struct trk_offers {
	const struct trk_catalog *c;           /* borrowed */
	const struct trk_catalog_query *query; /* borrowed: the needs */
	struct trk_server_estimate *list;      /* owned, or that of `advice` */
	size_t n, limit;                       /* limit: how many are shown */
	bool costs; /* run_s and cost_usd are set, and `advice` is filled */
	struct trk_server_advice advice;
	char nothing[320]; /* why there is none */
};

/* "price" (and NULL), "run-cost", "score-per-price"; -EINVAL. */
int trk__offers_order(const char *word);

/* Search. `work`, the work that is to run, is required for ordering by run cost. Returns 0 (with
 * `nothing` filled in if no server fits) or -ENOMEM. */
int trk__offers_find(const struct trk_catalog *c, const struct trk_catalog_query *q,
		     enum trk_offers_order order, const struct trk_server_work *work,
		     struct trk_offers *ret);
void trk__offers_release(struct trk_offers *o);
/* Show `limit` servers. With run costs, they include the cheapest by the hour and the cheapest run
 * on a server of unknown speed, which are last if the order would place them later. */
void trk__offers_limit(struct trk_offers *o, size_t limit);

const struct trk_catalog_server *trk__offers_server(const struct trk_catalog *c,
						    const struct trk_catalog_offer *o);
/* The block of the catalogue that the price is from. */
const struct trk_catalog_block *trk__offers_block(const struct trk_catalog *c,
						  const struct trk_catalog_offer *o);
/* Days since the price was listed; negative: not known. */
long trk__offers_age_days(const struct trk_offers *o, const struct trk_server_estimate *e);
/* "4 months", "3.3 years, estimated". Returns `text`. */
enum { TRK_OFFER_AGE_SIZE = 32, TRK_OFFER_REMARK_SIZE = 120 };
const char *trk__offers_age(const struct trk_offers *o, const struct trk_server_estimate *e,
			    char text[TRK_OFFER_AGE_SIZE]);
/* How to get newer prices if shown ones are older than a year: "the prices of aws/eu-west-1 are
 * older than a year. Try: resource-tracker catalog update --region aws/eu-west-1". "" if none is
 * older. */
enum { TRK_OFFER_UPDATE_SIZE = 400 };
const char *trk__offers_update(const struct trk_offers *o, char text[TRK_OFFER_UPDATE_SIZE]);
/* Remarks about a row: "cheapest by the hour, previous generation". Returns `text`. */
const char *trk__offers_remark(const struct trk_offers *o, const struct trk_server_estimate *e,
			       char text[TRK_OFFER_REMARK_SIZE]);
/* All threads' score, or NaN. */
double trk__offers_score(const struct trk_catalog *c, const struct trk_catalog_offer *o);
/* Text for one unmet need: the needed amount, and what the server has. */
void trk__offers_shortfall(const struct trk_catalog_query *q, const struct trk_catalog_server *s,
			   unsigned int need, char *text, size_t size);

/* One document of schema "resource-tracker.servers/1". */
void trk__offers_json(struct trk_buf *b, const struct trk_offers *r);
/* Only the key "servers" and, with run costs, "cheapest_per_hour" and "near_misses". */
void trk__offers_members_json(struct trk_json *j, const struct trk_offers *r);

#endif
