/* Scaleway: a special address, and the commercial type of the machine. */
#include <stdio.h>
#include <string.h>

#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	char *dash;

	if (!trk__cloud_json_word(d, root, "commercial_type", ret->instance_type))
		return false;
	if (!trk__cloud_json_word(d, root, "zone", ret->zone))
		(void) trk__cloud_json_word(d, trk__json_get(d, root, "location"), "zone_id",
					    ret->zone);
	/* The region of fr-par-1 is fr-par. */
	(void) snprintf(ret->region, sizeof(ret->region), "%s", ret->zone);
	dash = strrchr(ret->region, '-');
	if (dash && strchr(ret->region, '-') != dash)
		*dash = '\0';
	return true;
}

const struct trk_cloud_vendor trk__cloud_scaleway = {
	.id = "scaleway",
	.firmware = {"Scaleway"},
	.question = {{.path = "/conf?format=json", .address = "169.254.42.42"}},
	.read_json = read_document,
};
