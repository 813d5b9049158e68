/* UpCloud: one document, which names the cloud. DigitalOcean serves another at that address. */
#include <string.h>

#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	const char *cloud = trk__json_get_text(d, root, "cloud_name");

	return cloud && !strcmp(cloud, "upcloud") &&
	       trk__cloud_json_word(d, root, "region", ret->region);
}

const struct trk_cloud_vendor trk__cloud_upcloud = {
	.id = "upcloud",
	.firmware = {"UpCloud"},
	.unnamed = true,
	.question = {{.path = "/metadata/v1.json"}},
	.read_json = read_document,
	.lacks = "UpCloud's metadata does not name the plan",
};
