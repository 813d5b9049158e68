/* Oracle Cloud Infrastructure: version 2 of its instance metadata, which requires a fixed
 * header. */
#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	if (!trk__cloud_json_word(d, root, "canonicalRegionName", ret->region))
		(void) trk__cloud_json_word(d, root, "region", ret->region);
	(void) trk__cloud_json_word(d, root, "availabilityDomain", ret->zone);
	return trk__cloud_json_word(d, root, "shape", ret->instance_type);
}

const struct trk_cloud_vendor trk__cloud_oracle = {
	.id = "oracle",
	.chassis_tag = "OracleCloud.com",
	.question = {{.path = "/opc/v2/instance/", .headers = "Authorization: Bearer Oracle\r\n"}},
	.read_json = read_document,
};
