/* Alibaba Cloud: a metadata service at 100.100.100.200, with a token or without. Elsewhere that
 * address may belong to any host, so the firmware must name the vendor. */
#include <string.h>

#include "probe/cloud/vendor.h"

static bool read_answers(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret)
{
	if (n < 4 || !trk__cloud_answer_word(&answers[1], ret->region, sizeof(ret->region)) ||
	    !trk__cloud_answer_word(&answers[3], ret->instance_type, sizeof(ret->instance_type)) ||
	    strncmp(ret->instance_type, "ecs.", 4) != 0) /* all its types begin with this */
		return false;
	(void) trk__cloud_answer_word(&answers[2], ret->zone, sizeof(ret->zone));
	return true;
}

const struct trk_cloud_vendor trk__cloud_alicloud = {
	.id = "alicloud",
	.firmware = {"Alibaba Cloud"},
	.token = {.header = "X-aliyun-ecs-metadata-token",
		  .address = "100.100.100.200",
		  .path = {"/latest/meta-data/region-id", "/latest/meta-data/zone-id",
			   "/latest/meta-data/instance/instance-type"}},
	.read = read_answers,
};
