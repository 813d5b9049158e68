/* Price lists in JSON: the Retail Prices of Azure, the list behind Amazon's price page, its Spot Advisor,
 * the plans of Vultr. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_read.h"
#include "catalog/feed.h"

enum { DOCUMENT_MAX = 64 << 20 };

static int read_json(const char *text, size_t len, struct trk_json_doc *ret,
		     struct trk_error *reterr)
{
	const struct trk_json_limits limits = {.max_bytes = DOCUMENT_MAX};

	return trk__json_read(text, len, &limits, "the answer", ret, reterr);
}

/* ---- Azure ---- */

/* prices.azure.com/api/retail/prices: pages of Items, and NextPageLink. The machine is armSkuName; the same
 * name stands for Windows, for Cloud Services (at the price of Windows) and for Low Priority, which only
 * the words of product and meter tell apart. */
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

static void take_azure(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
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

int trk__feed_azure(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		    struct trk_error *reterr)
{
	const struct trk_json_value *items, *v;
	const char *next;
	struct trk_json_doc d;
	int e = read_json(text, len, &d, reterr);

	if (e < 0)
		return e;
	items = trk__json_get(&d, trk__json_root(&d), "Items");
	if (!items || items->type != TRK_JSON_ARRAY)
		e = trk__error_set(reterr, -EBADMSG, "", "the answer is no list of prices");
	for (v = trk__json_first(&d, items); e == 0 && v; v = trk__json_next(&d, v))
		take_azure(r, vendor, &d, v);
	next = trk__json_get_text(&d, trk__json_root(&d), "NextPageLink");
	r->next[0] = '\0';
	if (e == 0 && next && strlen(next) < sizeof(r->next))
		memcpy(r->next, next, strlen(next) + 1);
	trk__json_doc_release(&d);
	return e;
}

/* ---- Amazon ---- */

static const struct {
	const char *id, *long_name;
} aws_regions[] = {
	{"us-east-1", "US East (N. Virginia)"},
	{"us-east-2", "US East (Ohio)"},
	{"us-west-1", "US West (N. California)"},
	{"us-west-2", "US West (Oregon)"},
	{"af-south-1", "Africa (Cape Town)"},
	{"ap-east-1", "Asia Pacific (Hong Kong)"},
	{"ap-northeast-1", "Asia Pacific (Tokyo)"},
	{"ap-northeast-2", "Asia Pacific (Seoul)"},
	{"ap-northeast-3", "Asia Pacific (Osaka)"},
	{"ap-south-1", "Asia Pacific (Mumbai)"},
	{"ap-south-2", "Asia Pacific (Hyderabad)"},
	{"ap-southeast-1", "Asia Pacific (Singapore)"},
	{"ap-southeast-2", "Asia Pacific (Sydney)"},
	{"ap-southeast-3", "Asia Pacific (Jakarta)"},
	{"ap-southeast-4", "Asia Pacific (Melbourne)"},
	{"ca-central-1", "Canada (Central)"},
	{"eu-central-1", "EU (Frankfurt)"},
	{"eu-central-2", "Europe (Zurich)"},
	{"eu-north-1", "EU (Stockholm)"},
	{"eu-south-1", "EU (Milan)"},
	{"eu-south-2", "Europe (Spain)"},
	{"eu-west-1", "EU (Ireland)"},
	{"eu-west-2", "EU (London)"},
	{"eu-west-3", "EU (Paris)"},
	{"il-central-1", "Israel (Tel Aviv)"},
	{"me-central-1", "Middle East (UAE)"},
	{"me-south-1", "Middle East (Bahrain)"},
	{"sa-east-1", "South America (Sao Paulo)"},
	{"us-gov-east-1", "AWS GovCloud (US-East)"},
	{"us-gov-west-1", "AWS GovCloud (US-West)"},
};
enum { AWS_REGIONS = sizeof(aws_regions) / sizeof(aws_regions[0]) };

const char *trk__feed_aws_region(const char *long_name)
{
	for (size_t i = 0; i < AWS_REGIONS; i++)
		if (!strcmp(aws_regions[i].long_name, long_name))
			return aws_regions[i].id;
	return NULL;
}

const char *trk__feed_aws_long_name(const char *region)
{
	for (size_t i = 0; i < AWS_REGIONS; i++)
		if (!strcmp(aws_regions[i].id, region))
			return aws_regions[i].long_name;
	return NULL;
}

/* A number in a text, whole. */
static double number_of(const char *text)
{
	char *end;
	double value;

	if (!text || strspn(text, "0123456789.") != strlen(text))
		return NAN;
	value = strtod(text, &end);
	return *text && !*end ? value : (double) NAN;
}

/* regions.{long name}.{key}: price (a text) and "Instance Type". */
int trk__feed_aws(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		  struct trk_error *reterr)
{
	const struct trk_json_value *regions, *g, *v;
	struct trk_json_doc d;
	int e = read_json(text, len, &d, reterr);

	if (e < 0)
		return e;
	regions = trk__json_get(&d, trk__json_root(&d), "regions");
	if (!regions || regions->type != TRK_JSON_OBJECT)
		e = trk__error_set(reterr, -EBADMSG, "", "the answer is no list of regions");
	for (g = trk__json_first(&d, regions); e == 0 && g; g = trk__json_next(&d, g)) {
		const char *region = trk__feed_aws_region(g->key);

		for (v = trk__json_first(&d, g); v; v = trk__json_next(&d, v))
			(void) trk__feed_rows_add(
				r, vendor, region, trk__json_get_text(&d, v, "Instance Type"),
				number_of(trk__json_get_text(&d, v, "price")), NAN);
	}
	trk__json_doc_release(&d);
	return e;
}

/* The Spot Advisor: spot_advisor.{region}.Linux.{type}: s, the saving in percent, and r, the class. */
int trk__feed_aws_spot(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		       struct trk_error *reterr)
{
	const struct trk_json_value *regions, *g, *v;
	struct trk_json_doc d;
	int e = read_json(text, len, &d, reterr);

	if (e < 0)
		return e;
	regions = trk__json_get(&d, trk__json_root(&d), "spot_advisor");
	if (!regions || regions->type != TRK_JSON_OBJECT)
		e = trk__error_set(reterr, -EBADMSG, "", "the answer is no Spot Advisor's");
	for (g = trk__json_first(&d, regions); e == 0 && g; g = trk__json_next(&d, g))
		for (v = trk__json_first(&d, trk__json_get(&d, g, "Linux")); v;
		     v = trk__json_next(&d, v))
			(void) trk__feed_rows_add_spot(r, vendor, g->key, v->key,
						       trk__json_get_double(&d, v, "s"),
						       trk__json_get_double(&d, v, "r"));
	trk__json_doc_release(&d);
	return e;
}

/* ---- Vultr ---- */

/* plans: id, hourly_cost, and the locations where it can be had now. One price holds in all of them. */
int trk__feed_vultr(struct trk_feed_rows *r, const char *vendor, const char *text, size_t len,
		    struct trk_error *reterr)
{
	const struct trk_json_value *plans, *v;
	struct trk_json_doc d;
	int e = read_json(text, len, &d, reterr);

	if (e < 0)
		return e;
	plans = trk__json_get(&d, trk__json_root(&d), "plans");
	if (!plans || plans->type != TRK_JSON_ARRAY)
		e = trk__error_set(reterr, -EBADMSG, "", "the answer is no list of plans");
	for (v = trk__json_first(&d, plans); e == 0 && v; v = trk__json_next(&d, v))
		(void) trk__feed_rows_add(r, vendor, "global", trk__json_get_text(&d, v, "id"),
					  trk__json_get_double(&d, v, "hourly_cost"), NAN);
	trk__json_doc_release(&d);
	return e;
}
