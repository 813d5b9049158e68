/* Microsoft Azure: the Instance Metadata Service. Firmware: a unique chassis tag. */
#include <stdio.h>
#include <strings.h>

#include "probe/cloud/vendor.h"

static bool read_document(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret)
{
	const struct trk_json_value *compute = trk__json_get(d, root, "compute");
	const char *priority = trk__json_get_text(d, compute, "priority");

	if (priority) /* empty or "Regular": on demand */
		(void) snprintf(ret->allocation, sizeof(ret->allocation), "%s",
				!strcasecmp(priority, "Spot") || !strcasecmp(priority, "Low")
					? "spot"
					: "ondemand");
	(void) trk__cloud_json_word(d, compute, "zone", ret->zone);
	return trk__cloud_json_word(d, compute, "vmSize", ret->instance_type) &&
	       trk__cloud_json_word(d, compute, "location", ret->region);
}

const struct trk_cloud_vendor trk__cloud_azure = {
	.id = "azure",
	.chassis_tag = "7783-7084-3265-9085-8269-3286-77",
	.question = {{.path = "/metadata/instance?api-version=2021-02-01",
		      .headers = "Metadata: true\r\n"}},
	.read_json = read_document,
};
