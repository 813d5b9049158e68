/* The list of the feeds, and their addresses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog/feed.h"

#define SKYPILOT(vendor, version)                                                                  \
	{                                                                                          \
		vendor, "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/"  \
			"catalogs/" version "/" vendor "/vms.csv"                                  \
	}

const struct trk_feed trk__feeds[] = {
	{
		.id = "azure",
		.source = "azure-retail",
		.licence = "facts",
		.title = "Azure Retail Prices API",
		.by_region = true,
		.part = {{"azure",
			  "https://prices.azure.com/api/retail/"
			  "prices?api-version=2023-01-01-preview"
			  "&currencyCode=USD&$filter=serviceName%20eq%20'Virtual%20Machines'%20and%"
			  "20"
			  "priceType%20eq%20'Consumption'%20and%20armRegionName%20eq%20'%s'"}},
		.walk = &trk__feed_azure,
	},
	{
		.id = "aws",
		.source = "aws-list",
		.licence = "facts",
		.title = "Amazon EC2 on-demand prices",
		.by_region = true,
		.part = {{"aws", "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/"
				 "current/ec2-ondemand-without-sec-sel/%s/Linux/index.json"}},
		.walk = &trk__feed_aws,
	},
	{
		.id = "gcp",
		.source = "gcp-calculator",
		.licence = "Apache-2.0",
		.title = "Cyclenerd/google-cloud-pricing-cost-calculator",
		.part = {{"gcp", "https://raw.githubusercontent.com/Cyclenerd/google-cloud-pricing-"
				 "cost-calculator/master/pricing.yml"}},
		.parse = trk__feed_gcp,
	},
	{
		.id = "vultr",
		.source = "vultr-plans",
		.licence = "facts",
		.title = "Vultr API, plans",
		.part = {{"vultr", "https://api.vultr.com/v2/plans?per_page=500"}},
		.walk = &trk__feed_vultr,
	},
	{
		.id = "skypilot",
		.source = "skypilot",
		.licence = "Apache-2.0",
		.title = "skypilot-org/skypilot-catalog",
		.part = {SKYPILOT("aws", "v8"), SKYPILOT("aws", "v7"), SKYPILOT("aws", "v6"),
			 SKYPILOT("aws", "v5"), SKYPILOT("azure", "v8"), SKYPILOT("azure", "v7"),
			 SKYPILOT("azure", "v6"), SKYPILOT("azure", "v5"), SKYPILOT("gcp", "v8"),
			 SKYPILOT("gcp", "v7"), SKYPILOT("gcp", "v6"), SKYPILOT("gcp", "v5")},
		.parse = trk__feed_skypilot,
	},
	{
		.id = "karpenter",
		.source = "karpenter-now",
		.licence = "Apache-2.0",
		.title = "aws/karpenter-provider-aws, pricing tables as they are now",
		.part = {{"aws",
			  "https://raw.githubusercontent.com/aws/karpenter-provider-aws/main/"
			  "pkg/providers/pricing/zz_generated.pricing_aws.go"}},
		.parse = trk__feed_karpenter,
	},
	{
		.id = "ovh",
		.source = "ovh-catalogue",
		.licence = "facts",
		.title = "OVHcloud order catalogue, cloud",
		.in_euro = true,
		.part = {{"ovh", "https://api.ovh.com/v1/order/catalog/public/cloud"
				 "?ovhSubsidiary=IE"}},
		.walk = &trk__feed_ovh,
	},
	{
		.id = "scaleway",
		.source = "scaleway-catalogue",
		.licence = "facts",
		.title = "Scaleway product catalogue",
		.in_euro = true,
		.part = {{"scaleway",
			  "https://api.scaleway.com/product-catalog/v2alpha1/public-catalog/"
			  "products?page=1&page_size=100"}},
		.walk = &trk__feed_scaleway,
	},
	{
		/* The last: its savings are added to the prices of the lists above. */
		.id = "aws-spot",
		.source = "aws-spot-advisor",
		.licence = "facts",
		.title = "Amazon EC2 Spot Advisor",
		.spots = true,
		.part = {{"aws",
			  "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"}},
		.walk = &trk__feed_aws_spot,
	},
};
const size_t trk__feed_count = sizeof(trk__feeds) / sizeof(trk__feeds[0]);

const struct trk_feed *trk__feed_find(const char *id)
{
	for (size_t i = 0; i < trk__feed_count; i++)
		if (!strcmp(trk__feeds[i].id, id))
			return &trk__feeds[i];
	return NULL;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_';
}

int trk__feed_url(const struct trk_feed *feed, size_t part, const char *region, char *ret,
		  size_t size)
{
	const char *url = feed->part[part].url, *hole = strstr(url, "%s");
	size_t n = 0;

	if (feed->by_region && !strcmp(feed->id, "aws"))
		region = trk__feed_aws_long_name(region);
	if (!region)
		return -ENOENT;
	if (!hole) {
		(void) snprintf(ret, size, "%s", url);
		return 0;
	}
	n = (size_t) snprintf(ret, size, "%.*s", (int) (hole - url), url);
	for (; *region && n + 4 < size; region++)
		n += (size_t) snprintf(ret + n, size - n, is_plain(*region) ? "%c" : "%%%02X",
				       (unsigned char) *region);
	(void) snprintf(ret + n, size - n, "%s", hole + 2);
	return 0;
}
