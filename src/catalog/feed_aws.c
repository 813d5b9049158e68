/* Amazon: the list behind its price page, and the Spot Advisor. */
#include <math.h>
#include <string.h>

#include "catalog/feed_read.h"

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

/* The region of Amazon's long name, "US East (Ohio)"; NULL: unknown. */
static const char *region_of(const char *long_name)
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

/* regions.{long name}.{key}: price (a text) and "Instance Type". */
static void take_region(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
			const struct trk_json_value *g)
{
	const char *region = region_of(g->key);

	for (const struct trk_json_value *v = trk__json_first(d, g); v; v = trk__json_next(d, v))
		(void) trk__feed_rows_add(r, vendor, region,
					  trk__json_get_text(d, v, "Instance Type"),
					  trk__feed_number(trk__json_get_text(d, v, "price")), NAN);
}

const struct trk_feed_walk trk__feed_aws = {
	.list = "regions",
	.type = TRK_JSON_OBJECT,
	.missing = "the answer is not a list of regions",
	.take = take_region,
};

/* spot_advisor.{region}.Linux.{type}: s, the saving in percent, and r, the class. */
static void take_savings(struct trk_feed_rows *r, const char *vendor, const struct trk_json_doc *d,
			 const struct trk_json_value *g)
{
	const struct trk_json_value *v = trk__json_first(d, trk__json_get(d, g, "Linux"));

	for (; v; v = trk__json_next(d, v))
		(void) trk__feed_rows_add_spot(r, vendor, g->key, v->key,
					       trk__json_get_double(d, v, "s"),
					       trk__json_get_double(d, v, "r"));
}

const struct trk_feed_walk trk__feed_aws_spot = {
	.list = "spot_advisor",
	.type = TRK_JSON_OBJECT,
	.missing = "the answer is not a list of the Spot Advisor",
	.take = take_savings,
};
