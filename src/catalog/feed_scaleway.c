/* Scaleway's public catalogue of products: pages of products, each of one place. A machine is one
 * whose properties have an instance with its offer_id; the price is in whole units and billionths,
 * for an hour or for some minutes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/feed_read.h"

/* What an hour costs in EUR; NaN where it is in another currency or unit. */
static double hourly(const struct trk_json_doc *d, const struct trk_json_value *product)
{
	const struct trk_json_value *price =
		trk__json_get(d, trk__json_get(d, product, "price"), "retail_price");
	const struct trk_json_value *unit = trk__json_get(d, product, "unit_of_measure");
	const char *currency = trk__json_get_text(d, price, "currency_code");
	const char *name = trk__json_get_text(d, unit, "unit");
	double units = trk__json_get_double(d, price, "units"), size;
	double nanos = trk__json_get_double(d, price, "nanos");

	size = trk__json_get_double(d, unit, "size");
	if (!currency || strcmp(currency, "EUR") != 0 || !name || !(size >= 1))
		return NAN;
	/* A part that is zero may be left out. */
	if (isnan(units) && isnan(nanos))
		return NAN;
	units = (isnan(units) ? 0 : units) + (isnan(nanos) ? 0 : nanos) / 1e9;
	if (!strcmp(name, "minute"))
		return units * 60 / size;
	return strcmp(name, "hour") != 0 ? (double) NAN : units / size;
}

static void take_item(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		      const struct trk_json_value *product)
{
	const struct trk_json_value *instance =
		trk__json_get(d, trk__json_get(d, product, "properties"), "instance");
	const char *status = trk__json_get_text(d, product, "status");
	const char *zone = trk__json_get_text(d, trk__json_get(d, product, "locality"), "zone");

	if (!instance || instance->type != TRK_JSON_OBJECT)
		return; /* a database, a disk, an address */
	if (status && strcmp(status, "general_availability") != 0) {
		r->dropped++;
		return;
	}
	(void) trk__feed_rows_add(r, vendor, zone, trk__json_get_text(d, instance, "offer_id"),
				  hourly(d, product) * r->eur_usd, NAN);
}

/* The pages hold the number of all products. */
static int head(struct trk_feed_rows *r, const struct trk_json_doc *d,
		const struct trk_json_value *list, struct trk_error *reterr)
{
	double total = trk__json_get_double(d, trk__json_root(d), "total_count");

	r->next[0] = '\0';
	r->page++;
	r->seen += list->count;
	if (list->count && (double) r->seen < total)
		(void) snprintf(r->next, sizeof(r->next), TRK_FEED_SCALEWAY_URL, r->page + 1);
	return 0;
}

const struct trk_feed_walk trk__feed_scaleway = {
	.list = "products",
	.type = TRK_JSON_ARRAY,
	.missing = "the answer is not a list of products",
	.take = take_item,
	.head = head,
};
