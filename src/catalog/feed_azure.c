/* Azure's Retail Prices: pages of Items, and NextPageLink. */
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

/* The machine is armSkuName; the same name is used for Windows, for Cloud Services (at the price of
 * Windows) and for Low Priority, which only the names of product and meter distinguish. */
static bool is_plain_azure(const char *product, const char *sku, const char *meter)
{
	static const char *const others[] = {"Windows",      "CloudServices", "Cloud Services",
					     "Low Priority", "Dedicated",     "Promo"};
	const char *texts[] = {product, sku, meter};

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			if (!texts[i] || strstr(texts[i], others[k]))
				return false;
	return true;
}

static void take_item(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
		      const struct trk_json_value *item)
{
	const char *sku = trk__json_get_text(d, item, "skuName");
	const char *type = trk__json_get_text(d, item, "type");
	const char *unit = trk__json_get_text(d, item, "unitOfMeasure");
	const char *currency = trk__json_get_text(d, item, "currencyCode");
	double usd = trk__json_get_double(d, item, "retailPrice");
	bool spot = sku && strstr(sku, " Spot");

	if (!is_plain_azure(trk__json_get_text(d, item, "productName"), sku,
			    trk__json_get_text(d, item, "meterName")) ||
	    !type || strcmp(type, "Consumption") != 0 || !unit || strcmp(unit, "1 Hour") != 0 ||
	    !currency || strcmp(currency, "USD") != 0) {
		r->dropped++;
		return;
	}
	(void) trk__feed_rows_add(r, vendor, trk__json_get_text(d, item, "armRegionName"),
				  trk__json_get_text(d, item, "armSkuName"),
				  spot ? (double) NAN : usd, spot ? usd : (double) NAN);
}

static int head(struct trk_feed_rows *r, const struct trk_json_doc *d,
		const struct trk_json_value *list, struct trk_error *reterr)
{
	const char *next = trk__json_get_text(d, trk__json_root(d), "NextPageLink");

	r->next[0] = '\0';
	if (next && strlen(next) < sizeof(r->next))
		memcpy(r->next, next, strlen(next) + 1);
	return 0;
}

const struct trk_feed_walk trk__feed_azure = {
	.list = "Items",
	.type = TRK_JSON_ARRAY,
	.missing = "the answer is not a list of prices",
	.take = take_item,
	.head = head,
};
