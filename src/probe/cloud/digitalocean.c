/* DigitalOcean: one document with the number of the droplet. UpCloud serves another at that
 * address. */
#include <math.h>

#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	return !isnan(trk__json_get_double(d, root, "droplet_id")) &&
	       trk__cloud_json_word(d, root, "region", ret->region);
}

const struct trk_cloud_vendor trk__cloud_digitalocean = {
	.id = "digitalocean",
	.firmware = {"DigitalOcean"},
	.question = {{.path = "/metadata/v1.json"}},
	.read_json = read_document,
	.lacks = "DigitalOcean's metadata does not name the size of the droplet",
};
