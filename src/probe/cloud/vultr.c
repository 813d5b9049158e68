/* Vultr: one document with the number of the instance and the code of the region. */
#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	return (trk__json_get(d, root, "instanceid") || trk__json_get(d, root, "instance-v2-id")) &&
	       trk__cloud_json_word(d, trk__json_get(d, root, "region"), "regioncode", ret->region);
}

const struct trk_cloud_vendor trk__cloud_vultr = {
	.id = "vultr",
	.firmware = {"Vultr"},
	.unnamed = true,
	.question = {{.path = "/v1.json"}},
	.read_json = read_document,
	.lacks = "Vultr's metadata does not name the plan",
};
